# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a look at the GPUs besides which there are: how they run, how they are linked, who uses them.

This module util is private to the collectors. Only nvidia-smi can tell these;
what it can not tell is a fault of its own. What is claimed of all GPUs together
is told only where it is known which these are.
"""

from __future__ import annotations

import typing as t

from ._gpu_set import Gpus, Tool
from ._leaves import set_leaf
from ._nvidia import number, value
from ._observation import Incomparable, LookError, Observation, Unparsable
from ._root import HostRoot
from ._smi import Row, Smi


# -- how they run ----------------------------------------------------------------------
def tell_running(observation: Observation, gpus: Gpus, tool: Tool, smi: Smi, samples: int) -> None:
    """Fill persistence, clocks and temperatures."""
    if tool.error is not None:
        for path in ("persistence", "persistence_modes", "clocks", "temperature_c"):
            observation.fault(path, tool.error)
        return
    modes: dict[str, t.Any] = {}
    temperatures: dict[str, t.Any] = {}
    clocks: dict[str, t.Any] = {}
    _tell_each(observation, gpus, tool, ("persistence",), modes, _mode)
    _tell_each(observation, gpus, tool, ("temperature_c",), temperatures, _temperature)
    taken = _Samples(gpus.uuids, tool, smi, samples)
    observation.identity["persistence"] = modes
    observation.identity["clocks"] = clocks
    observation.state["temperature_c"] = temperatures
    set_leaf(observation, observation.identity, ("persistence_modes",), lambda: _modes(gpus, modes))
    set_leaf(observation, clocks, ("clocks", "sm_mhz"), lambda: taken.highest(gpus))
    observation.state["clocks"] = {"samples": taken.by_gpu}


def _tell_each(
    observation: Observation,
    gpus: Gpus,
    tool: Tool,
    area: tuple[str, ...],
    target: dict[str, t.Any],
    read: t.Callable[[Row], t.Any],
) -> None:
    """Read one cell of each GPU; what can not be read is a fault of that GPU."""
    rows = {row["uuid"]: row for row in tool.rows}
    for uuid in gpus.uuids:

        def look(uuid: str = uuid) -> t.Any:
            if uuid not in rows:
                raise _not_told(uuid, tool)
            return read(rows[uuid])

        set_leaf(observation, target, (*area, uuid), look)


def _mode(row: Row) -> str:
    return value(row["persistence_mode"], "persistence mode")


def _temperature(row: Row) -> int:
    return number(row["temperature.gpu"], "C", "temperature")


def _not_told(uuid: str, tool: Tool) -> LookError:
    return Unparsable("%s: not told by nvidia-smi: %s" % (uuid, tool.words or "no word why"))


def _modes(gpus: Gpus, modes: dict[str, str]) -> list[str]:
    need_all(gpus)
    for uuid in gpus.uuids:
        if uuid not in modes:
            raise Incomparable("%s: its persistence mode is not known" % uuid)
    return sorted(set(modes.values()))


def need_all(gpus: Gpus) -> None:
    """Raise Incomparable where it is not known which GPUs there are."""
    if gpus.doubt is not None:
        raise Incomparable("not all GPUs are known: %s" % gpus.doubt.why)


class _Samples:
    """Samples of the SM clocks; the first failure ends them."""

    def __init__(self, uuids: list[str], tool: Tool, smi: Smi, count: int) -> None:
        self.by_gpu: dict[str, list[int]] = {}
        self._failure: t.Optional[LookError] = None
        try:
            self._take(uuids, tool.rows, tool)
            for rows in smi.more_samples(count - 1):
                self._take(uuids, rows, tool)
        except LookError as error:
            self._failure = error

    def _take(self, uuids: list[str], rows: list[Row], tool: Tool) -> None:
        cells = {row["uuid"]: row["clocks.sm"] for row in rows}
        for uuid in uuids:
            if uuid not in cells:
                raise _not_told(uuid, tool)
            clock = number(cells[uuid], "MHz", "SM clock of %s" % uuid)
            self.by_gpu.setdefault(uuid, []).append(clock)

    def highest(self, gpus: Gpus) -> int:
        """Give the highest sample. Raises what kept a sample of any GPU from being taken: the highest may be there."""
        if self._failure is not None:
            raise self._failure
        need_all(gpus)
        return max(max(values) for values in self.by_gpu.values())


# -- links and users ----------------------------------------------------------------------
def tell_links(observation: Observation, gpus: Gpus, tool: Tool, smi: Smi) -> None:
    """Fill `links`, by pairs of UUIDs; a single GPU has none."""
    if len(gpus.uuids) > 1 or gpus.doubt is not None:
        set_leaf(observation, observation.identity, ("links",), lambda: _links(gpus, tool, smi))


def _links(gpus: Gpus, tool: Tool, smi: Smi) -> dict[str, str]:
    need_all(gpus)
    if tool.error is not None:
        raise tool.error
    names = {int(row["index"]): row["uuid"] for row in tool.rows}
    links = {}
    for (first, second), connection in smi.topology().items():
        if first not in names or second not in names:
            raise Unparsable("nvidia-smi topo -m: GPU%d or GPU%d is not among the GPUs" % (first, second))
        links["+".join(sorted((names[first], names[second])))] = connection
    if len(links) != len(names) * (len(names) - 1) // 2:
        raise Unparsable("nvidia-smi topo -m: %d pairs of %d GPUs" % (len(links), len(names)))
    return links


def tell_processes(observation: Observation, gpus: Gpus, root: HostRoot, smi: Smi) -> None:
    """Fill `processes`: how many distinct processes of each program compute."""

    def look() -> dict[str, int]:
        need_all(gpus)
        counts: dict[str, int] = {}
        for name in _programs(observation, root, smi).values():
            counts[name] = counts.get(name, 0) + 1
        return counts

    set_leaf(observation, observation.identity, ("processes",), look)


def _programs(observation: Observation, root: HostRoot, smi: Smi) -> dict[str, str]:
    """Give the program's file name by process id. Raises Unparsable for a process without a name."""
    programs: dict[str, str] = {}
    for row in smi.processes():
        pid, name = row["pid"], row["process_name"]
        if name.startswith("[") or name in ("", "-"):
            if root.exists("/proc/%s" % pid):
                raise Unparsable("nvidia-smi: process %s: no name told (%s)" % (pid, name or "empty"))
            observation.notes.append("process %s ended while it was looked at" % pid)
            continue
        programs[pid] = name.rstrip("/").rpartition("/")[2]
    return programs
