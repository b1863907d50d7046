"""Comparisons between hosts of one run, and what they are worth when two names are one machine."""

from __future__ import annotations

from itertools import combinations

from pinproof.manifest.model import DistinctAcross, SameAcross
from pinproof.observations import Observation
from pinproof.reconcile.canonical import means_the_same
from pinproof.reconcile.compare import equal, is_container
from pinproof.reconcile.explain import line, spell
from pinproof.reconcile.findings import SETTLE_DIFFERENCE, Against, Finding, compared, shown, shown_or_none
from pinproof.reconcile.freshness import freshness
from pinproof.reconcile.looks import Look, Seen, look_at
from pinproof.reconcile.scene import Case, Place, Seed
from pinproof.reconcile.scopes import scope_difference
from pinproof.verdicts import Verdict


def check_same_across(place: Place, check: SameAcross) -> list[Finding]:
    """`same_across`: give a finding for each other host of the group; each must show the same."""
    if place.host not in check.hosts:
        return []
    mine = _seen(place, place.host)
    others = [host for host in check.hosts if host != place.host]
    if not others:
        why = f"{place.at}: the group {check.group} has no other host to compare {place.host} with"
        return [Finding("same_across", Verdict.HOLD, why=f"{why}. To settle: pin it across hosts that exist")]
    found = [_same_as(place, mine, host) for host in others]
    for pair, cause in place.case.same_machine.items():
        if pair <= set(check.hosts):
            why = f"{place.at}: {cause.text}. To settle: {cause.settle}"
            found.append(Finding("same_across", Verdict.HOLD, why=why, cause=cause))
    return found


def check_distinct_across(place: Place, check: DistinctAcross) -> list[Finding]:
    """`distinct_across`: no other host of the group shows the same."""
    if place.host not in check.hosts:
        return []
    mine = _seen(place, place.host)
    if mine.seen is Seen.NO_EVIDENCE:
        return [Finding("distinct_across", mine.verdict, check.group, None, (), mine.why, mine.cause)]
    if mine.seen is not Seen.VALUE or is_container(mine.value):
        why = f"{mine.why or place.at + ' is no single value'}. {SETTLE_DIFFERENCE}"
        return [Finding("distinct_across", Verdict.MISMATCH, check.group, shown_or_none(mine), (), why, mine.cause)]
    found = [_distinct_from(place, mine, host, check) for host in check.hosts if host != place.host]
    if all(finding.notes for finding in found):
        why = f"{place.at} on {place.host}: no other host of {check.group} was looked at"
        found.append(Finding("distinct_across", Verdict.HOLD, why=f"{why}. To settle: verify all of them at once"))
    return found


def same_machines(case: Case) -> dict[frozenset[str], Seed]:
    """Find the pairs of inventory names that show the same identity of a machine."""
    shared: dict[frozenset[str], list[str]] = {}
    for row, pin in case.manifest.pins():
        for check in pin.checks:
            if not isinstance(check, DistinctAcross):
                continue
            looks = {host: _seen(Place(case, row, pin, host), host) for host in check.hosts}
            for one, other in combinations(sorted(looks), 2):
                if _is_same(looks[one], looks[other]):
                    shared.setdefault(frozenset((one, other)), []).append(str(pin.at))
    return {pair: _one_machine(sorted(pair), paths) for pair, paths in shared.items()}


def _seen(place: Place, host: str) -> Look:
    return look_at(place.case, place.case.now, host, place.pin, identity_only=True)


def _same_as(place: Place, mine: Look, host: str) -> Finding:
    """Compare what this host shows with what one other shows."""
    other = _seen(place, host)
    if mine.seen is Seen.NO_EVIDENCE:
        return Finding("same_across", mine.verdict, {host: shown_or_none(other)}, None, (), mine.why, mine.cause)
    if other.seen is Seen.NO_EVIDENCE:
        why = f"{place.at} on {place.host} can't be compared with {host}: {other.why}"
        return Finding("same_across", Verdict.HOLD, {host: None}, shown_or_none(mine), (), why, other.cause)
    if mine.seen is not Seen.VALUE and other.seen is not Seen.VALUE:
        why = f"neither {place.host} nor {host} shows {place.at}, so nothing is the same. {SETTLE_DIFFERENCE}"
        return Finding("same_across", Verdict.HOLD, {host: None}, None, (), why, mine.cause)
    origin = f"as on {host}"
    if mine.seen is not Seen.VALUE or other.seen is not Seen.VALUE:
        lines = (line(place.at, other.value, mine.value, origin),)
        why = f"{place.at} is shown by one of {place.host} and {host} only. {SETTLE_DIFFERENCE}"
        cause = mine.cause or other.cause
        sides = {host: shown_or_none(other)}, shown_or_none(mine)
        return Finding("same_across", Verdict.MISMATCH, *sides, lines, why, cause)
    scopes = scope_difference(place, mine.observation, other.observation)
    against = Against(other.value, f"differs from {host}", origin, unreadable=other.unreadable, scopes=scopes)
    finding = compared(place, "same_across", mine, against)
    stale = _stale(place, host, other.observation) if finding.verdict is Verdict.MATCH else ""
    return Finding(
        "same_across",
        Verdict.HOLD if stale else finding.verdict,
        {host: finding.expected},
        finding.observed,
        finding.diff,
        stale or finding.why,
    )


def _stale(place: Place, host: str, observation: Observation | None) -> str:
    """Say why a host's bytes can't speak for its process, where no pin of that host says so itself."""
    if host in place.pin.on or observation is None:
        return ""
    return freshness(place.case, place.case.now, host, observation).why


def _distinct_from(place: Place, mine: Look, host: str, check: DistinctAcross) -> Finding:
    """Tell this host from another; one that nobody asked is left to its own verdict, and said."""
    other = _seen(place, host)
    if other.seen is Seen.NO_EVIDENCE and other.verdict is Verdict.NOT_RUN and host in place.pin.on:
        notes = (f"not told apart from {host}, which was not looked at",)
        return Finding("distinct_across", Verdict.MATCH, check.group, shown(mine.value), notes=notes)
    if other.seen is not Seen.VALUE:
        why = f"{place.host} can't be told apart from {host}: {other.why}"
        return Finding("distinct_across", Verdict.HOLD, check.group, shown(mine.value), (), why, other.cause)
    if not _is_same(mine, other):
        return Finding("distinct_across", Verdict.MATCH, check.group, shown(mine.value))
    cause = place.case.same_machine.get(frozenset((place.host, host))) or _one_machine([place.host, host], [place.at])
    lines = (f"{place.at}: {spell(mine.value)} on {place.host} and on {host}",)
    why = f"{cause.text}. To settle: {cause.settle}"
    return Finding("distinct_across", Verdict.HOLD, check.group, shown(mine.value), lines, why, cause)


def _is_same(one: Look, other: Look) -> bool:
    if one.seen is not Seen.VALUE or other.seen is not Seen.VALUE:
        return False
    return equal(one.value, other.value) or means_the_same(one.value, other.value)


def _one_machine(names: list[str], paths: list[str]) -> Seed:
    said = f"{names[0]} and {names[1]} show the same {', '.join(paths)}: two inventory names are one machine"
    return Seed(f"distinct:{names[0]}+{names[1]}", said, "let each inventory name lead to its own machine")
