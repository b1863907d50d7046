"""One row or one pin in full: for every host what was expected, seen, where, and what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pinproof.observations import HostFacts, Observation
from pinproof.outcome import ExperimentPin, Outcome, PinVerdict, RowVerdict
from pinproof.paths import AttributePath
from pinproof.report.layout import Layout
from pinproof.report.text import spell, wrap

_LABEL = 10
_SOURCES = 8


def names(outcome: Outcome) -> list[str]:
    """List everything that can be explained: row ids, pin ids, and settings."""
    rows = [name for row in outcome.rows for name in (row.id, row.setting)]
    pins = [pin.id for row in outcome.rows for pin in row.pins]
    return list(dict.fromkeys([*rows, *pins, *(pin.id for pin in outcome.experiment)]))


def chosen(outcome: Outcome, name: str) -> tuple[list[tuple[RowVerdict, PinVerdict]], list[RowVerdict]]:
    """Find what a name stands for: the pins with their rows, and the rows that it names as a whole."""
    rows = [row for row in outcome.rows if name in (row.id, row.setting)]
    pins = [(row, pin) for row in outcome.rows for pin in row.pins if row in rows or pin.id == name]
    return pins, rows


def render(
    outcome: Outcome, facts: Mapping[str, HostFacts], name: str, *, width: int = 0, encoding: str = "utf-8"
) -> str:
    """Explain a row or pin by its name, without a final newline; "" where nothing has this name."""
    layout = Layout.of(width, encoding, colour=False)
    pins, rows = chosen(outcome, name)
    lines: list[str] = []
    for row in rows:
        lines += _row(row, layout)
    for _, pin in pins:
        lines += ["", *_pin(outcome, facts, pin, layout)] if lines else _pin(outcome, facts, pin, layout)
    row_ids = [row.id for row in rows]
    for item in outcome.experiment:
        if item.id == name or item.row in row_ids:
            lines += ["", _experiment(item, layout)] if lines else [_experiment(item, layout)]
    return "\n".join(line.rstrip() for line in lines)


def _row(row: RowVerdict, layout: Layout) -> Iterator[str]:
    yield from wrap(layout.safe(f"{row.setting} ({row.id}): {row.verdict.name}"), layout.width)
    seen = "none on some host" if row.evidence is None else f"{row.evidence.word} evidence"
    yield from _labelled("evidence", f"{seen}; a match requires {row.requires.word}", layout)
    yield from _labelled("why", row.why, layout)


def _pin(outcome: Outcome, facts: Mapping[str, HostFacts], pin: PinVerdict, layout: Layout) -> Iterator[str]:
    evidence = "" if pin.evidence is None else f", {pin.evidence.word} evidence"
    where = f" on {pin.on}" if pin.on else ""
    yield from wrap(layout.safe(f"{pin.id}{where}: {pin.verdict.name}{evidence}"), layout.width, "", "  ")
    yield from _labelled("path", pin.at, layout)
    yield from _value("expected", pin.expected, layout)
    yield from _value("observed", pin.observed, layout)
    for line in pin.diff:
        yield from _labelled("differs", line, layout)
    yield from _source(facts, pin, layout)
    yield from _labelled("why", pin.why, layout)
    for cause in outcome.causes:
        if cause.id == pin.cause:
            yield from _labelled("cause", cause.text, layout)
    for note in pin.notes:
        yield from _labelled("note", note, layout)


def _source(facts: Mapping[str, HostFacts], pin: PinVerdict, layout: Layout) -> Iterator[str]:
    """Say by which look the value came, or why there was none."""
    host = facts.get(pin.on)
    if host is None:
        yield from _labelled("source", "none: the host was not contacted", layout)
        return
    observation = host.observations.get(AttributePath.parse(pin.at).probe)
    if observation is None:
        yield from _labelled("source", f"none: not looked at{': ' + host.why if host.why else ''}", layout)
        return
    yield from _labelled("source", _places(observation), layout)
    answered = observation.status + (f": {observation.why}" if observation.why else "")
    looked = f"{observation.method}, at {observation.observed_at}, in {observation.took_ms:g} ms: {answered}"
    yield from _labelled("looked", looked, layout)
    for note in observation.notes:
        yield from _labelled("told", note, layout)


def _places(observation: Observation) -> str:
    places: Sequence[str] = observation.source[:_SOURCES]
    more = len(observation.source) - len(places)
    return (", ".join(places) or "none") + (f", and {more} more" if more else "")


def _value(word: str, value: Any, layout: Layout) -> Iterator[str]:
    """Show a value in full: on one line, or as JSON over several where it is long."""
    if value is None:
        yield from _labelled(word, "nothing", layout)
        return
    spelled = spell(value)
    if not isinstance(value, dict | list) or len(spelled) + _LABEL + 2 <= layout.width:
        # Not wrapped: it is there to be copied.
        yield f"  {word:<{_LABEL}}{spelled}"
        return
    yield f"  {word}"
    for line in json.dumps(value, sort_keys=True, indent=2).splitlines():
        yield f"    {layout.safe(line)}"


def _labelled(word: str, said: str, layout: Layout) -> list[str]:
    return wrap(f"{word:<{_LABEL}}{layout.safe(said)}", layout.width, "  ", " " * _LABEL) if said else []


def _experiment(item: ExperimentPin, layout: Layout) -> str:
    return layout.safe(f"{item.id}: judged by compare, across {item.over}, and not by a single run")
