# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding a process on a host.

This module util is private to the collectors. A process is selected by
`container` (with `socket`), `unit`, `pid_file` or `program`, of which `program`
goes with any of the others. What cannot be told is a failure with its status: a
process that ends during the look is Unstable, two that fit are Unparsable, and
Absent is said only where every process was looked at.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ._argv import invocation
from ._container import find_container, need_running
from ._engine import Engine
from ._observation import Absent, Denied, NoTool, Unparsable, Unstable
from ._proc import TICKS_A_SECOND, ControlGroup, is_title, parse_boot_time, parse_cgroup, split_arguments
from ._process_entry import (
    HINT,
    Inherited,
    ancestors,
    argv,
    environment,
    group_of,
    inherited,
    read_entry,
    stat_of,
)
from ._root import HostRoot

CLOCK_SLACK_S = 120.0


@dataclasses.dataclass(frozen=True)
class Process:
    """A process: `started_at` in seconds since the epoch, `start_ticks` since the boot; `container_id` "" where none.

    Process id and start ticks together are its generation: an id alone is used again.
    """

    pid: int
    start_ticks: int
    started_at: float
    container_id: str


@dataclasses.dataclass(frozen=True)
class _Candidate:
    pid: int
    group: ControlGroup


# -- finding ---------------------------------------------------------------
def find_process(root: HostRoot, selector: dict[str, t.Any], now: float) -> Process:
    """Find the one process that the selector means. Raises a LookError.

    `now` (seconds since the epoch) bears witness against a clock that was set back.
    """
    root.need_full_lane("processes")
    ways = [name for name in ("container", "unit", "pid_file") if selector.get(name)]
    program = str(selector.get("program") or "")
    if len(ways) > 1 or not (ways or program):
        raise Unparsable("a process is selected by one of container, unit and pid_file, or by program")
    if not ways:
        return _described(root, _the_one(root, _scan(root), program, "on this host"), now)
    if ways[0] == "container":
        return _in_container(root, selector, program, now)
    if ways[0] == "unit":
        return _in_unit(root, str(selector["unit"]), program, now)
    return _in_pid_file(root, str(selector["pid_file"]), program, now)


def container_root(root: HostRoot, selector: dict[str, t.Any], now: float) -> HostRoot:
    """Give the tree that the selected process sees. The caller finds the process again after reading there."""
    return root.inside("/proc/%d/root" % find_process(root, selector, now).pid)


def need_same_process(root: HostRoot, process: Process) -> None:
    """Raise Unstable where the process ended, or its id went to another, since it was found."""
    if stat_of(root, process.pid).start_ticks != process.start_ticks:
        raise Unstable("process %d ended during the look, and its id was used again" % process.pid)


def _in_container(root: HostRoot, selector: dict[str, t.Any], program: str, now: float) -> Process:
    container = find_container(Engine(root, str(selector.get("socket") or "")), str(selector["container"]))
    need_running(container)
    if program:
        inside = [item for item in _scan(root) if item.group.container == container.id]
        if not inside:
            raise Unparsable(
                "container %s runs, and no control group of this host names it (%s)"
                % (container.name, container.id[:12])
            )
        return _described(root, _the_one(root, inside, program, "in container %s" % container.name), now)
    process = _described(root, container.pid, now)
    if process.container_id != container.id:
        # The engine counts processes of another machine or namespace than ours.
        raise Unparsable(
            "process %d, which the engine names for container %s, is not in that container's control group"
            % (container.pid, container.name)
        )
    return process


def _in_unit(root: HostRoot, unit: str, program: str, now: float) -> Process:
    if not root.recorded and not root.exists("/run/systemd/system"):
        raise NoTool("unit %s: systemd does not run this host" % unit)
    inside = [item for item in _scan(root) if item.group.unit == unit]
    if not inside:
        raise Absent("no process of unit %s" % unit)
    if program:
        return _described(root, _the_one(root, inside, program, "in unit %s" % unit), now)
    return _described(root, _eldest(root, [item.pid for item in inside], "unit %s" % unit), now)


def _in_pid_file(root: HostRoot, path: str, program: str, now: float) -> Process:
    content = root.read(path, 4096).decode("ascii", "replace").strip()
    if not content.isdigit() or not 0 < int(content) < 1 << 31:
        raise Unparsable("%s: holds no process id" % path)
    pid = int(content)
    if not root.exists("/proc/%d" % pid):
        raise Absent("process %d, which %s names, is not there" % (pid, path))
    if program and not _runs(root, pid, program):
        raise Absent("process %d, which %s names, is not %s" % (pid, path, program))
    return _described(root, pid, now)


def _scan(root: HostRoot) -> list[_Candidate]:
    """List the processes of the host with their control groups; those that end meanwhile are left out."""
    names = [name for name in root.listdir("/proc", limit=1 << 20) if name.isdigit()]
    if not root.recorded and "1" not in names:
        raise Denied("/proc: other users' processes are hidden (hidepid); %s" % HINT)
    seen = len(root.touched)
    found = []
    for name in names:
        try:
            group = _glance(root, int(name), "cgroup")
        except Denied as error:
            raise Denied("%s; %s" % (error.why, HINT)) from None
        if group is not None:
            found.append(_Candidate(int(name), parse_cgroup(group)))
    # One line in the sources instead of one a process.
    del root.touched[seen:]
    root.touched.append("/proc/*/cgroup")
    return found


def _glance(root: HostRoot, pid: int, name: str) -> bytes | None:
    """Read an entry of a process that may end at any moment; None where it did."""
    for _ in range(3):
        try:
            return root.read("/proc/%d/%s" % (pid, name))
        except Absent:
            return None
        except Unstable:
            # It ended between being opened and being read, or the kernel forgot the entry and made it anew.
            continue
    raise Unstable("/proc/%d/%s: can not be read twice alike" % (pid, name))


def _the_one(root: HostRoot, candidates: list[_Candidate], program: str, where: str) -> int:
    fitting = [item.pid for item in candidates if _runs(root, item.pid, program)]
    if not fitting:
        raise Absent("no process of program %s %s" % (program, where))
    return _eldest(root, fitting, "program %s %s" % (program, where))


def _runs(root: HostRoot, pid: int, program: str) -> bool:
    """Say whether the process was started as this program; one that ended, or bears a title, does not say so."""
    arguments = split_arguments(_glance(root, pid, "cmdline") or b"")
    return bool(arguments) and not is_title(arguments) and invocation(arguments).name == program


def _eldest(root: HostRoot, pids: list[int], what: str) -> int:
    """Give the one process that all others descend from. Raises Unparsable where there is none."""
    if len(pids) == 1:
        return pids[0]
    lines = {pid: set(ancestors(root, pid)) for pid in pids}
    tops = [pid for pid in pids if all(pid in line for other, line in lines.items() if other != pid)]
    if len(tops) != 1:
        shown = ", ".join(str(pid) for pid in sorted(pids)[:10])
        raise Unparsable("%s: %d processes fit, none of which started all others (%s)" % (what, len(pids), shown))
    return tops[0]


def _described(root: HostRoot, pid: int, now: float) -> Process:
    stat = stat_of(root, pid)
    started_at = parse_boot_time(root.read("/proc/stat")) + stat.start_ticks / TICKS_A_SECOND
    if started_at > now + CLOCK_SLACK_S:
        raise Unparsable(
            "process %d started %.0f s after now by this host's clock, which was set back" % (pid, started_at - now)
        )
    return Process(pid, stat.start_ticks, started_at, group_of(root, pid).container)


__all__ = [
    "HINT",
    "Inherited",
    "Process",
    "argv",
    "container_root",
    "environment",
    "find_process",
    "group_of",
    "inherited",
    "need_same_process",
    "read_entry",
    "stat_of",
]
