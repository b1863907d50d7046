# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at a process: what it was started with, and what it runs from.

This module util is private to the collectors.
"""

from __future__ import annotations

import functools
import typing as t

from ._argv import Argv, invocation, parse
from ._disclosure import Disclosure
from ._leaves import set_leaf
from ._maps import MAPS_LIMIT, Mapped, has_stem, is_shared_object, parse_maps
from ._observation import Incomparable, LookError, Observation, Unparsable
from ._proc import parse_effective_user
from ._process import find_process, need_same_process
from ._process_entry import argv, inherited, read_entry
from ._root import HostRoot
from ._running_files import RunningFiles
from ._segments import within
from ._strict_json import canonical


def look_at_process(root: HostRoot, params: dict[str, t.Any], now: float, disclosure: Disclosure) -> Observation:
    """Look at the process that the parameters select. Raises a LookError where it can not be found, or moved."""
    process = find_process(root, params, now)
    observation = Observation("process", "/proc/%d" % process.pid)
    observation.state.update(pid=process.pid, started_at=process.started_at)
    if process.container_id:
        observation.state["container"] = process.container_id
    files = RunningFiles(root, process.pid)
    status = "/proc/%d/status" % process.pid
    _arguments(observation, root, process.pid, disclosure)
    _environment(observation, root, process.pid, disclosure)
    _executable(observation, files)
    _libraries(observation, root, process.pid, files, [str(stem) for stem in params.get("libraries") or ()])
    identity = observation.identity
    set_leaf(observation, identity, ("cwd",), lambda: files.own_path("cwd"))
    set_leaf(
        observation,
        identity,
        ("user",),
        lambda: parse_effective_user(read_entry(root, process.pid, "status"), status),
    )
    need_same_process(root, process)
    return observation


# -- arguments -------------------------------------------------------------
def _arguments(observation: Observation, root: HostRoot, pid: int, disclosure: Disclosure) -> None:
    try:
        found = invocation(argv(root, pid))
    except Unparsable:
        raise  # a process that has ended, or none at all: there is nothing else to tell
    except LookError as error:
        for name in ("argv", "json", "arguments", "program", "interpreter"):
            observation.fault(name, error)
        return
    parsed = parse(found.arguments)
    observation.identity.update(
        program=found.program,
        interpreter=found.interpreter[:1] + [disclosure.value("interpreter", item) for item in found.interpreter[1:]],
        argv={name: _disclosed(disclosure, name, value) for name, value in parsed.options.items()},
        json=_disclosed_json(disclosure, parsed),
        arguments=[disclosure.value("arguments", item) for item in parsed.positionals],
    )


def _disclosed(disclosure: Disclosure, name: str, value: t.Any) -> t.Any:
    if isinstance(value, list):
        return [_disclosed(disclosure, name, item) for item in value]
    return value if value is True else disclosure.value(name, value)


def _disclosed_json(disclosure: Disclosure, parsed: Argv) -> dict[str, t.Any]:
    return {
        name: value if disclosure.is_plain(name) else disclosure.value(name, canonical(value))
        for name, value in parsed.json.items()
    }


# -- environment -----------------------------------------------------------
def _environment(observation: Observation, root: HostRoot, pid: int, disclosure: Disclosure) -> None:
    try:
        found = inherited(root, pid)
        if found.environment is None:
            raise Incomparable("the title of process %d wiped its environment, and no ancestor of it has one" % pid)
    except LookError as error:
        observation.fault("env", error)
        observation.fault("env_source", error)
        return
    values = {name: disclosure.value(name, value) for name, value in found.environment.values.items()}
    for name in found.environment.ambiguous:
        # Programs differ in which of them they take.
        del values[name]
        observation.fault(within("env", name), Incomparable("%s stands there twice, with different values" % name))
    observation.identity.update(env=values, env_source=found.source)
    if found.source == "ancestor":
        observation.notes.append("the environment is that of process %d, its ancestor; its own was wiped" % found.pid)
    if not values:
        observation.notes.append("it was started without any environment")


# -- files -----------------------------------------------------------------
def _executable(observation: Observation, files: RunningFiles) -> None:
    try:
        executable = files.executable()
    except LookError as error:
        observation.fault("exe", error)
        return
    facts: dict[str, t.Any] = {"path": executable.path, "deleted": executable.deleted}
    observation.identity["exe"] = facts
    set_leaf(observation, facts, ("exe", "sha256"), lambda: files.executable_digest(executable))


def _libraries(observation: Observation, root: HostRoot, pid: int, files: RunningFiles, stems: list[str]) -> None:
    observation.scope["libraries"] = sorted(stems)
    try:
        mapped = parse_maps(read_entry(root, pid, "maps", MAPS_LIMIT), "/proc/%d/maps" % pid)
        if not mapped:
            raise Unparsable("/proc/%d/maps: not even a program is mapped, the process has ended" % pid)
        gone = {item for item in mapped if files.is_gone(item)}
    except LookError as error:
        for name in ("libraries", "library_counts", "deleted_libraries"):
            observation.fault(name, error)
        return
    observation.identity["deleted_libraries"] = {
        item.bare_path: "deleted" for item in mapped if item in gone and is_shared_object(item.bare_path)
    }
    libraries: dict[str, dict[str, str]] = {}
    counts: dict[str, int] = {}
    for stem in stems:
        fitting = [item for item in mapped if has_stem(item.bare_path if item in gone else item.path, stem)]
        counts[stem] = len(fitting)
        libraries[stem] = {}
        for item in fitting:
            if item not in gone:
                _hash(observation, libraries[stem], stem, item, files)
    observation.identity.update(libraries=libraries, library_counts=counts)


def _hash(observation: Observation, target: dict[str, str], stem: str, item: Mapped, files: RunningFiles) -> None:
    set_leaf(observation, target, ("libraries", stem, item.path), functools.partial(files.library_digest, item))
