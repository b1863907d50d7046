"""Comparisons with the baseline: the same as it shows, or what it is to show."""

from __future__ import annotations

from pinproof.manifest.model import BaselineIs, SameAsBaseline
from pinproof.paths import MISSING
from pinproof.reconcile.compare import plain
from pinproof.reconcile.explain import line
from pinproof.reconcile.findings import SETTLE_DIFFERENCE, Against, Finding, compared, shown_or_none
from pinproof.reconcile.freshness import freshness
from pinproof.reconcile.looks import Look, Seen, look_at
from pinproof.reconcile.scene import Place
from pinproof.reconcile.scopes import scope_difference
from pinproof.verdicts import Verdict

_ORIGIN = "as in the baseline"


def check_same_as_baseline(place: Place, check: SameAsBaseline) -> Finding:
    """`same_as: baseline`: what this host's baseline shows at the same path."""
    del check
    word = "same_as_baseline"
    mine = look_at(place.case, place.case.now, place.host, place.pin, identity_only=True)
    then = _baseline_look(place, identity_only=True)
    if mine.seen is Seen.NO_EVIDENCE:
        expected = None if isinstance(then, Finding) else shown_or_none(then)
        return Finding(word, mine.verdict, expected, None, (), mine.why, mine.cause)
    if isinstance(then, Finding):
        return Finding(word, then.verdict, None, shown_or_none(mine), (), then.why, then.cause)
    if mine.seen is not Seen.VALUE and then.seen is not Seen.VALUE:
        why = f"neither this run nor the baseline shows {place.at} on {place.host}, so nothing is pinned"
        return Finding(word, Verdict.HOLD, None, None, (), f"{why}. {SETTLE_DIFFERENCE}", mine.cause)
    if mine.seen is not Seen.VALUE or then.seen is not Seen.VALUE:
        said = mine.why if mine.seen is not Seen.VALUE else f"the baseline shows nothing at {place.at} on {place.host}"
        diff = (line(place.at, then.value, mine.value, _ORIGIN),)
        sides = shown_or_none(then), shown_or_none(mine)
        return Finding(word, Verdict.MISMATCH, *sides, diff, f"{said}. {SETTLE_DIFFERENCE}", mine.cause)
    scopes = scope_difference(place, mine.observation, then.observation)
    against = Against(then.value, "differs from the baseline", _ORIGIN, unreadable=then.unreadable, scopes=scopes)
    return _if_fresh(place, then, compared(place, word, mine, against))


def check_baseline_is(place: Place, check: BaselineIs) -> Finding:
    """`baseline_is`: the value that the baseline shows; what this run shows is for other checks to say."""
    word, expected = "baseline_is", plain(check.value)
    then = _baseline_look(place, identity_only=False)
    if isinstance(then, Finding):
        return Finding(word, then.verdict, expected, None, (), then.why, then.cause)
    if then.seen is not Seen.VALUE:
        diff = (line(f"{place.at} in the baseline", check.value, MISSING),)
        why = f"the baseline shows nothing at {place.at} on {place.host}. {SETTLE_DIFFERENCE}"
        return Finding(word, Verdict.MISMATCH, expected, None, diff, why)
    against = Against(check.value, "in the baseline is not what is pinned of it", listed=True)
    finding = _if_fresh(place, then, compared(place, word, then, against))
    lines = tuple(f"in the baseline: {text}" for text in finding.diff)
    return Finding(word, finding.verdict, finding.expected, finding.observed, lines, finding.why)


def _baseline_look(place: Place, *, identity_only: bool) -> Look | Finding:
    """Look at the pin's path in the baseline; the finding that its lack makes, where it shows no evidence."""
    case = place.case
    if case.then is None:
        cause = case.no_baseline
        why = f"{cause.text}. To settle: {cause.settle}" if cause is not None else "there is no baseline"
        return Finding("", Verdict.HOLD, why=why, cause=cause)
    look = look_at(case, case.then, place.host, place.pin, identity_only=identity_only)
    if look.seen is not Seen.NO_EVIDENCE:
        return look
    return Finding("", Verdict.HOLD, why=f"the baseline can't be compared with: {look.why}", cause=look.cause)


def _if_fresh(place: Place, then: Look, finding: Finding) -> Finding:
    """Hold a match with bytes that, in the baseline, could not speak for their process."""
    if finding.verdict is not Verdict.MATCH or then.observation is None or place.case.then is None:
        return finding
    why = freshness(place.case, place.case.then, place.host, then.observation).why
    if not why:
        return finding
    return Finding(finding.word, Verdict.HOLD, finding.expected, finding.observed, (), why)
