"""What an observation shows at a pin's path, or in which way it shows nothing.

Four things can come of a look: a value; nothing there, though the subject was seen;
no subject at all; or no evidence, which is a verdict of its own (HOLD, or NOT_RUN
where nobody asked). Absence is evidence, everything else that is missing is not.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinproof.manifest.model import Pin
from pinproof.observations import Fault, Observation
from pinproof.paths import MISSING, lookup, within
from pinproof.reconcile.canonical import is_undisclosed
from pinproof.reconcile.causes import cause_of, cause_of_host, missing_host
from pinproof.reconcile.compare import Path, is_container, kind
from pinproof.reconcile.scene import Case, Scene, Seed
from pinproof.reconcile.statuses import no_evidence, settle
from pinproof.verdicts import Evidence, Verdict

_MERGE_DEPTH = 8


class Seen(enum.Enum):
    """What came of a look."""

    VALUE = "value"
    NOTHING = "nothing there"
    NO_SUBJECT = "no subject"
    NO_EVIDENCE = "no evidence"


@dataclass(frozen=True, slots=True)
class Look:
    """What one observation shows at one path.

    `unreadable` are faults below the path, by the path from there. `verdict` is
    the one that no evidence gives; `why` says what is missing and what settles it.
    """

    seen: Seen
    value: Any = MISSING
    why: str = ""
    verdict: Verdict = Verdict.HOLD
    cause: Seed | None = None
    unreadable: tuple[tuple[Path, Fault], ...] = ()
    evidence: Evidence | None = None
    observation: Observation | None = None


def look_at(case: Case, scene: Scene, host: str, pin: Pin, *, identity_only: bool = False) -> Look:
    """Look at a pin's path in the observation of one host.

    A map is seen with both identity and state, or with `identity_only` without
    what may move, as comparisons between observations need it.
    """
    observation = find(scene, host, pin.at.probe)
    if isinstance(observation, Look):
        return observation
    whole = _whole(case, scene, host, pin, observation)
    if whole is not None:
        return whole
    segments = pin.at.segments
    value = _value(observation, segments, identity_only)
    above, below = _faults(observation, segments)
    if above is not None and (above.status != "absent" or value is not MISSING):
        return _fault_look(case, scene, host, pin, observation, above)
    evidence = _evidence(observation, segments)
    undecided = _undecided_setting(observation, segments) if value is MISSING else ""
    if undecided:
        why = f"{pin.at} on {host}: {undecided}. To settle: pin what the process holds, or write the setting plainly"
        return Look(Seen.NO_EVIDENCE, why=why, observation=observation)
    if value is MISSING and not below:
        why = f"absent: nothing at {pin.at} on {host}" + (f" ({above.why})" if above else "")
        return Look(Seen.NOTHING, why=why, evidence=evidence, observation=observation)
    value = {} if value is MISSING else _split(value, pin.split)
    return Look(Seen.VALUE, value, unreadable=below, evidence=evidence, observation=observation)


def find(scene: Scene, host: str, probe: str) -> Observation | Look:
    """Find the observation of this very run, host and probe, or the look that its lack makes."""
    facts = scene.hosts.get(host)
    if facts is None or not facts.contacted or not facts.observations:
        cause = missing_host(scene, host)
        not_asked = not scene.of_baseline and (facts is None or not facts.contacted)
        verdict = Verdict.NOT_RUN if not_asked else Verdict.HOLD
        return Look(Seen.NO_EVIDENCE, why=_why(cause), verdict=verdict, cause=cause)
    observation = facts.observations.get(probe)
    if observation is None:
        said = f": {facts.why}" if facts.why else ""
        why = f"{probe} on {host} was asked for and has no observation {scene.words}{said}"
        return Look(Seen.NO_EVIDENCE, why=f"{why}. To settle: verify again; if it stays so, report it")
    if observation.run != scene.run:
        text = f"the observation of {probe} on {host} is of another run ({observation.run}, not {scene.run})"
        cause = Seed(f"run:{host}", f"observations of {host} are of another run", "verify again, with fresh facts")
        return Look(Seen.NO_EVIDENCE, why=f"{text}. To settle: {cause.settle}", cause=cause)
    if (observation.host, observation.probe) != (host, probe):
        text = f"what is filed as {probe} on {host} is of {observation.probe} on {observation.host}"
        return Look(Seen.NO_EVIDENCE, why=f"{text}. To settle: verify again, with fresh facts")
    return observation


def _whole(case: Case, scene: Scene, host: str, pin: Pin, observation: Observation) -> Look | None:
    """Give the look of an observation that failed as a whole; None for one that did not."""
    if observation.status == "ok":
        if (host, observation.probe) in scene.too_deep:
            fault = Fault("unparsable", "its data are nested deeper than anything that is compared")
            return _fault_look(case, scene, host, pin, observation, fault)
        return None
    cause = cause_of(case, scene, host, observation)
    said = f"{observation.probe} on {host}{' ' + scene.words if scene.of_baseline else ''}"
    if observation.status != "absent":
        verdict = Verdict.HOLD if scene.of_baseline else no_evidence(observation.status)
        why = f"{said}: {observation.status}: {observation.why}. To settle: {settle(observation.status)}"
        return Look(Seen.NO_EVIDENCE, why=why, verdict=verdict, cause=cause, observation=observation)
    if _is_missing_record(case, pin):
        why = f"apparatus missing: {said} was not run, or left no record: {observation.why}"
        why += ". To settle: let the operator run it after this start, then verify again"
        return Look(Seen.NO_EVIDENCE, why=why, cause=cause, observation=observation)
    why = f"absent: {said}: {observation.why}"
    return Look(Seen.NO_SUBJECT, why=why, cause=cause, evidence=observation.evidence, observation=observation)


def _is_missing_record(case: Case, pin: Pin) -> bool:
    """Say whether an absent subject is native apparatus that nobody ran, which proves nothing either way."""
    probe = case.manifest.probes.get(pin.at.probe)
    return probe is not None and probe.kind == "emission" and probe.written_since != ""


def _fault_look(case: Case, scene: Scene, host: str, pin: Pin, observation: Observation, fault: Fault) -> Look:
    verdict = Verdict.HOLD if scene.of_baseline else no_evidence(fault.status)
    where = f"{pin.at} on {host}{' ' + scene.words if scene.of_baseline else ''}"
    if fault.status == "absent":
        why = f"{where}: said to be absent ({fault.why}), and yet there is a value. To settle: verify again"
    else:
        why = f"{where}: {fault.status}: {fault.why}. To settle: {settle(fault.status)}"
    cause = cause_of_host(case, host) if fault.status == "not_attempted" and not scene.of_baseline else None
    return Look(Seen.NO_EVIDENCE, why=why, verdict=verdict, cause=cause, observation=observation)


def _why(cause: Seed) -> str:
    return f"{cause.text}. To settle: {cause.settle}"


def _value(observation: Observation, segments: tuple[str, ...], identity_only: bool) -> Any:
    identity, state = lookup(observation.identity, segments), lookup(observation.state, segments)
    if identity is MISSING:
        return state
    return identity if identity_only or state is MISSING else _merged(identity, state, _MERGE_DEPTH)


def _merged(identity: Any, state: Any, depth: int) -> Any:
    if kind(identity) != "map" or kind(state) != "map" or not depth:
        return identity
    both = {key: _merged(identity[key], state[key], depth - 1) for key in identity if key in state}
    return {**state, **identity, **both}


def _faults(observation: Observation, segments: tuple[str, ...]) -> tuple[Fault | None, tuple[tuple[Path, Fault], ...]]:
    """Give the fault that covers the path, if any, and those below it that hide something."""
    found = observation.faults_at(segments)
    above = [fault for path, fault in found if len(path) <= len(segments)]
    below = tuple(
        (path[len(segments) :], fault)
        for path, fault in found
        if len(path) > len(segments) and fault.status != "absent"
    )
    return min(above, key=lambda fault: fault.status == "absent", default=None), below


def _evidence(observation: Observation, segments: tuple[str, ...]) -> Evidence:
    """Give the weakest class of evidence within the subtree."""
    below = [level for path, level in observation.levels.items() if path[: len(segments)] == segments]
    return min([observation.evidence_at(segments), *below])


def _undecided_setting(observation: Observation, segments: tuple[str, ...]) -> str:
    """Say why a setting of an environment file has no value: a shell would have to run, or it is malformed."""
    if len(segments) < 3 or segments[-1] != "value" or segments[-3] != "settings":
        return ""
    setting = observation.value(segments[:-1])
    kind_of = setting.get("kind") if isinstance(setting, Mapping) else None
    if kind_of not in ("undecidable", "malformed"):
        return ""
    number = observation.value((*segments[:-1], "line"))
    where = f" (line {number})" if isinstance(number, int) else ""
    return f"{kind_of}{where}: {within(segments[:-1])} has no value without running a shell"


def _split(value: Any, separator: str) -> Any:
    """Make a text a list, without trimming; a text that did not leave the host stays as it is."""
    if not separator or not isinstance(value, str) or is_undisclosed(value):
        return value
    return value.split(separator)


def is_empty(value: Any) -> bool:
    """Say whether it is a list or a map with nothing in it."""
    return is_container(value) and not value
