"""The words of a report that the terminal and the document share: decision, counts, what a row comes to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinproof.outcome import Cause, Outcome, PinVerdict, RowVerdict, Supersession
from pinproof.verdicts import Decision, Verdict, worst

AUTHORISES = "authorises no staging and no change"

_GIB = 1 << 30
_NAMED = 3  # rows that a headline names
_SETTLE = "To settle: "
_NUMBER = re.compile(r"\b[0-9]{10,}\b")


def headline(outcome: Outcome) -> str:
    """Say the decision and what it rests on, in one line, and the rows that stop it."""
    return f"{_standing(outcome)}{_culprits(outcome)}"


def _standing(outcome: Outcome) -> str:
    """Say the decision and how many rows it rests on."""
    total = len(outcome.rows)
    if not total:
        return f"{outcome.decision.value}: nothing was judged, there is not one row"
    counts = Counter(row.verdict for row in outcome.rows)
    of = f" of {total} row{'' if total == 1 else 's'}"
    if outcome.decision is Decision.RECONCILED:
        parts = [(counts[Verdict.MATCH], "matches", "match"), (counts[Verdict.DRIFT], "drifts", "drift")]
    else:
        parts = [
            (counts[Verdict.MISMATCH], "does not match", "do not match"),
            (counts[Verdict.REFUSED], "is refused", "are refused"),
            (counts[Verdict.HOLD], "is on hold", "are on hold"),
            (counts[Verdict.NOT_RUN], "was not run", "were not run"),
        ]
    said = [(count, one if count == 1 else many) for count, one, many in parts if count]
    words = [f"{count}{of if index == 0 else ''} {verb}" for index, (count, verb) in enumerate(said)]
    return f"{outcome.decision.value}: {', '.join(words)}"


def _culprits(outcome: Outcome) -> str:
    """Name the rows that stop the run, the first of them where there are many."""
    names = [row.setting for row in outcome.rows if row.verdict >= Verdict.REFUSED]
    if not names:
        return ""
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{rest})"


def closing(outcome: Outcome) -> str:
    """Repeat the decision, and say what it does not mean."""
    return f"{_standing(outcome)}. This {AUTHORISES}."


def circumstances(outcome: Outcome) -> list[tuple[str, str]]:
    """List what the run is of: (word, value), without those that are empty."""
    arm = ", ".join(f"{word} {said}" for word, said in (("leg", outcome.arm.leg), ("start", outcome.arm.start)) if said)
    found = [
        ("run", outcome.run),
        ("manifest", f"{outcome.manifest}, sha256 {outcome.manifest_digest}"),
        ("scope", outcome.scope),
        ("lane", outcome.lane),
        ("arm", arm),
        ("label", outcome.arm.label),
        ("baseline", outcome.baseline or "none"),
    ]
    return [(word, said) for word, said in found if said]


def counts_line(outcome: Outcome) -> str:
    """Say how many pins there are of each verdict, and in all."""
    parts = [f"{outcome.counts.get(verdict.name, 0)} {verdict.name}" for verdict in Verdict]
    return f"{sum(outcome.counts.values())} pins judged: {', '.join(parts)}"


def compare_line(outcome: Outcome) -> str:
    """Say how many pins a single run can't judge; "" for none."""
    count = len(outcome.experiment)
    if not count:
        return ""
    return f"{count} pin{' is' if count == 1 else 's are'} judged by compare, and not counted here"


def supersession_line(item: Supersession) -> str:
    """Say what was superseded, and for whom."""
    scope = f"for scope {item.scope} only" if item.scope else "everywhere"
    return f"{item.pin}: {with_units(item.in_force)} is in force {scope}; {with_units(item.superseded)} is superseded"


def with_units(text: str) -> str:
    """Say whole numbers of GiB as such, beside the bytes."""
    if "GiB" in text:
        return text
    return _NUMBER.sub(lambda m: f"{m[0]} ({int(m[0]) // _GIB} GiB)" if int(m[0]) % _GIB == 0 else m[0], text)


def cause_line(cause: Cause) -> str:
    """Say what a cause holds up."""
    pins = f"{cause.pins} pin{'' if cause.pins == 1 else 's'}"
    return f"holds up {pins} in {', '.join(cause.rows)}"


def settlements(outcome: Outcome, cause: Cause) -> list[str]:
    """List what would settle a cause: what its pins say of it, each once, or else what the cause says."""
    pins = (pin for row in outcome.rows for pin in row.pins if pin.cause == cause.id)
    said = dict.fromkeys(found for pin in pins if (found := pin.why.partition(_SETTLE)[2]))
    return list(said) or [cause.settle]


def row_summary(row: RowVerdict, numbers: dict[str, str]) -> str:
    """Say in few words what keeps a row from matching: verdicts by number, and causes by theirs."""
    total = f"{len(row.pins)} pin{'' if len(row.pins) == 1 else 's'}"
    if row.verdict is Verdict.MATCH:
        notes = sum(len(pin.notes) for pin in row.pins)
        return total + (f", {notes} note{'' if notes == 1 else 's'}" if notes else "")
    own = Counter(pin.verdict for pin in row.pins if pin.verdict is not Verdict.MATCH and not pin.cause)
    parts = [f"{own[verdict]} {verdict.name}" for verdict in sorted(own, reverse=True)]
    following = Counter(pin.cause for pin in row.pins if pin.verdict is not Verdict.MATCH and pin.cause)
    parts += [f"{count} by cause {numbers.get(cause, '?')}" for cause, count in following.items()]
    if not parts or is_short(row):
        parts.append(f"needs {row.requires.word} evidence" if is_short(row) else "nothing to judge")
    return f"of {total}: {', '.join(parts)}"


def is_short(row: RowVerdict) -> bool:
    """Whether a row is held by its evidence, and not (only) by its pins."""
    return row.verdict > worst(pin.verdict for pin in row.pins) or (
        row.evidence is not None and row.evidence < row.requires and row.verdict is Verdict.HOLD
    )


def evidence_words(row: RowVerdict) -> str:
    """Say the evidence of a row, and what it requires where it falls short."""
    if row.evidence is None:
        return "-"
    return f"{row.evidence.word} < {row.requires.word}" if row.evidence < row.requires else row.evidence.word


@dataclass(frozen=True, slots=True)
class PinGroup:
    """A pin that came to the same on several hosts."""

    pin: PinVerdict
    hosts: tuple[str, ...]

    @property
    def title(self) -> str:
        """Which pin, and where."""
        return f"{self.pin.id} on {', '.join(self.hosts)}" if any(self.hosts) else self.pin.id


def told_pins(row: RowVerdict) -> list[PinGroup]:
    """List the pins of a row that are told one by one: not matching, and not following from a cause told elsewhere."""
    return list(_grouped([pin for pin in row.pins if pin.verdict is not Verdict.MATCH and not pin.cause]))


def _grouped(pins: Sequence[PinVerdict]) -> Iterator[PinGroup]:
    groups: dict[str, list[PinVerdict]] = {}
    for pin in pins:
        same = (pin.id, pin.verdict, pin.evidence, pin.expected, pin.observed, pin.diff, pin.why, pin.notes)
        groups.setdefault(repr(same), []).append(pin)
    for alike in groups.values():
        yield PinGroup(alike[0], tuple(pin.on for pin in alike))
