# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding a container by its name, with the marker of this start of it.

This module util is private to the collectors.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._engine import Engine, is_container_name
from ._observation import Absent, Unparsable, Unstable
from ._rfc3339 import nanoseconds

_ID = re.compile("[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True)
class Container:
    """A container as the engine inspects it; `data` is its whole answer.

    `status` is the engine's word (running, paused, exited, ...); `pid` is 0 and
    `started_at` the last start where it does not run.
    """

    name: str
    id: str
    running: bool
    status: str
    pid: int
    started_at: str
    data: dict[str, t.Any]

    @property
    def generation(self) -> tuple[str, str, int]:
        """What tells this start from any other."""
        return (self.id, self.started_at, self.pid)

    @property
    def started_ns(self) -> int:
        """Its start in nanoseconds since the epoch. Raises Unparsable."""
        return nanoseconds(self.started_at, "container %s: StartedAt" % self.name)


def find_container(engine: Engine, name: str) -> Container:
    """Inspect the container of exactly this name, or of this full id.

    Raises Absent where there is none: an engine also answers for the beginning
    of an id, and what it answers then is another container.
    """
    if not is_container_name(name):
        raise Unparsable("'%s' can not be the name of a container" % name)
    data = engine.object("/containers/%s/json" % name)
    found, container_id = data.get("Name"), data.get("Id")
    if not isinstance(found, str) or not isinstance(container_id, str) or not _ID.fullmatch(container_id):
        raise Unparsable("container %s: the engine tells no name or no full id" % name)
    if name not in (found[1:] if found.startswith("/") else found, container_id):
        raise Absent("no container is named %s (the engine took it for an id of %s)" % (name, found))
    return _container(name, container_id, data)


def _container(name: str, container_id: str, data: dict[str, t.Any]) -> Container:
    state = data.get("State")
    if not isinstance(state, dict):
        raise Unparsable("container %s: the engine tells no state" % name)
    running, pid, started_at = state.get("Running"), state.get("Pid"), state.get("StartedAt")
    if not isinstance(running, bool) or type(pid) is not int or not isinstance(started_at, str):
        raise Unparsable("container %s: the engine tells no running state, process or start time" % name)
    # Between two starts an engine says "running" of a container that has no process.
    running = running and state.get("Restarting") is not True
    if running and pid <= 0:
        raise Unparsable("container %s: runs, and has no process" % name)
    status = state.get("Status")
    word = status if isinstance(status, str) and status else "running" if running else "not running"
    return Container(name, container_id, running, word, pid if running else 0, started_at, data)


def need_running(container: Container) -> None:
    """Raise Absent where the container does not run."""
    if not container.running:
        raise Absent("container %s does not run (%s)" % (container.name, container.status))


def need_same(engine: Engine, container: Container) -> None:
    """Inspect again. Raises Unstable where it was restarted, replaced or removed since."""
    try:
        again = find_container(engine, container.name)
    except Absent:
        raise Unstable("container %s was removed during the look" % container.name) from None
    if again.generation != container.generation:
        raise Unstable("container %s was restarted during the look" % container.name)


__all__ = ["Container", "find_container", "need_running", "need_same"]
