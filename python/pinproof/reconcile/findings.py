"""What one check found on one host, and the comparison that most checks come down to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pinproof.observations import Fault
from pinproof.paths import MISSING, within
from pinproof.reconcile.canonical import SPELLED, UNDISCLOSED, weigh
from pinproof.reconcile.causes import cause_of_host
from pinproof.reconcile.compare import Difference, Path, differences, kind, leaves, listed_part, plain, summary
from pinproof.reconcile.explain import LINE_LIMIT, agree, explain, line, spell_path
from pinproof.reconcile.hints import hints
from pinproof.reconcile.looks import Look, Seen
from pinproof.reconcile.scene import Place, Seed
from pinproof.reconcile.statuses import no_evidence, settle
from pinproof.verdicts import Verdict, worst

_WHOLE_LIMIT = 50

SETTLE_DIFFERENCE = "To settle: find out which of them is right, before anything is changed"
SETTLE_SPELLING = "To settle: write it as pinned where it is set, and start again"
DISAGREE = (
    "comparators disagree: strictly equal, and yet deepdiff finds a difference. "
    "To settle: compare both values by hand, and report it"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict of one check; `word` is the check's word in a manifest, the values are JSON."""

    word: str
    verdict: Verdict
    expected: Any = None
    observed: Any = None
    diff: tuple[str, ...] = ()
    why: str = ""
    cause: Seed | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Against:
    """What a value is compared with: the pin's own value, the baseline's, another host's.

    `origin` follows it in a line (`as in the baseline`). `listed`: only the keys
    that it lists count. `unreadable` are the faults below it, `scopes` says how
    both sides looked differently, if they did.
    """

    value: Any
    is_not: str = "is not what is pinned"
    origin: str = ""
    listed: bool = False
    unreadable: tuple[tuple[Path, Fault], ...] = ()
    scopes: str = ""


def unseen(place: Place, word: str, demand: Any, look: Look) -> Finding | None:
    """Give the finding of a check that needs a value where there is none; None where there is one."""
    if look.seen is Seen.VALUE:
        return None
    if look.seen is Seen.NO_EVIDENCE:
        return Finding(word, look.verdict, plain(demand), None, (), look.why, look.cause)
    diff = (line(place.at, demand, MISSING),)
    settle = f"To settle: {look.cause.settle}" if look.cause is not None else SETTLE_DIFFERENCE
    return Finding(word, Verdict.MISMATCH, plain(demand), None, diff, f"{look.why}. {settle}", look.cause)


def compared(place: Place, word: str, look: Look, against: Against) -> Finding:
    """Compare what was seen with `against`, strictly; the worst difference decides."""
    expected, observed = against.value, look.value
    if against.listed:
        observed = listed_part(expected, observed)
    hiding = _that_concern((*look.unreadable, *against.unreadable), expected if against.listed else MISSING)
    every = list(differences(expected, observed, listed=against.listed))
    strict = [item for item in every if not _is_hidden(item, hiding, against.scopes)]
    weights = [weigh(item) for item in strict]
    verdict = worst([Verdict.MATCH, *(weight for weight, _ in weights), *(no_evidence(f.status) for _, f in hiding)])
    whys = [_why(place, against, verdict, dict.fromkeys(text for weight, text in weights if weight is verdict))]
    whys += [
        _hidden(place, path, fault, "" if (path, fault) in look.unreadable else against.origin)
        for path, fault in hiding
        if verdict is no_evidence(fault.status)
    ]
    if against.scopes and verdict <= Verdict.HOLD:
        verdict, whys = Verdict.HOLD, [*whys, against.scopes]
    elif verdict is Verdict.MATCH and not agree(expected, observed):
        verdict, whys = Verdict.HOLD, [f"{place.at} on {place.host}: {DISAGREE}"]
    if verdict >= Verdict.REFUSED:
        whys += hints(place.case, place.at, strict)
    sides = shown_pair(expected, observed, strict) if every else (shown(expected),) * 2
    lines = explain(place.at, expected, observed, strict, against.origin)
    cause = cause_of_host(place.case, place.host) if verdict is Verdict.NOT_RUN else None
    return Finding(word, verdict, *sides, lines, ". ".join(why for why in whys if why), cause)


def shown_pair(expected: Any, observed: Any, strict: list[Difference]) -> tuple[Any, Any]:
    """Give both sides as an outcome holds them: whole when small, else only what differs, or a digest."""
    small = max(leaves(expected, _WHOLE_LIMIT + 1), leaves(observed, _WHOLE_LIMIT + 1)) <= _WHOLE_LIMIT
    if small or not strict or kind(expected) not in ("map", "list") or kind(observed) != kind(expected):
        return shown(expected), shown(observed)
    sides = []
    for side in ("expected", "observed"):
        values = {spell_path(item.path).removeprefix("."): getattr(item, side) for item in strict[:LINE_LIMIT]}
        whole = expected if side == "expected" else observed
        parts = {path: shown(value) for path, value in values.items() if value is not MISSING}
        sides.append({"entries": len(whole), "differing": len(strict), "shown": parts})
    return sides[0], sides[1]


def shown(value: Any) -> Any:
    """Give one value as an outcome holds it: whole when small, else its size and digest."""
    return plain(value) if leaves(value, _WHOLE_LIMIT + 1) <= _WHOLE_LIMIT else summary(value)


def shown_or_none(look: Look) -> Any:
    """Give what a look saw as an outcome holds it; None where it saw nothing."""
    return None if look.value is MISSING else shown(look.value)


def hidden_parts(place: Place, word: str, demand: Any, look: Look) -> Finding | None:
    """Give the finding of parts that could not be read, for checks that need all of a value."""
    if not look.unreadable:
        return None
    verdict = worst(no_evidence(fault.status) for _, fault in look.unreadable)
    whys = [_hidden(place, path, fault) for path, fault in look.unreadable]
    cause = cause_of_host(place.case, place.host) if verdict is Verdict.NOT_RUN else None
    return Finding(word, verdict, plain(demand), None, (), ". ".join(whys), cause)


def weighed(
    place: Place, word: str, weight: tuple[Verdict, str], sides: tuple[Any, Any], lines: tuple[str, ...]
) -> Finding:
    """Make the finding of a check that does not come down to one comparison."""
    verdict, reason = weight
    expected, observed = plain(sides[0]), shown(sides[1])
    if verdict is Verdict.MATCH:
        return Finding(word, verdict, expected, observed)
    settle = {Verdict.MISMATCH: SETTLE_DIFFERENCE, Verdict.REFUSED: SETTLE_SPELLING}
    by_hand = "To settle: provide the whole value, and verify again"
    why = f"{place.at} on {place.host} {reason or 'is not what is pinned'}. {settle.get(verdict, by_hand)}"
    seen = sides[1] if kind(sides[1]) == "list" else [sides[1]]
    whys = (why, *hints(place.case, place.at, [Difference((), sides[0], item) for item in seen]))
    return Finding(word, verdict, expected, observed, lines, ". ".join(whys))


def _why(place: Place, against: Against, verdict: Verdict, reasons: dict[str, None]) -> str:
    where = f"{place.at} on {place.host}"
    if verdict is Verdict.MISMATCH:
        return f"{where} {against.is_not}. {SETTLE_DIFFERENCE}"
    if verdict is Verdict.REFUSED:
        return f"{where} {SPELLED}. {SETTLE_SPELLING}"
    if not reasons:
        return ""
    settled = "let the pin name what is to be disclosed" if UNDISCLOSED in reasons else "provide the whole value"
    return f"{where}: {' and '.join(reasons)}. To settle: {settled}, on both sides, and verify again"


def _hidden(place: Place, path: Path, fault: Fault, origin: str = "") -> str:
    """Say what could not be read; `origin` tells of what this host was compared with, where it is that."""
    part = within(tuple(map(str, path)))
    where = f"{place.at} on {place.host}" + (f", {origin}" if origin else "")
    return f"{where}: {part}: {fault.status}: {fault.why}. To settle: {settle(fault.status)}"


def _that_concern(faults: tuple[tuple[Path, Fault], ...], expected: Any) -> tuple[tuple[Path, Fault], ...]:
    """Leave out faults of keys that nobody lists."""
    return tuple((path, fault) for path, fault in faults if _leads_into(expected, path))


def _leads_into(expected: Any, path: Path) -> bool:
    for part in path:
        if kind(expected) != "map" or not expected:
            return True
        if part not in expected:
            return False
        expected = expected[part]
    return True


def _is_hidden(item: Difference, faults: tuple[tuple[Path, Fault], ...], scopes: str) -> bool:
    """Say whether a difference is only that one side could not be read, or did not look there."""
    one_sided = MISSING in (item.expected, item.observed)
    if scopes and one_sided:
        return True
    path = tuple(map(str, item.path))
    # A list with a hole in it is shorter than it is; a map with one only lacks that key.
    partly = one_sided or kind(item.observed) == "list"
    return any(path[: len(hole)] == hole or (partly and hole[: len(path)] == path) for hole, _ in faults)
