"""The checks of numbers, members and abbreviations: `at_least`, `at_most`, `one_of`, `set_of`, `prefix`."""

from __future__ import annotations

import math
from typing import Any

from pinproof.catalogue import KINDS
from pinproof.manifest.model import Bound, OneOf, Prefix, SetOf
from pinproof.reconcile.canonical import (
    FULL_DIGEST,
    SPELLED,
    UNDISCLOSED,
    hex_digits,
    is_undisclosed,
    means_the_same,
    weigh_against,
)
from pinproof.reconcile.compare import equal, kind, plain
from pinproof.reconcile.explain import LINE_LIMIT, agree, line, spell
from pinproof.reconcile.findings import (
    DISAGREE,
    SETTLE_DIFFERENCE,
    Finding,
    hidden_parts,
    shown,
    unseen,
    weighed,
)
from pinproof.reconcile.looks import Look
from pinproof.reconcile.scene import Place
from pinproof.verdicts import Verdict

_MEBI = 1 << 20


def check_bound(place: Place, look: Look, check: Bound) -> Finding:
    """`at_least`, `at_most`: a number within the limit in force."""
    word = "at_least" if check.least else "at_most"
    number: float = int(check.limit) if float(check.limit).is_integer() else check.limit
    if (blank := unseen(place, word, number, look)) is not None:
        return blank
    value, limit = look.value, f"{word.replace('_', ' ')} {_with_unit(place, number)}"
    limit += f" ({check.authority})" if check.authority else ""
    lines = (f"{place.at}: expected {limit}, observed {_with_unit(place, value)}",)
    where = f"{place.at} on {place.host}"
    if is_undisclosed(value) or (kind(value) == "float" and not math.isfinite(value)):
        why = f"{where}: {UNDISCLOSED if is_undisclosed(value) else 'is not a number that was measured'}"
        return Finding(word, Verdict.HOLD, number, plain(value), lines, f"{why}. To settle: measure it again")
    if kind(value) not in ("int", "float"):
        return Finding(
            word, Verdict.MISMATCH, number, plain(value), lines, f"{where} is no number. {SETTLE_DIFFERENCE}"
        )
    if value >= check.limit if check.least else value <= check.limit:
        return Finding(word, Verdict.MATCH, number, plain(value))
    over = "below" if check.least else "above"
    return Finding(word, Verdict.MISMATCH, number, value, lines, f"{where} is {over} the limit. {SETTLE_DIFFERENCE}")


def check_one_of(place: Place, look: Look, check: OneOf) -> Finding:
    """`one_of`: strictly equal to one of the values."""
    demand = list(check.values)
    if (blank := unseen(place, "one_of", demand, look) or hidden_parts(place, "one_of", demand, look)) is not None:
        return blank
    for value in check.values:
        if equal(value, look.value):
            why = "" if agree(value, look.value) else f"{place.at} on {place.host}: {DISAGREE}"
            verdict = Verdict.HOLD if why else Verdict.MATCH
            return Finding("one_of", verdict, plain(demand), shown(look.value), (), why)
    weights = [weigh_against(value, look.value) for value in check.values]
    verdict, reason = min(weights, default=(Verdict.MISMATCH, ""))
    lines = (f"{place.at}: expected one of {spell(demand)}, observed {spell(look.value)}",)
    return weighed(place, "one_of", (verdict, reason), (demand, look.value), lines)


def check_set_of(place: Place, look: Look, check: SetOf) -> Finding:
    """`set_of`: a list with these members, each once, in any order."""
    demand = list(check.values)
    if (blank := unseen(place, "set_of", demand, look) or hidden_parts(place, "set_of", demand, look)) is not None:
        return blank
    if kind(look.value) != "list":
        diff = (line(place.at, demand, look.value),)
        weight = (Verdict.HOLD, UNDISCLOSED) if is_undisclosed(look.value) else (Verdict.MISMATCH, "is no list")
        return weighed(place, "set_of", weight, (demand, look.value), diff)
    missing = [item for item in demand if not _has(look.value, item)]
    extra = [item for item in look.value if not _has(demand, item)]
    twice = [item for index, item in enumerate(look.value) if _has(look.value[:index], item)]
    named = (("missing", missing), ("extra", extra), ("more than once", twice))
    lines = tuple(f"{place.at}: {word}: {spell(item)}" for word, items in named for item in items[:LINE_LIMIT])
    if not lines:
        return Finding("set_of", Verdict.MATCH, plain(demand), plain(look.value))
    return weighed(place, "set_of", _weigh_members(missing, extra, twice), (demand, look.value), lines)


def check_prefix(place: Place, look: Look, check: Prefix) -> Finding:
    """`prefix`: more than the abbreviation was seen, and it begins with it; a path with whole components."""
    if (blank := unseen(place, "prefix", check.text, look)) is not None:
        return blank
    value = look.value
    lines = (f"{place.at}: expected {spell(check.text)}…, observed {spell(value)}",)
    return weighed(place, "prefix", _weigh_prefix(check.text, value), (check.text, value), lines)


def _has(items: Any, wanted: Any) -> bool:
    return any(equal(item, wanted) for item in items)


def _weigh_members(missing: list[Any], extra: list[Any], twice: list[Any]) -> tuple[Verdict, str]:
    """Weigh what is missing, extra and doubled in a set."""
    if any(is_undisclosed(item) for item in extra):
        return Verdict.HOLD, UNDISCLOSED
    left = list(missing)
    for item in extra:
        same = next((index for index, other in enumerate(left) if means_the_same(item, other)), None)
        if same is None:
            return Verdict.MISMATCH, ""
        del left[same]
    return (Verdict.MISMATCH, "") if left or twice else (Verdict.REFUSED, SPELLED)


def _weigh_prefix(prefix: str, value: Any) -> tuple[Verdict, str]:
    if not isinstance(value, str):
        return Verdict.MISMATCH, "is no text"
    if is_undisclosed(value):
        return Verdict.HOLD, UNDISCLOSED
    if prefix.startswith("/"):
        inside = value == prefix or value.startswith(prefix.rstrip("/") + "/")
        return (Verdict.MATCH, "") if inside else (Verdict.MISMATCH, "")
    bare = value.strip()
    if not bare:
        return Verdict.MISMATCH, ""
    if value != bare or not (value.startswith(prefix) or prefix.startswith(value)):
        digits, wanted = hex_digits(bare), hex_digits(prefix)
        alike = bare.startswith(prefix) or (wanted != "" and digits.startswith(wanted))
        return (Verdict.REFUSED, SPELLED) if alike else (Verdict.MISMATCH, "")
    whole = len(value) > len(prefix) and not 0 < len(hex_digits(value)) < FULL_DIGEST
    return (Verdict.MATCH, "") if whole else (Verdict.HOLD, "is itself abbreviated, and an abbreviation proves nothing")


def _with_unit(place: Place, value: Any) -> str:
    """Spell a number; bytes also in binary units, when they are whole ones."""
    probe = place.case.manifest.probes.get(place.pin.at.probe)
    attribute = (
        KINDS[probe.kind].attribute(place.pin.at.segments) if probe is not None and probe.kind in KINDS else None
    )
    if attribute is None or attribute.type != "bytes" or kind(value) not in ("int", "float"):
        return spell(value)
    return f"{spell(value)} ({value / (1 << 30):.2f} GiB)" if value >= _MEBI else spell(value)
