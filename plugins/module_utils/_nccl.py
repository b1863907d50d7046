# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL's own rules: how settings are merged, and what a selector selects.

This module util is private to the collectors. Nothing is trimmed or corrected:
a blank or a wrong case selects nothing, here as in NCCL.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

PREFIX = "NCCL_"
SYSTEM_FILE = "/etc/nccl.conf"
# What NCCL keeps of a name and of a value in a configuration file.
TEXT_LIMIT = 1023
MOST_DEVICES = 32
MOST_INTERFACES = 16
_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")


def parse_conf(data: bytes) -> dict[str, str]:
    """Parse a configuration file: `NAME=value` lines, `#` in the first column; of a repeated name the first counts."""
    found: dict[str, str] = {}
    for line in data.split(b"\n"):
        text = line.split(b"\0")[0]
        if text.endswith(b"\r"):
            text = text[:-1]
        name, equals, value = text.partition(b"=")
        if text.startswith(b"#") or not equals or not name:
            continue
        found.setdefault(_text(name), _text(value))
    return found


def _text(data: bytes) -> str:
    return data[:TEXT_LIMIT].decode("utf-8", "surrogateescape")


@dataclasses.dataclass(frozen=True)
class Setting:
    """A merged value and where it came from: `process`, or the path of the file."""

    value: str
    origin: str


def merge(sources: t.Iterable[tuple[str, t.Mapping[str, str]]]) -> dict[str, Setting]:
    """Merge settings of NCCL; `sources` are (origin, values), and an earlier one is never replaced by a later."""
    merged: dict[str, Setting] = {}
    for origin, values in sources:
        for name, value in values.items():
            if name.startswith(PREFIX):
                merged.setdefault(name, Setting(value, origin))
    return merged


@dataclasses.dataclass(frozen=True)
class Selector:
    """A list of names as NCCL reads it: entries are (name, port), None for any port."""

    excludes: bool
    exact: bool
    entries: tuple[tuple[str, t.Optional[int]], ...]

    @classmethod
    def parse(cls, text: str, limit: int) -> Selector:
        """Parse `^`, then `=`, then a list of `name[:port[:rail[:plane]]]`; any text is a selector.

        NCCL reads no more than `limit` entries.
        """
        excludes = text.startswith("^")
        text = text[1:] if excludes else text
        exact = text.startswith("=")
        text = text[1:] if exact else text
        entries = []
        for item in text.split(","):
            name, _, rest = item.partition(":")
            if name:
                entries.append((name, _port(rest.partition(":")[0])))
        return cls(excludes, exact, tuple(entries[:limit]))

    def selects(self, name: str, port: t.Optional[int] = None) -> bool:
        """Say whether it selects this name (and port); without entries it is about all names."""
        return (not self.entries or any(self._fits(entry, name, port) for entry in self.entries)) != self.excludes

    def _fits(self, entry: tuple[str, t.Optional[int]], name: str, port: t.Optional[int]) -> bool:
        same = entry[0] == name if self.exact else name.startswith(entry[0])
        return same and (port is None or entry[1] is None or entry[1] == port)


def _port(text: str) -> t.Optional[int]:
    """Read a port as C's atoi does: leading digits, else 0; an empty one and -1 are any port."""
    if not text:
        return None
    match = _NUMBER.match(text)
    number = int(match.group(1)) if match else 0
    return None if number == -1 else number


def select_devices(setting: t.Optional[str], active: t.Iterable[tuple[str, int]]) -> list[str]:
    """Give what NCCL_IB_HCA selects of the active ports, as `device:port`, sorted; unset selects all."""
    selector = Selector.parse(setting or "", MOST_DEVICES)
    return sorted("%s:%d" % (device, port) for device, port in active if selector.selects(device, port))


def select_interfaces(setting: t.Optional[str], names: t.Iterable[str]) -> t.Optional[list[str]]:
    """Give what NCCL_SOCKET_IFNAME selects, sorted; None where NCCL chooses by itself (unset, or one character)."""
    if setting is None or len(setting) <= 1:
        return None
    selector = Selector.parse(setting, MOST_INTERFACES)
    return sorted(name for name in names if selector.selects(name))
