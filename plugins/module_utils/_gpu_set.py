# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which GPUs a machine has, by the driver's own files and by nvidia-smi.

This module util is private to the collectors. The set is told only where every
GPU of it is known and both sources agree; what is known of single GPUs stands
in any case.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ._nvidia import FOLDER, Information, normal_bus, parse_information
from ._observation import Absent, LookError, NoTool, Observation, Unparsable
from ._root import HostRoot
from ._segments import within
from ._smi import Row, Smi


@dataclasses.dataclass
class Tool:
    """What nvidia-smi said of the GPUs: rows, words besides, or the failure in place of both."""

    rows: list[Row]
    words: str
    error: t.Optional[LookError]


@dataclasses.dataclass
class Driver:
    """What the driver's files say of the GPUs, and the failure of each that can not be read, by its address."""

    gpus: list[Information]
    failed: dict[str, LookError]


@dataclasses.dataclass
class Gpus:
    """The UUIDs that are known from either source, sorted, and why they may not be all."""

    uuids: list[str]
    doubt: t.Optional[LookError]


def ask_tool(smi: Smi) -> Tool:
    """Ask nvidia-smi for the GPUs; its failure is part of the answer."""
    try:
        rows, words = smi.gpus()
    except LookError as error:
        return Tool([], "", error)
    return Tool(rows, words, None)


def read_driver(root: HostRoot) -> t.Optional[Driver]:
    """Read the driver's files about GPUs, None where it has none. Raises NotAttempted in a lane without /proc."""
    try:
        names = root.listdir(FOLDER + "/gpus")
    except Absent:
        return Driver([], {}) if root.exists(FOLDER) else None
    driver = Driver([], {})
    for name in names:
        path = "%s/gpus/%s/information" % (FOLDER, name)
        try:
            text = root.read(path).decode("utf-8", "replace")
            if not text.strip():
                raise Unparsable("%s: is empty" % path)
            driver.gpus.append(parse_information(text, name))
        except LookError as error:
            driver.failed[name] = error
    return driver


def tell_gpus(observation: Observation, driver: t.Optional[Driver], tool: Tool, smi: Smi) -> Gpus:
    """Fill `uuids` and `gpus`. Raises the failure of the look where no GPU is seen at all."""
    if driver is None:
        gpus = _gpus_of_tool(tool, smi)
        doubt: t.Optional[LookError] = Unparsable("nvidia-smi: GPUs: %s" % tool.words) if tool.words else None
    else:
        gpus, doubt = _gpus_of_driver(observation, driver, tool)
    known = sorted({*gpus, *(row["uuid"] for row in tool.rows)})
    if not known and doubt is None:
        raise tool.error if tool.error and not isinstance(tool.error, NoTool) else Absent("the driver sees no GPU")
    observation.identity["gpus"] = gpus
    if doubt is None:
        observation.identity["uuids"] = known
    else:
        observation.fault("uuids", doubt)
    return Gpus(known, doubt)


def _gpus_of_driver(
    observation: Observation, driver: Driver, tool: Tool
) -> tuple[dict[str, dict[str, str]], t.Optional[LookError]]:
    """Describe by UUID what the driver shows; give with it why these may not be all."""
    gpus: dict[str, dict[str, str]] = {}
    failed = dict(driver.failed)
    for gpu in driver.gpus:
        row = next((row for row in tool.rows if _bus_or_none(row["pci.bus_id"]) == gpu.bus), None)
        if gpu.excluded:
            observation.notes.append("%s: left out: the driver excludes this GPU" % gpu.bus)
            continue
        uuid = gpu.uuid
        if not uuid and row is not None:
            uuid = row["uuid"]
            observation.notes.append("%s: the driver's file shows no UUID yet; nvidia-smi told it" % gpu.bus)
        if uuid:
            gpus[uuid] = _described(gpu.name or (row["name"] if row else ""), gpu.bus, gpu.video_bios)
        else:
            failed[gpu.bus] = Unparsable("%s: GPU is not initialised: the driver shows no UUID" % gpu.bus)
    for bus, error in failed.items():
        observation.fault(within("gpus", bus), error)
    if failed:
        return gpus, next(iter(failed.values()))
    shown = sorted(row["uuid"] for row in tool.rows)
    if isinstance(tool.error, Absent) and gpus:
        # Two sources that contradict each other: no evidence that anything is absent.
        tool.error = Unparsable("the driver shows %s; %s" % (_list(sorted(gpus)), tool.error.why))
        return gpus, tool.error
    if tool.error is None and shown != sorted(gpus):
        why = "the driver shows %s, nvidia-smi shows %s" % (_list(sorted(gpus)), _list(shown))
        doubt = Unparsable(why + (" (%s)" % tool.words if tool.words else ""))
        for uuid in sorted(set(shown) - set(gpus)):
            observation.fault(within("gpus", uuid), doubt)
        return gpus, doubt
    return gpus, None


def _gpus_of_tool(tool: Tool, smi: Smi) -> dict[str, dict[str, str]]:
    """Describe by UUID what nvidia-smi shows, by its plain listing where the query fails. Raises its failure."""
    if tool.error is None:
        return {row["uuid"]: _described(row["name"], _bus_or_none(row["pci.bus_id"]) or "") for row in tool.rows}
    if isinstance(tool.error, NoTool):
        raise NoTool("no NVIDIA driver to ask: no %s, and %s" % (FOLDER, tool.error.why))
    try:
        return {uuid: {"name": name} for uuid, name in smi.listing().items()}
    except LookError:
        raise tool.error from None


def _described(name: str, bus: str, video_bios: str = "") -> dict[str, str]:
    facts = {"name": name, "bus": bus, "video_bios": video_bios}
    return {key: text for key, text in facts.items() if text}


def _bus_or_none(text: str) -> t.Optional[str]:
    try:
        return normal_bus(text)
    except Unparsable:
        return None


def _list(items: list[str]) -> str:
    return ", ".join(items) or "none"
