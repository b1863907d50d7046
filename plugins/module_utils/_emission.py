# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine's own verifier emitted about the bytes it runs on.

This module util is private to the collectors. The emission is read, never run.
Its format is one JSON object:

    {"tool": "verify_runtime", "emitted_at": "2026-10-24T09:15:00Z", "rank": 0,
     "files": [{"path": "/opt/dsv41/engine/a.py", "sha256": "<64 hex>", "ok": true},
               {"path": "/opt/dsv41/engine/b.py", "sha256": "<64 hex>", "ok": false, "why": "differs"}]}

`emitted_at` carries its time zone. A field that is unknown, missing or of
another type makes the whole emission unparsable: half of it proves nothing.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import typing as t

from ._json_files import parse_json, type_name
from ._observation import Absent, NoTool, Observation, Unparsable
from ._reading import read_whole
from ._root import HostRoot

SHA256 = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)", re.ASCII)
_FIELDS = ("tool", "emitted_at", "rank", "files")
_FILE_FIELDS = ("path", "sha256", "ok", "why")
NO_REASON = "no reason given"


@dataclasses.dataclass(frozen=True)
class Emission:
    """A parsed emission; `emitted_at_s` is its time stamp in seconds since the epoch."""

    tool: str
    emitted_at: str
    emitted_at_s: float
    rank: int
    files: dict[str, str]
    not_ok: dict[str, str]


def look_emission(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at an emission. Raises NoTool where none was made: what was not emitted is not known to be absent.

    Its `changed_at` is the earlier of its own time stamp and the writing of the
    file: a copy of an old emission is an old emission.
    """
    path = params["file"]
    try:
        reading = read_whole(root, path)
    except Absent as error:
        raise NoTool("%s; the engine's verifier has emitted nothing there (verify_runtime --emit)" % error) from None
    emission = parse(reading.data, path)
    observation = Observation("native", "emission read")
    observation.identity = {
        "tool": emission.tool,
        "count": len(emission.files),
        "files": emission.files,
        "not_ok": emission.not_ok,
    }
    observation.state = {
        "emitted_at": emission.emitted_at,
        "changed_at": min(reading.written_at, emission.emitted_at_s),
    }
    observation.notes.append("emitted by rank %d" % emission.rank)
    return observation


def parse(data: bytes, what: str) -> Emission:
    """Parse and check an emission; `what` names it in errors. Raises Unparsable."""
    value = parse_json(data, what)
    if not isinstance(value, dict):
        raise Unparsable("%s: is %s, not an object" % (what, type_name(value)))
    _check_fields(value, _FIELDS, _FIELDS, what)
    tool, emitted_at, rank, entries = (value[name] for name in _FIELDS)
    if not isinstance(tool, str) or not tool:
        raise Unparsable("%s: 'tool' is not the name of a tool" % what)
    if isinstance(rank, bool) or not isinstance(rank, int) or rank < 0:
        raise Unparsable("%s: 'rank' is not a rank's number" % what)
    if not isinstance(entries, list) or not entries:
        raise Unparsable("%s: 'files' is not a list of files, or is empty" % what)
    files: dict[str, str] = {}
    not_ok: dict[str, str] = {}
    for index, entry in enumerate(entries):
        place = "%s: files[%d]" % (what, index)
        path, digest, why = _file(entry, place)
        if path in files:
            raise Unparsable("%s: covers %s again" % (place, path))
        files[path] = digest
        if why:
            not_ok[path] = why
    return Emission(tool, emitted_at, _seconds(emitted_at, what), rank, files, not_ok)


def _check_fields(value: dict[str, t.Any], known: t.Sequence[str], needed: t.Sequence[str], what: str) -> None:
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise Unparsable("%s: unknown field '%s'" % (what, unknown[0]))
    for name in needed:
        if name not in value:
            raise Unparsable("%s: has no '%s'" % (what, name))


def _file(entry: t.Any, place: str) -> tuple[str, str, str]:
    """Check one file's entry; give its path, digest, and why it is not ok ("" where it is)."""
    if not isinstance(entry, dict):
        raise Unparsable("%s: is %s, not an object" % (place, type_name(entry)))
    _check_fields(entry, _FILE_FIELDS, _FILE_FIELDS[:3], place)
    path, digest, ok = entry["path"], entry["sha256"], entry["ok"]
    why = entry.get("why", "")
    if not isinstance(path, str) or not path:
        raise Unparsable("%s: 'path' is not a path" % place)
    if not isinstance(digest, str) or not SHA256.fullmatch(digest):
        raise Unparsable("%s: 'sha256' is not 64 hex digits in lower case" % place)
    if not isinstance(ok, bool):
        raise Unparsable("%s: 'ok' is %s, neither true nor false" % (place, type_name(ok)))
    if not isinstance(why, str):
        raise Unparsable("%s: 'why' is %s, not text" % (place, type_name(why)))
    return path, digest, "" if ok else why or NO_REASON


def _seconds(text: t.Any, what: str) -> float:
    """Give a time stamp with its zone in seconds since the epoch. Raises Unparsable."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match:
        zone = match.group(3).replace("Z", "+0000").replace(":", "")
        try:
            moment = datetime.datetime.strptime(match.group(1) + zone, "%Y-%m-%dT%H:%M:%S%z")
            return moment.timestamp() + float("0." + (match.group(2) or "0"))
        except (ValueError, OverflowError):
            pass
    raise Unparsable("%s: 'emitted_at' is not a time with its zone, such as 2026-10-24T09:15:00Z" % what)
