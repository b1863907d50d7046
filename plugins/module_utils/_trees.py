# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
r"""A folder with everything in it, in one generation.

This module util is private to the collectors. A tree is listed, hashed, and
listed again; when a name or a generation differs it is unstable. Links are
entries by their target and are not followed, special files are faults, sizes
and numbers are bounded.

The digest of a tree is the sha256 of what `sha256sum` would print of its files,
in the order of the bytes of their names. For a link, `link:` and the sha256 of
its target's bytes stand in place of the file's digest. So, of a tree without
links, anyone can have it:

    cd TREE; find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat as stat_module
import typing as t

from ._names import Patterns, shown
from ._observation import Absent, LookError, Unparsable, Unstable, from_oserror
from ._reading import generation
from ._root import DIGEST_LIMIT, HostRoot, changed_at
from ._sums import listing_line

ENTRY_LIMIT = 20000
BYTES_LIMIT = 1 << 30
_NOTHING = Patterns(())


class TooMany(Unparsable):
    """The tree has more names than a look reads."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One name in a tree. `target` is a link's, as the operating system gives it; None for a file."""

    generation: tuple[int, ...]
    size: int
    changed_at: float
    target: str | None


@dataclasses.dataclass
class Walk:
    """The names of a tree, by relative path as the operating system gives it.

    `folders` are those whose own change counts: of a folder that holds a name
    left out, nobody can say whether it changed for that name's sake.
    `left_out` counts names left out, without what lies below them.
    """

    entries: dict[str, Entry] = dataclasses.field(default_factory=dict)
    folders: dict[str, Entry] = dataclasses.field(default_factory=dict)
    faults: dict[str, LookError] = dataclasses.field(default_factory=dict)
    left_out: int = 0
    seen: int = 0


@dataclasses.dataclass(frozen=True)
class Tree:
    """A tree that was read. Names are shown names; `digest` is "" where a fault leaves it unknown."""

    entries: dict[str, str]
    faults: dict[str, LookError]
    digest: str
    bytes: int
    changed_at: float
    left_out: int


def walk(root: HostRoot, top: str, ignore: Patterns = _NOTHING, limit: int = ENTRY_LIMIT) -> Walk:
    """List everything below the folder `top`. Raises a LookError for the folder itself, or for too many entries."""
    info = root.stat(top)
    if not stat_module.S_ISDIR(info.st_mode):
        raise Unparsable("%s: is not a folder" % top)
    found = Walk()
    waiting = [""]
    while waiting:
        relative = waiting.pop()
        try:
            waiting.extend(_list_folder(root, top, relative, ignore, found, limit))
        except Absent:
            if not relative:
                raise
            # Gone since its parent was listed; the second listing tells whether that matters.
        except TooMany:
            raise
        except LookError as error:
            if not relative:
                raise
            found.faults[relative] = error
    return found


def _list_folder(root: HostRoot, top: str, relative: str, ignore: Patterns, found: Walk, limit: int) -> list[str]:
    """Add a folder's names to `found` and give the folders among them."""
    path = top + "/" + relative if relative else top
    before = root.lstat(path) if relative else root.stat(path)
    names = root.listdir(path, limit)
    real = root.real(path)
    found.seen += len(names)
    if found.seen > limit:
        raise TooMany(
            "%s: more than the %d names this look reads; leave some out, or name a folder below" % (top, limit)
        )
    folders = []
    complete = True
    for name in names:
        below = relative + "/" + name if relative else name
        if ignore.fits(shown(below)):
            found.left_out += 1
            complete = False
            continue
        try:
            kind = _take(real + "/" + name, path + "/" + name, below, found)
        except Absent:
            continue
        except LookError as error:
            found.faults[below] = error
            continue
        if kind == "folder":
            folders.append(below)
    if complete:
        found.folders[relative] = _entry(before, None)
    return folders


def _take(real: str, path: str, relative: str, found: Walk) -> str:
    """Add one name to `found`. Raises a LookError for a thing that has no bytes to compare."""
    try:
        info = os.lstat(real)
        if stat_module.S_ISLNK(info.st_mode):
            found.entries[relative] = _entry(info, os.readlink(real))
            return "link"
    except OSError as error:
        raise from_oserror(error, path) from None
    if stat_module.S_ISDIR(info.st_mode):
        return "folder"
    if not stat_module.S_ISREG(info.st_mode):
        raise Unparsable("%s: is %s; its bytes cannot be compared" % (path, _special(info.st_mode)))
    found.entries[relative] = _entry(info, None)
    return "file"


def _entry(info: os.stat_result, target: str | None) -> Entry:
    return Entry(generation(info), info.st_size, changed_at(info), target)


def _special(mode: int) -> str:
    if stat_module.S_ISFIFO(mode):
        return "a FIFO"
    if stat_module.S_ISSOCK(mode):
        return "a socket"
    return "a device"


def hash_entries(
    root: HostRoot, top: str, entries: dict[str, Entry], limit: int = BYTES_LIMIT
) -> tuple[dict[str, str], dict[str, LookError]]:
    """Give each entry's sha256, or `link:TARGET` with the target as shown; and what could not be read.

    Raises Unparsable for more than `limit` bytes in all, before anything is read.
    """
    total = sum(entry.size for entry in entries.values() if entry.target is None)
    if total > limit:
        raise Unparsable(
            "%s: %d bytes, more than the %d this look hashes; leave large files out, or name the files that count"
            % (top, total, limit)
        )
    values: dict[str, str] = {}
    faults: dict[str, LookError] = {}
    for relative, entry in entries.items():
        if entry.target is not None:
            values[relative] = "link:" + shown(entry.target)
            continue
        try:
            values[relative] = root.digest(top + "/" + relative, DIGEST_LIMIT).sha256
        except LookError as error:
            faults[relative] = error
    return values, faults


def digest_of(entries: dict[str, Entry], values: dict[str, str]) -> str:
    """Give the digest of a tree whose entries have these values."""
    hasher = hashlib.sha256()
    for raw, relative in sorted((os.fsencode(relative), relative) for relative in values):
        target = entries[relative].target
        value = values[relative] if target is None else "link:" + hashlib.sha256(os.fsencode(target)).hexdigest()
        hasher.update(listing_line(value, raw))
    return hasher.hexdigest()


def moved(before: Walk, after: Walk) -> str:
    """Say which name differs between two listings, or "" where none does."""
    for mine, other in ((before.entries, after.entries), (before.folders, after.folders)):
        for name in sorted(set(mine) | set(other)):
            if mine.get(name) != other.get(name):
                return shown(name) or "the folder itself"
    for name in sorted(set(before.faults) ^ set(after.faults)):
        return shown(name)
    return ""


def read_tree(root: HostRoot, top: str, ignore: t.Iterable[str] = ()) -> Tree:
    """Read a tree whole. Raises a LookError: Unparsable when it is empty or too large, Unstable when it moved."""
    patterns = Patterns(ignore)
    before = walk(root, top, patterns)
    values, faults = hash_entries(root, top, before.entries)
    name = moved(before, walk(root, top, patterns))
    if name:
        raise Unstable("%s: changed while it was read (%s)" % (top, name))
    faults.update(before.faults)
    if not values and not faults:
        raise Unparsable("%s: is empty%s" % (top, " but for what `ignore` leaves out" if before.left_out else ""))
    things = [*before.entries.values(), *before.folders.values()]
    return Tree(
        entries={shown(relative): values[relative] for relative in sorted(values, key=os.fsencode)},
        faults={shown(relative): error for relative, error in faults.items()},
        digest="" if faults else digest_of(before.entries, values),
        bytes=sum(entry.size for entry in before.entries.values() if entry.target is None),
        changed_at=max((thing.changed_at for thing in things), default=0.0),
        left_out=before.left_out,
    )
