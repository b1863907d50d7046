# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at environment files: what one sets, and what one that derives from another sets otherwise.

This module util is private to the collectors. A setting that nobody can tell
without running something is a fault of its own: it is never taken for absent,
and never for its spelling.
"""

from __future__ import annotations

import typing as t

from ._disclosure import Disclosure
from ._env_assignment import ANY, DEFAULT, LITERAL, MALFORMED, Assignment
from ._env_file import SIZE_LIMIT, commands, deciding, malformed, parse, settings, unlisted
from ._observation import Observation, Unparsable
from ._reading import Reading, read_whole
from ._root import HostRoot
from ._segments import within

LISTED_AT_MOST = 8


def look_env_file(params: dict[str, t.Any], root: HostRoot, disclosure: Disclosure) -> Observation:
    """Look at an environment file: its settings by name, its malformed lines, its bytes."""
    path, dialect = params["file"], params["dialect"]
    reading = read_whole(root, path, limit=SIZE_LIMIT)
    observation = Observation("file", "parsed as %s, never sourced" % dialect)
    add_settings(observation, parse_bytes(reading.data, path, dialect), disclosure)
    observation.identity["sha256"] = reading.sha256
    observation.state["changed_at"] = reading.changed_at
    return observation


def parse_bytes(data: bytes, path: str, dialect: str) -> list[Assignment]:
    """Parse a file's bytes. Raises Unparsable for what is no text, and for a file that sets nothing."""
    try:
        found = parse(data.decode("utf-8"), dialect)
    except UnicodeDecodeError as error:
        raise Unparsable("%s: byte %d is not UTF-8" % (path, error.start)) from None
    except Unparsable as error:
        raise Unparsable("%s: %s" % (path, error.why)) from None
    if not any(item.name or item.kind == MALFORMED for item in found):
        raise Unparsable("%s: sets nothing" % path)
    return found


def add_settings(observation: Observation, assignments: list[Assignment], disclosure: Disclosure) -> None:
    """Add what the assignments come to: settings, malformed lines, the faults of what cannot be told, notes."""
    found: dict[str, dict[str, t.Any]] = {}
    lines: dict[str, dict[str, int]] = {}
    for name, setting in settings(assignments).items():
        lines[name] = {"line": setting.pop("line")}
        if "value" in setting:
            setting["value"] = disclosure.value(name, setting["value"])
        found[name] = setting
    observation.identity["settings"] = found
    observation.identity["malformed"] = malformed(assignments)
    observation.state["settings"] = lines
    for name, item in deciding(assignments).items():
        if not _told(item):
            observation.fault(within("settings", name, "value"), _untold(item))
    _add_unlisted(observation, assignments, ("settings",))
    observation.notes += notes_of(assignments)


def notes_of(assignments: list[Assignment]) -> list[str]:
    """Say what an operator has to know of the settings."""
    notes = []
    defaults = sorted(name for name, item in deciding(assignments).items() if item.overridable)
    if defaults:
        notes.append("the launch environment may override %s" % _listed(defaults))
    lines = commands(assignments)
    if lines and not unlisted(assignments):
        what = _listed([str(line) for line in lines])
        notes.append("commands run on line %s: a shell function among them could change other settings" % what)
    return notes


def look_derivation(params: dict[str, t.Any], root: HostRoot, disclosure: Disclosure) -> Observation:
    """Compare a derived environment file with its base, setting by setting."""
    base, base_reading = _read(params["base"], params["dialect"], root)
    derived, derived_reading = _read(params["derived"], params["dialect"], root)
    observation = Observation("file", "both parsed as %s, never sourced" % params["dialect"])
    before, after = deciding(base), deciding(derived)
    areas: dict[str, dict[str, t.Any]] = {"added": {}, "removed": {}, "changed": {}, "kept": {}}
    observation.identity.update(areas)
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            _one_sided(observation, "added", after[name], disclosure)
        elif name not in after:
            _one_sided(observation, "removed", before[name], disclosure)
        else:
            _both_sided(observation, before[name], after[name], disclosure)
    for path, assignments in ((params["base"], base), (params["derived"], derived)):
        _add_unlisted(observation, assignments, tuple(areas), path + ": ")
    observation.notes += _differing_notes(before, after)
    observation.state["changed_at"] = max(base_reading.changed_at, derived_reading.changed_at)
    return observation


def _read(path: str, dialect: str, root: HostRoot) -> tuple[list[Assignment], Reading]:
    reading = read_whole(root, path, limit=SIZE_LIMIT)
    return parse_bytes(reading.data, path, dialect), reading


def _one_sided(observation: Observation, area: str, item: Assignment, disclosure: Disclosure) -> None:
    """Record a key that only one file sets; with its spelling where its value cannot be told."""
    observation.identity[area][item.name] = disclosure.value(item.name, item.value if _told(item) else item.raw)
    if not _told(item):
        observation.fault(within(area, item.name), _untold(item))


def _both_sided(observation: Observation, base: Assignment, derived: Assignment, disclosure: Disclosure) -> None:
    """Record a key that both files set: kept only where value, kind and spelling are the same."""
    name = base.name
    same_spelling = base.raw == derived.raw and base.kind == derived.kind
    if not (_told(base) and _told(derived)):
        item = derived if _told(base) else base
        observation.fault(within("kept", name), _untold(item))
        if not same_spelling:
            observation.fault(within("changed", name), _untold(item))
            _changed(observation, name, (base.raw, derived.raw), disclosure)
    elif base.value != derived.value:
        _changed(observation, name, (base.value, derived.value), disclosure)
    elif same_spelling:
        observation.identity["kept"][name] = disclosure.value(name, base.value)
    else:
        # The same value, written otherwise: only the spelling shows what changed.
        _changed(observation, name, (base.raw, derived.raw), disclosure)


def _changed(observation: Observation, name: str, texts: tuple[str, str], disclosure: Disclosure) -> None:
    shown = [disclosure.value(name, text) for text in texts]
    observation.identity["changed"][name] = {"base": shown[0], "derived": shown[1]}


def _differing_notes(before: dict[str, Assignment], after: dict[str, Assignment]) -> list[str]:
    both = sorted(before.keys() & after.keys())
    respelled = [
        name for name in both if before[name].raw != after[name].raw and _same_value(before[name], after[name])
    ]
    other_kind = [name for name in both if before[name].kind != after[name].kind]
    notes = []
    if respelled:
        notes.append("the same value in another spelling: %s" % _listed(respelled))
    if other_kind:
        notes.append(
            "overridable by the launch environment in one file only, or not to be told: %s" % _listed(other_kind)
        )
    return notes


def _same_value(one: Assignment, other: Assignment) -> bool:
    return _told(one) and _told(other) and one.value == other.value


def _told(item: Assignment) -> bool:
    return item.kind in (LITERAL, DEFAULT)


def _untold(item: Assignment) -> Unparsable:
    return Unparsable(item.why if item.why.startswith("line ") else "line %d: %s" % (item.line, item.why))


def _add_unlisted(
    observation: Observation, assignments: list[Assignment], areas: tuple[str, ...], where: str = ""
) -> None:
    """Say that names which are not listed may be set all the same."""
    why = unlisted(assignments)
    for area in areas if why else ():
        observation.fault("%s[%s]" % (area, ANY), Unparsable(where + why))


def _listed(items: list[str]) -> str:
    more = len(items) - LISTED_AT_MOST
    return ", ".join(items[:LISTED_AT_MOST]) + (" and %d more" % more if more > 0 else "")
