# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading one file, with everything on its way that could have led elsewhere.

This module util is private to the collectors. Whoever compares when a file
changed with when a process started must know of more than the file: a link that
was turned, or a folder that was renamed into place, gives other bytes under the
same path without touching them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat as stat_module
import typing as t

from ._observation import Absent, Unparsable, Unstable, from_oserror
from ._root import DIGEST_LIMIT, READ_LIMIT, HostRoot, changed_at

T = t.TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Way:
    """Where a path leads, over which links, and when one of the stations last moved (seconds since the epoch)."""

    resolved: str
    links: tuple[tuple[str, int, int], ...]
    changed_at: float


@dataclasses.dataclass(frozen=True)
class Reading:
    """A file that was read in one generation.

    `changed_at` is when the file, or anything on the way to it, last moved;
    `written_at` is when its content was written, which a touched link or mode
    does not make younger. Both are seconds since the epoch. `data` is empty for
    a file that was only hashed.
    """

    data: bytes
    sha256: str
    size: int
    mode: int
    resolved: str
    changed_at: float
    written_at: float


def way(root: HostRoot, path: str) -> Way:
    """Follow `path`. Raises a LookError.

    Of a folder only a change of the folder itself counts (renamed, other owner
    or mode: its inode is then younger than its content), not that names came or
    went in it.
    """
    passed: list[str] = []
    resolved = root.resolve(path, passed=passed)
    links = []
    latest = 0.0
    for here in passed:
        try:
            info = os.lstat(root.prefix + here)
        except OSError as error:
            raise from_oserror(error, here) from None
        if stat_module.S_ISLNK(info.st_mode):
            links.append((here, info.st_ino, info.st_ctime_ns))
            latest = max(latest, changed_at(info))
        elif not stat_module.S_ISDIR(info.st_mode) or info.st_ctime_ns > info.st_mtime_ns:
            latest = max(latest, changed_at(info))
    return Way(resolved, tuple(links), latest)


def generation(info: os.stat_result) -> tuple[int, ...]:
    """Give what a thing cannot change without changing."""
    return (info.st_mode, info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def written_at(info: os.stat_result) -> float:
    """When the content was written. A time set into the future is bounded by the kernel's own."""
    return min(info.st_mtime_ns, info.st_ctime_ns) / 1e9


def steady(root: HostRoot, path: str, look: t.Callable[[], T]) -> tuple[T, Way, os.stat_result]:
    """Look at `path` with its way and its stat taken before and after. Raises Unstable when one moved."""
    info = root.stat(path)
    try:
        before = way(root, path)
        result = look()
        after = way(root, path)
        again = root.stat(path)
    except Absent:
        # It was there a moment ago: that it is gone now is no evidence of absence.
        raise Unstable("%s: went away while it was read" % path) from None
    if (after.resolved, after.links) != (before.resolved, before.links):
        raise Unstable("%s: led elsewhere while it was read" % path)
    if generation(again) != generation(info):
        raise Unstable("%s: changed while it was read" % path)
    return result, before, info


def read_whole(root: HostRoot, path: str, limit: int = READ_LIMIT) -> Reading:
    """Read a file whole. Raises a LookError; an empty file is Unparsable."""
    data, taken, info = steady(root, path, lambda: root.read(path, limit))
    if not data:
        raise Unparsable("%s: is empty" % path)
    return _reading(data, hashlib.sha256(data).hexdigest(), len(data), taken, info)


def hash_whole(root: HostRoot, path: str, limit: int = DIGEST_LIMIT) -> Reading:
    """Hash a file without keeping it. Raises a LookError; an empty file is Unparsable."""
    fact, taken, info = steady(root, path, lambda: root.digest(path, limit))
    if fact.sha256 == hashlib.sha256().hexdigest():
        raise Unparsable("%s: is empty" % path)
    return _reading(b"", fact.sha256, fact.size, taken, info)


def _reading(data: bytes, sha256: str, size: int, taken: Way, info: os.stat_result) -> Reading:
    return Reading(
        data=data,
        sha256=sha256,
        size=size,
        mode=stat_module.S_IMODE(info.st_mode),
        resolved=taken.resolved,
        changed_at=max(changed_at(info), taken.changed_at),
        written_at=written_at(info),
    )
