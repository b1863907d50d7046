"""A run as Markdown, in the form of the table that it verifies, with every pin that does not match below it."""

from __future__ import annotations

from typing import Any

from pinproof.outcome import Outcome, RowVerdict
from pinproof.report.documents import fill
from pinproof.report.hashes import ELLIPSIS, abbreviate_in
from pinproof.report.pins import differences
from pinproof.report.sides import Sides
from pinproof.report.words import (
    PinGroup,
    cause_line,
    circumstances,
    closing,
    compare_line,
    counts_line,
    evidence_words,
    headline,
    is_short,
    row_summary,
    settlements,
    supersession_line,
    told_pins,
)
from pinproof.verdicts import Verdict

_ROOM = 200


def render(outcome: Outcome) -> str:
    """Give the report of a run as Markdown."""
    numbers = {cause.id: str(number) for number, cause in enumerate(outcome.causes, 1)}
    return fill(
        "report.md.j2",
        {
            "headline": headline(outcome),
            "circumstances": circumstances(outcome),
            "causes": [
                {"text": cause.text, "holds": cause_line(cause), "settle": settlements(outcome, cause)}
                for cause in outcome.causes
            ],
            "rows": [_row(row, numbers) for row in outcome.rows],
            "details": [detail for row in outcome.rows if (detail := _detail(row))],
            "notes": [
                {"title": f"{pin.id} on {pin.on}", "text": note}
                for row in outcome.rows
                for pin in row.pins
                if pin.verdict is Verdict.MATCH
                for note in pin.notes
            ],
            "supersessions": [supersession_line(item) for item in outcome.supersessions],
            "experiment": outcome.experiment,
            "compare": compare_line(outcome),
            "counts": counts_line(outcome),
            "closing": closing(outcome),
        },
    )


def _row(row: RowVerdict, numbers: dict[str, str]) -> dict[str, str]:
    return {
        "setting": row.setting,
        "verdict": row.verdict.name,
        "evidence": evidence_words(row),
        "summary": row_summary(row, numbers),
    }


def _detail(row: RowVerdict) -> dict[str, Any] | None:
    """Give what is told of a row below the table; None where the table says it all."""
    groups = told_pins(row)
    held = row.verdict is not Verdict.MATCH and (is_short(row) or not any(pin.cause for pin in row.pins))
    if not groups and not held:
        return None
    return {
        "id": row.id,
        "setting": row.setting,
        "verdict": row.verdict.name,
        "why": row.why if is_short(row) or not groups else "",
        "pins": [_pin(group) for group in groups],
    }


def _pin(group: PinGroup) -> dict[str, Any]:
    pin = group.pin
    found = differences(pin, _ROOM, ELLIPSIS)
    return {
        "title": group.title,
        "at": pin.at,
        "verdict": pin.verdict.name,
        "evidence": f", {pin.evidence.word} evidence" if pin.evidence is not None else "",
        "sides": [item for item in found if isinstance(item, Sides)],
        "lines": [abbreviate_in(item) for item in found if isinstance(item, str)],
        "why": pin.why,
        "notes": pin.notes,
    }
