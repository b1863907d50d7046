"""Names as text: lossless, and never alike; patterns over relative paths."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._names import Patterns, leads_out, leaf, original, shown, shown_bytes

from pinproof.paths import split_within

QUICK = settings(max_examples=60, deadline=None)  # the machine may be busy

name_bytes = st.binary(max_size=40).filter(lambda raw: b"\0" not in raw)


@QUICK
@given(name_bytes)
def test_every_name_can_be_had_back(raw: bytes) -> None:
    text = shown_bytes(raw)
    assert original(text) == raw
    assert shown(os.fsdecode(raw)) == text
    text.encode("utf-8")


@QUICK
@given(name_bytes, name_bytes)
def test_two_names_never_look_alike(one: bytes, other: bytes) -> None:
    assert (shown_bytes(one) == shown_bytes(other)) == (one == other)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"config.json", "config.json"),
        ("größe".encode(), "größe"),
        (b"a\xffb", "a\\xffb"),
        (b"a\\xffb", "a\\\\xffb"),
        (b"line\nbreak", "line\nbreak"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
    ],
)
def test_what_is_not_utf8_is_escaped(raw: bytes, text: str) -> None:
    assert shown_bytes(raw) == text


@pytest.mark.parametrize("text", ["a\\", "a\\n", "\\xg0", "\\"])
def test_a_text_that_is_no_shown_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"backslash|invalid literal"):
        original(text)


@QUICK
@given(st.text(max_size=20))
def test_a_leaf_is_always_a_path_the_controller_can_read(name: str) -> None:
    segments = split_within(leaf("files", name))
    assert segments in (("files", name), ("files",))
    if name and not set("[]") & set(name):
        assert segments == ("files", name)


@pytest.mark.parametrize(
    ("name", "out"),
    [("a", False), ("a/b", False), ("..a", False), ("", True), ("/a", True), ("..", True), ("a/../b", True)],
)
def test_names_that_lead_out_of_a_folder(name: str, out: bool) -> None:
    assert leads_out(name) is out


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("__pycache__", ["__pycache__/a.pyc", "x/__pycache__/a.pyc", "__pycache__"], ["x__pycache__", "a.pyc"]),
        ("*.log", ["a.log", "x/y/a.log", "old.log/a"], ["a.log.gz", "log"]),
        ("x/*.py", ["x/a.py", "x/a.py/below"], ["a.py", "x/y/a.py", "z/x/a.py"]),
        ("/x", ["x", "x/a"], ["y/x"]),
        ("x/", ["x/a", "y/x/a"], ["xx"]),
        ("x/**", ["x/a", "x/a/b"], ["x", "y/x/a"]),
        ("**/x/y", ["x/y", "a/x/y", "a/b/x/y/c"], ["x/z/y", "y"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b/c"], ["a", "b", "x/a/b"]),
        ("*", ["a", "a/b"], []),
        ("[ab].py", ["a.py", "x/b.py"], ["c.py"]),
    ],
)
def test_patterns(pattern: str, fitting: list[str], others: list[str]) -> None:
    patterns = Patterns([pattern])
    assert [path for path in fitting if not patterns.fits(path)] == []
    assert [path for path in others if patterns.fits(path)] == []


def test_the_first_pattern_that_fits_is_told() -> None:
    patterns = Patterns(["*.so", "x/**"])
    assert patterns.first("x/a.so") == "*.so"
    assert patterns.first("x/a.py") == "x/**"
    assert patterns.first("a.py") is None


def test_many_stars_cost_one_pass() -> None:
    assert not Patterns(["/".join(["**", "*"] * 60) + "/z"]).fits("/".join("a" * 200))
