"""What holds for every manifest and every observation."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pinproof.manifest.model import (
    AcrossExperiment,
    BaselineIs,
    Bound,
    DistinctAcross,
    Is,
    IsAbsent,
    Manifest,
    OneOf,
    Prefix,
    Prescribed,
    SameAcross,
    SameAsBaseline,
    SetOf,
)
from pinproof.observations import Baseline, HostFacts
from pinproof.outcome import Arm
from pinproof.verdicts import Decision, Evidence, Verdict
from tests.unit.reconcile_builder import BEFORE, RUN, baseline, closed, facts, judge, manifest, pin, probe, row, seen
from tests.unit.test_reconcile_compare import values

HOSTS = ("sparkhead", "sparkpeer", "x86host")
KEYS = ("a", "b", "c")
STATUSES = ("ok", "ok", "ok", "absent", "denied", "timeout", "not_attempted", "unstable")

checks = st.one_of(
    values.map(Is),
    st.just(IsAbsent()),
    st.just(Bound(True, (("", 3.0),), "")),
    st.lists(values, max_size=3).map(lambda items: OneOf(tuple(items))),
    st.lists(values, max_size=3).map(lambda items: SetOf(tuple(items))),
    st.text(min_size=1, max_size=4).map(Prefix),
    st.just(closed("*", allowed=("a",))),
    st.just(SameAsBaseline()),
    values.map(BaselineIs),
    st.just(SameAcross("all", HOSTS)),
    st.just(DistinctAcross("all", HOSTS)),
    st.just(Prescribed("leg", "replay", {"on": "1", "off-1": "0"})),
    st.just(AcrossExperiment("legs")),
)


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    rows = []
    for number in range(draw(st.integers(0, 3))):
        pins = [
            pin(
                draw(st.sampled_from(("p", "p.x", "p.x.a", "q.x", "baseline.usable"))),
                *draw(st.lists(checks, max_size=3)),
                on=draw(st.sampled_from((HOSTS, HOSTS[:1], HOSTS[1:]))),
                id=f"pin-{number}-{index}",
                split=draw(st.sampled_from(("", ","))),
                drift=draw(st.booleans()),
            )
            for index in range(draw(st.integers(0, 3)))
        ]
        rows.append(row(*pins, name=f"row-{number}", requires=draw(st.sampled_from(list(Evidence)))))
    loaded = draw(st.sampled_from(("", "q")))
    probes = (probe("p", "file", on=HOSTS, loaded_by=loaded), probe("q", "process", on=HOSTS))
    return manifest(*rows, probes=probes)


@st.composite
def observations(draw: st.DrawFn, run: str) -> dict[str, HostFacts]:
    hosts: dict[str, Any] = {}
    for host in draw(st.lists(st.sampled_from(HOSTS), unique=True)):
        looks = [
            seen(
                name,
                {"x": draw(values | st.floats())} if draw(st.booleans()) else {},
                status=draw(st.sampled_from(STATUSES)),
                state=draw(st.sampled_from(({}, {"changed_at": 5.0, "started_at": 4.0}, {"started_at": 6.0}))),
                faults=draw(st.sampled_from(({}, {}, {"x": ("denied", "no")}, {"x.a": ("timeout", "no")}))),
                run=draw(st.sampled_from(("", "", "", "another"))),
            )
            for name in draw(st.lists(st.sampled_from(("p", "q")), unique=True))
        ]
        hosts[host] = draw(st.sampled_from((looks, looks, "no access")))
    return facts(run, **hosts)


baselines = st.none() | st.builds(
    lambda problem, hosts: Baseline(BEFORE, "", problem, hosts), st.sampled_from(("", "", "bad")), observations(BEFORE)
)
arms = st.sampled_from((Arm(), Arm("on"), Arm("on", "measured"), Arm("nowhere")))


@settings(max_examples=120, deadline=None)
@given(manifests(), observations(RUN), baselines, arms)
def test_every_pin_gets_one_verdict_and_the_whole_is_json(
    what: Manifest, hosts: dict[str, HostFacts], before: Baseline | None, arm: Arm
) -> None:
    outcome = judge(what, hosts, before, arm=arm)
    judged = [item for found in outcome.rows for item in found.pins]
    assert sum(outcome.counts.values()) == len(judged)
    assert all(item.verdict >= max((p.verdict for p in item.pins), default=Verdict.HOLD) for item in outcome.rows)
    assert all("To settle: " in item.why for item in judged if item.verdict >= Verdict.NOT_RUN)
    assert {item.cause for item in judged if item.cause} == {item.id for item in outcome.causes}
    assert json.loads(json.dumps(outcome.as_json(), allow_nan=False))["run"] == RUN
    if outcome.decision is Decision.RECONCILED:
        assert judged
        statuses = {found.status for host in hosts.values() for found in host.observations.values()}
        assert statuses & {"ok", "absent"}


@settings(max_examples=60, deadline=None)
@given(manifests(), observations(RUN), baselines, arms)
def test_the_order_of_hosts_observations_and_keys_does_not_matter(
    what: Manifest, hosts: dict[str, HostFacts], before: Baseline | None, arm: Arm
) -> None:
    turned = {
        host: HostFacts(host, found.contacted, found.why, dict(reversed(found.observations.items())))
        for host, found in reversed(hosts.items())
    }
    assert judge(what, turned, before, arm=arm) == judge(what, hosts, before, arm=arm)


@settings(max_examples=40, deadline=None)
@given(manifests(), observations(RUN), baselines)
def test_nothing_that_is_judged_is_changed(
    what: Manifest, hosts: dict[str, HostFacts], before: Baseline | None
) -> None:
    kept = copy.deepcopy((what, hosts, before))
    judge(what, hosts, before)
    assert repr(kept) == repr((what, hosts, before))


@settings(max_examples=60, deadline=None)
@given(manifests(), baselines, arms)
def test_nothing_measured_is_never_reconciled(what: Manifest, before: Baseline | None, arm: Arm) -> None:
    for hosts in ({}, facts(**{host: [] for host in HOSTS}), facts("run-0", **{host: [seen("p")] for host in HOSTS})):
        outcome = judge(what, hosts, before, arm=arm)
        assert outcome.decision is not Decision.RECONCILED
        assert outcome.counts["DRIFT"] == 0


# -- one spoiled thing, one finding -------------------------------------------

LEAVES = {"a": "1", "b": ["x", "y"], "c": {"d": True, "e": 2.5}, "f": "be2c1436" * 8}
SAME = SameAsBaseline()
ONE_PIN_A_LEAF = manifest(
    row(pin("p.a", Is("1")), pin("p.b", SetOf(("y", "x"))), pin("p.c.d", Is(True)), name="one"),
    row(pin("p.c.e", Bound(False, (("", 2.5),), "")), pin("p.f", SAME), pin("p.g", IsAbsent()), name="two"),
)
MUTATIONS = (
    (("a",), "2"),
    (("a",), "01"),
    (("a",), 1),
    (("b",), ["x"]),
    (("b",), ["x", "y", "y"]),
    (("c", "d"), 1),
    (("c", "d"), False),
    (("c", "e"), 3),
    (("f",), "be2c1436" * 7 + "be2c1437"),
    (("f",), ""),
    (("g",), "new"),
)


def spoiled(leaves: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(dict(leaves))
    target: Any = changed
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return changed


@given(st.sampled_from(MUTATIONS))
def test_one_mutated_leaf_gives_exactly_one_finding(mutation: tuple[tuple[str, ...], Any]) -> None:
    before = baseline(sparkhead=[seen("p", LEAVES)])
    good = judge(ONE_PIN_A_LEAF, facts(sparkhead=[seen("p", LEAVES)]), before)
    bad = judge(ONE_PIN_A_LEAF, facts(sparkhead=[seen("p", spoiled(LEAVES, *mutation))]), before)
    assert good.decision is Decision.RECONCILED
    findings = [item for found in bad.rows for item in found.pins if item.verdict is not Verdict.MATCH]
    assert [item.at for item in findings] == ["p." + ".".join(mutation[0])]
    assert bad.decision is Decision.STOP
    assert len(findings[0].diff) == 1


@given(values, values)
def test_a_pinned_value_matches_itself_and_nothing_else(pinned: Any, observed: Any) -> None:
    what = manifest(row(pin("p.x", SameAsBaseline())))
    found = judge(what, facts(sparkhead=[seen("p", {"x": observed})]), baseline(sparkhead=[seen("p", {"x": pinned})]))
    same = json.dumps(pinned, sort_keys=True) == json.dumps(observed, sort_keys=True)
    assert (found.rows[0].verdict is Verdict.MATCH) == same
