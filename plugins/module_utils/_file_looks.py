# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at links, single files, named files of a folder, and JSON files.

This module util is private to the collectors. Every look gives an observation
of file evidence; whoever reads inside a process' root raises it.
"""

from __future__ import annotations

import posixpath
import stat as stat_module
import time
import typing as t

from ._json_files import parse_json
from ._names import leads_out, leaf, shown
from ._observation import Absent, LookError, Observation, Unparsable, Unstable
from ._reading import Reading, hash_whole, read_whole, way
from ._root import READ_LIMIT, HostRoot, changed_at

TEXT_LIMIT = 4096
# How far a file's time may lie ahead of the clock before it is worth a note.
AHEAD_S = 5.0
STATUS_TRIES = 3
STATUS_PAUSE_S = 0.05


def look_link(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a link: its text, and where it leads in the end.

    A file or folder in its place is told by a missing `target`; a link that
    leads nowhere by a missing `resolved`.
    """
    path = params["path"]
    observation = Observation("file", "link read")
    info = root.lstat(path)
    if stat_module.S_ISLNK(info.st_mode):
        target = root.readlink(path)
        observation.identity["target"] = shown(target)
    else:
        target = None
        observation.notes.append("%s is no symbolic link: a file or folder lies in its place" % path)
    try:
        resolved = root.resolve(path)
        observation.identity["resolved"] = shown(resolved)
        observation.identity["name"] = shown(posixpath.basename(resolved))
    except Absent:
        observation.notes.append("%s leads to something that is not there" % path)
    except LookError as error:
        observation.fault("resolved", error)
        observation.fault("name", error)
    if target is not None and root.readlink(path) != target:
        raise Unstable("%s: turned elsewhere while it was read" % path)
    return observation


def look_file(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at one file: digest, size, mode, and its text where that is short."""
    path = params["path"]
    observation = Observation("file", "file read")
    reading = hash_whole(root, path)
    if reading.size <= TEXT_LIMIT + 1:
        # Short by its stat, as files of /proc and /sys are at any length.
        short = read_whole(root, path, READ_LIMIT)
        if short.sha256 != reading.sha256:
            raise Unstable("%s: changed while it was read" % path)
        reading = short
    observation.identity = {
        "sha256": reading.sha256,
        "size": reading.size,
        "mode": "%04o" % reading.mode,
        "resolved": shown(reading.resolved),
    }
    try:
        observation.identity["text"] = _short_text(reading.data, path)
    except Unparsable as error:
        observation.fault("text", error)
    observation.state["changed_at"] = reading.changed_at
    return observation


def _short_text(data: bytes, path: str) -> str:
    """Give the text of a file of at most 4 KiB without its final newline. Raises Unparsable for what is none."""
    if not data:
        raise Unparsable("%s: is empty" % path)
    line = data[:-1] if data.endswith(b"\n") else data
    if len(line) > TEXT_LIMIT:
        raise Unparsable("%s: more than %d bytes of text" % (path, TEXT_LIMIT))
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unparsable("%s: byte %d is not UTF-8" % (path, error.start)) from None


def look_files(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at named files of a folder; a file that cannot be read leaves the others their answers."""
    under = params["under"]
    observation = Observation("file", "files read")
    if not stat_module.S_ISDIR(root.stat(under).st_mode):
        raise Unparsable("%s: is not a folder" % under)
    taken = way(root, under)
    latest = taken.changed_at
    files: dict[str, dict[str, t.Any]] = {}
    for name in params["names"]:
        try:
            reading = _named(root, under, name)
        except Absent:
            latest = max(latest, _folder_changed_at(root, under, name))
        except LookError as error:
            observation.fault(leaf("files", name), error)
        else:
            files[name] = {"sha256": reading.sha256, "size": reading.size}
            latest = max(latest, reading.changed_at)
    if way(root, under).resolved != taken.resolved:
        raise Unstable("%s: led elsewhere while it was read" % under)
    observation.identity = {"resolved": shown(taken.resolved), "files": files}
    observation.state["changed_at"] = latest
    observation.scope["files"] = sorted(params["names"])
    return observation


def _named(root: HostRoot, under: str, name: str) -> Reading:
    if leads_out(name):
        raise Unparsable("%s: leads out of %s; name it as a file of its own" % (name, under))
    return hash_whole(root, under + "/" + name)


def _folder_changed_at(root: HostRoot, under: str, name: str) -> float:
    """When the folder that lacks `name` changed: only it can tell whether the name was there before."""
    folder = posixpath.dirname(name)
    while folder:
        try:
            return changed_at(root.stat(under + "/" + folder))
        except LookError:
            folder = posixpath.dirname(folder)
    return changed_at(root.stat(under))


def look_json(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a JSON file: its value, and the digest of its bytes."""
    path = params["file"]
    reading = read_whole(root, path)
    observation = Observation("file", "JSON file read")
    observation.identity = {"value": parse_json(reading.data, path), "sha256": reading.sha256}
    observation.state["changed_at"] = reading.changed_at
    return observation


def look_status(params: dict[str, t.Any], root: HostRoot, now: float) -> Observation:
    """Look at a JSON file that a process rewrites.

    Its `changed_at` is when its content was written, not when a link or its mode
    was touched: a record must not look younger than it is.
    """
    path = params["file"]
    reading, value = _settled(root, path)
    observation = Observation("file", "status file read")
    observation.identity["value"] = value
    observation.state = {"changed_at": reading.written_at, "age_s": round(now - reading.written_at, 3)}
    if reading.written_at - now > AHEAD_S:
        observation.notes.append(
            "%s was last written %.0f s ahead of this host's clock" % (path, reading.written_at - now)
        )
    return observation


def _settled(root: HostRoot, path: str) -> tuple[Reading, t.Any]:
    """Read a file that may be caught in the middle of being rewritten: a few tries, the last failure counts."""
    for attempt in range(STATUS_TRIES):
        try:
            reading = read_whole(root, path)
            return reading, parse_json(reading.data, path)
        except (Unstable, Unparsable):
            if attempt == STATUS_TRIES - 1:
                raise
            time.sleep(STATUS_PAUSE_S)
    raise AssertionError("the last try returns or raises")
