# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL's own log lines tell: the devices it enumerated and the network it uses.

This module util is private to the collectors. Frameworks prefix these lines and
logs join them, so that they are found wherever they stand. At its usual log
level NCCL writes none of them, which says nothing about what it does.
"""

from __future__ import annotations

import re
import typing as t

from ._observation import Incomparable, LookError

_RECORD = "NCCL INFO "
_DEVICES = re.compile(r"NET/IB ?: Using(?= |$)")
_NO_DEVICE = "NET/IB : No device found"
_DEVICE = re.compile(r"\[[0-9]+\] ?([A-Za-z0-9][A-Za-z0-9_.-]*?)(?:_dma)?:([0-9]+)(?::[0-9-]*)*/(?:RoCE|IB)\b")
_OUT_OF_BAND = re.compile(r"; OOB ([^\s:<>]+):")
_BOOTSTRAP = re.compile(r"Bootstrap ?: Using (?:\[[0-9]+\])?([^\s:<>]+):")
_NETWORK = re.compile(r"Using network (\S+)")
_ASSIGNED = re.compile(r"Assigned NET plugin (\S+) to comm")


def nccl_evidence(lines: t.Iterable[str]) -> tuple[dict[str, t.Any], dict[str, LookError]]:
    """Give `devices`, `network`, `out_of_band` as far as NCCL told them, and why it did not for the others.

    The key "" of the failures stands for all three. Devices are `name:port`, in
    NCCL's order; rail, plane and the suffix of the direct data path are left off.
    """
    records = [record for line in lines if _RECORD in line for record in line.split(_RECORD)[1:]]
    if not records:
        return {}, {"": Incomparable("NCCL logged nothing at its log level; that is not 'socket'")}
    network = _network(records)
    told: dict[str, list[t.Any]] = {
        "devices": _devices(records),
        "network": network,
        "out_of_band": _first(_OUT_OF_BAND, records) or _first(_BOOTSTRAP, records),
    }
    values: dict[str, t.Any] = {}
    failures: dict[str, LookError] = {}
    for name, found in told.items():
        if len(found) == 1:
            values[name] = found[0]
        elif found:
            failures[name] = Incomparable("NCCL logged more than one: %s" % "; ".join(str(item) for item in found))
        elif not (name == "devices" and network and all(item == "Socket" for item in network)):
            failures[name] = Incomparable("NCCL logged no line that tells it")
    return values, failures


def _devices(records: list[str]) -> list[list[str]]:
    found: list[list[str]] = []
    for record in records:
        start = _DEVICES.search(record)
        if start is None and _NO_DEVICE not in record:
            continue
        listed = record[start.end() :].partition("; OOB")[0] if start else ""
        names = list(dict.fromkeys("%s:%s" % item.groups() for item in _DEVICE.finditer(listed)))
        if names not in found:
            found.append(names)
    return found


def _network(records: list[str]) -> list[str]:
    return _first(_NETWORK, records) or _first(_ASSIGNED, records)


def _first(pattern: t.Pattern[str], records: list[str]) -> list[str]:
    """List the different values of the pattern's group, in order."""
    return list(dict.fromkeys(match.group(1) for record in records for match in pattern.finditer(record)))
