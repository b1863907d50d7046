"""A container's log: taken apart, cut to this start, and searched."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._engine_log import (
    Line,
    Log,
    compiled,
    frames,
    matches,
    need_whole,
    read_log,
    since_start,
)
from plugins.module_utils._observation import Incomparable, Unparsable
from plugins.module_utils._rfc3339 import nanoseconds

AT = "2026-12-01T04:05:38.093071545Z"
LATER = "2026-12-01T04:05:40.000000000Z"
STARTED = nanoseconds("2026-12-01T04:05:38.091593851Z", "x")


def frame(stream: int, payload: str | bytes) -> bytes:
    data = payload.encode() if isinstance(payload, str) else payload
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


def lines(*texts: str) -> list[Line]:
    return [Line(AT, text) for text in texts]


# -- frames ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "expected", "entries"),
    [
        (b"", [], 0),
        (frame(1, f"{AT} one\n") + frame(2, f"{LATER} two\n"), [Line(AT, "one"), Line(LATER, "two")], 2),
        (frame(1, f"{AT} \n"), lines(""), 1),
        (frame(1, f"{AT} one\r\n"), lines("one"), 1),
        (frame(1, f"{AT} \x1b[1;36m(EngineCore)\x1b[0;0m x\n"), lines("(EngineCore) x"), 1),
        (frame(1, f"{AT} no end"), lines("no end"), 1),
        (frame(1, f"{AT} a\nb\n"), lines("a", "b"), 1),
        # the parts of one long entry, with an entry of the other stream between them
        (
            frame(1, f"{AT} aa") + frame(2, f"{LATER} err\n") + frame(1, f"{AT} bb\n"),
            [Line(LATER, "err"), Line(AT, "aabb")],
            3,
        ),
        # a character that is cut in two by the parts
        (frame(1, f"{AT} a".encode() + b"\xc3") + frame(1, f"{AT} ".encode() + b"\xa9\n"), lines("aé"), 2),
        (frame(1, f"{AT} ".encode() + b"\xff\n"), lines("\ufffd"), 1),
        (frame(1, "2026-12-01T04:05:38+00:00 podman\n"), [Line("2026-12-01T04:05:38+00:00", "podman")], 1),
    ],
)
def test_frames_become_lines(data: bytes, expected: list[Line], entries: int) -> None:
    assert read_log(data, terminal=False) == Log(expected, entries)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (frame(1, f"{AT} one\n")[:-1], "breaks off"),
        (frame(1, f"{AT} one\n") + b"\x01\0\0", "breaks off"),
        (b"\x07\0\0\0\0\0\0\0", "breaks off, or is not in the engine's format"),
        (b"\x01\0\1\0\0\0\0\0", "breaks off, or is not in the engine's format"),
        (f"{AT} a terminal's log\r\n".encode(), "breaks off, or is not in the engine's format"),
        (frame(1, "no stamp\n"), "no time stamp"),
        (frame(3, "Error grabbing logs:\n invalid character"), "broke the log off: Error grabbing logs: invalid"),
    ],
)
def test_frames_that_can_not_be_trusted(data: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=why):
        read_log(data, terminal=False)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_a_log_or_unparsable(data: bytes, terminal: bool) -> None:
    try:
        found = read_log(data, terminal)
    except Unparsable:
        return
    assert all("\n" not in line.text and line.at for line in found.lines)


@given(st.lists(st.tuples(st.integers(0, 2), st.binary(max_size=40)), max_size=6))
def test_frames_come_back_and_a_cut_is_noticed(parts: list[tuple[int, bytes]]) -> None:
    data = b"".join(frame(stream, payload) for stream, payload in parts)
    assert list(frames(data)) == parts
    if data:
        with pytest.raises(Unparsable):
            list(frames(data[:-1]))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20), max_size=8))
def test_order_of_lines_is_kept(texts: list[str]) -> None:
    data = b"".join(frame(1, f"{AT} {text}\n") for text in texts)
    assert [line.text for line in read_log(data, terminal=False).lines] == texts


# -- a terminal ------------------------------------------------------------
def test_terminal_log() -> None:
    found = read_log(f"{AT} one\r\n{LATER} two\r\n".encode(), terminal=True)
    assert found == Log([Line(AT, "one"), Line(LATER, "two")], 2)
    with pytest.raises(Unparsable, match="no time stamp"):
        read_log(frame(1, f"{AT} x\n"), terminal=True)


def test_terminal_log_joins_the_parts_of_a_long_entry() -> None:
    part = "x" * 16384
    found = read_log(f"{AT} {part}{AT} {part}{AT} END\r\n{LATER} {part}\r\n".encode(), terminal=True)
    assert found.entries == 4
    assert [line.text for line in found.lines] == [part + part + "END", part]


# -- this start ------------------------------------------------------------
@pytest.mark.parametrize(
    ("finished_at", "kept"),
    [
        ("0001-01-01T00:00:00Z", ["old", "new"]),
        ("2026-12-01T04:05:38.08Z", ["new"]),
        ("2026-12-01T04:05:38.05Z", ["old", "new"]),
        (None, ["old", "new"]),
        # ended after this start: it is this start that ended
        ("2026-12-01T04:06:00Z", ["old", "new"]),
    ],
)
def test_lines_of_the_start_before_do_not_count(finished_at: Any, kept: list[str]) -> None:
    # `since` counts whole seconds: what an earlier start wrote in the same second comes along.
    log = Log([Line("2026-12-01T04:05:38.070000000Z", "old"), Line(AT, "new")], 2)
    assert [line.text for line in since_start(log, finished_at, STARTED).lines] == kept


def test_a_line_may_be_stamped_before_the_start() -> None:
    need_whole(Log([Line("2026-12-01T04:05:38.089713299Z", "x")], 1), STARTED, 10)


@pytest.mark.parametrize(
    ("at", "entries", "tail", "error", "why"),
    [
        (AT, 10, 10, Incomparable, "all 10 lines asked for came"),
        (AT, 11, 10, Incomparable, "does not reach back to the start"),
        ("2026-12-01T04:07:40Z", 1, 10, Incomparable, "first line came 122 s after"),
    ],
)
def test_a_log_that_does_not_reach_back(at: str, entries: int, tail: int, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        need_whole(Log([Line(at, "x")], entries), STARTED, tail)


def test_a_log_that_reaches_back_and_an_empty_one() -> None:
    need_whole(Log([Line("2026-12-01T04:07:38Z", "x")], 9), STARTED, 10)
    with pytest.raises(Unparsable, match="empty"):
        need_whole(Log([], 0), STARTED, 10)


# -- searching -------------------------------------------------------------
@pytest.mark.parametrize("pattern", ["(", "[", "(?P<x>a)(?P<x>b)", "*", "\\"])
def test_a_bad_pattern_is_unparsable(pattern: str) -> None:
    with pytest.raises(Unparsable, match="is not a regular expression"):
        compiled(pattern)


@pytest.mark.parametrize("pattern", ["x", "(x)(y)"])
def test_a_value_needs_one_group(pattern: str) -> None:
    with pytest.raises(Unparsable, match=r"groups instead of 1"):
        compiled(pattern, groups=1)
    assert compiled("(x)", groups=1).groups == 1


@pytest.mark.parametrize("position", [0, 2040, 2047, 2048, 2050, 4080, 4090, 4096, 6100, 9000])
def test_a_value_in_a_long_line_is_found_whole(position: int) -> None:
    line = ("x" * position + "size: 2,502,600 tokens").ljust(12000, "y")
    found = [match.group(1) for match in matches(re.compile(r"([0-9,]+) tokens"), lines(line))]
    assert set(found) == {"2,502,600"}
    found = [match.group(1) for match in matches(re.compile(r"size: ([0-9,]+)"), lines(line))]
    assert set(found) == {"2,502,600"}


def test_anchors_mean_the_line_not_the_window() -> None:
    line = "a" * 5000
    assert [match.start() for match in matches(re.compile("^a"), lines(line))] == [0]
    assert {match.end() for match in matches(re.compile("aaa$"), lines(line))} == {5000}
    assert not list(matches(re.compile("^b"), lines("a" * 2048 + "b" * 4000)))


@given(st.text("ab\n", max_size=30).map(lambda text: text.replace("\n", "")))
def test_short_lines_are_searched_as_ever(text: str) -> None:
    pattern = re.compile("a+b?")
    assert [m.span() for m in matches(pattern, lines(text))] == [m.span() for m in pattern.finditer(text)]
