# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of NCCL that a process runs with: its environment, then the files that it sees.

This module util is private to the collectors. A file that changed after the
process started can not speak for it.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._accounts import account_of
from ._insides import look_inside
from ._nccl import SYSTEM_FILE, Setting, merge, parse_conf
from ._observation import Absent, Incomparable, LookError, Unparsable
from ._process import Process, inherited, read_entry
from ._reading import steady
from ._root import HostRoot, changed_at

_UIDS = re.compile(rb"^Uid:\t(\d+)\t", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Merged:
    """Settings by name; `ambiguous` are names that the environment holds twice with different values."""

    settings: dict[str, Setting]
    ambiguous: tuple[str, ...]
    notes: tuple[str, ...]

    def value(self, name: str) -> t.Optional[str]:
        """Give a setting's value, None for one that is not set. Raises Incomparable for an ambiguous one."""
        if name in self.ambiguous:
            raise Incomparable("%s stands in the environment twice, with different values" % name)
        return self.settings[name].value if name in self.settings else None


def settings_of(root: HostRoot, selector: dict[str, t.Any], now: float) -> Merged:
    """Merge the settings of the selected process. Raises a LookError where any source of them can not be read."""

    def look(inner: HostRoot, process: Process) -> Merged:
        return _merged(root, inner, process)

    return look_inside(root, selector, now, look)


def _merged(root: HostRoot, inner: HostRoot, process: Process) -> Merged:
    found = inherited(root, process.pid)
    if found.environment is None:
        raise Incomparable("the title of process %d wiped its environment, and no ancestor of it has one" % process.pid)
    notes = []
    if found.source == "ancestor":
        notes.append("the environment is that of process %d, its ancestor; its own was wiped" % found.pid)
    values = found.environment.values
    if "NCCL_ENV_PLUGIN" in values:
        notes.append("NCCL_ENV_PLUGIN is set: a plugin may give NCCL other settings than these")
    sources: list[tuple[str, t.Mapping[str, str]]] = [("process", values)]
    for path in (_user_file(root, inner, process, values, notes), SYSTEM_FILE):
        if path:
            sources.append((path, _conf(inner, path, process)))
    return Merged(merge(sources), found.environment.ambiguous, tuple(notes))


def _conf(inner: HostRoot, path: str, process: Process) -> dict[str, str]:
    """Read a configuration file as the process sees it; one that is not there has no settings."""
    try:
        data, way, info = steady(inner, path, lambda: inner.read(path))
    except Absent:
        return {}
    except LookError as error:
        raise type(error)("%s (as process %d sees it)" % (error.why, process.pid)) from None
    if max(way.changed_at, changed_at(info)) > process.started_at:
        raise Incomparable("%s%s: changed after process %d started" % (inner.label, path, process.pid))
    return parse_conf(data)


def _user_file(root: HostRoot, inner: HostRoot, process: Process, values: t.Mapping[str, str], notes: list[str]) -> str:
    """Give the path of the user's own file, "" where there is none."""
    named = values.get("NCCL_CONF_FILE", "")
    if named and not named.startswith("/"):
        raise Incomparable("NCCL_CONF_FILE: a relative path depends on where the process was when NCCL began")
    if named:
        return named
    uid = _own_uid(root, process.pid)
    try:
        home = account_of(inner, uid).home
    except (Absent, Incomparable) as error:
        notes.append("~/.nccl.conf is not looked at: %s" % error.why)
        return ""
    return home.rstrip("/") + "/.nccl.conf" if home.startswith("/") else ""


def _own_uid(root: HostRoot, pid: int) -> int:
    """Give the process' real user id as it sees it itself, through the map of its user namespace."""
    match = _UIDS.search(read_entry(root, pid, "status"))
    if match is None:
        raise Unparsable("/proc/%d/status: tells no user id" % pid)
    uid = int(match.group(1))
    try:
        lines = root.read("/proc/%d/uid_map" % pid).decode("ascii", "replace").splitlines()
    except Absent:
        return uid
    for line in lines:
        fields = line.split()
        if len(fields) != 3 or not all(field.isdecimal() for field in fields):
            raise Unparsable("/proc/%d/uid_map: is not in its format" % pid)
        inside, outside, count = (int(field) for field in fields)
        if outside <= uid < outside + count:
            return inside + uid - outside
    return uid
