# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The grammar of unit files: sections, assignments, comments, continued lines.

This module util is private to the collectors. Values are given as written, with
continued lines joined; what a value means is decided elsewhere.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Unparsable

LINE_LIMIT = 1 << 20
BLANKS = " \t\n\r"
_BOM = b"\xef\xbb\xbf"
_ODD_BACKSLASHES = re.compile(rb"(?<!\\)(?:\\\\)*\\\Z")


@dataclasses.dataclass(frozen=True)
class Assignment:
    """One `Key=value` of a unit file; `line` is where it ends, counted from 1."""

    section: str
    key: str
    value: str
    path: str
    line: int


@dataclasses.dataclass(frozen=True)
class ParsedUnit:
    """A file's assignments in order, and notes about lines that systemd passes over."""

    assignments: tuple[Assignment, ...]
    notes: tuple[str, ...]


def parse(data: bytes, path: str) -> ParsedUnit:
    """Parse a unit file. Raises Unparsable where systemd would refuse the file, naming the line."""
    assignments: list[Assignment] = []
    notes: list[str] = []
    section = ""
    for number, raw in _logical_lines(data, path):
        text = _stripped(raw, path, number)
        if not text:
            continue
        if text.startswith("["):
            if not text.endswith("]") or len(text) < 2:
                raise Unparsable("%s:%d: not a section header, though it begins as one" % (path, number))
            section = text[1:-1]
            continue
        key, equals, value = text.partition("=")
        if not equals or not section:
            what = "a line without '='" if not equals else "a line before the first section"
            notes.append("%s:%d: %s is passed over" % (path, number, what))
            continue
        assignments.append(Assignment(section, key.strip(BLANKS), value.strip(BLANKS), path, number))
    return ParsedUnit(tuple(assignments), tuple(notes))


def _stripped(raw: bytes, path: str, number: int) -> str:
    try:
        return raw.decode("utf-8").strip(BLANKS)
    except UnicodeDecodeError as error:
        raise Unparsable("%s:%d: byte %d of the line is not UTF-8" % (path, number, error.start)) from None


def _logical_lines(data: bytes, path: str) -> t.Iterator[tuple[int, bytes]]:
    """Join continued lines; a comment between them is dropped and does not end them."""
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
    parts: list[bytes] = []
    length = 0
    number = 0
    for number, line in enumerate(_physical_lines(data), 1):
        if line.lstrip(BLANKS.encode()).startswith((b"#", b";")):
            continue
        length += len(line)
        if length > LINE_LIMIT:
            raise Unparsable("%s:%d: a line of more than %d bytes" % (path, number, LINE_LIMIT))
        if _ODD_BACKSLASHES.search(line):
            parts.append(line[:-1] + b" ")
            continue
        yield number, b"".join([*parts, line])
        parts, length = [], 0
    if parts:
        yield number, b"".join(parts)


def _physical_lines(data: bytes) -> t.Iterator[bytes]:
    r"""Split at \n, \r and NUL; two different ones of them in a row end one line only."""
    start = position = 0
    while position < len(data):
        if data[position] not in b"\n\r\0":
            position += 1
            continue
        yield data[start:position]
        seen = b""
        while position < len(data) and data[position] in b"\n\r\0":
            here = data[position : position + 1]
            if here in seen or seen.endswith(b"\0"):
                break
            seen += here
            position += 1
        start = position
    if start < len(data):
        yield data[start:]
