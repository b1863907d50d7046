# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at what a container's log shows since the container's start.

This module util is private to the collectors.
"""

from __future__ import annotations

import functools
import typing as t

from . import _container_settings as settings
from ._container import Container, find_container, need_running, need_same
from ._engine import Engine
from ._engine_log import Log, compiled, matches, need_whole, read_log, since_start
from ._leaves import set_leaf
from ._nccl_log import nccl_evidence
from ._observation import Incomparable, LookError, Observation, Unparsable
from ._segments import within

TAIL = 20000
TAIL_LIMIT = 1000000


def look_at_log(engine: Engine, params: dict[str, t.Any]) -> Observation:
    """Look for values, markers and NCCL's lines.

    Raises a LookError where there is no log to look at; where it does not reach
    back to the start, its lines are counted and all that it could show is a fault.
    """
    container = find_container(engine, str(params["container"]))
    need_running(container)
    tail = int(params.get("tail", TAIL))
    if not 0 < tail <= TAIL_LIMIT:
        raise Unparsable("tail must lie between 1 and %d, not %d" % (TAIL_LIMIT, tail))
    observation = Observation("native", "engine log")
    log = _log(engine, container, tail)
    observation.state["lines"] = len(log.lines)
    if log.lines:
        observation.state["first_at"] = log.lines[0].at
    try:
        need_whole(log, container.started_ns, tail)
    except Incomparable as error:
        for name in ("values", "markers", "nccl"):
            observation.fault(name, error)
        _hint(observation, log, params)
    else:
        _shown(observation, log, params)
        _nccl(observation, log)
    need_same(engine, container)
    return observation


def _log(engine: Engine, container: Container, tail: int) -> Log:
    terminal = settings.leaf(container.data, ("Config", "Tty"), bool)
    query = "stdout=1&stderr=1&timestamps=1&since=%d&tail=%d" % (container.started_ns // 1000000000, tail)
    log = read_log(engine.bytes("/containers/%s/logs?%s" % (container.name, query)), terminal)
    finished_at = settings.leaf(container.data, ("State",), dict).get("FinishedAt")
    return since_start(log, finished_at, container.started_ns)


def _shown(observation: Observation, log: Log, params: dict[str, t.Any]) -> None:
    values: dict[str, str] = {}
    markers: dict[str, bool] = {}
    for name, pattern in (params.get("values") or {}).items():
        set_leaf(observation, values, ("values", name), functools.partial(_last, log, str(pattern)))
    for name, pattern in (params.get("markers") or {}).items():
        set_leaf(observation, markers, ("markers", name), functools.partial(_any, log, str(pattern)))
    observation.identity.update(values=values, markers=markers)


def _last(log: Log, pattern: str) -> str | None:
    value = None
    for found in matches(compiled(pattern, groups=1), log.lines):
        value = value if found.group(1) is None else found.group(1)
    return value


def _any(log: Log, pattern: str) -> bool | None:
    return next((True for _ in matches(compiled(pattern), log.lines)), None)


def _hint(observation: Observation, log: Log, params: dict[str, t.Any]) -> None:
    """Tell the markers that do show in a log that was cut off: no evidence of the rest, but worth knowing."""
    shown = []
    for name, pattern in (params.get("markers") or {}).items():
        try:
            shown.extend([name] if _any(log, str(pattern)) else [])
        except LookError as error:
            observation.notes.append("marker %s: %s" % (name, error.why))
    if shown:
        observation.notes.append("shown in the part of the log that was read: %s" % ", ".join(sorted(shown)))


def _nccl(observation: Observation, log: Log) -> None:
    values, failures = nccl_evidence(line.text for line in log.lines)
    if values:
        observation.identity["nccl"] = values
    for name, error in failures.items():
        observation.fault(within("nccl", name), error)
