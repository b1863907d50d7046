# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading inside the root of a process, as long as it is that process.

This module util is private to the collectors. A process that ends while it is
looked at leaves an empty `/proc/PID/root`, in which everything is absent; its
number may go to another process, whose files are not its files. Neither may
become evidence.
"""

from __future__ import annotations

import typing as t

from ._observation import Absent, Denied, LookError, Unstable
from ._process import HINT, Process, find_process, need_same_process
from ._root import HostRoot

T = t.TypeVar("T")


def look_inside(root: HostRoot, selector: dict[str, t.Any], now: float, look: t.Callable[[HostRoot, Process], T]) -> T:
    """Look at the tree that the selected process sees.

    Raises a LookError: the look's own, or Unstable where the process did not
    outlive it.
    """
    process = find_process(root, selector, now)
    inner = root.inside("/proc/%d/root" % process.pid)
    _need_root(inner, process)
    failure: LookError | None = None
    result: T | None = None
    try:
        result = look(inner, process)
    except LookError as error:
        failure = error
    # After a failure too: of a process that ended, everything is absent.
    _need_root(inner, process)
    need_same_process(root, process)
    if failure is not None:
        raise failure
    return t.cast(T, result)


def _need_root(inner: HostRoot, process: Process) -> None:
    """Raise Unstable where the process has no root any more: a zombie keeps its number and its start."""
    try:
        inner.stat("/")
    except Absent:
        raise Unstable("process %d ended while its files were read" % process.pid) from None
    except Denied:
        raise Denied("/proc/%d/root: permission denied; %s" % (process.pid, HINT)) from None
