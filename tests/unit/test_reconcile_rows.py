"""Rows, causes, counts and decisions: what pins add up to."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from pinproof.errors import PinproofError
from pinproof.manifest.model import AcrossExperiment, Is, IsAbsent, SameAcross, SameAsBaseline
from pinproof.observations import HostFacts
from pinproof.outcome import Arm, Outcome
from pinproof.reconcile import rows as row_module
from pinproof.verdicts import Decision, Evidence, Verdict
from tests.unit.reconcile_builder import RANKS, baseline, closed, facts, judge, manifest, pin, probe, row, seen

M, DRIFT, NOT_RUN, HOLD, REFUSED, MISMATCH = Verdict
SOURCE, FILE, LOADED, PROCESS, NATIVE = Evidence

IS = Is("1")
WORKER = ("x86host",)


def value(name: str, found: Any = "1", **more: Any) -> Any:
    return seen(name, {"x": found}, **more)


def only_row(outcome: Outcome) -> Any:
    (found,) = outcome.rows
    return found


# -- rows and decisions ------------------------------------------------------


def test_a_mismatch_in_the_first_row_still_judges_all_rows() -> None:
    what = manifest(row(pin("a.x", IS), name="one"), row(pin("b.x", IS), name="two"), row(pin("c.x", IS), name="three"))
    outcome = judge(what, facts(sparkhead=[value("a", "2"), value("b"), value("c", "1\r")]))
    assert [item.verdict for item in outcome.rows] == [MISMATCH, M, REFUSED]
    assert outcome.decision is Decision.STOP
    assert outcome.counts == {"MATCH": 1, "DRIFT": 0, "NOT_RUN": 0, "HOLD": 0, "REFUSED": 1, "MISMATCH": 1}


@pytest.mark.parametrize(
    ("observed", "decision"),
    [("1", Decision.RECONCILED), ("01", Decision.STOP), ("2", Decision.STOP), ("keyed:" + "0" * 32, Decision.HOLD)],
)
def test_decisions(observed: str, decision: Decision) -> None:
    assert judge(manifest(row(pin("a.x", IS))), facts(sparkhead=[value("a", observed)])).decision is decision


def test_drift_is_told_and_never_stops() -> None:
    outcome = judge(manifest(row(pin("a.x", IS, drift=True))), facts(sparkhead=[value("a", "2")]))
    assert only_row(outcome).verdict is DRIFT
    assert "recorded as drift" in only_row(outcome).why
    assert outcome.decision is Decision.RECONCILED


def test_a_manifest_without_rows_is_held() -> None:
    assert judge(manifest(), facts(sparkhead=[value("a")])).decision is Decision.HOLD


def test_a_row_without_pins_of_run_scope_is_held() -> None:
    outcome = judge(manifest(row(pin("a.x", AcrossExperiment("legs")))), facts(sparkhead=[value("a")]))
    assert only_row(outcome).verdict is HOLD
    assert "no pin of this row can be judged by a single run" in only_row(outcome).why
    assert sum(outcome.counts.values()) == 0


def test_pins_of_experiment_scope_are_listed_and_not_counted() -> None:
    what = manifest(row(pin("a.x", IS), pin("a.y", AcrossExperiment("bracket"), id="later")))
    outcome = judge(what, facts(sparkhead=[value("a")]))
    assert [(item.id, item.over, item.row) for item in outcome.experiment] == [("later", "bracket", "row")]
    assert outcome.counts["MATCH"] == sum(outcome.counts.values()) == 1
    assert outcome.decision is Decision.RECONCILED


def test_what_a_run_can_judge_of_a_pin_is_judged_even_where_compare_judges_the_rest() -> None:
    what = manifest(row(pin("a.x", IS, AcrossExperiment("legs"))))
    outcome = judge(what, facts(sparkhead=[value("a", "2")]))
    assert (len(outcome.experiment), outcome.counts["MISMATCH"]) == (1, 1)


def test_a_pin_that_demands_nothing_of_a_host_is_held_there() -> None:
    elsewhere = SameAcross("others", ("sparkpeer", "x86host"))
    (found,) = only_row(judge(manifest(row(pin("a.x", elsewhere))), facts(sparkhead=[value("a")]))).pins
    assert found.verdict is HOLD
    assert found.why.startswith("nothing is demanded of a.x on sparkhead")


def test_a_pin_without_checks_is_listed_nowhere_and_its_row_is_held() -> None:
    assert only_row(judge(manifest(row(pin("a.x"))), facts(sparkhead=[value("a")]))).verdict is HOLD


def test_a_pin_on_no_host_is_held_and_counted() -> None:
    outcome = judge(manifest(row(pin("a.x", IS, on=()), pin("b.x", IS))), facts(sparkhead=[value("b")]))
    assert outcome.counts["HOLD"] == 1
    assert "on no host" in only_row(outcome).why


def test_a_verdict_that_got_lost_is_a_defect_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_row = row_module.judge_row

    def forgetful(*arguments: Any) -> Any:
        judged, seeds = judge_row(*arguments)
        return dataclasses.replace(judged, pins=()), seeds

    monkeypatch.setattr("pinproof.reconcile.judge_row", forgetful)
    with pytest.raises(PinproofError, match="1 pins are declared and 0 were judged"):
        judge(manifest(row(pin("a.x", IS))), facts(sparkhead=[value("a")]))


def test_the_outcome_is_json() -> None:
    what = manifest(row(pin("a.x", IS), pin("b", IsAbsent()), pin("c.x", closed("*"))))
    outcome = judge(what, facts(sparkhead=[value("a", float("nan")), value("b"), value("c", {"n": float("inf")})]))
    text = json.dumps(outcome.as_json(), allow_nan=False)
    assert json.loads(text)["decision"] == "STOP"
    assert json.loads(text)["authorises"] == "no staging and no change"


def test_the_row_says_which_pin_decides() -> None:
    what = manifest(row(pin("a.x", IS), pin("b.x", IS, id="second")))
    found = only_row(judge(what, facts(sparkhead=[value("a"), value("b", "2")])))
    assert found.why.startswith("1 of 2 MISMATCH: second on sparkhead: b.x on sparkhead is not what is pinned")


# -- evidence ----------------------------------------------------------------


def evidence_row(requires: Evidence, *looks: Any, kind: str = "file", **hosts: Any) -> Any:
    names = list(dict.fromkeys(look.probe for found in [looks, *hosts.values()] for look in found))
    on = tuple(hosts) or ("sparkhead",)
    what = manifest(
        row(*(pin(f"{name}.x", IS, on=on) for name in names), requires=requires),
        probes=tuple(probe(name, kind, on=on) for name in names),
    )
    return only_row(judge(what, facts(**(hosts or {"sparkhead": list(looks)}))))


@pytest.mark.parametrize("has", list(Evidence))
@pytest.mark.parametrize("requires", list(Evidence))
def test_weaker_evidence_than_required_holds_the_row(has: Evidence, requires: Evidence) -> None:
    found = evidence_row(requires, value("a", evidence=has))
    assert found.verdict is (M if has >= requires else HOLD)
    assert found.evidence is has
    assert found.pins[0].verdict is M


def test_file_evidence_is_said_to_be_no_proof() -> None:
    found = evidence_row(PROCESS, value("a", evidence=FILE))
    assert found.why.startswith("only file evidence on sparkhead, process is required: file evidence is not proof")


def test_the_best_evidence_of_a_host_counts() -> None:
    found = evidence_row(PROCESS, value("a", evidence=FILE), value("b", evidence=PROCESS))
    assert (found.verdict, found.evidence) == (M, PROCESS)


def test_evidence_that_does_not_match_proves_nothing() -> None:
    looks = [value("a", evidence=FILE), value("b", "keyed:" + "0" * 32, evidence=PROCESS)]
    found = evidence_row(PROCESS, *looks)
    assert (found.verdict, found.evidence) == (HOLD, FILE)
    assert "only file evidence" in found.why


def test_each_host_needs_its_own_evidence_and_the_lowest_is_reported() -> None:
    hosts = {"sparkhead": [value("a", evidence=PROCESS)], "sparkpeer": [value("a", evidence=FILE)]}
    found = evidence_row(PROCESS, **hosts)
    assert (found.verdict, found.evidence) == (HOLD, FILE)
    assert "only file evidence on sparkpeer" in found.why


def test_a_mismatch_is_not_softened_by_weak_evidence() -> None:
    found = evidence_row(PROCESS, value("a", "2", evidence=FILE))
    assert (found.verdict, found.evidence) == (MISMATCH, None)


def test_the_source_and_the_baseline_do_not_weaken_a_row() -> None:
    what = manifest(
        row(
            pin("a.x", IS),
            pin("clone.revision", IS, on=("coordinator",)),
            pin("baseline.usable", Is(True), on=("coordinator",)),
            requires=PROCESS,
        ),
        probes=(probe("clone", "clone", on=("coordinator",)),),
    )
    looks = facts(
        sparkhead=[value("a", evidence=PROCESS)], coordinator=[seen("clone", {"revision": "1"}, evidence=SOURCE)]
    )
    found = only_row(judge(what, looks, baseline(sparkhead=[])))
    assert (found.verdict, found.evidence) == (M, PROCESS)


def test_a_row_of_nothing_but_source_falls_short_all_the_same() -> None:
    assert evidence_row(FILE, value("a", evidence=SOURCE), kind="clone").verdict is HOLD
    assert evidence_row(SOURCE, value("a", evidence=SOURCE), kind="clone").verdict is M


def test_a_clone_beside_other_pins_of_its_host_counts_as_them() -> None:
    what = manifest(
        row(pin("clone.x", IS), pin("a.x", IS), requires=FILE),
        probes=(probe("clone", "clone"), probe("a", "file")),
    )
    looks = facts(sparkhead=[value("clone", evidence=SOURCE), value("a", status="not_attempted")])
    assert only_row(judge(what, looks)).verdict is HOLD


def test_drift_is_evidence() -> None:
    what = manifest(row(pin("a.x", IS, drift=True), requires=PROCESS))
    assert only_row(judge(what, facts(sparkhead=[value("a", "2", evidence=PROCESS)]))).verdict is DRIFT
    assert only_row(judge(what, facts(sparkhead=[value("a", "2", evidence=FILE)]))).verdict is HOLD


# -- lanes -------------------------------------------------------------------


def test_in_a_lane_of_files_rows_are_held_or_not_run_as_they_must() -> None:
    """The ranks are out of reach, files of x86host match, and what needs its processes is not looked at."""
    what = manifest(
        row(
            pin("commit.text", IS, on=("x86host",)), pin("worker.x", IS, on=("x86host",)), requires=PROCESS, name="ten"
        ),
        row(pin("status.x", IS, on=("x86host",)), pin("engine.x", IS, on=RANKS), requires=FILE, name="twelve"),
        row(pin("engine.x", IS, on=RANKS, id="again"), requires=PROCESS, name="five"),
        probes=(probe("engine", on=RANKS),),
    )
    looks = facts(
        sparkhead="this lane has no access",
        sparkpeer="this lane has no access",
        x86host=[
            seen("commit", {"text": "1"}, evidence=FILE),
            value("status", evidence=FILE),
            seen("worker", status="not_attempted", why="this lane reads files only"),
        ],
    )
    outcome = judge(what, looks, lane="files")
    assert [item.verdict for item in outcome.rows] == [HOLD, NOT_RUN, NOT_RUN]
    assert [item.evidence for item in outcome.rows] == [FILE, FILE, None]
    assert outcome.lane == "files"
    assert outcome.decision is Decision.HOLD
    assert [(item.id, item.pins, item.rows) for item in outcome.causes] == [
        ("host:sparkhead", 2, ("twelve", "five")),
        ("host:sparkpeer", 2, ("twelve", "five")),
        ("lane:x86host", 1, ("ten",)),
    ]
    assert outcome.causes[2].text == "lane files does not allow some looks on x86host"


def test_a_lane_without_access_that_answers_for_each_look_is_one_cause() -> None:
    why = "this lane has no access to this host: no connection was opened"
    looks = facts(sparkhead=[seen(name, status="not_attempted", why=why) for name in ("a", "b")])
    outcome = judge(manifest(row(pin("a.x", IS), pin("b.x", IS))), looks)
    assert [(item.id, item.pins) for item in outcome.causes] == [("host:sparkhead", 2)]
    assert outcome.causes[0].text == f"sparkhead was not looked at: {why}"
    assert only_row(outcome).verdict is NOT_RUN


def test_a_host_outside_the_limit_may_carry_its_reason_in_its_looks() -> None:
    away = facts(sparkhead=[seen("a", status="not_attempted", why="outside the limit")])["sparkhead"]
    outcome = judge(manifest(row(pin("a.x", IS))), {"sparkhead": dataclasses.replace(away, contacted=False)})
    assert outcome.causes[0].text == "sparkhead was not contacted: outside the limit"


# -- causes ------------------------------------------------------------------

SOCKET = {"container": "dsv41"}


def causes_of(*looks: Any, probes: Any) -> dict[str, int]:
    what = manifest(row(*(pin(f"{look.probe}.x", IS) for look in looks)), probes=probes)
    outcome = judge(what, facts(sparkhead=list(looks)))
    assert all(item.settle for item in outcome.causes)
    assert {pin.cause for pin in outcome.rows[0].pins} - {""} == {item.id for item in outcome.causes}
    return {item.id: item.pins for item in outcome.causes}


def test_an_unreachable_host_is_told_once() -> None:
    looks = [seen(name, status="unreachable", why="no route to host") for name in ("a", "b", "c")]
    assert causes_of(*looks, probes=()) == {"host:sparkhead": 3}


def test_a_host_whose_answer_can_not_be_read_is_told_once() -> None:
    looks = [seen(name, status="unparsable", why="the host gave no answer") for name in ("a", "b", "c")]
    assert causes_of(*looks, probes=()) == {"host:sparkhead": 3}


ENGINE_PROBES = (
    probe("serve", "container", parameters={"name": "dsv41"}),
    probe("engine", "process", parameters=SOCKET),
    probe("code", "tree", parameters={"path": "/opt", "inside": "engine"}),
    probe("log", "engine_log", parameters=SOCKET),
    probe("worker", "process", parameters={"unit": "worker.service"}),
    probe("disk", "file", parameters={"path": "/x"}),
)


@pytest.mark.parametrize("status", ["no_tool", "denied", "timeout"])
def test_a_missing_engine_is_told_once_with_all_that_goes_through_it(status: str) -> None:
    why = "/run/docker.sock: nobody answers"
    looks = [seen(name, status=status, why=why) for name in ("serve", "engine", "code", "log")]
    others = [value("worker"), seen("disk", status="denied", why="/x: permission denied")]
    found = causes_of(*looks, *others, probes=ENGINE_PROBES)
    assert found == {"engine:sparkhead": 4, "probe:sparkhead/disk": 1}


def test_a_look_through_a_process_that_failed_by_itself_is_not_the_engines() -> None:
    looks = [
        value("serve"),
        value("engine"),
        seen("code", status="denied", why="/proc/7/root/opt: permission denied"),
        seen("worker", status="denied", why="/proc/8/exe: permission denied"),
    ]
    assert causes_of(*looks, probes=ENGINE_PROBES) == {"probe:sparkhead/code": 1, "probe:sparkhead/worker": 1}


def test_what_looks_through_a_missing_process_follows_from_it() -> None:
    gone = {"status": "absent", "why": "no process of this container runs vllm"}
    looks = [value("serve"), seen("engine", **gone), seen("code", **gone), value("log")]
    assert causes_of(*looks, probes=ENGINE_PROBES) == {"probe:sparkhead/engine": 2}


def test_a_pin_that_stands_for_itself_has_no_cause() -> None:
    assert causes_of(value("a", "2"), value("b"), probes=()) == {}


def test_a_missing_baseline_is_told_once_and_what_holds_most_comes_first() -> None:
    what = manifest(
        row(pin("a.x", SameAsBaseline()), pin("b.x", SameAsBaseline()), name="one"),
        row(pin("a.x", SameAsBaseline(), id="again"), pin("c.x", IS, on=("x86host",)), name="two"),
    )
    outcome = judge(what, facts(sparkhead=[value("a"), value("b")]))
    assert [(item.id, item.rows, item.pins) for item in outcome.causes] == [
        ("baseline", ("one", "two"), 3),
        ("host:x86host", ("two",), 1),
    ]
    assert outcome.causes[0].text == "there is no baseline to compare with"


def test_a_pin_with_a_reason_of_its_own_does_not_follow_from_a_cause() -> None:
    what = manifest(row(pin("a.x", Is("1"), SameAsBaseline())))
    (found,) = only_row(judge(what, facts(sparkhead=[value("a", "2")]))).pins
    assert (found.verdict, found.cause) == (MISMATCH, "")


def test_a_pin_held_by_a_cause_and_by_itself_stands_for_itself() -> None:
    what = manifest(row(pin("a.x", SameAsBaseline(), Is("1"))))
    (found,) = only_row(judge(what, facts(sparkhead=[value("a", "keyed:" + "0" * 32)]))).pins
    assert (found.verdict, found.cause) == (HOLD, "")
    assert "there is no baseline" in found.why
    assert "not disclosed" in found.why


# -- the reserved baseline probe ---------------------------------------------

USABLE = row(pin("baseline.usable", Is(True), on=("coordinator",)), requires=FILE)


@pytest.mark.parametrize(
    ("before", "verdict", "said"),
    [
        (baseline(sparkhead=[]), M, ""),
        (baseline("made after this run opened", sparkhead=[]), HOLD, "can't be used: made after this run opened"),
        (None, HOLD, "there is no baseline"),
    ],
)
def test_whether_there_is_a_baseline(before: Any, verdict: Verdict, said: str) -> None:
    outcome = judge(manifest(USABLE), facts(sparkhead=[value("a")]), before)
    assert only_row(outcome).verdict is verdict
    assert said in only_row(outcome).why
    assert only_row(outcome).pins[0].cause == ("" if verdict is M else "baseline")
    assert outcome.baseline == (before.run if before else "")


@pytest.mark.parametrize(
    "hosts",
    [
        {},
        facts(sparkhead="no access"),
        facts(sparkhead=[seen("a", status="denied")]),
        facts(sparkhead=[value("a", run="run-0")]),
        {"sparkhead": HostFacts("sparkhead", True, "", {})},
    ],
)
def test_a_baseline_alone_reconciles_nothing(hosts: Any) -> None:
    outcome = judge(manifest(USABLE), hosts, baseline(sparkhead=[]))
    assert only_row(outcome).verdict is HOLD
    assert outcome.decision is Decision.HOLD


def test_the_baseline_has_nothing_else() -> None:
    what = manifest(row(pin("baseline.age", IsAbsent(), on=("coordinator",))))
    assert only_row(judge(what, facts(sparkhead=[value("a")]), baseline(sparkhead=[]))).verdict is HOLD


def test_the_arm_is_told() -> None:
    outcome = judge(manifest(row(pin("a.x", IS))), {}, arm=Arm("on", "measured", "second"))
    assert outcome.as_json()["arm"] == {"leg": "on", "start": "measured", "label": "second"}


def test_a_held_comparison_follows_from_the_other_hosts_cause() -> None:
    what = manifest(row(pin("a.x", SameAcross("ranks", RANKS), on=RANKS)))
    outcome = judge(what, facts(sparkhead=[value("a")], sparkpeer=[seen("a", status="unreachable", why="no route")]))
    assert [(item.id, item.pins) for item in outcome.causes] == [("host:sparkpeer", 2)]
