# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a look at the GPUs: which there are, how they are linked, how they run, who uses them.

This module util is private to the collectors. The driver's own files come
first; what only nvidia-smi can tell gets a fault of its own when it can not.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ._nvidia import FOLDER, Information, normal_bus, number, parse_information, value
from ._observation import Absent, Incomparable, LookError, NoTool, Observation, Unparsable
from ._root import HostRoot
from ._segments import within
from ._smi import Row, Smi

T = t.TypeVar("T")


@dataclasses.dataclass
class Tool:
    """What nvidia-smi said of the GPUs: rows, words besides, or the failure in place of both."""

    rows: list[Row]
    words: str
    error: t.Optional[LookError]


@dataclasses.dataclass
class Driver:
    """What the driver's files say of the GPUs, and which of them could not be read; None where there are no files."""

    gpus: t.Optional[list[Information]]
    errors: list[LookError]


def ask_tool(smi: Smi) -> Tool:
    """Ask nvidia-smi for the GPUs; its failure is part of the answer."""
    try:
        rows, words = smi.gpus()
    except LookError as error:
        return Tool([], "", error)
    return Tool(rows, words, None)


def read_driver(root: HostRoot) -> Driver:
    """Read the driver's files about GPUs. Raises NotAttempted in a lane without /proc."""
    try:
        names = root.listdir(FOLDER + "/gpus")
    except Absent:
        return Driver([] if root.exists(FOLDER) else None, [])
    driver = Driver([], [])
    for name in names:
        path = "%s/gpus/%s/information" % (FOLDER, name)
        try:
            text = root.read(path).decode("utf-8", "replace")
            if not text.strip():
                raise Unparsable("%s: is empty" % path)
            t.cast("list[Information]", driver.gpus).append(parse_information(text, name))
        except LookError as error:
            driver.errors.append(error)
    return driver


def tell_gpus(observation: Observation, driver: Driver, tool: Tool, smi: Smi) -> list[str]:
    """Fill `uuids` and `gpus`; give the UUIDs that are known.

    Raises the failure of the look where no GPU is seen at all.
    """
    gpus = _known_gpus(observation, driver, tool)
    if not gpus and driver.gpus is None:
        gpus = _listed_gpus(tool, smi)
    if not gpus and not driver.errors and "uuids" not in observation.faults:
        raise tool.error if tool.error and not isinstance(tool.error, NoTool) else Absent("the driver sees no GPU")
    observation.identity["gpus"] = gpus
    shown = sorted(row["uuid"] for row in tool.rows)
    if driver.errors:
        observation.fault("uuids", driver.errors[0])
    elif not tool.error and shown != sorted(gpus):
        why = "the driver shows %s, nvidia-smi shows %s" % (_list(sorted(gpus)), _list(shown))
        observation.fault("uuids", Unparsable(why + (" (%s)" % tool.words if tool.words else "")))
    if "uuids" not in observation.faults:
        observation.identity["uuids"] = sorted(gpus)
    return sorted(gpus)


def _known_gpus(observation: Observation, driver: Driver, tool: Tool) -> dict[str, dict[str, str]]:
    """Gather GPUs by UUID from the driver's files, or from nvidia-smi where there are none."""
    rows = {_bus_or_none(row["pci.bus_id"]): row for row in tool.rows}
    if driver.gpus is None:
        return {row["uuid"]: _described(row["name"], bus or "") for bus, row in rows.items()}
    gpus: dict[str, dict[str, str]] = {}
    for gpu in driver.gpus:
        row = rows.get(gpu.bus)
        if gpu.excluded:
            observation.notes.append("%s: left out: the driver excludes this GPU" % gpu.bus)
            continue
        uuid = gpu.uuid
        if not uuid and row is not None:
            uuid = row["uuid"]
            observation.notes.append("%s: the driver's file shows no UUID yet; nvidia-smi told it" % gpu.bus)
        if not uuid:
            observation.fault("uuids", Unparsable("%s: GPU is not initialised: the driver shows no UUID" % gpu.bus))
            continue
        gpus[uuid] = _described(gpu.name or (row["name"] if row else ""), gpu.bus, gpu.video_bios)
    return gpus


def _described(name: str, bus: str, video_bios: str = "") -> dict[str, str]:
    facts = {"name": name, "bus": bus, "video_bios": video_bios}
    return {key: text for key, text in facts.items() if text}


def _listed_gpus(tool: Tool, smi: Smi) -> dict[str, dict[str, str]]:
    """Fall back to the plain listing. Raises the failure of the look."""
    if isinstance(tool.error, NoTool):
        raise NoTool("no NVIDIA driver to ask: no %s, and %s" % (FOLDER, tool.error.why))
    try:
        return {uuid: {"name": name} for uuid, name in smi.listing().items()}
    except LookError as error:
        raise tool.error or error from None


def _bus_or_none(text: str) -> t.Optional[str]:
    try:
        return normal_bus(text)
    except Unparsable:
        return None


def _list(items: list[str]) -> str:
    return ", ".join(items) or "none"


# -- how they run ----------------------------------------------------------------------
def tell_running(observation: Observation, uuids: list[str], tool: Tool, smi: Smi, samples: int) -> None:
    """Fill persistence, clocks and temperatures, which only nvidia-smi can tell."""
    error = tool.error or (None if uuids else Unparsable("no GPU whose UUID is known"))
    if error is not None:
        for path in ("persistence", "persistence_modes", "clocks", "temperature_c"):
            observation.fault(path, error)
        return
    modes = _cells(observation, "persistence", uuids, tool, lambda row: value(row["persistence_mode"], "persistence"))
    observation.identity["persistence"] = modes
    lacking = [uuid for uuid in uuids if uuid not in modes]
    if lacking:
        why = "%s: its persistence mode is not known" % lacking[0]
        observation.fault("persistence_modes", Incomparable(why))
    else:
        observation.identity["persistence_modes"] = sorted(set(modes.values()))
    observation.state["temperature_c"] = _cells(
        observation, "temperature_c", uuids, tool, lambda row: number(row["temperature.gpu"], "C", "temperature")
    )
    _tell_clocks(observation, uuids, [tool.rows], smi, samples)


def _cells(
    observation: Observation, area: str, uuids: list[str], tool: Tool, read: t.Callable[[Row], T]
) -> dict[str, T]:
    """Read one cell of each GPU; what can not be read is a fault of that GPU."""
    rows = {row["uuid"]: row for row in tool.rows}
    found: dict[str, T] = {}
    for uuid in uuids:
        try:
            if uuid not in rows:
                raise Unparsable("%s: not told by nvidia-smi: %s" % (uuid, tool.words or "no word why"))
            found[uuid] = read(rows[uuid])
        except LookError as error:
            observation.fault(within(area, uuid), error)
    return found


def _tell_clocks(observation: Observation, uuids: list[str], rounds: list[list[Row]], smi: Smi, samples: int) -> None:
    """Fill the clocks; the highest one is known only when every sample of every GPU is."""
    taken: dict[str, list[int]] = {uuid: [] for uuid in uuids}
    try:
        rounds.extend(smi.more_samples(samples - 1))
        for rows in rounds:
            clocks = {row["uuid"]: row["clocks.sm"] for row in rows}
            for uuid in uuids:
                if uuid not in clocks:
                    raise Unparsable("%s: not told by nvidia-smi" % uuid)
                taken[uuid].append(number(clocks[uuid], "MHz", "SM clock of %s" % uuid))
        observation.identity["clocks"] = {"sm_mhz": max(max(values) for values in taken.values())}
    except LookError as error:
        observation.fault("clocks.sm_mhz", error)
    observation.state["clocks"] = {"samples": {uuid: values for uuid, values in taken.items() if values}}


# -- links and users ----------------------------------------------------------------------
def tell_links(observation: Observation, uuids: list[str], tool: Tool, smi: Smi) -> None:
    """Fill `links`, by pairs of UUIDs; a single GPU has none."""
    if len(uuids) < 2 and "uuids" not in observation.faults:
        return
    try:
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
        observation.identity["links"] = links
    except LookError as error:
        observation.fault("links", error)


def tell_processes(observation: Observation, root: HostRoot, smi: Smi) -> None:
    """Fill `processes`: how many distinct processes of each program compute."""
    try:
        programs: dict[str, str] = {}
        for row in smi.processes():
            name = _program(root, row)
            if name:
                programs[row["pid"]] = name
            else:
                observation.notes.append("process %s ended while it was looked at" % row["pid"])
        counts: dict[str, int] = {}
        for name in programs.values():
            counts[name] = counts.get(name, 0) + 1
        observation.identity["processes"] = counts
    except LookError as error:
        observation.fault("processes", error)


def _program(root: HostRoot, row: Row) -> str:
    """Give the file name of a process' program, "" for one that is gone. Raises Unparsable for one without a name."""
    name = row["process_name"]
    if name.startswith("[") or name in ("", "-"):
        if not root.exists("/proc/%s" % row["pid"]):
            return ""
        raise Unparsable("nvidia-smi: process %s: no name told (%s)" % (row["pid"], name or "empty"))
    return name.rstrip("/").rpartition("/")[2]
