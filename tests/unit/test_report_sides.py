"""Expected and observed, one above the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinproof.paths import MISSING
from pinproof.reconcile.explain import line
from pinproof.report.sides import Sides, sides, sides_of_line

A = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"
TEXT = st.text(max_size=60)
VALUES = st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT, max_size=3)


@pytest.mark.parametrize(
    ("expected", "observed", "upper", "lower", "marks"),
    [
        ("327680", "327681", '"327680"', '"327681"', "      ^"),
        ("3", "03", '"3"', '"03"', " ^"),
        ("03", "3", '"03"', '"3"', " ^"),
        ("3", "3 ", '"3"', '"3 "', "  ^"),
        (3, "3", "3", '"3"', "^ ^"),
        (True, 1, "true", "1", ""),
        ("v5", None, '"v5"', "nothing", ""),
        (None, "v5", "nothing", '"v5"', ""),
        ("alpha", "omega", '"alpha"', '"omega"', ""),
        (A, A[:-1] + "c", '"be2c14…3bd"', '"be2c14…3bc"', "          ^"),
        ({"a": 1}, {"a": 2}, '{"a": 1}', '{"a": 2}', "      ^"),
    ],
)
def test_two_values(expected: Any, observed: Any, upper: str, lower: str, marks: str) -> None:
    assert sides(expected, observed, 80, "…") == Sides("", upper, lower, marks)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a.b: expected "3", observed "4"', Sides("a.b", '"3"', '"4"', " ^")),
        (
            'a: expected "x, observed y", observed "x, observed z"',
            Sides("a", '"x, observed y"', '"x, observed z"', "             ^"),
        ),
        ('a: expected 1 of the baseline, observed "1"', Sides("a", "1", '"1"', "^ ^", "of the baseline")),
        ("a: expected nothing, observed true", Sides("a", "nothing", "true", "")),
        ("a: expected true, observed nothing", Sides("a", "true", "nothing", "")),
        ('a: expected "12…", observed "13…"', Sides("a", '"12…"', '"13…"', "  ^")),
        ('a: expected …"12"…, observed …"13"…', Sides("a", '…"12"…', '…"13"…', "   ^")),
        (
            'a: expected "o://h:1", observed "o://h:2" (port 1 is 2; same scheme)',
            Sides("a", '"o://h:1"', '"o://h:2"', "       ^", "(port 1 is 2; same scheme)"),
        ),
        ("a: expected at least 5 (recipe), observed 3", Sides("a", "at least 5 (recipe)", "3", "")),
        ('a: not listed, observed "1"', None),
        ("a: the same members in another order", None),
        ("a: expected 1", None),
        ("", None),
    ],
)
def test_a_line_of_differences(text: str, found: Sides | None) -> None:
    assert sides_of_line(text, 80, "…") == found


def test_the_lines_that_reconcile_writes_are_understood() -> None:
    for expected, observed in [("3", "4"), (1, "1"), (MISSING, "x"), ({"a": [1]}, MISSING), (A, A[:-1] + "c")]:
        found = sides_of_line(line("probe.map[a, b]", expected, observed, "of the baseline"), 80, "…")
        assert found is not None
        assert found.path == "probe.map[a, b]"
        assert found.expected != found.observed
        assert found.remark == "of the baseline"


@given(TEXT, st.integers(20, 120))
def test_no_line_is_too_much(text: str, room: int) -> None:
    for said in (text, f"a: expected {text}, observed {text}", f'a: expected "{text}", observed 1'):
        found = sides_of_line(said, room, "…")
        if found is not None:
            assert max(len(found.expected), len(found.observed)) <= max(room, len("nothing"))


@given(VALUES, VALUES, st.integers(40, 120))
def test_two_different_values_are_shown_in_the_room_and_differ(one: Any, other: Any, room: int) -> None:
    found = sides(one, other, room, "…")
    assert max(len(found.expected), len(found.observed)) <= room
    assert len(found.marks) <= len(found.observed) + 1
    if isinstance(one, str) and isinstance(other, str) and one != other:
        assert found.expected != found.observed


def test_the_first_difference_of_long_values_is_in_view() -> None:
    found = sides("x" * 500 + "1" + "y" * 500, "x" * 500 + "2" + "y" * 500, 60, "…")
    assert len(found.expected) == len(found.observed) == 60
    assert found.observed[found.marks.index("^")] == "2"
    assert found.expected[found.marks.index("^")] == "1"


def test_huge_values_are_cut_without_being_compared_letter_by_letter() -> None:
    found = sides("x" * 100_000, "y" * 100_000, 60, "...")
    assert (len(found.expected), found.marks) == (60, "")
