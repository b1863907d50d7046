"""Reading `verdict.json` back into an outcome: `read_outcome(o.as_json()) == o` for every outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinproof.errors import ArchiveError
from pinproof.outcome import (
    SCHEMA,
    Arm,
    Cause,
    ExperimentPin,
    Outcome,
    PinVerdict,
    RowVerdict,
    Supersession,
)
from pinproof.verdicts import Decision, Evidence, Verdict, decide


def read_outcome(data: Mapping[str, Any]) -> Outcome:
    """Read an outcome from JSON data.

    Raises ArchiveError for another schema, for a field that is not as it must
    be, and for a decision or counts that do not follow from the verdicts.
    """
    if data.get("schema") != SCHEMA:
        raise ArchiveError(f"the archive: a verdict of schema {data.get('schema')!r}; this program reads {SCHEMA}")
    try:
        outcome = _outcome(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArchiveError(f"the archive: a verdict is malformed: {error!r}") from error
    if decide(row.verdict for row in outcome.rows) is not outcome.decision:
        raise ArchiveError(f"the archive: the verdict says {outcome.decision.value}, which its rows do not come to")
    counted = {verdict.name: 0 for verdict in Verdict}
    for row in outcome.rows:
        for pin in row.pins:
            counted[pin.verdict.name] += 1
            if pin.verdict > row.verdict:
                raise ArchiveError(f"the archive: row {row.id} is {row.verdict.name}, its pin {pin.verdict.name}")
    if counted != outcome.counts:
        raise ArchiveError("the archive: the verdict's counts are not those of its pins")
    return outcome


def _outcome(data: Mapping[str, Any]) -> Outcome:
    return Outcome(
        run=_text(data["run"]),
        manifest=_text(data["manifest"]["name"]),
        manifest_digest=_text(data["manifest"]["digest"]),
        scope=_text(data["scope"]),
        lane=_text(data["lane"]),
        arm=Arm(**{key: _text(data["arm"][key]) for key in ("leg", "start", "label")}),
        decision=Decision(data["decision"]),
        counts={_text(name): _count(number) for name, number in data["counts"].items()},
        causes=tuple(_cause(item) for item in data["causes"]),
        rows=tuple(_row(item) for item in data["rows"]),
        experiment=tuple(
            ExperimentPin(**{key: _text(item[key]) for key in ("id", "at", "row", "over")})
            for item in data["judged_by_compare"]
        ),
        supersessions=tuple(
            Supersession(**{key: _text(item[key]) for key in ("pin", "in_force", "superseded", "scope")})
            for item in data["supersessions"]
        ),
        baseline=_text(data["baseline"]),
    )


def _cause(item: Mapping[str, Any]) -> Cause:
    return Cause(
        _text(item["id"]), _text(item["text"]), _text(item["settle"]), _texts(item["rows"]), _count(item["pins"])
    )


def _row(item: Mapping[str, Any]) -> RowVerdict:
    return RowVerdict(
        id=_text(item["id"]),
        setting=_text(item["setting"]),
        verdict=Verdict[item["verdict"]],
        evidence=_evidence(item["evidence"]),
        requires=Evidence[_text(item["requires"]).upper()],
        why=_text(item["why"]),
        pins=tuple(_pin(pin) for pin in item["pins"]),
    )


def _pin(item: Mapping[str, Any]) -> PinVerdict:
    return PinVerdict(
        id=_text(item["id"]),
        at=_text(item["at"]),
        on=_text(item["on"]),
        verdict=Verdict[item["verdict"]],
        evidence=_evidence(item["evidence"]),
        expected=item["expected"],
        observed=item["observed"],
        diff=_texts(item["diff"]),
        why=_text(item["why"]),
        cause=_text(item["cause"]),
        notes=_texts(item["notes"]),
    )


def _evidence(word: object) -> Evidence | None:
    return None if word is None else Evidence[_text(word).upper()]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"{values!r} is no list")
    return tuple(_text(value) for value in values)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no number")
    return value
