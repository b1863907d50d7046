# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading one HTTP/1.1 answer, bounded, from whatever gives its bytes.

This module util is private to the collectors. An answer that ends early, says
its length in two ways or in none is Unparsable: half a log or half a list must
not be taken for a whole one.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Unparsable

HEAD_LIMIT = 64 << 10
LINE_LIMIT = 8 << 10

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?")


@dataclasses.dataclass(frozen=True)
class Response:
    """An answer: status number, headers by lower-case name, and the whole body."""

    status: int
    headers: dict[str, str]
    body: bytes


class _Source:
    """Bytes as they come; `receive` gives the next ones, and none at the end."""

    def __init__(self, receive: t.Callable[[], bytes]) -> None:
        self._receive = receive
        self._data = bytearray()
        self._ended = False

    def _more(self) -> bool:
        data = b"" if self._ended else self._receive()
        self._ended = not data
        self._data += data
        return not self._ended

    def line(self) -> bytes:
        """Give the next line without its end."""
        while True:
            end = self._data.find(b"\n", 0, LINE_LIMIT)
            if end >= 0:
                line = bytes(self._data[:end])
                del self._data[: end + 1]
                return line[:-1] if line.endswith(b"\r") else line
            if len(self._data) >= LINE_LIMIT:
                raise Unparsable("a line of more than %d bytes in its head" % LINE_LIMIT)
            if not self._more():
                raise Unparsable("the answer ends early")

    def exactly(self, count: int) -> bytes:
        """Give the next `count` bytes."""
        while len(self._data) < count:
            if not self._more():
                raise Unparsable("the answer ends early")
        data = bytes(self._data[:count])
        del self._data[:count]
        return data

    def rest(self, limit: int) -> bytes:
        """Give what comes until the end, cut at `limit`."""
        while len(self._data) < limit and self._more():
            pass
        return bytes(self._data[:limit])


def read_response(receive: t.Callable[[], bytes], limit: int) -> Response:
    """Read an answer with a body of at most `limit` bytes. Raises Unparsable, and whatever `receive` raises."""
    source = _Source(receive)
    status = 100
    headers: dict[str, str] = {}
    for _ in range(5):
        if status >= 200:
            break
        found = _STATUS.fullmatch(source.line())
        if found is None:
            raise Unparsable("what answers does not speak HTTP/1.1")
        status = int(found.group(1))
        headers = _headers(source)
    return Response(status, headers, _body(source, status, headers, limit))


def _headers(source: _Source) -> dict[str, str]:
    headers: dict[str, str] = {}
    left = HEAD_LIMIT
    while True:
        line = source.line()
        left -= len(line)
        if not line:
            return headers
        found = _HEADER.fullmatch(line)
        if found is None or left < 0:
            raise Unparsable("a header that is none, or too many of them")
        name = found.group(1).decode("ascii").lower()
        value = found.group(2).decode("latin-1")
        if headers.setdefault(name, value) != value and name in ("content-length", "transfer-encoding"):
            raise Unparsable("two lengths for one answer")


def _body(source: _Source, status: int, headers: dict[str, str], limit: int) -> bytes:
    encoding = headers.get("transfer-encoding", "").lower()
    length = headers.get("content-length")
    if encoding and (encoding != "chunked" or length is not None):
        raise Unparsable("a body whose length can not be told (%s)" % encoding[:40])
    if status in (204, 304):
        return b""
    if encoding:
        return _chunks(source, limit)
    if length is not None:
        if not re.fullmatch("[0-9]{1,15}", length):
            raise Unparsable("a body whose length is no number")
        return source.exactly(_within_limit(int(length), limit))
    if status != 200:
        # Servers refuse what they can not read without saying how long the refusal is.
        return source.rest(4096)
    raise Unparsable("a body that tells no length")


def _chunks(source: _Source, limit: int) -> bytes:
    body = bytearray()
    while True:
        found = _CHUNK.fullmatch(source.line())
        if found is None:
            raise Unparsable("a chunk whose length is no number")
        size = int(found.group(1), 16)
        if size == 0:
            while source.line():
                pass
            return bytes(body)
        _within_limit(len(body) + size, limit)
        body += source.exactly(size)
        if source.line():
            raise Unparsable("a chunk that is longer than it says")


def _within_limit(size: int, limit: int) -> int:
    if size > limit:
        raise Unparsable("an answer of more than the %d bytes this look reads" % limit)
    return size
