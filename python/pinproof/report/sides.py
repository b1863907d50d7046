"""Expected and observed, one above the other, with a mark below every character that differs."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any

from pinproof.report.hashes import abbreviate_in
from pinproof.report.text import printable, spell, width_of

NOTHING = "nothing"

_COMPARED = 2000
_CONTEXT = 16
_EXPECTED = ": expected "
_OBSERVED = ", observed "


@dataclass(frozen=True, slots=True)
class Sides:
    """Two values spelled to be compared; `marks` points at what differs in the lower one ("" where all of it does)."""

    path: str
    expected: str
    observed: str
    marks: str
    remark: str = ""


def sides(expected: Any, observed: Any, room: int, ellipsis: str) -> Sides:
    """Set two values against each other in lines of at most `room` columns; None is no value."""
    want = NOTHING if expected is None else spell(expected)
    have = NOTHING if observed is None else spell(observed)
    return _set(("", want, have, ""), room, ellipsis)


def sides_of_line(line: str, room: int, ellipsis: str) -> Sides | None:
    """Set the two values of a line `path: expected X, observed Y` against each other; None for another line.

    What follows the values (whose value it is, which part of an endpoint differs) is kept as a remark.
    """
    start = line.find(_EXPECTED)
    if start < 0:
        return None
    want, rest = _value(line[start + len(_EXPECTED) :])
    origin, found, rest = rest.partition(_OBSERVED)
    if not found:
        return None
    have, remark = _value(rest)
    if not want or not have:  # limits and abbreviations are spelled in words
        upper, lower = (_fit(printable(text), room, ellipsis) for text in (want + origin, have + remark))
        return Sides(printable(line[:start]), upper, lower, "")
    said = " ".join(part.strip() for part in (origin, remark) if part.strip())
    parts = (printable(line[:start]), printable(want), printable(have), printable(said))
    return _set(parts, room, ellipsis)


def _value(text: str) -> tuple[str, str]:
    """Split a text into the JSON value that it begins with, as it was spelled, and the rest."""
    begin = len("…") if text.startswith("…") else 0
    if text.startswith(NOTHING):
        return NOTHING, text[len(NOTHING) :]
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return "", text
    end += len("…") if text.startswith("…", end) else 0
    return text[:end], text[end:]


def _set(parts: tuple[str, str, str, str], room: int, ellipsis: str) -> Sides:
    path, want, have, remark = (part.replace("…", ellipsis) for part in parts)
    want, have = abbreviate_in(want, [have], ellipsis), abbreviate_in(have, [want], ellipsis)
    if NOTHING in (want, have) or max(len(want), len(have)) > _COMPARED:
        return Sides(path, _fit(want, room, ellipsis), _fit(have, room, ellipsis), "", remark)
    want, have = _around_difference(want, have, room, ellipsis)
    return Sides(path, want, have, _marks(want, have), remark)


def _fit(text: str, room: int, ellipsis: str) -> str:
    return text if width_of(text) <= room else text[: room - len(ellipsis)] + ellipsis


def _around_difference(want: str, have: str, room: int, ellipsis: str) -> tuple[str, str]:
    """Cut both to the room, at the same place, such that the first difference is in view."""
    if max(len(want), len(have)) <= room:
        return want, have
    shared = next((i for i, (a, b) in enumerate(zip(want, have, strict=False)) if a != b), min(len(want), len(have)))
    start = max(0, shared - _CONTEXT) if shared + _CONTEXT > room else 0
    if start:
        want, have = ellipsis + want[start:], ellipsis + have[start:]
    return _fit(want, room, ellipsis), _fit(have, room, ellipsis)


def _marks(want: str, have: str) -> str:
    """Point at the characters of the lower line that are not in the upper one; "" where hardly anything is shared."""
    if len(want) == len(have):
        alike = [a == b for a, b in zip(want, have, strict=True)]
        return "".join(" " if same else "^" for same in alike).rstrip() if 2 * sum(alike) >= len(alike) else ""
    matcher = difflib.SequenceMatcher(None, want, have, autojunk=False)
    if matcher.ratio() < 0.5:
        return ""
    marks = [" "] * (len(have) + 1)
    for kind, _, _, begin, end in matcher.get_opcodes():
        if kind == "delete":
            marks[begin] = "^"  # something is left out before this character
        elif kind != "equal":
            marks[begin:end] = "^" * (end - begin)
    return "".join(marks).rstrip()
