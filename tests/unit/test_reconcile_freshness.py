"""Bytes that changed after their process started, and records older than their start."""

from __future__ import annotations

from typing import Any

import pytest

from pinproof.manifest.model import Is, IsAbsent, SameAcross
from pinproof.outcome import Outcome
from pinproof.verdicts import Verdict
from tests.unit.reconcile_builder import RANKS, facts, judge, manifest, pin, probe, row, seen

M, DRIFT, NOT_RUN, HOLD, REFUSED, MISMATCH = Verdict
STARTED = 1_800_000_000.5
GOOD = Is("good")
STARTED_TEXT = "2027-01-15T08:00:00"


def code(changed_at: Any, sha: str = "good", **more: Any) -> Any:
    state = {} if changed_at is None else {"changed_at": changed_at}
    return seen("code", {"sha256": sha}, state=state, **more)


def engine(started_at: Any = STARTED, **more: Any) -> Any:
    return seen("engine", state={} if started_at is None else {"started_at": started_at}, **more)


def loaded(*looks: Any, check: Any = GOOD, **more: Any) -> Outcome:
    probes = (probe("engine"), probe("code", "file", loaded_by="engine"))
    return judge(manifest(row(pin("code.sha256", check, **more)), probes=probes), facts(sparkhead=list(looks)))


def written(*looks: Any, check: Any = GOOD, kind: str = "emission") -> Outcome:
    probes = (probe("engine"), probe("code", kind, written_since="engine"))
    return judge(manifest(row(pin("code.sha256", check)), probes=probes), facts(sparkhead=list(looks)))


def verdict(outcome: Outcome) -> Verdict:
    return outcome.rows[0].pins[0].verdict


@pytest.mark.parametrize(
    ("changed_at", "expected"),
    [
        (STARTED - 1, M),
        (STARTED, M),
        (STARTED + 0.001, HOLD),
        (int(STARTED) + 5, HOLD),
        (None, HOLD),
        ("yesterday", HOLD),
        (True, HOLD),
        (float("nan"), HOLD),
    ],
)
def test_what_changed_after_the_process_started_can_not_speak_for_it(changed_at: Any, expected: Verdict) -> None:
    assert verdict(loaded(engine(), code(changed_at))) is expected


def test_the_hash_is_equal_and_the_pin_is_held_with_the_reason() -> None:
    (found,) = loaded(engine(), code(STARTED + 60)).rows[0].pins
    assert "changed after engine started (60.000 s later)" in found.why
    assert "can't speak for the process. To settle: restart engine" in found.why
    assert (found.expected, found.observed, found.diff) == ("good", "good", ())


def test_another_hash_stays_a_mismatch_and_the_change_is_noted() -> None:
    (found,) = loaded(engine(), code(STARTED + 60, "bad")).rows[0].pins
    assert found.verdict is MISMATCH
    assert any("changed after engine started" in note for note in found.notes)


def test_absence_in_a_tree_that_changed_is_held() -> None:
    assert verdict(loaded(engine(), seen("code", state={"changed_at": STARTED + 1}), check=IsAbsent())) is HOLD


def test_an_absent_subject_is_a_mismatch_whatever_its_process() -> None:
    assert verdict(loaded(engine(status="denied"), seen("code", status="absent"))) is MISMATCH


def test_drift_is_not_excused_by_the_process() -> None:
    assert verdict(loaded(engine(), code(STARTED + 1, "bad"), drift=True)) is DRIFT
    assert verdict(loaded(engine(), code(STARTED + 1), drift=True)) is HOLD


@pytest.mark.parametrize(
    ("process", "said"),
    [
        (engine(status="denied", why="no permission"), "denied: no permission"),
        (engine(status="absent", why="no such process"), "absent: no such process"),
        (engine(status="timeout", why="no answer"), "timeout: no answer"),
        (engine(None), "it has no start time"),
        (engine(float("inf")), "it has no start time"),
        (engine(run="run-0"), "of another run"),
    ],
)
def test_without_its_process_a_match_is_held_naming_it(process: Any, said: str) -> None:
    for judged in (loaded, written):
        (found,) = judged(process, code(STARTED + 1 if judged is written else STARTED - 1)).rows[0].pins
        assert found.verdict is HOLD
        assert "engine" in found.why
        assert said in found.why


def test_without_an_observation_of_its_process_a_match_is_held() -> None:
    assert verdict(loaded(code(STARTED - 1))) is HOLD


def test_a_process_that_the_lane_does_not_look_at_is_only_a_note() -> None:
    for judged in (loaded, written):
        (found,) = judged(engine(status="not_attempted", why="files only"), code(1.0)).rows[0].pins
        assert found.verdict is M
        assert "was not looked at: files only" in found.notes[0]


def test_pins_held_by_their_process_follow_from_its_cause() -> None:
    outcome = loaded(engine(status="denied", why="no permission"), code(STARTED - 1))
    (cause,) = outcome.causes
    assert (cause.id, cause.pins) == ("probe:sparkhead/engine", 1)


# -- records -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed_at", "emitted_at", "expected"),
    [
        (STARTED + 1, None, M),
        (STARTED, None, M),
        (STARTED - 1, None, HOLD),
        (None, None, HOLD),
        (STARTED + 1, STARTED_TEXT + ".600000+00:00", M),
        (STARTED + 1, STARTED_TEXT + ".400000Z", HOLD),
        (STARTED + 1, STARTED_TEXT + "Z", M),
        (STARTED + 1, "2027-01-15T07:59:59Z", HOLD),
        (STARTED - 1, "2027-01-15T09:00:00Z", HOLD),
        (STARTED + 1, STARTED_TEXT, M),
        (STARTED + 1, "yesterday", M),
        (STARTED + 1, 5, M),
    ],
)
def test_a_record_must_be_of_this_start(changed_at: Any, emitted_at: Any, expected: Verdict) -> None:
    state = {"emitted_at": emitted_at} if emitted_at is not None else {}
    state |= {"changed_at": changed_at} if changed_at is not None else {}
    assert verdict(written(engine(), seen("code", {"sha256": "good"}, state=state))) is expected


@pytest.mark.parametrize("stamp", [STARTED_TEXT, "yesterday", 5])
def test_a_time_stamp_that_can_not_be_used_is_noted(stamp: Any) -> None:
    state = {"changed_at": STARTED + 1, "emitted_at": stamp}
    (found,) = written(engine(), seen("code", {"sha256": "good"}, state=state)).rows[0].pins
    assert "the file's time alone counts" in found.notes[0]


def test_nothing_that_an_older_record_says_counts() -> None:
    (found,) = written(engine(), code(STARTED - 1, "bad")).rows[0].pins
    assert found.verdict is HOLD
    assert "older than the start of engine: it tells of another start" in found.why
    assert found.diff == ('code.sha256: expected "good", observed "bad"',)


def test_a_new_record_that_says_otherwise_is_a_mismatch() -> None:
    assert verdict(written(engine(), code(STARTED + 1, "bad"), kind="status")) is MISMATCH


def test_each_host_has_its_own_process() -> None:
    probes = (probe("engine", on=RANKS), probe("code", "file", on=RANKS, loaded_by="engine"))
    what = manifest(row(pin("code.sha256", Is("good"), on=RANKS)), probes=probes)
    looks = facts(sparkhead=[engine(STARTED), code(STARTED + 1)], sparkpeer=[engine(STARTED + 2), code(STARTED + 1)])
    assert [item.verdict for item in judge(what, looks).rows[0].pins] == [HOLD, M]


def test_a_stale_host_that_has_no_pin_of_its_own_holds_the_comparison_with_it() -> None:
    probes = (probe("engine", on=RANKS), probe("code", "file", on=RANKS, loaded_by="engine"))
    across = SameAcross("ranks", RANKS)
    looks = facts(sparkhead=[engine(), code(STARTED - 1)], sparkpeer=[engine(), code(STARTED + 1)])
    alone = judge(manifest(row(pin("code.sha256", across)), probes=probes), looks)
    both = judge(manifest(row(pin("code.sha256", across, on=RANKS)), probes=probes), looks)
    assert [item.verdict for item in alone.rows[0].pins] == [HOLD]
    assert [item.verdict for item in both.rows[0].pins] == [M, HOLD]
