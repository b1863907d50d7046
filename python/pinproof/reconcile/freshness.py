"""Whether bytes on disk can speak for the process that loaded them, and records for the start they tell of.

`loaded_by`: a file that changed after its process started is not what the process
took, even where its hash is the pinned one. `written_since`: a record older than
the start of its process tells of another start, whatever it says.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

from pinproof.observations import Observation
from pinproof.paths import MISSING
from pinproof.reconcile.causes import cause_of
from pinproof.reconcile.looks import Look, find
from pinproof.reconcile.scene import Case, Scene, Seed


@dataclass(frozen=True, slots=True)
class Freshness:
    """`why` is empty where nothing speaks against the bytes; `void` where nothing they say counts at all."""

    why: str = ""
    void: bool = False
    cause: Seed | None = None
    notes: tuple[str, ...] = ()


def freshness(case: Case, scene: Scene, host: str, observation: Observation) -> Freshness:
    """Tell whether an observation of a probe with `loaded_by` or `written_since` may be believed."""
    probe = case.manifest.probes.get(observation.probe)
    if probe is None or not (probe.loaded_by or probe.written_since):
        return Freshness()
    found = [
        check(case, scene, host, observation, name)
        for check, name in ((_loaded_by, probe.loaded_by), (_written_since, probe.written_since))
        if name
    ]
    weighty = max(found, key=lambda item: (item.void, item.why != ""))
    return Freshness(weighty.why, weighty.void, weighty.cause, tuple(note for item in found for note in item.notes))


def _loaded_by(case: Case, scene: Scene, host: str, observation: Observation, process: str) -> Freshness:
    started = _start(case, scene, host, process)
    if isinstance(started, Freshness):
        return started
    changed = _seconds(observation.value(("changed_at",)))
    where = f"{observation.probe} on {host}{' ' + scene.words if scene.of_baseline else ''}"
    if changed is None:
        why = f"it is not known when {where} last changed, so it can't speak for {process}"
        return Freshness(f"{why}. To settle: look at it with a probe that tells when it changed")
    if changed > started:
        late = f"{where} changed after {process} started ({changed - started:.3f} s later)"
        why = f"{late}: its bytes can't speak for the process. To settle: restart {process} on these bytes"
        return Freshness(f"{why}, or find out what changed them")
    return Freshness()


def _written_since(case: Case, scene: Scene, host: str, observation: Observation, process: str) -> Freshness:
    started = _start(case, scene, host, process)
    if isinstance(started, Freshness):
        return started
    written = _seconds(observation.value(("changed_at",)))
    emitted = observation.value(("emitted_at",))
    own, note = _moment(emitted) if emitted is not MISSING else (None, "")
    notes = (note,) if note else ()
    where = f"{observation.probe} on {host}{' ' + scene.words if scene.of_baseline else ''}"
    again = "To settle: let it be written again after this start, then verify again"
    if written is None:
        return Freshness(f"it is not known when {where} was written. {again}", notes=notes)
    if written < started or (own is not None and own < started):
        return Freshness(
            f"{where} is older than the start of {process}: it tells of another start. {again}", True, notes=notes
        )
    return Freshness(notes=notes)


def _start(case: Case, scene: Scene, host: str, process: str) -> float | Freshness:
    """Give the start of a process in seconds since the epoch, or what its lack makes of those who depend on it."""
    found = find(scene, host, process)
    if isinstance(found, Look):
        return Freshness(f"{process} is not known to be what loaded or wrote it: {found.why}", cause=found.cause)
    if found.status == "not_attempted":
        return Freshness(notes=(f"whether it is as old as the start of {process} was not looked at: {found.why}",))
    started = _seconds(found.value(("started_at",)))
    if found.status != "ok" or started is None:
        said = f"{found.status}: {found.why}" if found.status != "ok" else "it has no start time"
        why = f"the start of {process} on {host} is not known: {said}. To settle: let it be seen, then verify again"
        cause = cause_of(case, scene, host, found) if found.status != "ok" else None
        return Freshness(why, cause=cause)
    return started


def _seconds(value: Any) -> float | None:
    """Give a time in seconds since the epoch; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _moment(value: Any) -> tuple[float | None, str]:
    """Read the last instant that a record's own time stamp can mean, in seconds since the epoch; else say why not."""
    try:
        moment = datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None, f"its own time stamp {value!r} can't be read; the file's time alone counts"
    if moment.tzinfo is None:
        return None, f"its own time stamp {value!r} has no time zone; the file's time alone counts"
    # A stamp in whole seconds means any instant within that second.
    return moment.timestamp() + (0.0 if moment.microsecond else 0.999999), ""
