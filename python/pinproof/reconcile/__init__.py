"""Holding what was seen against what is pinned: a pure function, without clock and without I/O.

The same manifest, facts, baseline, run, lane and arm give the same outcome, in
whatever order hosts and observations come. `docs/verdicts.md` says which verdict
the spoiling of each kind of pin gives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pinproof.errors import PinproofError
from pinproof.manifest.model import AcrossExperiment, Authority, Bound, Manifest
from pinproof.observations import Baseline, HostFacts
from pinproof.outcome import Arm, ExperimentPin, Outcome, RowVerdict, Supersession
from pinproof.reconcile.across import same_machines
from pinproof.reconcile.causes import cause_of_baseline, collect
from pinproof.reconcile.explain import spell
from pinproof.reconcile.hints import expectations
from pinproof.reconcile.pins import run_scope
from pinproof.reconcile.rows import judge_row
from pinproof.reconcile.scene import Case, Scene, Seed
from pinproof.verdicts import Verdict, decide

__all__ = ["reconcile"]


def reconcile(
    manifest: Manifest,
    facts: Mapping[str, HostFacts],
    baseline: Baseline | None,
    *,
    run: str,
    lane: str,
    arm: Arm,
) -> Outcome:
    """Judge every pin of run scope on each of its hosts, and the rows and the run by them.

    `facts` holds what was seen by host; hosts that are missing were not contacted.
    `lane` is the lane's name for the report: what it did not allow shows in the
    facts. Raises PinproofError if a pin were left unjudged.
    """
    case = _case(manifest, facts, baseline, run, lane, arm)
    rows: list[RowVerdict] = []
    seeds: dict[str, Seed] = {}
    for row in manifest.rows:
        judged, found = judge_row(case, row)
        rows.append(judged)
        for seed in found:
            seeds.setdefault(seed.id, seed)
    return Outcome(
        run=run,
        manifest=manifest.name,
        manifest_digest=manifest.digest,
        scope=manifest.scope,
        lane=lane,
        arm=arm,
        decision=decide(row.verdict for row in rows),
        counts=_counts(manifest, rows),
        causes=collect(rows, seeds),
        rows=tuple(rows),
        experiment=_of_experiment(manifest),
        supersessions=_supersessions(manifest),
        baseline=baseline.run if baseline is not None else "",
    )


def _case(
    manifest: Manifest, facts: Mapping[str, HostFacts], baseline: Baseline | None, run: str, lane: str, arm: Arm
) -> Case:
    no_baseline = cause_of_baseline(baseline)
    usable = baseline if no_baseline is None else None
    case = Case(
        manifest=manifest,
        now=Scene.of(run, facts, of_baseline=False),
        then=Scene.of(usable.run, usable.hosts, of_baseline=True) if usable is not None else None,
        no_baseline=no_baseline,
        lane=lane,
        arm=arm,
        same_machine={},
        expectations=expectations(manifest),
    )
    return dataclasses.replace(case, same_machine=same_machines(case))


def _counts(manifest: Manifest, rows: list[RowVerdict]) -> dict[str, int]:
    """Count the verdicts of all pins, and make sure that none was left out."""
    counts = {verdict.name: 0 for verdict in Verdict}
    for row in rows:
        for pin in row.pins:
            counts[pin.verdict.name] += 1
    declared = sum(max(1, len(pin.on)) for _, pin in manifest.pins() if run_scope(pin))
    if declared != sum(counts.values()):
        raise PinproofError(f"{declared} pins are declared and {sum(counts.values())} were judged: this is a defect")
    return counts


def _of_experiment(manifest: Manifest) -> tuple[ExperimentPin, ...]:
    return tuple(
        ExperimentPin(pin.id, str(pin.at), row.id, check.over)
        for row, pin in manifest.pins()
        for check in pin.checks
        if isinstance(check, AcrossExperiment)
    )


def _supersessions(manifest: Manifest) -> tuple[Supersession, ...]:
    """List the limits that the authority in force replaced."""
    authorities = {authority.id: authority for authority in manifest.authorities}
    return tuple(
        Supersession(pin.id, _limit(check, check.authority), _limit(check, other), _scope(authorities, check, manifest))
        for _, pin in manifest.pins()
        for check in pin.checks
        if isinstance(check, Bound)
        for other, _ in check.limits
        if other != check.authority and _replaces(authorities, check.authority, other)
    )


def _replaces(authorities: Mapping[str, Authority], newer: str, older: str) -> bool:
    """Follow who supersedes whom, without running in a circle."""
    seen: set[str] = set()
    while newer in authorities and newer not in seen:
        seen.add(newer)
        newer = authorities[newer].supersedes
        if newer == older:
            return True
    return False


def _scope(authorities: Mapping[str, Authority], check: Bound, manifest: Manifest) -> str:
    return authorities[check.authority].scope or manifest.scope


def _limit(check: Bound, authority: str) -> str:
    number = dict(check.limits)[authority]
    return (
        f"{authority}: {'at least' if check.least else 'at most'} {spell(int(number) if number % 1 == 0 else number)}"
    )
