# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a container's log since its start, and searching it.

This module util is private to the collectors. Without a terminal the engine sends
the log as frames of two streams, an entry of the log each; entries longer than
16 KiB come in parts, each with the time stamp of the first.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Incomparable, LookError, Unparsable
from ._rfc3339 import STAMP, nanoseconds

START_SLACK_S = 120
WINDOW = 4096
PART = 16 << 10
HEADER = 8
ENGINE_STREAM = 3  # the engine's own words, when it fails half-way

_STAMPED = re.compile("(%s) " % STAMP)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the log, without its end and without colours; `at` is the engine's time stamp."""

    at: str
    text: str


@dataclasses.dataclass(frozen=True)
class Log:
    """Lines in order; `entries` is their number as the engine counts them for `tail`."""

    lines: list[Line]
    entries: int


def read_log(data: bytes, terminal: bool) -> Log:
    """Read what the engine sent. Raises Unparsable for frames that break off and for lines without a time stamp."""
    return _terminal_log(data) if terminal else _framed_log(data)


def frames(data: bytes) -> t.Iterator[tuple[int, bytes]]:
    """Take the multiplexed stream apart: (stream, payload). Raises Unparsable."""
    position = 0
    while position < len(data):
        header = data[position : position + HEADER]
        size = int.from_bytes(header[4:], "big")
        position += HEADER + size
        if len(header) < HEADER or header[0] > 3 or header[1:4] != b"\0\0\0" or position > len(data):
            raise Unparsable("the log breaks off, or is not in the engine's format, at byte %d" % (position - size))
        yield header[0], data[position - size : position]


def _framed_log(data: bytes) -> Log:
    lines: list[Line] = []
    unended: dict[int, tuple[str, str]] = {}
    entries = 0
    for stream, payload in frames(data):
        if stream == ENGINE_STREAM:
            words = " ".join(payload.decode("utf-8", "replace").split())
            raise Unparsable("the engine broke the log off: %s" % words[:200])
        entries += 1
        at, text = _stamped(payload.decode("utf-8", "surrogateescape"))
        at, text = (unended[stream][0], unended[stream][1] + text) if stream in unended else (at, text)
        unended.pop(stream, None)
        *ended, rest = text.split("\n")
        lines.extend(Line(at, _clean(item)) for item in ended)
        if rest:
            unended[stream] = (at, rest)
    lines.extend(Line(at, _clean(text)) for at, text in unended.values())
    return Log(lines, entries)


def _terminal_log(data: bytes) -> Log:
    lines = []
    entries = 0
    for raw in data.decode("utf-8", "surrogateescape").split("\n"):
        if not raw:
            continue
        at, text = _stamped(raw)
        entries += 1
        whole = ""
        # The parts of a long entry follow each other, stamps and all.
        while len(text) > PART and _STAMPED.match(text, PART):
            whole, text = whole + text[:PART], _stamped(text[PART:])[1]
            entries += 1
        lines.append(Line(at, _clean(whole + text)))
    return Log(lines, entries)


def _stamped(text: str) -> tuple[str, str]:
    found = _STAMPED.match(text)
    if found is None:
        raise Unparsable("a line of the log has no time stamp")
    return found.group(1), text[found.end() :]


def _clean(text: str) -> str:
    return _COLOUR.sub("", text.rstrip("\r")).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def since_start(log: Log, finished_at: t.Any, started_ns: int) -> Log:
    """Leave out the lines of an earlier start, which ended at `finished_at`: `since` counts whole seconds only."""
    try:
        finished = nanoseconds(finished_at, "FinishedAt") if isinstance(finished_at, str) else 0
    except LookError:
        return log  # the engines' zero time: it never ended
    if finished >= started_ns:
        return log
    return Log([line for line in log.lines if nanoseconds(line.at, "the log") > finished], log.entries)


def need_whole(log: Log, started_ns: int, tail: int) -> None:
    """Raise Incomparable where the log does not reach back to the start, Unparsable where it is empty."""
    if not log.lines:
        raise Unparsable("the log is empty since the container's start")
    if log.entries >= tail:
        raise Incomparable(
            "the log does not reach back to the start: all %d lines asked for came; ask for more with tail" % tail
        )
    late = (nanoseconds(log.lines[0].at, "the log") - started_ns) / 1e9
    if late > START_SLACK_S:
        raise Incomparable("the log does not reach back to the start: its first line came %.0f s after it" % late)


def compiled(pattern: str, groups: int | None = None) -> t.Pattern[str]:
    """Compile a pattern. Raises Unparsable where it is none, or has not this number of groups."""
    try:
        result = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise Unparsable("'%s' is not a regular expression (%s)" % (pattern[:80], error)) from None
    if groups is not None and result.groups != groups:
        raise Unparsable("'%s' has %d groups instead of %d" % (pattern[:80], result.groups, groups))
    return result


def matches(pattern: t.Pattern[str], lines: t.Iterable[Line]) -> t.Iterator[t.Match[str]]:
    """Find the pattern in the lines, in order.

    A line is searched in windows of 4096 characters that overlap by half, so
    that no pattern meets a text that it needs for ever for.
    """
    for line in lines:
        for start in range(0, max(len(line.text) - WINDOW // 2, 1), WINDOW // 2):
            end = min(start + WINDOW, len(line.text))
            for found in pattern.finditer(line.text, start, end):
                # What touches an edge of the window may go on beyond it: the window beside it tells.
                cut = (found.start() == start > 0) or (found.end() == end < len(line.text))
                if not cut:
                    yield found
