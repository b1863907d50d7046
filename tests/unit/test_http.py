"""One HTTP answer, bounded: whole, or Unparsable."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._http import Response, read_response
from plugins.module_utils._observation import Unparsable

LIMIT = 1000
OK = b"HTTP/1.1 200 OK\r\n"


def pieces(data: bytes, size: int = 7) -> Callable[[], bytes]:
    parts = itertools.chain((data[at : at + size] for at in range(0, len(data), size)), itertools.repeat(b""))
    return lambda: next(parts)


def read(data: bytes, size: int = 7) -> Response:
    return read_response(pieces(data, size), LIMIT)


@pytest.mark.parametrize("size", [1, 2, 5, 4096])
@pytest.mark.parametrize(
    ("data", "status", "body"),
    [
        (OK + b"Content-Length: 5\r\n\r\nnull\n", 200, b"null\n"),
        (OK + b"content-length:0\r\n\r\n", 200, b""),
        (OK + b"Content-Length: 2\r\n\r\nOK and more", 200, b"OK"),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0A;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
            200,
            b"abcd0123456789",
        ),
        (OK + b"Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 200, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", 200, b"x"),
        (b"HTTP/1.0 404 Not Found\r\nContent-Length: 1\r\n\r\nx", 404, b"x"),
        (b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request", 400, b"400 Bad Request"),
        (b"HTTP/1.1 200\nContent-Length: 1\n\nx", 200, b"x"),
    ],
)
def test_reads_a_whole_answer_however_it_comes(data: bytes, status: int, body: bytes, size: int) -> None:
    found = read(data, size)
    assert (found.status, found.body) == (status, body)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "ends early"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak"),
        (b"HTTP/2 200\r\n\r\n", "does not speak"),
        (b"x" * 9000, "more than 8192 bytes"),
        (OK, "ends early"),
        (OK + b"no header\r\n\r\n", "header that is none"),
        (OK + b"A: 1\r\n" * 20000, "too many"),
        (OK + b"Content-Length: 5\r\n\r\nnull", "ends early"),
        (OK + b"Content-Length: -1\r\n\r\n", "is no number"),
        (OK + b"Content-Length: 1001\r\n\r\n", "more than the 1000 bytes"),
        (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy", "two lengths"),
        (OK + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "can not be told"),
        (OK + b"Transfer-Encoding: gzip\r\n\r\n", "can not be told"),
        (OK + b"\r\nno length", "tells no length"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "is no number"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n", "ends early"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcdef\r\n", "longer than it says"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n3E9\r\n", "more than the 1000 bytes"),
    ],
)
def test_anything_else_is_unparsable(data: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=why):
        read(data, 4096)


@given(st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_are_an_answer_or_unparsable(data: bytes, size: int) -> None:
    try:
        found = read(OK + data, size)
    except Unparsable:
        return
    assert len(found.body) <= LIMIT


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=8), st.integers(1, 50))
def test_chunks_come_back_and_any_cut_is_noticed(chunks: list[bytes], size: int) -> None:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    whole = OK + b"Transfer-Encoding: chunked\r\n\r\n" + framed
    assert read(whole, size).body == b"".join(chunks)
    with pytest.raises(Unparsable):
        read(whole[: len(whole) - 1 - size % (len(framed) - 1)], size)
