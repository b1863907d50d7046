"""The strict comparator and what it makes of spellings: kinds, order, duplicates, canonical forms."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinproof.paths import MISSING
from pinproof.reconcile.canonical import is_identity, means_the_same, weigh_against
from pinproof.reconcile.compare import (
    DEPTH_LIMIT,
    Difference,
    differences,
    equal,
    leaves,
    listed_part,
    plain,
    summary,
    too_deep,
)
from pinproof.verdicts import Verdict

NAN = float("nan")

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)


class Tagged(str):
    """What a text becomes on its way through Ansible."""


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(values, values)
def test_equal_is_equality_of_json_texts(one: Any, other: Any) -> None:
    assert equal(one, other) == (text_of(one) == text_of(other))


@given(values)
def test_every_value_equals_its_copy(value: Any) -> None:
    assert equal(value, json.loads(text_of(value)))
    assert not list(differences(value, json.loads(text_of(value))))


@given(values, values)
def test_there_are_differences_exactly_where_values_are_not_equal(one: Any, other: Any) -> None:
    assert bool(list(differences(one, other))) == (not equal(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1, True),
        (1, 1.0),
        (True, "true"),
        (0, False),
        (0.0, -0.0),
        (None, ""),
        (None, False),
        (NAN, NAN),
        ([1, 1, 2], [1, 2]),
        ([1, 2], [2, 1]),
        ([2], [2.0]),
        ([True], [1]),
        ([], {}),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": NAN}, {"a": NAN}),
        ("é", "e\u0301"),
        (b"x", b"x"),
        ({1}, {1}),
    ],
)
def test_never_equal(one: Any, other: Any) -> None:
    assert not equal(one, other)
    assert not equal(other, one)


def test_tagged_texts_and_tuples_compare_as_what_they_hold() -> None:
    assert equal({"a": [Tagged("x")]}, {"a": ("x",)})
    assert type(plain(Tagged("x"))) is str


def test_listed_maps_are_held_to_their_listed_keys_also_inside() -> None:
    expected = {"a": "1", "b": {"c": "2"}}
    observed = {"a": "1", "b": {"c": "2", "d": "3"}, "e": "4"}
    assert not list(differences(expected, observed, listed=True))
    assert len(list(differences(expected, observed))) == 2
    assert listed_part(expected, observed) == expected


@pytest.mark.parametrize("expected", [{}, {"a": {}}])
def test_a_map_that_lists_nothing_must_find_nothing(expected: dict[str, Any]) -> None:
    assert list(differences(expected, {"a": {"b": 1}}, listed=True))


def test_inside_lists_all_keys_count() -> None:
    assert list(differences([{"a": 1}], [{"a": 1, "b": 2}], listed=True))


def test_differences_name_path_and_sides() -> None:
    found = list(differences({"a": [1, 2], "b": 1, "c": [1]}, {"a": [1, 3], "d": 1, "c": [1, 2]}))
    assert found == [
        Difference(("a", 1), 2, 3),
        Difference(("b",), 1, MISSING),
        Difference(("c",), [1], [1, 2]),
        Difference(("d",), MISSING, 1),
    ]


def test_depth_is_bounded() -> None:
    deep: Any = 1
    for _ in range(DEPTH_LIMIT - 1):
        deep = [deep]
    assert not too_deep(deep)
    assert too_deep([[deep]])


def test_plain_values_are_json_even_where_they_were_not_measured() -> None:
    assert plain({"a": NAN, "b": math.inf, "c": b"x"}) == {"a": "nan", "b": "inf", "c": "b'x'"}


def test_summary_does_not_depend_on_the_order_of_keys() -> None:
    assert summary({"a": 1, "b": 2}) == summary({"b": 2, "a": 1})
    assert summary({"a": 1})["digest"] != summary({"a": "1"})["digest"]


@given(values)
def test_counting_leaves_stops_at_the_limit(value: Any) -> None:
    assert 0 <= leaves(value, 3) <= 3


# -- spellings ---------------------------------------------------------------

HASH = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        ("3", "03"),
        ("3", "+3"),
        ("3", "3.0"),
        ("3", "3."),
        ("3", " 3"),
        ("3", "3\r"),
        ("3", "3\n"),
        ("3", "0x3"),
        ("3", "0b11"),
        ("3", "3e0"),
        ("3", 3),
        ("3", 3.0),
        (3, "3"),
        (3, 3.0),
        ("1", "true"),
        ("1", "Yes"),
        ("1", "on"),
        ("1", True),
        (1, True),
        ("0", "off"),
        ("0", "-0"),
        (False, "0"),
        ("1.6", "1.60"),
        ("28.79", "28.790"),
        ("LAZY", "LAZY "),
        ("/srv/x", "/srv/x "),
        (HASH, HASH.upper()),
        (HASH, HASH + "\n"),
        ("true", "True"),
    ],
)
def test_the_same_in_another_spelling_is_refused(expected: Any, observed: Any) -> None:
    assert weigh_against(expected, observed)[0] is Verdict.REFUSED
    assert weigh_against(observed, expected)[0] is Verdict.REFUSED


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        ("3", "04"),
        ("3", "true"),
        ("3", True),
        ("3", "\uff13"),
        ("3", '"3"'),
        ("3", "3,0"),
        ("3", "3 0"),
        ("3", ""),
        ("3", None),
        ("0", ""),
        ("0", None),
        ("LAZY", "lazy"),
        ("/srv/x", "/srv/X"),
        ("/srv/x", "/srv/x/"),
        ("…/2.0bpw-mcg", "…/2.0bpw-mcg-lmhead"),
        (HASH, "0" + HASH[1:]),
        ("1" * 40, "1" * 39 + "2"),
        ("1", "1" * 70),
        ("a", ["a"]),
        (NAN, NAN),
    ],
)
def test_another_value_is_a_mismatch(expected: Any, observed: Any) -> None:
    assert weigh_against(expected, observed)[0] is Verdict.MISMATCH


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (HASH, HASH[:12]),
        (HASH[:12], HASH),
        ("sha256:" + HASH, HASH[:7]),
        ("3", "keyed:" + "0" * 32),
        (["3"], "keyed:" + "0" * 32),
        ("keyed:" + "0" * 32, "3"),
    ],
)
def test_what_can_not_be_told_is_held(expected: Any, observed: Any) -> None:
    assert weigh_against(expected, observed)[0] is Verdict.HOLD


def test_two_different_keyed_digests_are_different_values() -> None:
    assert weigh_against("keyed:" + "0" * 32, "keyed:" + "1" * 32)[0] is Verdict.MISMATCH


def test_a_short_text_is_not_taken_for_an_abbreviation_of_another() -> None:
    assert weigh_against(HASH, HASH[:6])[0] is Verdict.MISMATCH
    assert weigh_against(HASH, HASH[1:13])[0] is Verdict.MISMATCH


@given(scalars, scalars)
def test_meaning_the_same_goes_both_ways(one: Any, other: Any) -> None:
    assert means_the_same(one, other) == means_the_same(other, one)


@given(st.integers(min_value=-(10**9), max_value=10**9), st.integers(min_value=0, max_value=5))
def test_leading_zeros_and_blanks_never_change_a_number(number: int, zeros: int) -> None:
    sign, digits = ("-" if number < 0 else ""), str(abs(number))
    spelled = f" {sign}{'0' * zeros}{digits}\t"
    assert means_the_same(str(number), spelled)
    assert not means_the_same(str(number + 1), spelled)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [(HASH, True), ("GPU-c4e7a371-d8a8-ebf0-918c-da3e38c87a93", True), (HASH[:31], False), ("3", False)],
)
def test_digests_and_unique_ids_are_known_by_their_form(text: str, is_one: bool) -> None:
    assert is_identity(text) is is_one
