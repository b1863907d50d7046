"""What a run came to: verdicts of pins and rows, causes, the decision.

`reconcile` makes these, reports and the archive read them. `Outcome.as_json`
is the format of `verdict.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinproof.verdicts import Decision, Evidence, Verdict

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Arm:
    """Which leg and start of the experiment a run belongs to; "" where it belongs to none."""

    leg: str = ""
    start: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class PinVerdict:
    """The verdict of one pin on one host.

    `expected` and `observed` are JSON values (None where there is none); `diff`
    lists the differences, one line each, in words; `why` says what it means and,
    for HOLD and STOP, what would settle it. `cause` is the id of the cause it
    follows from, "" where it stands for itself. `evidence` is None where nothing was seen.
    """

    id: str
    at: str
    on: str
    verdict: Verdict
    evidence: Evidence | None
    expected: Any
    observed: Any
    diff: tuple[str, ...]
    why: str
    cause: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExperimentPin:
    """A pin of experiment scope: listed as judged by compare, outside the counts."""

    id: str
    at: str
    row: str
    over: str


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """The verdict of a row: its worst pin, and at least HOLD while its evidence is below what it requires."""

    id: str
    setting: str
    verdict: Verdict
    evidence: Evidence | None
    requires: Evidence
    why: str
    pins: tuple[PinVerdict, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that holds many pins at once (an unreachable host, no engine, no baseline), told once."""

    id: str
    text: str
    settle: str
    rows: tuple[str, ...]
    pins: int


@dataclass(frozen=True, slots=True)
class Supersession:
    """A limit that another authority replaced in this scope, and for whom."""

    pin: str
    in_force: str
    superseded: str
    scope: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole run judged. `counts` are over pins of run scope, by verdict name, every verdict present."""

    run: str
    manifest: str
    manifest_digest: str
    scope: str
    lane: str
    arm: Arm
    decision: Decision
    counts: Mapping[str, int]
    causes: tuple[Cause, ...]
    rows: tuple[RowVerdict, ...]
    experiment: tuple[ExperimentPin, ...]
    supersessions: tuple[Supersession, ...]
    baseline: str

    def as_json(self) -> dict[str, Any]:
        """Give the outcome in the format of `verdict.json`."""
        return {
            "schema": SCHEMA,
            "run": self.run,
            "manifest": {"name": self.manifest, "digest": self.manifest_digest},
            "scope": self.scope,
            "lane": self.lane,
            "arm": {"leg": self.arm.leg, "start": self.arm.start, "label": self.arm.label},
            "baseline": self.baseline,
            "decision": self.decision.value,
            "counts": dict(self.counts),
            "causes": [
                {"id": c.id, "text": c.text, "settle": c.settle, "rows": list(c.rows), "pins": c.pins}
                for c in self.causes
            ],
            "rows": [_row(row) for row in self.rows],
            "judged_by_compare": [
                {"id": pin.id, "at": pin.at, "row": pin.row, "over": pin.over} for pin in self.experiment
            ],
            "supersessions": [
                {"pin": s.pin, "in_force": s.in_force, "superseded": s.superseded, "scope": s.scope}
                for s in self.supersessions
            ],
            "authorises": "no staging and no change",
        }


def _row(row: RowVerdict) -> dict[str, Any]:
    return {
        "id": row.id,
        "setting": row.setting,
        "verdict": row.verdict.name,
        "evidence": row.evidence.word if row.evidence is not None else None,
        "requires": row.requires.word,
        "why": row.why,
        "pins": [_pin(pin) for pin in row.pins],
    }


def _pin(pin: PinVerdict) -> dict[str, Any]:
    return {
        "id": pin.id,
        "at": pin.at,
        "on": pin.on,
        "verdict": pin.verdict.name,
        "evidence": pin.evidence.word if pin.evidence is not None else None,
        "expected": pin.expected,
        "observed": pin.observed,
        "diff": list(pin.diff),
        "why": pin.why,
        "cause": pin.cause,
        "notes": list(pin.notes),
    }
