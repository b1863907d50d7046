"""The checks of maps and plain values: `is`, `per_host`, `prescribed_by`, `absent`, `closed`."""

from __future__ import annotations

import fnmatch
from typing import Any

from pinproof.manifest.model import Closed, Is, IsAbsent, PerHost, Prescribed
from pinproof.paths import MISSING
from pinproof.reconcile.canonical import UNDISCLOSED, is_undisclosed
from pinproof.reconcile.compare import kind, plain
from pinproof.reconcile.explain import LINE_LIMIT, line, spell, spell_path
from pinproof.reconcile.findings import (
    SETTLE_DIFFERENCE,
    Against,
    Finding,
    compared,
    hidden_parts,
    shown,
    unseen,
    weighed,
)
from pinproof.reconcile.looks import Look, Seen, is_empty
from pinproof.reconcile.scene import Place, Seed
from pinproof.verdicts import Verdict

NO_ARM = Seed("arm", "this run belongs to no leg and start of the experiment", "name the leg and the start of the run")


def check_is(place: Place, look: Look, check: Is) -> Finding:
    """`is`: this very value; of a map the listed keys."""
    return _is_value(place, look, "is", check.value)


def check_per_host(place: Place, look: Look, check: PerHost) -> Finding:
    """`per_host`: the value that is this host's own."""
    if place.host not in check.values:
        why = f"no value is pinned for {place.host} at {place.at}. To settle: pin one"
        return Finding("per_host", Verdict.HOLD, why=why)
    return _is_value(place, look, "per_host", check.values[place.host])


def check_prescribed(place: Place, look: Look, check: Prescribed) -> Finding:
    """`prescribed_by`: the value that this run's leg or start prescribes."""
    word = f"prescribed_by {check.of}.{check.setting}"
    arm, experiment = place.case.arm, place.case.manifest.experiment
    name = arm.leg if check.of == "leg" else arm.start
    if not arm.leg or not name:
        return Finding(word, Verdict.NOT_RUN, why=f"{NO_ARM.text}. To settle: {NO_ARM.settle}", cause=NO_ARM)
    legs = {leg.id for leg in experiment.legs} if experiment else set()
    starts = {start.name: start.of for start in experiment.starts} if experiment else {}
    problem = ""
    if name not in check.values:
        problem = f"the experiment prescribes no {check.setting} for {check.of} '{name}'"
    elif arm.leg not in legs:
        problem = f"the experiment has no leg '{arm.leg}'"
    elif arm.start and arm.leg not in starts.get(arm.start, ()):
        problem = f"the experiment has no start '{arm.start}' of leg '{arm.leg}'"
    if problem:
        return Finding(word, Verdict.HOLD, why=f"{problem}. To settle: name the leg and start that this run is")
    return _is_value(place, look, word, check.values[name])


def check_absent(place: Place, look: Look, check: IsAbsent) -> Finding:
    """`absent`: the subject was seen, and nothing is there."""
    del check
    if look.seen is Seen.NO_EVIDENCE:
        return Finding("absent", look.verdict, True, None, (), look.why, look.cause)
    if look.seen is Seen.NO_SUBJECT and place.pin.at.segments:
        why = f"{look.why}: without its subject, nothing says that {place.at} is absent. {SETTLE_DIFFERENCE}"
        return Finding("absent", Verdict.MISMATCH, True, None, (f"{place.at}: {look.why}",), why, look.cause)
    if look.seen is not Seen.VALUE:
        return Finding("absent", Verdict.MATCH, True)
    if is_empty(look.value) and place.pin.at.segments:
        return hidden_parts(place, "absent", True, look) or Finding("absent", Verdict.MATCH, True, plain(look.value))
    there = look.value if kind(look.value) == "map" and place.pin.at.segments else {}
    paths = [(key,) for key in sorted(there, key=str)]
    lines = [line(place.at + spell_path(path), MISSING, there[path[0]]) for path in paths[:LINE_LIMIT]]
    lines += [f"{place.at}: {len(paths) - LINE_LIMIT} more"] if len(paths) > LINE_LIMIT else []
    why = f"{place.at} on {place.host} is there, and absence is pinned. {SETTLE_DIFFERENCE}"
    lines = lines or [line(place.at, MISSING, look.value)]
    return Finding("absent", Verdict.MISMATCH, True, shown(look.value), tuple(lines), why)


def check_closed(place: Place, look: Look, check: Closed) -> Finding:
    """Check `closed`: no key that matches the globs is unlisted."""
    demand = list(check.globs)
    if look.seen is Seen.NOTHING:
        return Finding("closed", Verdict.MATCH, demand)
    if (blank := unseen(place, "closed", demand, look)) is not None:
        return blank
    if kind(look.value) != "map":
        weight = (Verdict.HOLD, UNDISCLOSED) if is_undisclosed(look.value) else (Verdict.MISMATCH, "is no map")
        return weighed(place, "closed", weight, (demand, look.value), (line(place.at, demand, look.value),))
    extras = {
        key: look.value[key]
        for key in sorted(look.value, key=str)
        if key not in check.allowed and any(fnmatch.fnmatchcase(str(key), glob) for glob in check.globs)
    }
    if not extras:
        return hidden_parts(place, "closed", demand, look) or Finding("closed", Verdict.MATCH, demand, {})
    lines = tuple(
        f"{place.at}{spell_path((key,))}: not listed, observed {spell(value)}" for key, value in extras.items()
    )
    why = f"{place.at} on {place.host} has what no pin lists: {', '.join(map(str, extras))}"
    why += ". To settle: take it away where it is set and start again, or pin it"
    return Finding("closed", Verdict.REFUSED, demand, plain(extras), lines, why)


def _is_value(place: Place, look: Look, word: str, value: Any) -> Finding:
    return unseen(place, word, value, look) or compared(place, word, look, Against(value, listed=True))
