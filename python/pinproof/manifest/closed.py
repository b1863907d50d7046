"""Closed maps: which keys the pins of the whole manifest list, so that others are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from pinproof.manifest.errors import Problems
from pinproof.manifest.model import BaselineIs, Closed, Experiment, Is, PerHost, Pin, Row

Place = tuple[str, tuple[str, ...]]
Listed = dict[Place, dict[str, set[str]]]


def close(rows: tuple[Row, ...], experiment: Experiment | None, problems: Problems) -> tuple[Row, ...]:
    """Give the rows with `allowed` filled in for every closed map.

    A key that pins list on some hosts of a closed map only would be let through
    on the others without a look: that is noted as a mistake.
    """
    listed = _listed(rows)
    may_differ = _may_differ(experiment)
    return tuple(
        replace(row, pins=tuple(_close(pin, listed, may_differ, problems) for pin in row.pins)) for row in rows
    )


def _close(pin: Pin, listed: Listed, may_differ: Mapping[Place, set[str]], problems: Problems) -> Pin:
    if not any(isinstance(check, Closed) for check in pin.checks):
        return pin
    place = (pin.at.probe, pin.at.segments)
    everywhere = may_differ.get(place, set())
    keys = listed.get(place, {})
    allowed = frozenset(keys) | everywhere
    checks = tuple(replace(check, allowed=allowed) if isinstance(check, Closed) else check for check in pin.checks)
    globs = [glob for check in checks if isinstance(check, Closed) for glob in check.globs]
    for key, hosts in sorted(keys.items()):
        left = [host for host in pin.on if host not in hosts]
        if left and key not in everywhere and any(fnmatchcase(key, glob) for glob in globs):
            what = f"'closed': '{key}' is pinned on {', '.join(sorted(hosts))}, and not on {', '.join(left)}"
            problems.add(pin.mark, what, "pin it there too, such as `absent: true` with `on:`")
    return replace(pin, checks=checks)


def _listed(rows: Iterable[Row]) -> Listed:
    """Give, by map, the keys that pins list, each with the hosts on which they do."""
    listed: Listed = {}
    for row in rows:
        for pin in row.pins:
            for depth in range(len(pin.at.segments)):
                place = (pin.at.probe, pin.at.segments[:depth])
                listed.setdefault(place, {}).setdefault(pin.at.segments[depth], set()).update(pin.on)
            for hosts, value in _values(pin):
                _list_keys(listed, pin.at.probe, pin.at.segments, value, hosts)
    return listed


def _list_keys(listed: Listed, probe: str, segments: tuple[str, ...], value: object, hosts: Iterable[str]) -> None:
    if isinstance(value, dict):
        for key, below in value.items():
            listed.setdefault((probe, segments), {}).setdefault(key, set()).update(hosts)
            _list_keys(listed, probe, (*segments, key), below, hosts)


def _values(pin: Pin) -> list[tuple[tuple[str, ...], object]]:
    values: list[tuple[tuple[str, ...], object]] = []
    for check in pin.checks:
        if isinstance(check, Is | BaselineIs):
            values.append((pin.on, check.value))
        elif isinstance(check, PerHost):
            values.extend(((host,), value) for host, value in check.values.items())
    return values


def _may_differ(experiment: Experiment | None) -> dict[Place, set[str]]:
    found: dict[Place, set[str]] = {}
    for path in experiment.may_differ if experiment else ():
        for depth in range(len(path.segments)):
            found.setdefault((path.probe, path.segments[:depth]), set()).add(path.segments[depth])
    return found
