# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a machine is: ids, host key, kernel, memory, temperatures.

This module util is private to the collectors. Every function gives one leaf, or
raises the LookError that stands for it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import typing as t

from ._observation import Absent, LookError, Unparsable
from ._root import BOOT_ID, HostRoot, optional

HOST_KEYS = ("ed25519", "ecdsa", "rsa")
THERMAL = "/sys/class/thermal"
_MACHINE_ID = re.compile(r"[0-9a-f]{32}")
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MEMORY = re.compile(r"(\w+):\s+(\d+) kB")


def machine_id(root: HostRoot) -> str:
    """Give the machine id. A machine that has not got its own yet is Unparsable."""
    return _matching(root, "/etc/machine-id", _MACHINE_ID, "a machine id")


def boot_id(root: HostRoot) -> str:
    """Give the id of this boot."""
    return _matching(root, BOOT_ID, _BOOT_ID, "a boot id")


def _matching(root: HostRoot, path: str, pattern: t.Pattern[str], what: str) -> str:
    text = root.text(path, 4096).strip()
    if not pattern.fullmatch(text):
        raise Unparsable("%s: is not %s" % (path, what))
    return text


def host_key(root: HostRoot) -> str:
    """Give the fingerprint of the SSH host key, as OpenSSH prints it; the first kind that the machine has."""
    for kind in HOST_KEYS:
        path = "/etc/ssh/ssh_host_%s_key.pub" % kind
        try:
            return fingerprint(root.text(path, 65536), path)
        except Absent:
            continue
    raise Absent("/etc/ssh: no public host key (%s)" % ", ".join(HOST_KEYS))


def fingerprint(text: str, path: str) -> str:
    """Give the fingerprint of a public key's line. Raises Unparsable."""
    fields = text.split()
    try:
        blob = base64.b64decode(fields[1], validate=True)
    except (IndexError, binascii.Error, ValueError):
        raise Unparsable("%s: is not a public key" % path) from None
    # The key names its own kind first, after that name's length: a line of another sort is none.
    length = int.from_bytes(blob[:4], "big")
    if not blob or blob[4 : 4 + length] != fields[0].encode("utf-8", "replace"):
        raise Unparsable("%s: is not a public key" % path)
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")


def line(root: HostRoot, path: str) -> str:
    """Give a file's one line. Raises a LookError."""
    text = root.text(path, 4096).strip()
    if not text or "\n" in text:
        raise Unparsable("%s: is not one line" % path)
    return text


def architecture(root: HostRoot) -> str:
    """Give the machine's architecture: the kernel's file, or on a host without it what uname answers."""
    try:
        return line(root, "/proc/sys/kernel/arch")
    except Absent:
        if root.recorded or root.prefix:
            raise
        return os.uname().machine


def memory(root: HostRoot) -> dict[str, int]:
    """Give /proc/meminfo in bytes, by its own names. Raises Unparsable where the names that are needed are missing."""
    found = parse_memory(root.read("/proc/meminfo").decode("ascii", "replace"))
    for name in ("MemTotal", "MemAvailable", "MemFree"):
        if name not in found:
            raise Unparsable("/proc/meminfo: tells no %s" % name)
    return found


def parse_memory(text: str) -> dict[str, int]:
    """Parse /proc/meminfo; lines that are no size are passed over."""
    found: dict[str, int] = {}
    for item in text.splitlines():
        match = _MEMORY.fullmatch(item.strip())
        if match is not None:
            found.setdefault(match.group(1), int(match.group(2)) * 1024)
    return found


def temperatures(root: HostRoot) -> tuple[dict[str, int], dict[str, LookError]]:
    """Give degrees by thermal zone (its type and number), and those that could not be read. No zones are none."""
    found: dict[str, int] = {}
    failed: dict[str, LookError] = {}
    for name in optional(lambda: root.listdir(THERMAL)) or []:
        if not re.fullmatch(r"thermal_zone\d+", name):
            continue
        number = name[len("thermal_zone") :]
        zone = number
        try:
            zone = "%s-%s" % (line(root, "%s/%s/type" % (THERMAL, name)), number)
            path = "%s/%s/temp" % (THERMAL, name)
            text = line(root, path)
            if not re.fullmatch(r"-?\d{1,7}", text):
                raise Unparsable("%s: is not a number" % path)
            found[zone] = round(int(text) / 1000)
        except LookError as error:
            failed[zone] = error
    return found, failed
