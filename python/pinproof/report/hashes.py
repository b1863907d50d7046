"""Long hashes made short, such that different ones are told apart at a glance.

A hash is shortened to its first digits; where another one shares these, a window
is shown around every place where they part.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

HEAD = 12
ELLIPSIS = "…"

_LONG_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32,}(?![0-9A-Za-z])")
_SHORT_HEAD = 6
_BEFORE = 2
_AFTER = 6


def hashes_in(text: str) -> list[str]:
    """List the long hashes of a text."""
    return _LONG_HEX.findall(text)


def abbreviations(hashes: Iterable[str], ellipsis: str = ELLIPSIS) -> dict[str, str]:
    """Give for each hash a short form; different hashes never have the same one, and none is longer than its hash."""
    distinct = sorted(set(hashes))
    shared = {_shared(a, b) for a, b in itertools.pairwise(distinct)}
    late = sorted(place for place in shared if place >= HEAD - _BEFORE)
    short = {text: _windows(text, late, ellipsis) for text in distinct}
    alike = len(set(short.values())) < len(short)
    return {text: text if alike or len(form) >= len(text) else form for text, form in short.items()}


def abbreviate_in(text: str, among: Iterable[str] = (), ellipsis: str = ELLIPSIS) -> str:
    """Shorten the hashes of a text, told apart from each other and from those of the texts in `among`."""
    own = hashes_in(text)
    if not own:
        return text
    forms = abbreviations([*own, *(found for other in among for found in hashes_in(other))], ellipsis)
    return _LONG_HEX.sub(lambda match: forms[match[0]], text)


def _shared(one: str, other: str) -> int:
    """Give the number of characters that two different texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _windows(text: str, places: list[int], ellipsis: str) -> str:
    """Show the beginning of a text, and the surroundings of these places; what is left out is an ellipsis."""
    spans = [(0, _SHORT_HEAD if places else HEAD)]
    for place in places:
        begin, end = max(0, place - _BEFORE), place + _AFTER
        if begin <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    shown = ellipsis.join(text[begin:end] for begin, end in spans)
    return shown + (ellipsis if spans[-1][1] < len(text) else "")
