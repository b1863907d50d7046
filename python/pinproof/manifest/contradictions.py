"""Pins that no host can satisfy together: different values at one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinproof.manifest.errors import Problems, short
from pinproof.manifest.model import Is, IsAbsent, Json, PerHost, Pin, Row
from pinproof.paths import AttributePath

Place = tuple[str, tuple[str, ...], str]
_ABSENT = object()


def refuse_contradictions(rows: Iterable[Row], problems: Problems) -> None:
    """Note every pin that demands something else of a place than an earlier one does."""
    demanded: dict[Place, tuple[object, Pin]] = {}
    for row in rows:
        for pin in row.pins:
            if pin.split or pin.drift:
                continue
            for place, value in _demands(pin):
                other, earlier = demanded.setdefault(place, (value, pin))
                if earlier is not pin and (type(other) is not type(value) or other != value):
                    what = f"pin {short(pin.id, 90)} wants {_shown(value)} {_where(place)}"
                    problems.add(pin.mark, what, f"line {earlier.mark.line} wants {_shown(other)}: keep one of them")
                    break


def _demands(pin: Pin) -> Iterator[tuple[Place, object]]:
    for check in pin.checks:
        for host in pin.on:
            if isinstance(check, IsAbsent):
                yield (pin.at.probe, pin.at.segments, host), _ABSENT
            elif isinstance(check, Is):
                yield from _leaves(pin.at.probe, pin.at.segments, host, check.value)
            elif isinstance(check, PerHost) and host in check.values:
                yield from _leaves(pin.at.probe, pin.at.segments, host, check.values[host])


def _leaves(probe: str, segments: tuple[str, ...], host: str, value: Json) -> Iterator[tuple[Place, object]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _leaves(probe, (*segments, key), host, below)
    else:
        yield (probe, segments, host), value


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "nothing"
    return short(value) if isinstance(value, str) else str(value)


def _where(place: Place) -> str:
    probe, segments, host = place
    return f"at '{AttributePath(probe, segments)}' on {host}"
