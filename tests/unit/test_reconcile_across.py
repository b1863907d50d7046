"""Comparisons between hosts of one run, and with the baseline."""

from __future__ import annotations

from typing import Any

import pytest

from pinproof.manifest.model import BaselineIs, Check, DistinctAcross, Is, SameAcross, SameAsBaseline
from pinproof.observations import Baseline, HostFacts
from pinproof.outcome import Outcome, PinVerdict
from pinproof.verdicts import Verdict
from tests.unit.reconcile_builder import RANKS, baseline, facts, judge, manifest, pin, probe, row, seen

M, DRIFT, NOT_RUN, HOLD, REFUSED, MISMATCH = Verdict
ACROSS = SameAcross("ranks", RANKS)
THREE = ("sparkhead", "sparkpeer", "x86host")
KEYED = "keyed:" + "0" * 32
NOTHING = seen("serve")
DENIED = seen("serve", status="denied", why="no permission")
GONE = seen("serve", status="absent", why="no such container")


def image(content: Any, **more: Any) -> Any:
    return seen("serve", {"image": {"content": content}}, **more)


def across(
    head: Any, peer: Any, *checks: Check, on: tuple[str, ...] = RANKS, at: str = "serve.image.content"
) -> tuple[PinVerdict, ...]:
    hosts = {
        host: look if isinstance(look, str) else [look] for host, look in (("sparkhead", head), ("sparkpeer", peer))
    }
    what = manifest(row(pin(at, *(checks or (ACROSS,)), on=on)), probes=(probe("serve", "container", on=RANKS),))
    return judge(what, facts(**{host: look for host, look in hosts.items() if look != ""})).rows[0].pins


@pytest.mark.parametrize(
    ("head", "peer", "verdicts"),
    [
        (image("x"), image("x"), [M, M]),
        (image("x"), image("y"), [MISMATCH, MISMATCH]),
        (image("3"), image("3\r"), [REFUSED, REFUSED]),
        (image("1"), image(1), [REFUSED, REFUSED]),
        (image({"a": "1"}), image({"a": "1", "b": "2"}), [MISMATCH, MISMATCH]),
        (image(KEYED), image(KEYED), [M, M]),
        (image(KEYED), image("keyed:" + "1" * 32), [MISMATCH, MISMATCH]),
        (image(KEYED), image("x"), [HOLD, HOLD]),
        (image("x"), NOTHING, [MISMATCH, MISMATCH]),
        (image("x"), GONE, [MISMATCH, MISMATCH]),
        (NOTHING, NOTHING, [HOLD, HOLD]),
        (NOTHING, GONE, [HOLD, HOLD]),
        (image("x"), DENIED, [HOLD, HOLD]),
        (DENIED, DENIED, [HOLD, HOLD]),
        (image("x"), "no access", [HOLD, NOT_RUN]),
        (image("x"), "", [HOLD, NOT_RUN]),
        (image("x"), seen("serve", status="not_attempted"), [HOLD, NOT_RUN]),
        (image("x"), image("x", run="run-0"), [HOLD, HOLD]),
        (image({"a": "1"}), image({}, faults={"image.content.a": ("denied", "")}), [HOLD, HOLD]),
        (
            image({"a": "1", "b": "1"}),
            image({"b": "2"}, faults={"image.content.a": ("denied", "")}),
            [MISMATCH, MISMATCH],
        ),
    ],
)
def test_hosts_of_a_group_show_the_same(head: Any, peer: Any, verdicts: list[Verdict]) -> None:
    assert [item.verdict for item in across(head, peer)] == verdicts


def test_what_the_others_show_is_told() -> None:
    head, peer = across(image("x"), image("y"))
    assert head.diff == ('serve.image.content: expected "y" as on sparkpeer, observed "x"',)
    assert (peer.expected, peer.observed) == ({"same_across": {"sparkhead": "x"}}, "y")


def test_a_host_that_is_held_by_another_follows_from_its_cause() -> None:
    head, peer = across(image("x"), "no access")
    assert (head.cause, peer.cause) == ("host:sparkpeer", "host:sparkpeer")
    assert "can't be compared with sparkpeer: sparkpeer was not contacted: no access" in head.why


def test_state_is_not_compared_between_hosts() -> None:
    looks = (seen("serve", {"image": {"id": "x"}}, state={"image": {"age": age}}) for age in (1, 2))
    assert [item.verdict for item in across(*looks, at="serve.image")] == [M, M]


def test_a_group_of_one_compares_nothing() -> None:
    (found,) = across(image("x"), image("x"), SameAcross("ranks", ("sparkhead",)), on=("sparkhead",))
    assert found.verdict is HOLD


def test_a_host_outside_the_group_is_not_compared_with_it() -> None:
    group = SameAcross("others", ("sparkpeer", "x86host"))
    (found,) = across(image("x"), image("y"), Is("x"), group, on=("sparkhead",))
    assert found.verdict is M
    (alone,) = across(image("x"), image("y"), group, on=("sparkhead",))
    assert alone.verdict is HOLD


def test_one_of_three_differs_and_all_say_so() -> None:
    what = manifest(row(pin("serve.user", SameAcross("all", THREE), on=THREE)))
    looks = {host: [seen("serve", {"user": "0" if host != "x86host" else "7"})] for host in THREE}
    head, peer, other = judge(what, facts(**looks)).rows[0].pins
    assert [head.verdict, peer.verdict, other.verdict] == [MISMATCH] * 3
    assert len(head.diff) == 1
    assert other.expected == {"same_across": {"sparkhead": "0", "sparkpeer": "0"}}


# -- scopes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "one", "other", "verdict"),
    [
        ("c.files", {"files": ["a", "b"]}, {"files": ["a", "b"]}, M),
        ("c.files", {"files": ["a", "b"]}, {"files": ["a", "c"]}, HOLD),
        ("c.files.a", {"files": ["a", "b"]}, {"files": ["a", "c"]}, M),
        ("c.files.a", {"files": ["a"]}, {}, HOLD),
        ("c.resolved", {"files": ["a"]}, {"files": ["a", "c"]}, M),
        ("c.files", {"ignore": ["*.pyc"]}, {"ignore": []}, HOLD),
        ("c.resolved", {"ignore ]": 1}, {}, HOLD),
    ],
)
def test_what_was_not_looked_at_alike_is_incomparable(at: str, one: Any, other: Any, verdict: Verdict) -> None:
    looks = [[seen("c", {"files": {"a": "1"}, "resolved": "/c"}, scope=scope)] for scope in (one, other)]
    what = manifest(row(pin(at, ACROSS, on=RANKS)), probes=(probe("c", "files", on=RANKS),))
    found = judge(what, facts(sparkhead=looks[0], sparkpeer=looks[1])).rows[0].pins
    assert [item.verdict for item in found] == [verdict, verdict]
    assert verdict is M or "incomparable: both sides did not look at the same" in found[0].why


@pytest.mark.parametrize(("a", "verdict"), [("1", HOLD), ("9", MISMATCH)])
def test_beyond_both_scopes_only_what_both_captured_can_differ(a: str, verdict: Verdict) -> None:
    now = seen("c", {"files": {"a": a, "b": "2"}}, scope={"files": ["a", "b"]})
    then = seen("c", {"files": {"a": "1", "c": "3"}}, scope={"files": ["a", "c"]})
    what = manifest(row(pin("c.files", SameAsBaseline())), probes=(probe("c", "files"),))
    (found,) = judge(what, facts(sparkhead=[now]), baseline(sparkhead=[then])).rows[0].pins
    assert found.verdict is verdict


# -- distinct machines -------------------------------------------------------

DISTINCT = DistinctAcross("all", THREE)
MACHINES = row(
    pin("machine.machine_id", DISTINCT, on=THREE),
    pin("machine.boot_id", DISTINCT, on=THREE),
    pin("serve.user", ACROSS, on=RANKS),
    name="machines",
)


def machines(head: Any, peer: Any, other: Any) -> Outcome:
    hosts: dict[str, Any] = {}
    for host, given in zip(THREE, (head, peer, other), strict=True):
        look = seen("machine", {"machine_id": given}, state={"boot_id": f"boot of {given}"})
        hosts[host] = (
            given[1:] if isinstance(given, str) and given.startswith("!") else [look, seen("serve", {"user": "0"})]
        )
    return judge(manifest(MACHINES, probes=(probe("machine", "host", on=THREE),)), facts(**hosts))


def verdicts(outcome: Outcome, at: str) -> list[Verdict]:
    return [item.verdict for item in outcome.rows[0].pins if item.at == at]


def test_distinct_machines_match() -> None:
    outcome = machines("a", "b", "c")
    assert outcome.rows[0].verdict is M
    assert outcome.causes == ()


@pytest.mark.parametrize("other_spelling", ["a", "a\n"])
def test_two_names_of_one_machine_hold_every_comparison_between_them(other_spelling: str) -> None:
    outcome = machines("a", other_spelling, "c")
    assert verdicts(outcome, "machine.machine_id") == [HOLD, HOLD, M]
    assert verdicts(outcome, "serve.user") == [HOLD, HOLD]
    (cause,) = outcome.causes
    assert cause.id == "distinct:sparkhead+sparkpeer"
    assert cause.text.startswith("sparkhead and sparkpeer show the same machine.machine_id, machine.boot_id")
    assert "two inventory names are one machine" in cause.text
    assert cause.pins == 6


def test_a_difference_between_two_names_of_one_machine_stays_a_mismatch() -> None:
    looks = facts(
        sparkhead=[seen("machine", {"machine_id": "a"}), seen("serve", {"user": "0"})],
        sparkpeer=[seen("machine", {"machine_id": "a"}), seen("serve", {"user": "1"})],
    )
    both = row(pin("machine.machine_id", DistinctAcross("ranks", RANKS), on=RANKS), pin("serve.user", ACROSS, on=RANKS))
    found = judge(manifest(both, probes=(probe("machine", "host", on=RANKS),)), looks).rows[0].pins
    assert [item.verdict for item in found] == [HOLD, HOLD, MISMATCH, MISMATCH]


def test_hosts_that_nobody_asked_are_left_to_their_own_verdict() -> None:
    outcome = machines("!no access", "b", "c")
    assert verdicts(outcome, "machine.machine_id") == [NOT_RUN, M, M]
    assert "not told apart from sparkhead" in outcome.rows[0].pins[1].notes[0]


def test_a_host_without_a_verdict_of_its_own_holds_those_that_are_told_apart_from_it() -> None:
    looks = facts(**{host: [seen("machine", {"machine_id": host})] for host in RANKS})
    (pinned,) = judge(manifest(row(pin("machine.machine_id", DISTINCT))), looks).rows[0].pins
    assert pinned.verdict is HOLD
    assert "sparkhead can't be told apart from x86host" in pinned.why


def test_alone_nothing_is_distinct() -> None:
    outcome = machines("!no access", "!no access", "c")
    assert verdicts(outcome, "machine.machine_id") == [NOT_RUN, NOT_RUN, HOLD]


def test_a_machine_that_can_not_be_told_is_held_with_those_it_is_compared_with() -> None:
    looks = facts(
        sparkhead=[seen("machine", status="denied", why="no permission")],
        sparkpeer=[seen("machine", {"machine_id": "b"})],
    )
    what = manifest(row(pin("machine.machine_id", DistinctAcross("ranks", RANKS), on=RANKS)))
    assert [item.verdict for item in judge(what, looks).rows[0].pins] == [HOLD, HOLD]


@pytest.mark.parametrize("identity", [{}, {"machine_id": {"a": 1}}])
def test_a_machine_without_the_identity_is_a_mismatch(identity: Any) -> None:
    looks = facts(sparkhead=[seen("machine", identity)], sparkpeer=[seen("machine", {"machine_id": "b"})])
    what = manifest(row(pin("machine.machine_id", DistinctAcross("ranks", RANKS), on=RANKS)))
    assert judge(what, looks).rows[0].pins[0].verdict is MISMATCH


# -- the baseline ------------------------------------------------------------


def with_baseline(now: Any, before: Baseline | None, *checks: Check, at: str = "serve.image.content") -> PinVerdict:
    what = manifest(row(pin(at, *(checks or (SameAsBaseline(),)))), probes=(probe("serve", "container"),))
    return judge(what, facts(sparkhead=now if isinstance(now, str) else [now]), before).rows[0].pins[0]


@pytest.mark.parametrize(
    ("now", "then", "verdict"),
    [
        (image("x"), image("x"), M),
        (image("x"), image("y"), MISMATCH),
        (image("3\r"), image("3"), REFUSED),
        (image({"a": "1"}), image({"a": "1", "b": "1"}), MISMATCH),
        (image({"a": "1", "b": "1"}), image({"a": "1"}), MISMATCH),
        (image([1, 1]), image([1]), MISMATCH),
        (image("x"), NOTHING, MISMATCH),
        (NOTHING, image("x"), MISMATCH),
        (image("x"), GONE, MISMATCH),
        (GONE, image("x"), MISMATCH),
        (NOTHING, NOTHING, HOLD),
        (GONE, GONE, HOLD),
        (image("x"), DENIED, HOLD),
        (DENIED, image("x"), HOLD),
        (image("x"), seen("serve", status="not_attempted"), HOLD),
        (image("x"), image("x", run="capture-0"), HOLD),
        (image("x"), image(KEYED), HOLD),
        (image(KEYED), image(KEYED), M),
        (image("f" * 64), image("f" * 12), HOLD),
        ("no access", image("x"), NOT_RUN),
        (image("x"), seen("another"), HOLD),
        (image({"a": "1"}), image({}, faults={"image.content.a": ("denied", "")}), HOLD),
        (image({"a": "1"}), image({"a": "1"}, faults={"image": ("denied", "")}), HOLD),
    ],
)
def test_what_the_baseline_shows(now: Any, then: Any, verdict: Verdict) -> None:
    found = with_baseline(now, baseline(sparkhead=[then]))
    assert found.verdict is verdict
    assert verdict is M or "To settle: " in found.why


def test_the_difference_to_the_baseline_names_it() -> None:
    found = with_baseline(image("x"), baseline(sparkhead=[image("y")]))
    assert found.diff == ('serve.image.content: expected "y" as in the baseline, observed "x"',)
    assert "differs from the baseline" in found.why
    assert (found.expected, found.observed) == ({"same_as_baseline": "y"}, "x")


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (None, "there is no baseline"),
        (baseline("it is a manifest", sparkhead=[image("x")]), "can't be used: it is a manifest"),
    ],
)
@pytest.mark.parametrize("check", [SameAsBaseline(), BaselineIs("x")])
def test_without_a_usable_baseline_all_that_needs_it_is_held(check: Check, before: Any, said: str) -> None:
    found = with_baseline(image("x"), before, check)
    assert (found.verdict, found.cause) == (HOLD, "baseline")
    assert said in found.why


@pytest.mark.parametrize("hosts", [{}, {"sparkhead": HostFacts("sparkhead", False, "not reached", {})}])
def test_a_host_that_the_baseline_lacks_is_held(hosts: Any) -> None:
    found = with_baseline(image("x"), baseline(**hosts))
    assert (found.verdict, found.cause) == (HOLD, "baseline:sparkhead")


@pytest.mark.parametrize(
    ("now", "then", "verdict"),
    [
        (image("1"), image("0"), M),
        (image("1"), image("1"), MISMATCH),
        (image("1"), image("00"), REFUSED),
        (image("1"), image(KEYED), HOLD),
        (image("1"), NOTHING, MISMATCH),
        (image("1"), GONE, MISMATCH),
        (image("1"), DENIED, HOLD),
        (NOTHING, image("0"), M),
        (DENIED, image("0"), HOLD),
        ("no access", image("0"), NOT_RUN),
        ("no access", image("1"), MISMATCH),
    ],
)
def test_what_the_baseline_is_to_show(now: Any, then: Any, verdict: Verdict) -> None:
    found = with_baseline(now, baseline(sparkhead=[then]), BaselineIs("0"))
    assert found.verdict is verdict
    if verdict is MISMATCH:
        assert found.diff[0].startswith(("in the baseline: serve.image.content", "serve.image.content in the baseline"))


def test_both_ends_of_a_planned_difference_are_told_apart() -> None:
    found = with_baseline(image("0"), baseline(sparkhead=[image("1")]), Is("1"), BaselineIs("0"))
    assert found.diff == (
        'serve.image.content: expected "1", observed "0"',
        'in the baseline: serve.image.content: expected "0", observed "1"',
    )


def test_bytes_that_could_not_speak_for_their_process_in_the_baseline_are_no_baseline() -> None:
    probes = (probe("engine"), probe("code", "file", loaded_by="engine"))
    what = manifest(row(pin("code.sha256", SameAsBaseline())), probes=probes)
    engine = seen("engine", state={"started_at": 10.0})
    fresh, stale = (seen("code", {"sha256": "x"}, state={"changed_at": at}) for at in (9.0, 11.0))
    other = seen("code", {"sha256": "y"}, state={"changed_at": 9.0})
    assert (
        judge(what, facts(sparkhead=[engine, other]), baseline(sparkhead=[engine, stale])).rows[0].verdict is MISMATCH
    )
    held = judge(what, facts(sparkhead=[engine, fresh]), baseline(sparkhead=[engine, stale])).rows[0].pins[0]
    assert held.verdict is HOLD
    assert "code on sparkhead in the baseline changed after engine started" in held.why
    assert judge(what, facts(sparkhead=[engine, fresh]), baseline(sparkhead=[engine, fresh])).rows[0].verdict is M


TREE = {f"pkg/m{index}.py": f"{index:064x}" for index in range(300)}


def test_equal_trees_are_shown_by_size_and_digest() -> None:
    found = with_baseline(image(TREE), baseline(sparkhead=[image(dict(reversed(TREE.items())))]))
    assert found.verdict is M
    assert found.observed["entries"] == 300
    assert found.expected["same_as_baseline"] == found.observed


def test_differing_trees_are_shown_by_what_differs() -> None:
    now = {**TREE, "pkg/m7.py": "0" * 64, "pkg/new.py": "1" * 64}
    found = with_baseline(image(now), baseline(sparkhead=[image(TREE)]))
    assert found.observed == {
        "entries": 301,
        "differing": 2,
        "shown": {"[pkg/m7.py]": "0" * 64, "[pkg/new.py]": "1" * 64},
    }
    assert found.expected["same_as_baseline"]["shown"] == {"[pkg/m7.py]": f"{7:064x}"}
    assert len(found.diff) == 2


def test_a_tree_that_differs_everywhere_is_shown_in_part() -> None:
    found = with_baseline(image(dict.fromkeys(TREE, "x")), baseline(sparkhead=[image(TREE)]))
    assert found.observed["differing"] == 300
    assert len(found.observed["shown"]) == 50
    assert found.diff[-1] == "serve.image.content: 250 more differences"
