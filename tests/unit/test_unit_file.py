"""The grammar of unit files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._observation import Unparsable
from plugins.module_utils._unit_file import parse

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy


def values(text: str) -> list[tuple[str, str, str]]:
    return [(item.section, item.key, item.value) for item in parse(text.encode(), "/u").assignments]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[S]\nA=1\nB = 2 \n", [("S", "A", "1"), ("S", "B", "2")]),
        ("[S]\nA=1\n[T]\nA=2", [("S", "A", "1"), ("T", "A", "2")]),
        ("[S]\nA=x=y\nB=\n", [("S", "A", "x=y"), ("S", "B", "")]),
        ("[S]\n# A=1\n ; B=2\nC=#3\n", [("S", "C", "#3")]),
        ("[S]\nA=1 \\\n  2 \\\n3\n", [("S", "A", "1    2  3")]),
        ("[S]\nA=1 \\\n# no end\n; neither\n2\n", [("S", "A", "1  2")]),
        ("[S]\nA=1 \\\n\nB=2\n", [("S", "A", "1"), ("S", "B", "2")]),
        ("[S]\nA=1\\\\\nB=2\n", [("S", "A", "1\\\\"), ("S", "B", "2")]),
        ("[S]\nA=1\\\\\\\n2\n", [("S", "A", "1\\\\ 2")]),
        ("[S]\nA=end\\", [("S", "A", "end")]),
        ("[S]\r\nA=1\r\nB=2\r\n", [("S", "A", "1"), ("S", "B", "2")]),
        ("[S]\rA=1\rB=2", [("S", "A", "1"), ("S", "B", "2")]),
        ("\ufeff[S]\nA=1\n", [("S", "A", "1")]),
        ("[S]\nA=é\n", [("S", "A", "é")]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_assignments(text: str, found: list[tuple[str, str, str]]) -> None:
    assert values(text) == found


def test_lines_are_counted_as_an_editor_does() -> None:
    parsed = parse(b"[S]\n\nA=1\\\n# c\n2\nB=3\n", "/u")
    assert [(item.key, item.line) for item in parsed.assignments] == [("A", 5), ("B", 6)]


def test_what_is_passed_over_is_told() -> None:
    parsed = parse(b"A=0\n[S]\nnonsense\nA=1\n", "/u")
    assert [item.value for item in parsed.assignments] == ["1"]
    assert parsed.notes == (
        "/u:1: a line before the first section is passed over",
        "/u:3: a line without '=' is passed over",
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"[S\nA=1\n", "/u:1: not a section header"),
        (b"[S]\nA=1\n[\n", "/u:3: not a section header"),
        (b"[S]\nA=\xff\n", "/u:2: byte 2 of the line is not UTF-8"),
        (b"[S]\nA=" + b"x" * (1 << 20) + b"\n", "/u:2: a line of more than"),
        (b"[S]\nA=" + b"\\\nx" * 1000 + b"x" * (1 << 20), "a line of more than"),
    ],
)
def test_files_that_systemd_refuses(data: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=why.replace("[", "\\[")):
        parse(data, "/u")


def test_a_value_is_never_told_by_a_failure_or_note() -> None:
    """A stray line can hold a secret."""
    parsed = parse(b"[S]\ns3cret without equals\n", "/u")
    assert "s3cret" not in " ".join(parsed.notes)
    with pytest.raises(Unparsable) as caught:
        parse(b"[s3cret\n", "/u")
    assert "s3cret" not in caught.value.why


@QUICK
@given(st.binary(max_size=300) | st.text(alphabet="[]=\\#; \n\r\0aé", max_size=200).map(str.encode))
def test_any_bytes_are_a_file_or_are_not(data: bytes) -> None:
    try:
        parsed = parse(data, "/u")
    except Unparsable:
        return
    for item in parsed.assignments:
        assert item.section is not None
        assert item.key == item.key.strip(" \t\n\r")
        assert item.value == item.value.strip(" \t\n\r")
    assert [item.line for item in parsed.assignments] == sorted(item.line for item in parsed.assignments)


KEYS = st.text(alphabet="ABCabc", min_size=1, max_size=5)
VALUES = st.text(alphabet="abc =;#é\"'", max_size=10).map(lambda text: text.strip(" \t\r\n"))


@QUICK
@given(st.lists(st.tuples(KEYS, VALUES), max_size=8))
def test_what_is_written_is_read(pairs: list[tuple[str, str]]) -> None:
    text = "[S]\n" + "".join(f"{key} = {value}\n" for key, value in pairs)
    assert values(text) == [("S", key, value) for key, value in pairs]
