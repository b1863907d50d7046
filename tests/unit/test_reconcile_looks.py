"""Looks that came back without a value: absence is evidence, everything else is the lack of it."""

from __future__ import annotations

from typing import Any

import pytest

from pinproof.manifest.model import Bound, Check, Is, IsAbsent, OneOf, PerHost, Prefix, SetOf
from pinproof.observations import HostFacts
from pinproof.outcome import PinVerdict
from pinproof.verdicts import Decision, Evidence, Verdict
from tests.unit.reconcile_builder import RUN, closed, facts, judge, manifest, pin, probe, row, seen

M, DRIFT, NOT_RUN, HOLD, REFUSED, MISMATCH = Verdict

EVERY: tuple[Check, ...] = (
    Is("3"),
    Is({"a": "1"}),
    IsAbsent(),
    Bound(True, (("", 1.0),), ""),
    OneOf(("a", "b")),
    SetOf(("a",)),
    Prefix("a"),
    PerHost({"sparkhead": "1"}),
    closed("*"),
)
NO_EVIDENCE = ("denied", "unreachable", "timeout", "unparsable", "unstable", "incomparable", "no_tool", "unheard-of")


def judged(check: Check, look: Any, at: str = "engine.env.X") -> PinVerdict:
    return judge(manifest(row(pin(at, check))), facts(sparkhead=[look])).rows[0].pins[0]


@pytest.mark.parametrize("status", NO_EVIDENCE)
@pytest.mark.parametrize("check", EVERY)
def test_a_failed_look_holds_every_kind_of_pin(check: Check, status: str) -> None:
    found = judged(check, seen("engine", status=status, why="because of the weather"))
    assert found.verdict is HOLD
    assert found.evidence is None
    assert found.observed is None
    for part in ("engine on sparkhead", status, "because of the weather", "To settle: "):
        assert part in found.why


@pytest.mark.parametrize("check", EVERY)
def test_a_look_that_the_lane_forbids_is_not_run(check: Check) -> None:
    found = judged(check, seen("engine", status="not_attempted", why="this lane reads files only"))
    assert found.verdict is NOT_RUN
    assert found.cause == "lane:sparkhead"
    assert "this lane reads files only" in found.why


@pytest.mark.parametrize("check", EVERY)
def test_an_absent_subject_is_a_mismatch_for_every_kind_of_pin(check: Check) -> None:
    found = judged(check, seen("engine", status="absent", why="no such container"))
    assert found.verdict is MISMATCH
    assert "no such container" in found.why
    assert found.evidence is Evidence.PROCESS


def test_the_absence_of_the_subject_itself_can_be_pinned() -> None:
    gone, there = seen("engine", status="absent", why="gone"), seen("engine")
    assert judged(IsAbsent(), gone, at="engine").verdict is M
    assert judged(IsAbsent(), there, at="engine").verdict is MISMATCH
    assert judged(IsAbsent(), seen("engine", status="denied"), at="engine").verdict is HOLD


def test_hosts_that_were_not_contacted_are_not_run() -> None:
    what = manifest(row(pin("engine.env.X", Is("3"), on=("sparkhead", "sparkpeer"))))
    outcome = judge(what, facts(sparkpeer="this lane has no access"))
    assert [item.verdict for item in outcome.rows[0].pins] == [NOT_RUN, NOT_RUN]
    assert [item.cause for item in outcome.rows[0].pins] == ["host:sparkhead", "host:sparkpeer"]
    assert outcome.causes[1].text == "sparkpeer was not contacted: this lane has no access"
    assert outcome.rows[0].verdict is NOT_RUN
    assert outcome.decision is Decision.HOLD


def test_a_host_that_answered_without_the_look_is_held() -> None:
    found = judged(Is("3"), seen("another"))
    assert found.verdict is HOLD
    assert "engine on sparkhead was asked for and has no observation" in found.why


def test_a_host_that_answered_with_nothing_is_held() -> None:
    empty = HostFacts("sparkhead", True, "cut short", {})
    outcome = judge(manifest(row(pin("engine.env.X", Is("3")))), {"sparkhead": empty})
    assert outcome.rows[0].pins[0].verdict is HOLD
    assert outcome.causes[0].text == "sparkhead answered with no observations: cut short"


@pytest.mark.parametrize("check", EVERY)
def test_observations_of_another_run_never_count(check: Check) -> None:
    found = judged(check, seen("engine", {"env": {"X": "3"}}, run="run-0"))
    assert found.verdict is HOLD
    assert "of another run (run-0, not run-1)" in found.why
    assert found.cause == "run:sparkhead"


@pytest.mark.parametrize("stray", [seen("engine", {"env": {"X": "3"}}, host="sparkpeer")])
def test_observations_of_another_host_never_count(stray: Any) -> None:
    assert judged(Is("3"), stray).verdict is HOLD


def test_an_observation_filed_under_another_name_never_counts() -> None:
    (other,) = facts(sparkhead=[seen("proxy", {"env": {"X": "3"}})])["sparkhead"].observations.values()
    hosts = {"sparkhead": HostFacts("sparkhead", True, "", {"engine": other})}
    assert other.run == RUN
    assert judge(manifest(row(pin("engine.env.X", Is("3")))), hosts).rows[0].pins[0].verdict is HOLD


def test_data_that_are_nested_without_end_are_held() -> None:
    deep: Any = "3"
    for _ in range(500):
        deep = {"X": deep}
    found = judged(Is("3"), seen("engine", {"env": deep}))
    assert found.verdict is HOLD
    assert "nested deeper" in found.why


# -- faults ------------------------------------------------------------------


@pytest.mark.parametrize("where", ["env", "env.X"])
@pytest.mark.parametrize(
    ("status", "verdict"), [(status, HOLD) for status in NO_EVIDENCE] + [("not_attempted", NOT_RUN)]
)
def test_a_fault_at_or_above_the_path_is_the_lack_of_evidence(where: str, status: str, verdict: Verdict) -> None:
    for check in EVERY:
        found = judged(check, seen("engine", {}, faults={where: (status, "no permission")}))
        assert found.verdict is verdict
        assert "no permission" in found.why


def test_an_absent_subject_says_what_would_settle_it() -> None:
    found = judged(Is("3"), seen("engine", status="absent", why="no such container"))
    assert found.why.endswith("To settle: let it be there, or find out why it is gone")


@pytest.mark.parametrize("where", ["env", "env.X"])
def test_an_absent_fault_counts_as_absent(where: str) -> None:
    look = seen("engine", {}, faults={where: ("absent", "no such file")})
    assert judged(Is("3"), look).verdict is MISMATCH
    assert "no such file" in judged(Is("3"), look).why
    assert judged(IsAbsent(), look).verdict is M


def test_a_value_that_is_said_to_be_absent_is_held() -> None:
    look = seen("engine", {"env": {"X": "3"}}, faults={"env.X": ("absent", "gone")})
    assert judged(Is("3"), look).verdict is HOLD
    assert judged(IsAbsent(), look).verdict is HOLD


FILES = {"a": {"sha256": "1"}, "b": {"sha256": "2"}}


@pytest.mark.parametrize(
    ("check", "value", "faults", "verdict"),
    [
        (Is({"a": {"sha256": "1"}, "b": {"sha256": "2"}}), FILES, {"b": ("denied", "")}, HOLD),
        (Is({"a": {"sha256": "1"}, "c": {"sha256": "3"}}), FILES, {"c": ("denied", "")}, HOLD),
        (Is({"a": {"sha256": "1"}, "c": {"sha256": "3"}}), FILES, {"c.sha256": ("timeout", "")}, HOLD),
        (Is({"a": {"sha256": "1"}, "c": {"sha256": "3"}}), FILES, {"c": ("absent", "")}, MISMATCH),
        (Is({"a": {"sha256": "9"}, "c": {"sha256": "3"}}), FILES, {"c": ("denied", "")}, MISMATCH),
        (Is({"a": {"sha256": "1"}}), FILES, {"c": ("denied", "")}, M),
        (Is({"a": {"sha256": "1"}}), FILES, {"b.sha256": ("denied", "")}, M),
        (Is({"a": {"sha256": "1"}, "c": {"sha256": "3"}}), FILES, {"c": ("not_attempted", "")}, NOT_RUN),
        (Is({"c": "3"}), {}, {"c": ("denied", "")}, HOLD),
        (closed("*", allowed=("a", "b")), FILES, {"c": ("denied", "")}, HOLD),
        (closed("*", allowed=("a",)), FILES, {"c": ("denied", "")}, REFUSED),
        (IsAbsent(), {}, {"c": ("denied", "")}, HOLD),
        (IsAbsent(), {}, {"c": ("absent", "")}, M),
        (IsAbsent(), FILES, {"c": ("denied", "")}, MISMATCH),
        (Is(["1", "2"]), ["1"], {"[1]": ("denied", "")}, HOLD),
        (Is({"a": "1"}), {"a": "2"}, {"a.b": ("denied", "")}, MISMATCH),
        (SetOf(("1",)), ["1"], {"[1]": ("denied", "")}, HOLD),
        (OneOf(("1", "2")), "1", {"x": ("denied", "")}, HOLD),
    ],
)
def test_a_fault_below_the_path_holds_what_it_hides(check: Check, value: Any, faults: Any, verdict: Verdict) -> None:
    below = {"files" + (key if key.startswith("[") else "." + key): fault for key, fault in faults.items()}
    assert judged(check, seen("checkpoint", {"files": value}, faults=below), at="checkpoint.files").verdict is verdict


@pytest.mark.parametrize("check", [Is({"c": "3"}), IsAbsent()])
def test_parts_that_the_lane_forbids_follow_from_it(check: Check) -> None:
    look = seen("w", {"files": {}}, faults={"files.c": ("not_attempted", "files only")})
    found = judged(check, look, at="w.files")
    assert (found.verdict, found.cause) == (NOT_RUN, "lane:sparkhead")


def test_parts_that_could_not_be_read_are_named() -> None:
    look = seen("c", {"files": {}}, faults={"files[a.b]": ("denied", "no permission")})
    found = judged(Is({"a.b": "1"}), look, at="c.files")
    assert found.why.startswith("c.files on sparkhead: [a.b]: denied: no permission. To settle: grant the access")
    assert found.diff == ()


def test_where_nothing_was_seen_but_a_fault_below_it_absence_is_not_proven() -> None:
    look = seen("c", {}, faults={"files[a]": ("denied", "no permission")})
    assert judged(IsAbsent(), look, at="c.files").verdict is HOLD


# -- native apparatus --------------------------------------------------------


@pytest.mark.parametrize("check", [Is(42), IsAbsent()])
def test_missing_apparatus_is_held_and_not_a_mismatch(check: Check) -> None:
    probes = (probe("engine"), probe("composed", "emission", written_since="engine"))
    what = manifest(row(pin("composed.count", check)), probes=probes)
    looks = [seen("engine", state={"started_at": 1.0}), seen("composed", status="absent", why="no such file")]
    found = judge(what, facts(sparkhead=looks)).rows[0].pins[0]
    assert found.verdict is HOLD
    assert found.why.startswith("apparatus missing: composed on sparkhead was not run, or left no record")


def test_a_missing_status_file_is_a_mismatch() -> None:
    probes = (probe("engine"), probe("status", "status", written_since="engine"))
    what = manifest(row(pin("status.value.tp", Is(2))), probes=probes)
    looks = [seen("engine", state={"started_at": 1.0}), seen("status", status="absent", why="no such file")]
    assert judge(what, facts(sparkhead=looks)).rows[0].pins[0].verdict is MISMATCH
