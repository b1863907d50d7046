# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the NVIDIA driver says in /proc, and the formats that nvidia-smi prints.

This module util is private to the collectors. Parsing only; a cell that holds a
word of the tool in place of a value is raised as the failure it stands for.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Absent, Denied, Incomparable, LookError, NoTool, Unparsable
from ._tools import ToolAnswer

FOLDER = "/proc/driver/nvidia"
_UUID = re.compile(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BUS = re.compile(r"([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\.([0-7])")
_VERSION = re.compile(r"^NVRM version:.*?Kernel Module\b.*?\s(\d+(?:\.\d+)+)\s", re.MULTILINE)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LISTED = re.compile(r"GPU (\d+): (.*) \(UUID: ([^()\s]+)\)\s*")
_NOT_THERE = ("[n/a]", "n/a", "[not supported]", "not supported", "[function not found]", "", "-")
_DENIED = ("[insufficient permissions]", "[no permission]")
# Exit codes of nvidia-smi that mean that there is nothing to ask.
_CODES: dict[int, type[LookError]] = {4: Denied, 9: NoTool, 12: NoTool, 127: NoTool}


@dataclasses.dataclass(frozen=True)
class Information:
    """What the driver says of one GPU. `uuid` and `video_bios` are empty where it shows question marks."""

    bus: str
    uuid: str
    name: str
    video_bios: str
    excluded: bool


def parse_information(text: str, place: str) -> Information:
    """Parse `/proc/driver/nvidia/gpus/ADDRESS/information`; `place` names the GPU where the text does not."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            fields.setdefault(label.strip(), value.strip())
    uuid = fields.get("GPU UUID", "")
    bios = fields.get("Video BIOS", "")
    name = fields.get("Model", "")
    return Information(
        bus=normal_bus(fields.get("Bus Location") or place),
        uuid=normal_uuid(uuid) if is_uuid(uuid) else "",
        name="" if name == "Unknown" else name,
        video_bios="" if "?" in bios else bios,
        excluded=fields.get("GPU Excluded", fields.get("Blacklisted", "No")).lower() == "yes",
    )


def is_uuid(text: str) -> bool:
    """Say whether a text is a GPU's UUID (question marks and MIG devices are not)."""
    return _UUID.fullmatch(normal_uuid(text)) is not None


def normal_uuid(text: str) -> str:
    """Spell a GPU's UUID as the driver does: `GPU-` and small digits."""
    return text.lower().replace("gpu-", "GPU-", 1)


def normal_bus(text: str) -> str:
    """Spell a PCI address as the kernel does (`0000000F:01:00.0` is `000f:01:00.0`). Raises Unparsable."""
    match = _BUS.fullmatch(text.strip())
    if match is None:
        raise Unparsable("'%s' is not a PCI address" % text[:40])
    domain, bus, device, function = match.groups()
    return "%04x:%s:%s.%s" % (int(domain, 16), bus.lower(), device.lower(), function)


def parse_version(text: str) -> str:
    """Give the driver's version from `/proc/driver/nvidia/version`. Raises Unparsable."""
    match = _VERSION.search(text + "\n")
    if match is None:
        raise Unparsable("%s/version: tells no version" % FOLDER)
    return match.group(1)


# -- nvidia-smi ----------------------------------------------------------------------
def failure(answer: ToolAnswer, what: str) -> LookError:
    """Say an answer without data as the failure it is, in the tool's own words."""
    words = first_words(answer)
    kind = _CODES.get(answer.code, Unparsable)
    if "couldn't communicate with the NVIDIA driver" in words:
        kind = NoTool
    elif "No devices were found" in words:
        kind = Absent
    return kind("nvidia-smi: %s: ended with %d: %s" % (what, answer.code, words or "no word why"))


def first_words(answer: ToolAnswer) -> str:
    """Give the beginning of what the tool printed, in one line."""
    text = (answer.out[:2000] or answer.err[:2000]).decode("utf-8", "replace")
    return " ".join(text.split())[:300]


def parse_table(
    text: str, first: t.Sequence[str], last: t.Sequence[str], middle: str
) -> tuple[list[dict[str, str]], str]:
    """Parse CSV that nvidia-smi prints with its header: no quoting, columns by position.

    Columns are taken from both ends (`first`, `last`), what is left is `middle`: a
    name may hold commas. Gives the rows, and the lines that are none, in one line.
    Raises Unparsable when the header is not the one of these columns.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = len(first) + 1 + len(last)
    header = [cell.strip().partition(" [")[0] for cell in lines[0].split(",")] if lines else []
    if len(header) != wanted or header[0] not in _ALIASES.get(first[0], (first[0],)):
        raise Unparsable("nvidia-smi: not the table that was asked for: %s" % " ".join(lines)[:200])
    rows = []
    others = []
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) < wanted:
            others.append(line.strip())
            continue
        end = len(cells) - len(last)
        row = {name: cells[index] for index, name in enumerate(first)}
        row[middle] = ", ".join(cells[len(first) : end])
        row.update({name: cells[end + index] for index, name in enumerate(last)})
        rows.append(row)
    return rows, " ".join(others)[:300]


_ALIASES = {"uuid": ("uuid", "gpu_uuid"), "gpu_uuid": ("uuid", "gpu_uuid")}


def value(cell: str, what: str) -> str:
    """Give a cell's value. Raises what a cell without one stands for."""
    lowered = cell.strip().lower()
    if lowered in _DENIED:
        raise Denied("nvidia-smi: %s: %s" % (what, cell))
    if lowered in _NOT_THERE:
        raise Incomparable("nvidia-smi: %s: this GPU does not tell it (%s)" % (what, cell or "empty"))
    if lowered.startswith("[") or lowered == "err!" or "deprecated" in lowered:
        raise Unparsable("nvidia-smi: %s: %s" % (what, cell))
    return cell.strip()


def number(cell: str, unit: str, what: str) -> int:
    """Give a cell's whole number, its unit taken off. Raises what a cell without one stands for."""
    text = value(cell, what)
    match = re.fullmatch(r"(\d{1,9})(?: %s)?" % re.escape(unit), text, re.ASCII)
    if match is None:
        raise Unparsable("nvidia-smi: %s: '%s' is not a number of %s" % (what, text[:40], unit))
    return int(match.group(1))


def parse_listing(text: str) -> dict[str, str]:
    """Parse `nvidia-smi -L`: by UUID the product name, read from the right (names hold parentheses)."""
    found = {}
    for line in text.splitlines():
        match = _LISTED.fullmatch(line)
        if match is not None and is_uuid(match.group(3)):
            found[match.group(3)] = match.group(2)
    return found


def parse_topology(text: str) -> dict[tuple[int, int], str]:
    """Parse `nvidia-smi topo -m`: by pair of GPU numbers (lower first) their connection. Raises Unparsable."""
    lines = [_ANSI.sub("", line).rstrip("\n") for line in text.splitlines()]
    start = next((number for number, line in enumerate(lines) if re.match(r"\s+GPU\d+", line)), None)
    if start is None:
        raise Unparsable("nvidia-smi topo -m: no matrix: %s" % " ".join(text.split())[:200])
    columns = [cell.strip() for cell in lines[start].split("\t")]
    found: dict[tuple[int, int], str] = {}
    for line in lines[start + 1 :]:
        cells = [cell.strip() for cell in line.split("\t")]
        row = _gpu_number(cells[0])
        if row is None:
            continue
        for index, cell in enumerate(cells[1 : len(columns)], 1):
            column = _gpu_number(columns[index])
            if column is None or column == row:
                continue
            pair = (min(row, column), max(row, column))
            if not cell or found.setdefault(pair, cell) != cell:
                raise Unparsable("nvidia-smi topo -m: GPU%d and GPU%d: no one connection" % pair)
    return found


def _gpu_number(text: str) -> t.Optional[int]:
    match = re.fullmatch(r"GPU(\d{1,4})", text, re.ASCII)
    return int(match.group(1)) if match else None
