"""Text that is safe to print, whatever it was made of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinproof.report.documents import code, text
from pinproof.report.layout import Layout
from pinproof.report.text import clip, pad, printable, spell, width_of, wrap

ANY = st.text(st.characters(codec=None), max_size=40)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3), max_leaves=6
)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a\nb\tc\r", "a\\u000ab\\u0009c\\u000d"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x9b31m", "\\u009b31m"),
        ("\u202eabc", "\\u202eabc"),
        ("a\u200bb", "a\\u200bb"),
        ("a\xa0b", "a\\u00a0b"),
        ("\x7f", "\\u007f"),
        ("\udc80", "\\udc80"),
        ("\U000e0001", "\\U000e0001"),
        ("é漢", "é漢"),
    ],
)
def test_what_is_not_printable_is_escaped(given_: str, shown: str) -> None:
    assert printable(given_) == shown


@given(ANY)
def test_printable_is_one_printable_line(value: str) -> None:
    for ascii_only in (False, True):
        shown = printable(value, ascii_only)
        assert shown.isprintable()
        assert len(shown.splitlines()) <= 1
        assert printable(shown, ascii_only) == shown
        shown.encode("ascii" if ascii_only else "utf-8")


@given(JSON)
def test_a_spelled_value_is_printable_ascii_and_reads_back(value: Any) -> None:
    shown = spell(value)
    assert shown.isascii()
    assert shown.isprintable()
    assert json.loads(shown) == value


@given(JSON, JSON)
def test_different_values_never_look_alike(one: Any, other: Any) -> None:
    if spell(one) == spell(other):
        assert json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def test_types_and_look_alikes_are_told_apart() -> None:
    alike = [1, "1", 1.0, True, "true", None, "null", "nothing", "K1_PAIR", "K1_P\u0410IR", "3", "3 ", "3\xa0"]
    assert len({spell(value) for value in alike}) == len(alike)


@given(ANY, st.integers(4, 60))
def test_a_clipped_text_fits(value: str, width: int) -> None:
    shown = clip(printable(value), width, "…")
    assert width_of(shown) <= width
    assert clip(shown, width, "…") == shown


@pytest.mark.parametrize(("given_", "columns"), [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("é", 1)])
def test_widths_are_those_of_a_terminal(given_: str, columns: int) -> None:
    assert width_of(given_) == columns
    assert width_of(pad(given_, 6)) == 6


def test_wrapped_lines_keep_their_indent() -> None:
    assert wrap("one two three four", 12, "  ", "  ") == ["  one two", "    three", "    four"]
    assert wrap("", 10, "  ") == ["  "]


# -- documents -----------------------------------------------------------------


@given(ANY)
def test_text_in_a_document_is_one_line_without_open_markup(value: str) -> None:
    shown = text(value)
    assert shown.isprintable()
    bare = shown.replace("\\\\", "")
    for mark in "`*_[]<>|#$~":
        assert bare.count(mark) == bare.count("\\" + mark)


@given(ANY)
def test_code_in_a_document_is_one_line_and_never_ends_a_cell(value: str) -> None:
    shown = code(value)
    assert shown.isprintable()
    assert shown.replace("\\\\", "").count("|") == shown.replace("\\\\", "").count("\\|")


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("v5", "`v5`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        (" v5", "`  v5 `"),
        ("", "`(empty)`"),
        ("a|b", "`a\\|b`"),
        ("a\\|b", "a\\\\\\|b"),
        ("a\nb", "`a\\u000ab`"),
    ],
)
def test_code(given_: str, shown: str) -> None:
    assert code(given_) == shown


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("12) item", "12\\) item"),
        ("=====", "\\====="),
        ("# title", "\\# title"),
        ("> quote", "\\> quote"),
        ("![x](http://h)", "\\!\\[x\\](http\\://h)"),
        ("www.evil.example", "www\\.evil.example"),
        ("to @someone", "to \\@someone"),
        ("a-b 1.5", "a-b 1.5"),
        ("1.5", "1\\.5"),
    ],
)
def test_text_never_becomes_markup(given_: str, shown: str) -> None:
    assert text(given_) == shown


# -- layout ---------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "ascii_only"), [("utf-8", False), ("UTF8", False), ("utf_8", False)])
def test_utf_8_in_any_spelling(encoding: str, ascii_only: bool) -> None:
    assert Layout.of(100, encoding, False).ascii_only is ascii_only


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "ANSI_X3.4-1968", "cp1252", ""])
def test_other_encodings_get_ascii(encoding: str) -> None:
    layout = Layout.of(100, encoding, False)
    assert (layout.ascii_only, layout.ellipsis, layout.safe("é…")) == (True, "...", "\\u00e9...")


@pytest.mark.parametrize(
    ("columns", "width"), [("132", 132), ("20", 60), ("9999", 400), ("", 120), ("0", 120), ("-5", 120), ("x", 120)]
)
def test_the_width_comes_from_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Layout.of(0, "utf-8", False).width == width
