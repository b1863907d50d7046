# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at whole folders: a tree by itself, and a folder against a list of its sums.

This module util is private to the collectors.
"""

from __future__ import annotations

import os
import posixpath
import typing as t

from . import _sums
from ._names import leaf, shown, shown_bytes
from ._observation import Absent, Incomparable, LookError, Observation, Unparsable, Unstable
from ._reading import Reading, read_whole, way
from ._root import DIGEST_LIMIT, HostRoot
from ._shadows import shadows
from ._trees import BYTES_LIMIT, Walk, moved, read_tree, walk

FAULT_LIMIT = 50


def look_tree(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a folder with everything in it, and at what lies beside it."""
    path = params["path"]
    ignore = params.get("ignore") or []
    observation = Observation("file", "tree read")
    taken = way(root, path)
    tree = read_tree(root, path, ignore)
    observation.identity = {"entries": tree.entries, "resolved": shown(taken.resolved)}
    if tree.faults:
        spread_faults(observation, "entries", tree.faults)
        first = sorted(tree.faults)[0]
        why = "%d of its entries could not be read, first %s" % (len(tree.faults), tree.faults[first].why)
        for area in ("digest", "count", "bytes"):
            observation.fault(area, Unparsable("%s: %s" % (path, why)))
    else:
        observation.identity.update(digest=tree.digest, count=len(tree.entries), bytes=tree.bytes)
    try:
        observation.identity["shadows"] = shadows(root, path, taken.resolved)
    except LookError as error:
        observation.fault("shadows", error)
    if way(root, path).resolved != taken.resolved:
        raise Unstable("%s: led elsewhere while it was read" % path)
    observation.state["changed_at"] = max(tree.changed_at, taken.changed_at)
    observation.scope["ignore"] = sorted(ignore)
    if tree.left_out:
        observation.notes.append("%d names are left out by `ignore`" % tree.left_out)
    return observation


def spread_faults(observation: Observation, area: str, faults: t.Mapping[str, LookError]) -> None:
    """Record faults of single names below `area`; very many of them are one fault of the area."""
    if len(faults) > FAULT_LIMIT:
        first = sorted(faults)[0]
        observation.fault(area, Unparsable("%d could not be read, first %s" % (len(faults), faults[first].why)))
        return
    for name in sorted(faults):
        observation.fault(leaf(area, name), faults[name])


def look_sums(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a folder against a list that lies on the host.

    A list that is not there is absence as far as the list goes; what the folder
    lacks or has too much can then not be told.
    """
    path, under = params["list"], params["under"]
    observation = Observation("file", "folder hashed against a list")
    try:
        reading = read_whole(root, path)
    except Absent:
        why = Incomparable("%s: not there, so that %s cannot be compared with it" % (path, under))
        for area in ("matching", "missing", "extra", "differing"):
            observation.fault(area, why)
        return observation
    listed = _sums.parse(reading.data, path)
    observation.identity = {
        "count": len(listed),
        "listed": {shown_bytes(name): digest for name, digest in sorted(listed.items())},
    }
    _compare(observation, root, under, listed, reading)
    if _digest_again(root, path) != reading.sha256:
        raise Unstable("%s: changed while the folder was read" % path)
    return observation


def _digest_again(root: HostRoot, path: str) -> str:
    try:
        return read_whole(root, path).sha256
    except Absent:
        return ""


def _compare(observation: Observation, root: HostRoot, under: str, listed: dict[bytes, str], reading: Reading) -> None:
    """Add what the folder holds to the observation of a list."""
    try:
        taken = way(root, under)
        before = walk(root, under)
    except Absent:
        names = {shown_bytes(name): digest for name, digest in sorted(listed.items())}
        observation.identity.update(matching=0, missing=names, extra={}, differing={})
        observation.notes.append("%s is not there: everything listed is missing" % under)
        observation.state["changed_at"] = reading.changed_at
        return
    hasher = _Hasher(root, under)
    found = _listed_files(observation, hasher, listed)
    extra = _extra_files(observation, hasher, before, set(listed), _inside(taken.resolved, reading.resolved))
    name = moved(before, walk(root, under))
    if name:
        raise Unstable("%s: changed while it was read (%s)" % (under, name))
    for folder, error in before.faults.items():
        observation.fault(leaf("extra", shown(folder)), error)
    observation.identity.update(found, extra=extra)
    things = [*before.entries.values(), *before.folders.values()]
    observation.state["changed_at"] = max(
        [reading.changed_at, taken.changed_at, hasher.changed_at, *(thing.changed_at for thing in things)]
    )


def _inside(folder: str, path: str) -> str:
    """Give `path` relative to `folder`, or "" where it does not lie in it."""
    prefix = folder.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) else ""


class _Hasher:
    """Hashes files of one folder until a bound on their bytes in all."""

    def __init__(self, root: HostRoot, under: str) -> None:
        self._root = root
        self._under = under
        self._left = BYTES_LIMIT
        self.changed_at = 0.0

    def digest(self, relative: str) -> str:
        """Hash one file. Raises a LookError."""
        path = posixpath.join(self._under, relative)
        fact = self._root.digest(path, min(DIGEST_LIMIT, self._left))
        self._left -= fact.size
        # A listed name may be a link, or lie behind one.
        self.changed_at = max(self.changed_at, fact.changed_at, way(self._root, path).changed_at)
        return fact.sha256


def _listed_files(observation: Observation, hasher: _Hasher, listed: dict[bytes, str]) -> dict[str, t.Any]:
    missing: dict[str, str] = {}
    differing: dict[str, dict[str, str]] = {}
    faults: dict[str, LookError] = {}
    matching = 0
    for name, digest in sorted(listed.items()):
        try:
            actual = hasher.digest(os.fsdecode(name))
        except Absent:
            missing[shown_bytes(name)] = digest
            continue
        except LookError as error:
            faults[shown_bytes(name)] = error
            continue
        if actual == digest:
            matching += 1
        else:
            differing[shown_bytes(name)] = {"listed": digest, "actual": actual}
    if not faults:
        return {"matching": matching, "missing": missing, "differing": differing}
    spread_faults(observation, "differing", faults)
    spread_faults(observation, "missing", faults)
    first = sorted(faults)[0]
    why = "%d of the listed files could not be read, first %s" % (len(faults), faults[first].why)
    observation.fault("matching", Unparsable(why))
    return {"missing": missing, "differing": differing}


def _extra_files(
    observation: Observation, hasher: _Hasher, before: Walk, listed: set[bytes], the_list: str
) -> dict[str, str]:
    extra: dict[str, str] = {}
    faults: dict[str, LookError] = {}
    for relative, entry in sorted(before.entries.items()):
        if relative == the_list or os.fsencode(relative) in listed:
            continue
        if entry.target is not None:
            extra[shown(relative)] = "link:" + shown(entry.target)
            continue
        try:
            extra[shown(relative)] = hasher.digest(relative)
        except LookError as error:
            faults[shown(relative)] = error
    spread_faults(observation, "extra", faults)
    return extra
