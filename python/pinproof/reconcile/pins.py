"""The verdict of one pin on one host: its worst check, then the age of the bytes, then `record: drift`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinproof.manifest.model import (
    AcrossExperiment,
    BaselineIs,
    Bound,
    Check,
    Closed,
    DistinctAcross,
    Is,
    IsAbsent,
    OneOf,
    PerHost,
    Pin,
    Prefix,
    Prescribed,
    SameAcross,
    SameAsBaseline,
    SetOf,
)
from pinproof.outcome import PinVerdict
from pinproof.reconcile.across import check_distinct_across, check_same_across
from pinproof.reconcile.against_baseline import check_baseline_is, check_same_as_baseline
from pinproof.reconcile.checks import check_absent, check_closed, check_is, check_per_host, check_prescribed
from pinproof.reconcile.compare import equal
from pinproof.reconcile.findings import Finding
from pinproof.reconcile.freshness import Freshness, freshness
from pinproof.reconcile.looks import Look, Seen, look_at
from pinproof.reconcile.members import check_bound, check_one_of, check_prefix, check_set_of
from pinproof.reconcile.scene import Place, Seed
from pinproof.verdicts import Evidence, Verdict, worst

BASELINE_PROBE = "baseline"

_BARE = ("is", "per_host")
_LISTING = ("is", "per_host", "closed")


def run_scope(pin: Pin) -> tuple[Check, ...]:
    """Give the checks of a pin that a single run can judge."""
    return tuple(check for check in pin.checks if not isinstance(check, AcrossExperiment))


def judge_pin(place: Place) -> tuple[PinVerdict, Seed | None]:
    """Judge a pin on one host; the seed is the cause that the verdict names, if any."""
    if place.pin.at.probe == BASELINE_PROBE:
        return _judge_baseline(place)
    look = look_at(place.case, place.case.now, place.host, place.pin)
    findings = [finding for check in run_scope(place.pin) for finding in _check(place, look, check)]
    if not findings:
        why = f"nothing is demanded of {place.at} on {place.host}"
        findings.append(Finding("seen", Verdict.HOLD, why=f"{why}. To settle: narrow the pin with `on`"))
    if look.seen is Seen.NO_EVIDENCE and all(finding.verdict < look.verdict for finding in findings):
        # Some checks (`baseline_is`) are content without a look; a pin never is.
        findings.append(Finding("seen", look.verdict, why=look.why, cause=look.cause))
    fresh = Freshness()
    if look.observation is not None and look.seen in (Seen.VALUE, Seen.NOTHING):
        fresh = freshness(place.case, place.case.now, place.host, look.observation)
    return _verdict(place, look, findings, fresh)


def _check(place: Place, look: Look, check: Check) -> list[Finding]:
    match check:
        case Is():
            return [check_is(place, look, check)]
        case IsAbsent():
            return [check_absent(place, look, check)]
        case Bound():
            return [check_bound(place, look, check)]
        case OneOf():
            return [check_one_of(place, look, check)]
        case SetOf():
            return [check_set_of(place, look, check)]
        case Prefix():
            return [check_prefix(place, look, check)]
        case PerHost():
            return [check_per_host(place, look, check)]
        case Prescribed():
            return [check_prescribed(place, look, check)]
        case Closed():
            return [check_closed(place, look, check)]
        case SameAsBaseline():
            return [check_same_as_baseline(place, check)]
        case BaselineIs():
            return [check_baseline_is(place, check)]
        case SameAcross():
            return check_same_across(place, check)
        case DistinctAcross():
            return check_distinct_across(place, check)
        case AcrossExperiment():
            return []


def _verdict(place: Place, look: Look, findings: list[Finding], fresh: Freshness) -> tuple[PinVerdict, Seed | None]:
    """Put the findings of all checks together."""
    verdict = worst(finding.verdict for finding in findings)
    deciding = [finding for finding in findings if finding.verdict is verdict]
    whys = [finding.why for finding in deciding]
    cause = deciding[0].cause if deciding and all(finding.cause for finding in deciding) else None
    stale = fresh.why and (verdict is Verdict.MATCH or fresh.void)
    if stale:
        verdict, whys, cause = Verdict.HOLD, [fresh.why], fresh.cause
    drifted = place.pin.drift and verdict >= Verdict.REFUSED
    if drifted:
        verdict = Verdict.DRIFT
        whys = [_as_drift(text) for text in whys]
    notes = [place.pin.note, *(note for finding in findings for note in finding.notes), *fresh.notes]
    notes += [fresh.why] if fresh.why and not stale else []
    notes += [*_overridable(place, look), *(look.observation.notes if look.observation else ())]
    judged = PinVerdict(
        id=place.pin.id,
        at=place.at,
        on=place.host,
        verdict=verdict,
        evidence=look.evidence,
        expected=_expected(findings),
        observed=_observed(findings),
        diff=tuple(dict.fromkeys(text for finding in findings for text in finding.diff)),
        why="; ".join(dict.fromkeys(why for why in whys if why)),
        cause=cause.id if cause is not None else "",
        notes=tuple(dict.fromkeys(note for note in notes if note)),
    )
    return judged, cause


def _as_drift(why: str) -> str:
    return f"recorded as drift, which stops nothing: {why.partition('. To settle')[0]}"


def _expected(findings: list[Finding]) -> Any:
    """Give what was demanded: the bare value of a single `is` or `per_host`, else every demand by its word."""
    demands = _by_word(findings, "expected")
    if len(demands) == 1 and (only := next(iter(demands))) in _BARE:
        return demands[only]
    return demands or None


def _observed(findings: list[Finding]) -> Any:
    """Give what was seen: once where all checks saw the same, else by the word of the check."""
    seen = _by_word(findings, "observed")
    if seen and all(word in _LISTING and isinstance(value, Mapping) for word, value in seen.items()):
        return {key: item for value in seen.values() for key, item in value.items()}
    values = list(seen.values())
    if not values or not all(equal(value, values[0]) for value in values):
        return seen or None
    return values[0]


def _by_word(findings: list[Finding], side: str) -> dict[str, Any]:
    """Collect one side of the findings by their word; several maps of one word (hosts of a group) are joined."""
    found: dict[str, Any] = {}
    for finding in findings:
        value = getattr(finding, side)
        if value is None or finding.word == "seen":
            continue
        before = found.get(finding.word)
        joined = finding.word == "same_across" and side == "expected" and isinstance(before, dict)
        found[finding.word] = {**before, **value} if joined and isinstance(before, dict) else value
    return found


def _overridable(place: Place, look: Look) -> list[str]:
    """Note a setting of an environment file that is only a default."""
    segments = place.pin.at.segments
    if look.observation is None or len(segments) < 3 or segments[-3] != "settings" or segments[-1] != "value":
        return []
    if look.observation.value((*segments[:-1], "overridable")) is not True:
        return []
    return [f"{place.at} is a default: the launch environment may override it"]


def _judge_baseline(place: Place) -> tuple[PinVerdict, Seed | None]:
    """Judge the reserved probe: whether there is a baseline that may be used."""
    case = place.case
    cause, look = case.no_baseline, Look(Seen.VALUE, True, evidence=Evidence.FILE)
    usable = place.pin.at.segments == ("usable",)
    if cause is not None:
        why = f"{cause.text}. To settle: {cause.settle}"
        look = Look(Seen.NO_EVIDENCE, why=why, cause=cause)
    elif not usable or not _anything_seen(place):
        why = "the baseline shows nothing at this path" if not usable else "nothing was looked at in this run"
        look = Look(Seen.NO_EVIDENCE, why=f"{why}. To settle: verify at least one host")
    findings = [finding for check in run_scope(place.pin) for finding in _check(place, look, check)]
    return _verdict(place, look, findings, Freshness())


def _anything_seen(place: Place) -> bool:
    """Say whether this run saw anything at all: a baseline alone proves nothing about now."""
    now = place.case.now
    return any(
        item.run == now.run and item.status in ("ok", "absent")
        for facts in now.hosts.values()
        if facts.contacted
        for item in facts.observations.values()
    )
