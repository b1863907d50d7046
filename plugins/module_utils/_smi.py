# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking nvidia-smi, as little as possible.

This module util is private to the collectors. A driver that hangs once is not
asked again: every further client of it would hang as well.
"""

from __future__ import annotations

import time
import typing as t

from ._nvidia import failure, first_words, is_uuid, normal_uuid, parse_listing, parse_table, parse_topology
from ._observation import LookError, NoTool, Timeout, Unparsable
from ._root import HostRoot
from ._tools import ToolAnswer, ask

FIELDS = ("index", "uuid", "pci.bus_id", "name", "persistence_mode", "clocks.sm", "temperature.gpu")
SAMPLE_GAP_S = 0.15

Row = t.Dict[str, str]


class Smi:
    """One conversation with nvidia-smi on one host."""

    def __init__(self, root: HostRoot) -> None:
        self._root = root
        self._over: t.Optional[LookError] = None

    def _ask(self, *arguments: str) -> ToolAnswer:
        if self._over is not None:
            raise self._over
        try:
            return ask(self._root, ["nvidia-smi", *arguments])
        except (Timeout, NoTool) as error:
            self._over = error
            raise

    def gpus(self) -> tuple[list[Row], str]:
        """Give a row for each GPU, and what the tool said besides. Raises a LookError when there is no row."""
        answer = self._ask("--query-gpu=" + ",".join(FIELDS), "--format=csv")
        try:
            rows, words = parse_table(answer.out.decode("utf-8", "replace"), FIELDS[:3], FIELDS[4:], FIELDS[3])
        except Unparsable:
            raise failure(answer, "GPUs") from None
        if not rows:
            raise failure(answer, "GPUs")
        for row in rows:
            if not is_uuid(row["uuid"]) or not row["index"].isdecimal():
                raise Unparsable("nvidia-smi: GPUs: a row without index and UUID: %s" % first_words(answer))
            row["uuid"] = normal_uuid(row["uuid"])
        if answer.code != 0 and not words:
            words = "ended with %d" % answer.code
        return rows, words

    def more_samples(self, count: int) -> t.Iterator[list[Row]]:
        """Give the rows `count` more times, some time apart (not in a replica: its answer is always the same)."""
        for _ in range(count):
            if not self._root.recorded:
                time.sleep(SAMPLE_GAP_S)
            yield self.gpus()[0]

    def listing(self) -> dict[str, str]:
        """Give the product name by UUID, where nothing else told the GPUs. Raises a LookError."""
        answer = self._ask("-L")
        found = parse_listing(answer.out.decode("utf-8", "replace"))
        if not found or answer.code != 0:
            raise failure(answer, "-L")
        return found

    def processes(self) -> list[Row]:
        """Give a row for each compute process on each GPU. Raises a LookError."""
        answer = self._ask("--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv")
        if answer.code != 0:
            raise failure(answer, "processes")
        rows, words = parse_table(answer.out.decode("utf-8", "replace"), ("gpu_uuid", "pid"), (), "process_name")
        if words and not words.lower().startswith("no running"):
            raise failure(answer, "processes")
        for row in rows:
            if not row["pid"].isdecimal():
                raise Unparsable("nvidia-smi: processes: '%s' is not a process id" % row["pid"][:40])
        return rows

    def topology(self) -> dict[tuple[int, int], str]:
        """Give the connection of each pair of GPU numbers. Raises a LookError."""
        answer = self._ask("topo", "-m")
        if answer.code != 0:
            raise failure(answer, "topo -m")
        return parse_topology(answer.out.decode("utf-8", "replace"))
