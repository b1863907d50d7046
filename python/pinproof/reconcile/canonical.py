r"""Values that differ: do they mean the same, or can they not be told?

A value that means what is pinned and is not written so (`03`, `3.0`, `0x3`, `3\r`
for `3`; `true` for `1`; the number 1 for the text "1") is REFUSED: whoever reads it
may or may not normalise it. Digests and unique ids may differ in blanks and letter
case only, paths and other texts in surrounding blanks only. A value that did not
leave the host, or is only an abbreviation that agrees, is the lack of evidence.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from pinproof.paths import MISSING
from pinproof.reconcile.compare import Difference, equal, kind
from pinproof.verdicts import Verdict

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_BASED = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)")
_SWITCHES = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}
_IDENTITY = re.compile(r"(?:[A-Za-z0-9]+[:-])?[0-9a-fA-F]{8}-?[0-9a-fA-F-]{24,}")
_HEX = re.compile(r"(?:sha256:)?([0-9a-fA-F]{7,})")
_KEYED = re.compile(r"keyed:[0-9a-f]{32}")
_NUMBER_LENGTH = 64
FULL_DIGEST = 32

UNDISCLOSED = "its value was not disclosed: only a keyed digest of it left the host"
ABBREVIATED = "only an abbreviation agrees, and an abbreviation proves nothing"
SPELLED = "means the same, but is not written as it should be"
DIFFERS = "is another value"


def is_undisclosed(value: object) -> bool:
    """Say whether only a keyed digest of the value left the host."""
    return isinstance(value, str) and _KEYED.fullmatch(value) is not None


def is_identity(text: str) -> bool:
    """Say whether a text is a digest or a unique id, whatever blanks surround it."""
    return _IDENTITY.fullmatch(text.strip()) is not None


def hex_digits(text: object) -> str:
    """Give the digits of a digest, whole or abbreviated, in lower case; "" for anything else."""
    match = _HEX.fullmatch(text) if isinstance(text, str) else None
    return match.group(1).lower() if match else ""


def means_the_same(one: object, other: object) -> bool:
    """Say whether two scalars mean the same, however they are written."""
    meaning = _meaning(one)
    return meaning is not None and meaning == _meaning(other)


def weigh(difference: Difference) -> tuple[Verdict, str]:
    """Give the verdict of one difference, with what makes it so."""
    expected, observed = difference.expected, difference.observed
    if MISSING in (expected, observed):
        return Verdict.MISMATCH, DIFFERS
    if is_undisclosed(expected) != is_undisclosed(observed):
        return Verdict.HOLD, UNDISCLOSED
    if _abbreviates(expected, observed) or _abbreviates(observed, expected):
        return Verdict.HOLD, ABBREVIATED
    if means_the_same(expected, observed):
        return Verdict.REFUSED, SPELLED
    return Verdict.MISMATCH, DIFFERS


def weigh_against(expected: object, observed: object) -> tuple[Verdict, str]:
    """Give the verdict of two scalars, MATCH where they are equal."""
    if equal(expected, observed):
        return Verdict.MATCH, ""
    return weigh(Difference((), expected, observed))


def _abbreviates(short: object, full: object) -> bool:
    few, many = hex_digits(short), hex_digits(full)
    return len(few) < len(many) >= FULL_DIGEST and few != "" and many.startswith(few)


def _meaning(value: Any) -> tuple[str, Any] | None:
    """Give a kind of meaning and what is meant; None for containers and what is no JSON value."""
    what = kind(value)
    if what == "null":
        return "null", None
    if what in ("bool", "int"):
        return "number", Decimal(int(value))
    if what == "float":
        return ("number", Decimal(repr(float(value)))) if math.isfinite(value) else None
    return _meaning_of_text(value.strip()) if what == "text" else None


def _meaning_of_text(text: str) -> tuple[str, Any]:
    if is_identity(text):
        return "identity", text.lower()
    if len(text) <= _NUMBER_LENGTH:
        if _DECIMAL.fullmatch(text):
            return "number", Decimal(text)
        if based := _BASED.fullmatch(text):
            number = int(based.group(2), 0)
            return "number", Decimal(-number if based.group(1) == "-" else number)
        if text.lower() in _SWITCHES:
            return "number", Decimal(_SWITCHES[text.lower()])
    return "text", text
