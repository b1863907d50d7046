# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a process has mapped, from its `/proc/PID/maps`.

This module util is private to the collectors.
"""

from __future__ import annotations

import dataclasses
import re

from ._observation import Unparsable
from ._proc import text

MAPS_LIMIT = 64 << 20
DELETED = " (deleted)"

_LINE = re.compile(
    rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) [r-][w-][x-][ps] [0-9a-f]+ ([0-9a-f]+:[0-9a-f]+) ([0-9]{1,20})(?: +(.*))?"
)
_SHARED_OBJECT = re.compile(r".+\.so(?:\.[^/]*)?", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Mapped:
    """A mapped file: its path as the kernel tells it (with " (deleted)", if it does), its file system and inode.

    `area` is the first of its areas as `/proc/PID/map_files` names it.
    """

    path: str
    device: str
    inode: int
    area: str

    @property
    def says_deleted(self) -> bool:
        """Whether the kernel marks it as deleted; a file's own name can end in the same words."""
        return self.path.endswith(DELETED)

    @property
    def bare_path(self) -> str:
        """The path without the kernel's mark."""
        return self.path[: -len(DELETED)] if self.says_deleted else self.path


def parse_maps(data: bytes, what: str) -> list[Mapped]:
    """List the mapped files, each once, in the order of their first area. Raises Unparsable naming the line."""
    found: dict[tuple[str, str, int], Mapped] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        fields = _LINE.fullmatch(line)
        if fields is None:
            raise Unparsable("%s: line %d is not in the kernel's format" % (what, number))
        path = text((fields.group(5) or b"").replace(b"\\012", b"\n"))
        if not path.startswith("/"):
            continue
        area = "%x-%x" % (int(fields.group(1), 16), int(fields.group(2), 16))
        mapped = Mapped(path, fields.group(3).decode("ascii"), int(fields.group(4)), area)
        found.setdefault((mapped.path, mapped.device, mapped.inode), mapped)
    return list(found.values())


def is_shared_object(path: str) -> bool:
    """Say whether a path is that of a library, by its name."""
    return _SHARED_OBJECT.fullmatch(path.rsplit("/", 1)[-1]) is not None


def has_stem(path: str, stem: str) -> bool:
    """Say whether a library's file name is the stem, or the stem with `.`, `-` or `_` and more after it."""
    name = path.rsplit("/", 1)[-1]
    return name == stem or name.startswith((stem + ".", stem + "-", stem + "_"))
