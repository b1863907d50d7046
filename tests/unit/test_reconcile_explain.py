"""The lines that say what differs, and the cross-check between the two comparators."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from pinproof.manifest.model import Is
from pinproof.reconcile import explain as explaining
from pinproof.reconcile.compare import Difference, differences
from pinproof.reconcile.explain import agree, explain, line
from pinproof.verdicts import Verdict
from tests.unit.reconcile_builder import judge_one
from tests.unit.test_reconcile_compare import values

HASH = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"


def lines_of(expected: Any, observed: Any) -> tuple[str, ...]:
    return explain("p.x", expected, observed, list(differences(expected, observed)))


@pytest.mark.parametrize(
    ("expected", "observed", "lines"),
    [
        ("3", "03", ('p.x: expected "3", observed "03"',)),
        ({"a": 1}, {"a": 1, "b": 2}, ("p.x.b: expected nothing, observed 2",)),
        ({"a.b": "x"}, {}, ('p.x[a.b]: expected "x", observed nothing',)),
        ([1, 2], [1, 2, 3], ("p.x[2]: expected nothing, observed 3",)),
        ([1], [True], ("p.x[0]: expected 1, observed true",)),
        ([2.0, "a"], [2, "b"], ("p.x[0]: expected 2.0, observed 2", 'p.x[1]: expected "a", observed "b"')),
        ({"a": {"b": 1}}, {"a": "b"}, ('p.x.a: expected {"b": 1}, observed "b"',)),
        ({}, {}, ()),
        ([1, 2], [1, 2], ()),
    ],
)
def test_lines(expected: Any, observed: Any, lines: tuple[str, ...]) -> None:
    assert lines_of(expected, observed) == lines


@given(values, values)
def test_there_are_lines_exactly_where_values_differ(one: Any, other: Any) -> None:
    assert bool(lines_of(one, other)) == bool(list(differences(one, other)))


@given(values)
def test_the_comparators_agree_on_equal_values(value: Any) -> None:
    assert agree(value, value)


def test_a_list_in_another_order_is_said_to_be_one() -> None:
    assert lines_of(["a", "b"], ["b", "a"])[-1] == "p.x: the same members in another order"


def test_many_differences_are_counted_and_not_all_shown() -> None:
    expected = {f"f{index:04}": "1" for index in range(80)}
    found = lines_of(expected, dict.fromkeys(expected, "2"))
    assert len(found) == explaining.LINE_LIMIT + 1
    assert found[-1] == "p.x: 30 more differences"


def test_of_a_large_tree_only_what_differs_is_explained() -> None:
    expected = {f"dir/{index}.py": HASH for index in range(5000)}
    observed = {**expected, "dir/7.py": HASH[:-1] + "0"}
    assert len(lines_of(expected, observed)) == 1


def test_very_large_differences_are_explained_without_deepdiff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "deep_differences", lambda *_: pytest.fail("asked for a large value"))
    expected = {str(index): index for index in range(2500)}
    assert len(lines_of(expected, dict.fromkeys(expected, -1))) == explaining.LINE_LIMIT + 1
    assert agree(expected, expected)


@pytest.mark.parametrize(
    ("expected", "observed", "wanted"),
    [
        (HASH, "0" * 64, 'expected "be2c1436fa9f"…, observed "000000000000"…'),
        (HASH, HASH[:-1] + "0", f'expected "{HASH}", observed "{HASH[:-1]}0"'),
        (HASH, HASH[:20] + "00" + HASH[22:], f'expected "{HASH[:24]}"…'),
        (HASH, HASH[:12], f'expected "{HASH[:16]}"…, observed "{HASH[:12]}"'),
        ("x" * 500, "x" * 499 + "y", 'xxxx", observed …"xxx'),
        ("\u041a1", "K1", 'expected "\\u041a1", observed "K1"'),
        ("3", "3\r", 'observed "3\\r"'),
    ],
)
def test_long_values_are_cut_where_they_differ_visibly(expected: str, observed: str, wanted: str) -> None:
    said = line("p.x", expected, observed)
    assert wanted in said
    assert len(said) < 300


@pytest.mark.parametrize(
    ("observed", "said"),
    [
        ("o1rdma://10.202.28.1:18621", "(port 18620 is 18621; same scheme and address)"),
        ("o1rdma://10.202.28.7:18620", "(address 10.202.28.1 is 10.202.28.7; same scheme and port)"),
        ("tcp://10.202.28.7", "(scheme o1rdma is tcp, address 10.202.28.1 is 10.202.28.7, port 18620 is none)"),
        ("o1rdma://[fe80::1]:18620", "(address 10.202.28.1 is [fe80::1]; same scheme and port)"),
    ],
)
def test_endpoints_are_told_apart_by_their_parts(observed: str, said: str) -> None:
    pin = judge_one(Is("o1rdma://10.202.28.1:18620"), observed=observed)
    assert pin.verdict is Verdict.MISMATCH
    assert said in pin.diff[0]


def test_where_only_deepdiff_finds_a_difference_a_match_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "deep_differences", lambda *_: [Difference(("a",), "1", "2")])
    pin = judge_one(Is({"a": "1"}), observed={"a": "1"})
    assert pin.verdict is Verdict.HOLD
    assert "comparators disagree" in pin.why


def test_where_only_the_strict_comparator_finds_one_it_stays_a_mismatch() -> None:
    pin = judge_one(Is([["x", 1]]), observed=[["x", True]])
    assert pin.verdict is Verdict.REFUSED
    assert pin.diff == ("engine.env.X[0][1]: expected 1, observed true",)


def test_scalars_need_no_deepdiff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "deep_differences", lambda *_: pytest.fail("asked for a scalar"))
    assert judge_one(Is("3"), observed="3").verdict is Verdict.MATCH
    assert judge_one(Is("3"), observed="4").verdict is Verdict.MISMATCH
