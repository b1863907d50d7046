"""Builds manifests and observations for the tests of `reconcile`, as model objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pinproof.catalogue import KINDS
from pinproof.manifest.model import (
    Authority,
    Check,
    Closed,
    Experiment,
    Leg,
    Manifest,
    Mark,
    Pin,
    Probe,
    Row,
    Start,
)
from pinproof.observations import Baseline, Fault, HostFacts, Observation
from pinproof.outcome import Arm, Outcome, PinVerdict
from pinproof.paths import AttributePath, split_within
from pinproof.reconcile import reconcile
from pinproof.verdicts import Evidence

RUN = "run-1"
BEFORE = "capture-1"
RANKS = ("sparkhead", "sparkpeer")
MARK = Mark("manifest.yml", 1, 1)
NO_ARM = Arm()


def probe(name: str, kind: str = "process", on: tuple[str, ...] = ("sparkhead",), **more: Any) -> Probe:
    return Probe(
        name=name,
        kind=kind,
        collector=KINDS[kind].collector,
        on=on,
        parameters=more.get("parameters", {}),
        loaded_by=more.get("loaded_by", ""),
        written_since=more.get("written_since", ""),
        deadline_s=10.0,
        mark=MARK,
    )


def pin(at: str, *checks: Check, on: tuple[str, ...] = ("sparkhead",), **more: Any) -> Pin:
    return Pin(
        id=more.get("id", at),
        at=AttributePath.parse(at),
        on=on,
        checks=checks,
        split=more.get("split", ""),
        drift=more.get("drift", False),
        note=more.get("note", ""),
        mark=MARK,
    )


def closed(*globs: str, allowed: tuple[str, ...] = ()) -> Closed:
    return Closed(globs, frozenset(allowed))


def row(*pins: Pin, name: str = "row", requires: Evidence = Evidence.SOURCE, setting: str = "") -> Row:
    return Row(name, setting or name.capitalize(), requires, pins, MARK)


def manifest(*rows: Row, probes: tuple[Probe, ...] = (), authorities: tuple[Authority, ...] = ()) -> Manifest:
    known = {item.name: item for item in probes}
    for one in rows:
        for wanted in one.pins:
            if wanted.at.probe != "baseline":
                known.setdefault(wanted.at.probe, probe(wanted.at.probe, on=wanted.on))
    hosts = tuple(dict.fromkeys(host for item in known.values() for host in item.on)) or ("sparkhead",)
    legs = (Leg("off-1", {"replay": "0"}), Leg("on", {"replay": "1"}), Leg("off-2", {"replay": "0"}))
    starts = (
        Start("diagnostic", ("off-1", "on"), {"audit": "1"}),
        Start("measured", ("off-1", "on", "off-2"), {"audit": "0"}),
    )
    return Manifest(
        name="test",
        scope="low-cap",
        file="manifest.yml",
        hosts=hosts,
        groups={"ranks": RANKS},
        authorities=authorities,
        probes=known,
        rows=rows,
        experiment=Experiment(legs, starts, ()),
        digest="d" * 64,
    )


def seen(name: str, identity: Mapping[str, Any] | None = None, **more: Any) -> Observation:
    """An observation without host and run, which `facts` and `baseline` fill in."""
    return Observation(
        probe=name,
        host=more.get("host", ""),
        run=more.get("run", ""),
        status=more.get("status", "ok"),
        why=more.get("why", ""),
        evidence=more.get("evidence", Evidence.PROCESS),
        method="test",
        source=("/somewhere",),
        observed_at="2026-11-01T00:00:00.000000Z",
        took_ms=1.0,
        identity=identity or {},
        state=more.get("state", {}),
        levels={split_within(key): value for key, value in more.get("levels", {}).items()},
        faults={split_within(key): Fault(*value) for key, value in more.get("faults", {}).items()},
        notes=more.get("notes", ()),
        scope=more.get("scope", {}),
    )


def facts(run: str = RUN, **hosts: Any) -> dict[str, HostFacts]:
    """Facts by host: a list of observations, or the reason why the host was not contacted."""
    return {host: _host(run, host, given) for host, given in hosts.items()}


def _host(run: str, host: str, given: Any) -> HostFacts:
    if isinstance(given, HostFacts):
        return given
    if isinstance(given, str):
        return HostFacts(host, False, given, {})
    filled = [dataclasses.replace(item, host=item.host or host, run=item.run or run) for item in given]
    return HostFacts(host, True, "", {item.probe: item for item in filled})


def baseline(problem: str = "", **hosts: Any) -> Baseline:
    return Baseline(BEFORE, "2026-10-31T00:00:00Z", problem, facts(BEFORE, **hosts))


def judge(
    what: Manifest,
    hosts: Mapping[str, HostFacts],
    before: Baseline | None = None,
    *,
    lane: str = "full",
    arm: Arm = NO_ARM,
) -> Outcome:
    return reconcile(what, hosts, before, run=RUN, lane=lane, arm=arm)


def judge_one(*checks: Check, observed: Any, at: str = "engine.env.X", **more: Any) -> PinVerdict:
    """Judge one pin at `engine.env.X` of one host that shows `observed` there (ABSENT: nothing)."""
    env = {} if observed is ABSENT else {"X": observed}
    keys = {key: more[key] for key in ("split", "drift", "note") if key in more}
    outcome = judge(
        manifest(row(pin(at, *checks, **keys))),
        facts(sparkhead=[seen("engine", {"env": env})]),
        more.get("before"),
        arm=more.get("arm", NO_ARM),
    )
    return outcome.rows[0].pins[0]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
