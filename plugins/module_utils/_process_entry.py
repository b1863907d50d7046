# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the entry of a process in /proc: what it was started with, and by whom.

This module util is private to the collectors. A process that ends while it is
read is Unstable, never absent.
"""

from __future__ import annotations

import dataclasses

from ._observation import Absent, Denied, Incomparable, Unparsable, Unstable
from ._proc import (
    ControlGroup,
    Environment,
    Stat,
    is_title,
    parse_cgroup,
    parse_environment,
    parse_stat,
    split_arguments,
)
from ._root import READ_LIMIT, HostRoot

ANCESTORS_LIMIT = 64
HINT = "it needs the same user or become"


@dataclasses.dataclass(frozen=True)
class Inherited:
    """An initial environment and whose it is: `source` is "process", "ancestor", or "wiped" (then there is none)."""

    environment: Environment | None
    source: str
    pid: int


def read_entry(root: HostRoot, pid: int, name: str, limit: int = READ_LIMIT) -> bytes:
    """Read a file of the process' `/proc` entry. Raises Unstable where it ended, Denied saying what would allow it."""
    try:
        return root.read("/proc/%d/%s" % (pid, name), limit)
    except Absent:
        if name == "stat" or not root.exists("/proc/%d/stat" % pid):
            raise Unstable("process %d ended during the look" % pid) from None
        raise Unparsable("/proc/%d/%s: not there, though the process is (a zombie?)" % (pid, name)) from None
    except Denied as error:
        raise Denied("%s; %s" % (error.why, HINT)) from None


def stat_of(root: HostRoot, pid: int) -> Stat:
    """Give the process' stat. Raises a LookError as `read_entry`."""
    return parse_stat(read_entry(root, pid, "stat"), "/proc/%d/stat" % pid)


def group_of(root: HostRoot, pid: int) -> ControlGroup:
    """Give the container and unit that the process' control group names. Raises a LookError as `read_entry`."""
    return parse_cgroup(read_entry(root, pid, "cgroup"))


def ancestors(root: HostRoot, pid: int) -> list[int]:
    """List the process ids of its ancestors, the nearest first. Raises a LookError."""
    line: list[int] = []
    current = pid
    while len(line) < ANCESTORS_LIMIT:
        current = stat_of(root, current).parent
        if current <= 0 or current in line:
            break
        line.append(current)
        # In a replica only the processes that matter are there.
        if not root.exists("/proc/%d/stat" % current):
            break
    return line


def argv(root: HostRoot, pid: int) -> list[str]:
    """Give the argument vector that the process was started with.

    Raises Incomparable where a title was written over it, Unparsable for a
    zombie or a kernel thread, which have none.
    """
    arguments = split_arguments(read_entry(root, pid, "cmdline"))
    if not arguments:
        raise Unparsable("process %d has no argument vector: a zombie, or a thread of the kernel" % pid)
    if is_title(arguments):
        raise Incomparable("process %d wrote its title over its argument vector: %s" % (pid, arguments[0]))
    return arguments


def environment(root: HostRoot, pid: int) -> tuple[dict[str, str] | None, str]:
    """Give the initial environment and its source: "process", "ancestor", or None and "wiped".

    Of a name that stands in it twice the first value is given, as the C library
    finds it. Raises a LookError; Denied where this user may not read it.
    """
    found = inherited(root, pid)
    return (None if found.environment is None else found.environment.values, found.source)


def inherited(root: HostRoot, pid: int) -> Inherited:
    """Give the process' own initial environment, or that of the nearest ancestor that still has one.

    Only ancestors of the same container or unit count: the others were started
    for another purpose. Raises a LookError.
    """
    own = _block(root, pid)
    if own.intact:
        return Inherited(own, "process", pid)
    group = group_of(root, pid)
    for ancestor in ancestors(root, pid) if group.container or group.unit else []:
        if not root.exists("/proc/%d/stat" % ancestor) or group_of(root, ancestor) != group:
            break
        block = _block(root, ancestor)
        if block.intact:
            return Inherited(block, "ancestor", ancestor)
    return Inherited(None, "wiped", pid)


def _block(root: HostRoot, pid: int) -> Environment:
    data = read_entry(root, pid, "environ")
    # Without memory of its own (a zombie, a kernel thread) a process' environment reads as empty.
    if not data and not read_entry(root, pid, "cmdline"):
        raise Unparsable("process %d has no environment: a zombie, or a thread of the kernel" % pid)
    return parse_environment(data)
