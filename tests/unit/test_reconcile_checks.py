"""Every kind of check on a value that was seen: what it lets pass, and what spoils it."""

from __future__ import annotations

from typing import Any

import pytest

from pinproof.manifest.model import (
    Authority,
    BaselineIs,
    Bound,
    Is,
    IsAbsent,
    OneOf,
    PerHost,
    Prefix,
    Prescribed,
    SetOf,
)
from pinproof.outcome import Arm
from pinproof.verdicts import Decision, Evidence, Verdict
from tests.unit.reconcile_builder import (
    ABSENT,
    baseline,
    closed,
    facts,
    judge,
    judge_one,
    manifest,
    pin,
    probe,
    row,
    seen,
)

M, DRIFT, NOT_RUN, HOLD, REFUSED, MISMATCH = Verdict
KEYED = "keyed:" + "0" * 32
HEAD = "21bed31f00000000000000000000000000000000"
GPUS = ("GPU-c4e7a371-d8a8-ebf0-918c-da3e38c87a93", "GPU-7744b44b-8a13-b06d-a67e-f958fd74b8fc")
LOW = Bound(True, (("recipe", 5.0), ("lane-brief", 3.0)), "lane-brief")
REPLAY = Prescribed("leg", "replay", {"off-1": "0", "on": "1", "off-2": "0"})
AUDIT = Prescribed("start", "audit", {"diagnostic": "1", "measured": "0"})


@pytest.mark.parametrize(
    ("check", "observed", "verdict"),
    [
        (Is("3"), "3", M),
        (Is("3"), "03", REFUSED),
        (Is("3"), "true", MISMATCH),
        (Is("3"), ABSENT, MISMATCH),
        (Is("3"), KEYED, HOLD),
        (Is(2), 2, M),
        (Is(2), "2", REFUSED),
        (Is(True), True, M),
        (Is(True), 1, REFUSED),
        (Is([1, 2]), [1, 2], M),
        (Is([1, 2]), [2, 1], MISMATCH),
        (Is([1, 2]), [1, 2, 2], MISMATCH),
        (Is(["1", "2"]), ["1", "2 "], REFUSED),
        (Is({"a": "1"}), {"a": "1", "b": "2"}, M),
        (Is({"a": {"b": "1"}}), {"a": {"b": "1", "c": "2"}}, M),
        (Is({"a": "1", "b": "2"}), {"a": "01", "b": "3"}, MISMATCH),
        (Is({"a": "1"}), {"a": KEYED}, HOLD),
        (Is({"a": "1"}), {"b": "1"}, MISMATCH),
        (Is({"a": "1"}), "a", MISMATCH),
        (Is({}), {"a": "1"}, MISMATCH),
        (Is({}), {}, M),
        (Is(float("nan")), float("nan"), MISMATCH),
        (IsAbsent(), ABSENT, M),
        (IsAbsent(), {}, M),
        (IsAbsent(), [], M),
        (IsAbsent(), "", MISMATCH),
        (IsAbsent(), None, MISMATCH),
        (IsAbsent(), 0, MISMATCH),
        (IsAbsent(), KEYED, MISMATCH),
        (IsAbsent(), {"a": "1"}, MISMATCH),
        (LOW, 3, M),
        (LOW, 3.5, M),
        (LOW, 2, MISMATCH),
        (LOW, True, MISMATCH),
        (LOW, "4", MISMATCH),
        (LOW, [4], MISMATCH),
        (LOW, float("nan"), HOLD),
        (LOW, float("inf"), HOLD),
        (LOW, KEYED, HOLD),
        (LOW, ABSENT, MISMATCH),
        (Bound(False, (("", 2150.0),), ""), 2150, M),
        (Bound(False, (("", 2150.0),), ""), 2151, MISMATCH),
        (Bound(False, (("", 2150.0),), ""), float("nan"), HOLD),
        (OneOf(("a", "b")), "b", M),
        (OneOf(("1", "2")), "02", REFUSED),
        (OneOf(("1", "2")), 2, REFUSED),
        (OneOf(("a", "b")), "c", MISMATCH),
        (OneOf(("a", "b")), KEYED, HOLD),
        (OneOf(("a", "b")), ABSENT, MISMATCH),
        (OneOf(()), "a", MISMATCH),
        (OneOf(([1], [2])), [2], M),
        (SetOf(("a", "b")), ["b", "a"], M),
        (SetOf(("a", "b")), ["a"], MISMATCH),
        (SetOf(("a", "b")), ["a", "b", "c"], MISMATCH),
        (SetOf(("a", "b")), ["a", "b", "a"], MISMATCH),
        (SetOf(("a", "b")), ["a", " b"], REFUSED),
        (SetOf(("1", "2")), [1, "2"], REFUSED),
        (SetOf(("1", "2")), ["1", "01"], MISMATCH),
        (SetOf(("a", "b")), ["a", KEYED], HOLD),
        (SetOf(("a", "b")), KEYED, HOLD),
        (SetOf(("a", "b")), "a,b", MISMATCH),
        (SetOf(("a",)), {"a": "1"}, MISMATCH),
        (SetOf(("a", "b")), ABSENT, MISMATCH),
        (Prefix("21bed31"), HEAD, M),
        (Prefix("21bed31"), "0" + HEAD[1:], MISMATCH),
        (Prefix("21bed31"), "21bed31", HOLD),
        (Prefix("21bed31"), "21bed3", HOLD),
        (Prefix("21bed31"), HEAD[:12], HOLD),
        (Prefix("21bed31"), HEAD.upper(), REFUSED),
        (Prefix("21bed31"), HEAD + "\n", REFUSED),
        (Prefix("21bed31"), "", MISMATCH),
        (Prefix("21bed31"), 21, MISMATCH),
        (Prefix("21bed31"), KEYED, HOLD),
        (Prefix("21bed31"), ABSENT, MISMATCH),
        (Prefix("/srv/2.0bpw-mcg"), "/srv/2.0bpw-mcg/x", M),
        (Prefix("/srv/2.0bpw-mcg"), "/srv/2.0bpw-mcg-lmhead", MISMATCH),
        (closed("K1_*", allowed=("K1_A",)), {"K1_A": "1", "PATH": "/"}, M),
        (closed("K1_*", allowed=("K1_A",)), {"K1_A": "1", "K1_FOO": "1"}, REFUSED),
        (closed("K1_*"), {"k1_foo": "1"}, M),
        (closed("*"), {}, M),
        (closed("*"), ABSENT, M),
        (closed("*"), KEYED, HOLD),
        (closed("*"), ["a"], MISMATCH),
        (PerHost({"sparkhead": "0", "sparkpeer": "1"}), "0", M),
        (PerHost({"sparkhead": "0", "sparkpeer": "1"}), "1", MISMATCH),
        (PerHost({"sparkpeer": "1"}), "1", HOLD),
    ],
)
def test_verdicts(check: Any, observed: Any, verdict: Verdict) -> None:
    judged = judge_one(check, observed=observed)
    assert judged.verdict is verdict, judged
    if verdict is not M:
        assert "To settle: " in judged.why
    if verdict in (REFUSED, MISMATCH):
        assert judged.diff
        assert all("engine.env.X" in text for text in judged.diff)


@pytest.mark.parametrize(
    "check", [LOW, OneOf(("a",)), SetOf(("a",)), Prefix("a"), Is("a"), closed("*", allowed=("a",))]
)
def test_every_spoiling_becomes_drift_on_a_pin_that_records_it(check: Any) -> None:
    wrong = {"z": "1"} if not isinstance(check, Bound) else 1
    judged = judge_one(check, observed=wrong, drift=True)
    assert judged.verdict is DRIFT
    assert "To settle" not in judged.why
    assert judged.diff


def test_drift_never_softens_the_lack_of_evidence() -> None:
    assert judge_one(Is("3"), observed=KEYED, drift=True).verdict is HOLD


# -- split -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "observed", "verdict"),
    [
        (Is(["1", "2"]), "1,2", M),
        (Is(["1", "2"]), "1, 2", REFUSED),
        (Is(["1", "2"]), "2,1", MISMATCH),
        (SetOf(GPUS), ",".join(reversed(GPUS)), M),
        (SetOf(GPUS), ",".join([*GPUS, "GPU-1"]), MISMATCH),
        (SetOf(GPUS), ",".join([*GPUS, ""]), MISMATCH),
        (SetOf(GPUS), "", MISMATCH),
        (SetOf(GPUS), KEYED, HOLD),
        (Is(["1", "2"]), ["1", "2"], M),
        (Is(["1"]), KEYED, HOLD),
    ],
)
def test_a_text_is_split_before_it_is_checked(check: Any, observed: Any, verdict: Verdict) -> None:
    assert judge_one(check, observed=observed, split=",").verdict is verdict


def test_missing_extra_and_doubled_members_are_each_named() -> None:
    judged = judge_one(SetOf(("a", "b")), observed="b,c,c", split=",")
    assert judged.diff == (
        'engine.env.X: missing: "a"',
        'engine.env.X: extra: "c"',
        'engine.env.X: more than once: "c"',
    )


# -- several checks ----------------------------------------------------------


def test_the_worst_check_decides_and_all_demands_are_shown() -> None:
    judged = judge_one(Is({"a": "1"}), closed("*", allowed=("a",)), observed={"a": "1", "b": "2"})
    assert judged.verdict is REFUSED
    assert judged.expected == {"is": {"a": "1"}, "closed": ["*"]}
    assert judged.observed == {"a": "1", "b": "2"}
    assert judged.diff == ('engine.env.X.b: not listed, observed "2"',)


def test_only_what_concerns_the_pin_is_shown_of_a_large_map() -> None:
    env = {f"V{index}": "x" for index in range(90)} | {"K1_A": "1", "K1_B": "2"}
    judged = judge_one(Is({"K1_A": "1"}), closed("K1_*", allowed=("K1_A",)), observed=env)
    assert judged.observed == {"K1_A": "1", "K1_B": "2"}


def test_closed_covers_the_keys_of_the_pinned_map_and_not_those_inside() -> None:
    check = closed("*", allowed=("a",))
    assert judge_one(check, observed={"a": {"z": "1"}}).verdict is M


def test_each_unlisted_name_is_refused_by_name() -> None:
    judged = judge_one(closed("K1_*", "DSV41_*"), observed={"K1_A": "1", "DSV41_B": KEYED, "X": "1"})
    assert judged.why.startswith("engine.env.X on sparkhead has what no pin lists: DSV41_B, K1_A")
    assert len(judged.diff) == 2


def test_one_bare_value_is_shown_bare() -> None:
    judged = judge_one(Is("3"), observed="4")
    assert (judged.expected, judged.observed) == ("3", "4")
    assert judged.diff == ('engine.env.X: expected "3", observed "4"',)


def test_values_that_were_not_measured_stay_json() -> None:
    assert judge_one(Is({"a": 1.0}), observed={"a": float("nan")}).observed == {"a": "nan"}


# -- limits ------------------------------------------------------------------


def test_limits_name_authority_and_units() -> None:
    floor = Bound(True, (("recipe", 5.0 * (1 << 30)), ("lane-brief", 3.0 * (1 << 30))), "lane-brief")
    what = manifest(
        row(pin("machine.memory.available", floor)),
        probes=(probe("machine", "host"),),
        authorities=(
            Authority("recipe", "", "", "", ""),
            Authority("lane-brief", "", "recipe", "low-cap", ""),
        ),
    )
    memory = {"memory": {"available": 2 * (1 << 30)}}
    judged = judge(what, facts(sparkhead=[seen("machine", state=memory)]))
    (text,) = judged.rows[0].pins[0].diff
    assert "expected at least 3221225472 (3.00 GiB) (lane-brief), observed 2147483648 (2.00 GiB)" in text
    (superseded,) = judged.supersessions
    assert superseded.in_force == "lane-brief: at least 3221225472"
    assert superseded.superseded == "recipe: at least 5368709120"
    assert superseded.scope == "low-cap"


def test_a_limit_of_another_scope_is_not_said_to_be_superseded() -> None:
    check = Bound(True, (("recipe", 5.0), ("lane-brief", 3.0)), "recipe")
    authorities = (Authority("recipe", "", "", "", ""), Authority("lane-brief", "", "recipe", "low-cap", ""))
    what = manifest(row(pin("engine.env.X", check)), authorities=authorities)
    assert judge(what, {}).supersessions == ()


def test_authorities_that_supersede_each_other_in_a_circle_end() -> None:
    authorities = (Authority("a", "", "b", "", ""), Authority("b", "", "a", "", ""))
    what = manifest(row(pin("engine.env.X", Bound(True, (("a", 1.0), ("z", 2.0)), "a"))), authorities=authorities)
    assert judge(what, {}).supersessions == ()


# -- what the arm prescribes -------------------------------------------------


@pytest.mark.parametrize(
    ("check", "arm", "observed", "verdict"),
    [
        (REPLAY, Arm("on", "measured"), "1", M),
        (REPLAY, Arm("on"), "1", M),
        (REPLAY, Arm("off-2", "measured"), "1", MISMATCH),
        (REPLAY, Arm(), "1", NOT_RUN),
        (REPLAY, Arm("third", "measured"), "1", HOLD),
        (REPLAY, Arm("on", "warm"), "1", HOLD),
        (AUDIT, Arm("on", "diagnostic"), "1", M),
        (AUDIT, Arm("on", "measured"), "1", MISMATCH),
        (AUDIT, Arm("on"), "1", NOT_RUN),
        (AUDIT, Arm("", "measured"), "0", NOT_RUN),
        (AUDIT, Arm("off-2", "diagnostic"), "1", HOLD),
        (AUDIT, Arm("on", "warm"), "1", HOLD),
        (AUDIT, Arm("on", "measured"), "00", REFUSED),
        (AUDIT, Arm("on", "measured"), ABSENT, MISMATCH),
    ],
)
def test_the_arm_prescribes(check: Prescribed, arm: Arm, observed: Any, verdict: Verdict) -> None:
    judged = judge_one(check, observed=observed, arm=arm)
    assert judged.verdict is verdict
    assert judged.cause == ("arm" if verdict is NOT_RUN else "")


# -- hints, notes, evidence ---------------------------------------------------


def test_a_swap_of_identities_is_called_by_its_name() -> None:
    commit, hello = "fb68c5291792ab90c0f468bd94010917967799f3", "be2c1436fa9f9e66" * 4
    what = manifest(
        row(pin("source_commit.text", Is(commit)), name="worker", setting="Remote worker"),
        row(pin("status.value.hello", Is({"checkpoint": hello})), name="hello", setting="HELLO identities"),
        probes=(probe("source_commit", "file"), probe("status", "status")),
    )
    swapped = [seen("source_commit", {"text": hello}), seen("status", {"value": {"hello": {"checkpoint": commit}}})]
    first, second = judge(what, facts(sparkhead=swapped)).rows
    said = (
        "what source_commit.text shows is what `status.value.hello.checkpoint` (HELLO identities) pins: another field"
    )
    assert said in first.pins[0].why
    assert "`source_commit.text` (Remote worker) pins: another field" in second.pins[0].why


def test_a_full_commit_is_known_by_the_abbreviation_that_another_pin_has() -> None:
    what = manifest(row(pin("a.text", Is("f" * 40)), pin("deploy.head", Prefix("21bed31"))))
    judged = judge(what, facts(sparkhead=[seen("a", {"text": HEAD}), seen("deploy", {"head": HEAD})]))
    assert "`deploy.head`" in judged.rows[0].pins[0].why


def test_members_of_one_list_in_another_order_are_not_another_field() -> None:
    what = manifest(row(pin("gpu.uuids", Is(list(GPUS))), pin("unit.devices", SetOf(GPUS))))
    found = judge(what, facts(sparkhead=[seen("gpu", {"uuids": list(reversed(GPUS))})])).rows[0].pins[0]
    assert found.verdict is MISMATCH
    assert "another field" not in found.why


def test_a_default_of_an_environment_file_is_noted() -> None:
    what = manifest(row(pin("clone.settings.K1_PAIR.value", Is("3"))), probes=(probe("clone", "clone"),))
    setting = {"value": "3", "kind": "default", "overridable": True}
    (judged,) = judge(what, facts(sparkhead=[seen("clone", {"settings": {"K1_PAIR": setting}})])).rows[0].pins
    assert judged.verdict is M
    assert judged.notes == ("clone.settings.K1_PAIR.value is a default: the launch environment may override it",)


@pytest.mark.parametrize("kind", ["undecidable", "malformed"])
def test_a_setting_that_only_a_shell_could_tell_is_held(kind: str) -> None:
    what = manifest(row(pin("clone.settings.K1_PAIR.value", Is("3"))), probes=(probe("clone", "clone"),))
    look = seen("clone", {"settings": {"K1_PAIR": {"kind": kind}}}, state={"settings": {"K1_PAIR": {"line": 7}}})
    (judged,) = judge(what, facts(sparkhead=[look])).rows[0].pins
    assert judged.verdict is HOLD
    assert f"{kind} (line 7)" in judged.why


def test_notes_of_pin_and_probe_are_carried_once() -> None:
    what = manifest(row(pin("engine.env.X", Is("3"), note="per rank")))
    look = seen("engine", {"env": {"X": "3"}}, notes=("environment of an ancestor", "per rank"))
    (judged,) = judge(what, facts(sparkhead=[look])).rows[0].pins
    assert judged.notes == ("per rank", "environment of an ancestor")


def test_a_map_of_identity_and_state_is_seen_whole() -> None:
    what = manifest(row(pin("serve.image", Is({"tag": "v5", "age": 3}))))
    look = seen("serve", {"image": {"tag": "v5"}}, state={"image": {"age": 3}})
    assert judge(what, facts(sparkhead=[look])).decision is Decision.RECONCILED


@pytest.mark.parametrize(
    ("at", "evidence"),
    [
        ("worker.file.masked", Evidence.FILE),
        ("worker.loaded.active_state", Evidence.LOADED),
        ("worker.loaded", Evidence.LOADED),
        ("worker.both", Evidence.SOURCE),
    ],
)
def test_the_evidence_of_a_pin_is_the_weakest_within_its_subtree(at: str, evidence: Evidence) -> None:
    look = seen(
        "worker",
        {"file": {"masked": 1}, "loaded": {"active_state": 1}, "both": {"x": 1}},
        evidence=Evidence.FILE,
        levels={"loaded": Evidence.LOADED, "both": Evidence.NATIVE, "both.x": Evidence.SOURCE},
    )
    (judged,) = judge(manifest(row(pin(at, IsAbsent()))), facts(sparkhead=[look])).rows[0].pins
    assert judged.evidence is evidence


def test_a_baseline_value_and_this_runs_value_are_both_checked() -> None:
    before = baseline(sparkhead=[seen("engine", {"env": {"X": "0"}})])
    judged = judge_one(Is("1"), BaselineIs("0"), observed="1", before=before)
    assert judged.verdict is M
    assert judged.expected == {"is": "1", "baseline_is": "0"}
    assert judged.observed == {"is": "1", "baseline_is": "0"}
