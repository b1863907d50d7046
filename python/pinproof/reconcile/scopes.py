"""Whether two looks looked at the same: what was not captured is not absent.

An observation's `scope` says what was looked at, by the path inside it that this
is about (`env`), or by another name where it is about the whole observation.
"""

from __future__ import annotations

from pinproof.catalogue import KINDS
from pinproof.observations import Observation
from pinproof.paths import MISSING, split_within
from pinproof.reconcile.compare import equal
from pinproof.reconcile.explain import spell
from pinproof.reconcile.scene import Place


def scope_difference(place: Place, mine: Observation | None, other: Observation | None) -> str:
    """Say how two looks at the same path looked at different things; "" where they did not."""
    if mine is None or other is None:
        return ""
    differing = [
        f"{key}: {spell(mine.scope.get(key, MISSING))} here, {spell(other.scope.get(key, MISSING))} there"
        for key in sorted({*mine.scope, *other.scope})
        if not equal(mine.scope.get(key), other.scope.get(key)) and _concerns(place, key, mine, other)
    ]
    if not differing:
        return ""
    said = f"{place.at} on {place.host} is incomparable: both sides did not look at the same ({'; '.join(differing)})"
    return f"{said}. To settle: look at both in the same way, and verify again"


def _concerns(place: Place, key: str, mine: Observation, other: Observation) -> bool:
    """Say whether a scope is about the pin's path; one that names no attribute is about all of them.

    Below a list of names (`files: [a, b]`) what both sides name was looked at by both.
    """
    probe = place.case.manifest.probes.get(place.pin.at.probe)
    kind = KINDS.get(probe.kind) if probe is not None else None
    try:
        about = split_within(key)
    except ValueError:
        return True
    if kind is None or kind.attribute(about[:1]) is None:
        return True
    segments = place.pin.at.segments
    if any(one != two for one, two in zip(about, segments, strict=False)):
        return False
    name = segments[len(about)] if len(segments) > len(about) else ""
    lists = [side.scope.get(key) for side in (mine, other)]
    return not (name and all(isinstance(item, list) and name in item for item in lists))
