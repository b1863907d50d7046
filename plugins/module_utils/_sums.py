# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
r"""Lists as `sha256sum` writes them.

This module util is private to the collectors. A line is `HEX  NAME`, `HEX *NAME`
(read in binary mode) or `SHA256 (NAME) = HEX`; with a backslash in front of it
where the name holds a backslash, a newline or a carriage return, which are then
written `\\`, `\n`, `\r`. A name may begin with blanks or stars, so that lines are
cut at fixed places and never at blanks. A line beginning with `#` is a comment.
Whatever else is refused by its number: a list that is half understood says
nothing about the folder.
"""

from __future__ import annotations

import re

from ._names import leads_out, shown_bytes
from ._observation import Unparsable

LINE_LIMIT = 20000
_PLAIN = re.compile(rb"([0-9A-Fa-f]{64}) [ *](.+)", re.DOTALL)
_TAGGED = re.compile(rb"SHA256 \((.+)\) = ([0-9A-Fa-f]{64})", re.DOTALL)
_OTHER_TAG = re.compile(rb"([A-Z][A-Za-z0-9/-]*) \(.*\) = [0-9A-Za-z+/=]+", re.DOTALL)
_OTHER_DIGEST = re.compile(rb"([0-9A-Fa-f]{32,128}) [ *]")
_ESCAPE = re.compile(rb"\\(.?)", re.DOTALL)
_ESCAPES = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
_SPECIAL = re.compile(rb"[\\\n\r]")


def listing_line(value: str, name: bytes) -> bytes:
    """Write one line, `value` in the place of the digest: the inverse of `parse`."""
    text = value.encode("ascii") + b"  "
    if not _SPECIAL.search(name):
        return text + name + b"\n"
    escaped = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return b"\\" + text + escaped + b"\n"


def tagged_line(value: str, name: bytes) -> bytes:
    """Write one line in the BSD form."""
    line = listing_line("", name)
    lead = b"\\" if line.startswith(b"\\") else b""
    return lead + b"SHA256 (" + line[len(lead) + 2 : -1] + b") = " + value.encode("ascii") + b"\n"


def parse(data: bytes, what: str) -> dict[bytes, str]:
    """Parse a list: by normal relative name the digest in lower case; `what` names it in errors.

    Raises Unparsable naming the line that is malformed, leads out of the folder,
    or names a file again.
    """
    if b"\0" in data:
        raise Unparsable("%s: holds NUL bytes (written with --zero?); write it with a line for each file" % what)
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if len(lines) > LINE_LIMIT:
        raise Unparsable("%s: %d lines, more than the %d this look reads" % (what, len(lines), LINE_LIMIT))
    found: dict[bytes, str] = {}
    numbers: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith(b"#"):
            continue
        try:
            name, digest = _line(line)
        except ValueError as error:
            raise Unparsable("%s: line %d: %s" % (what, number, error)) from None
        if name in found:
            raise Unparsable(
                "%s: line %d names %s again, after line %d" % (what, number, shown_bytes(name), numbers[name])
            )
        found[name] = digest
        numbers[name] = number
    if not found:
        raise Unparsable("%s: lists no file" % what)
    return found


def _line(line: bytes) -> tuple[bytes, str]:
    """Cut one line. Raises ValueError that says why it cannot be."""
    if line.endswith(b"\r"):
        raise ValueError("ends in a carriage return (written on Windows?); it would be part of the file's name")
    escaped = line.startswith(b"\\")
    body = line[1:] if escaped else line
    match = _PLAIN.fullmatch(body)
    if match:
        digest, name = match.groups()
    else:
        match = _TAGGED.fullmatch(body)
        if not match:
            raise ValueError(_why_malformed(body))
        name, digest = match.groups()
    if escaped:
        name = _ESCAPE.sub(_unescape, name)
    return _normal(name), digest.decode("ascii").lower()


def _why_malformed(body: bytes) -> str:
    if not body:
        return "is empty"
    tag = _OTHER_TAG.fullmatch(body)
    if tag and tag.group(1) != b"SHA256":
        return "is of %s, not SHA256" % tag.group(1).decode("ascii")
    other = _OTHER_DIGEST.match(body)
    if other and len(other.group(1)) != 64:
        return "has a digest of %d hex digits, not the 64 of SHA-256" % len(other.group(1))
    return "is neither `HEX  NAME` nor `SHA256 (NAME) = HEX`"


def _unescape(match: re.Match[bytes]) -> bytes:
    try:
        return _ESCAPES[match.group(1)]
    except KeyError:
        raise ValueError("has an escape that sha256sum does not write: %s" % shown_bytes(match.group())) from None


def _normal(name: bytes) -> bytes:
    """Give the name without `.` components. Raises ValueError where it leads out of the folder."""
    text = name.decode("latin-1")
    if name == b"-":
        raise ValueError("is the digest of standard input and names no file")
    if leads_out(text):
        raise ValueError("names %s, which leads out of the folder" % shown_bytes(name))
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if not parts or name.endswith(b"/"):
        raise ValueError("names %s, which is no file" % shown_bytes(name))
    return b"/".join(parts)
