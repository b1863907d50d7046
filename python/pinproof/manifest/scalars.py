"""Single values: a text of the manifest becomes what the attribute's type says, never what it looks like.

Every reader takes the text and whether it stood without quotes, and gives the
value; it raises Wrong where the text is not a value of its type in the one way
of writing it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from pinproof.manifest.digests import read_digest
from pinproof.manifest.errors import Wrong, short
from pinproof.manifest.model import Json

UNITS = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
MAX_DIGITS = 30
_LOOKED_AT = 200

_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ALMOST_JSON = re.compile(
    r"(?i:true|false|null|[+-]?\.?(?:inf|nan))|~"
    r"|[+-]?(?:\.[0-9]+|[0-9][0-9_]*\.?[0-9_]*)(?:[eE][+-]?[0-9]*)?"
    r"|[+-]?0(?:x[0-9a-fA-F_]+|o[0-7_]+|b[01_]+)"
)
_BYTES = re.compile(r"(?P<number>(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,9})?) ?(?P<unit>[A-Za-z]*)")
_ANYTHING = frozenset({".*", ".+", ".*?", ".+?", "^.*", "^.+", "^.*$", "^.+$", "(.*)", "(.+)"})
_LIKE_PATTERN = re.compile(r"\.[*+]|\\[dws]|\[[^\]]*[0-9A-Za-z]-[0-9A-Za-z][^\]]*\][*+]|^\^.*\$$")


def read_scalar(text: str, plain: bool, type_: str) -> Json:
    """Read a text as a value of a scalar type. Raises Wrong."""
    return READERS[type_](text, plain)


def _text(text: str, plain: bool) -> Json:
    if text in _ANYTHING:
        raise Wrong(f"{short(text)} would match anything", "write the value that must be there")
    if plain and _LIKE_PATTERN.search(text[:_LOOKED_AT]):
        fix = "values are compared whole: write the value; quote it if it is this very text"
        raise Wrong(f"{short(text)} looks like a regular expression", fix)
    return text


def _path(text: str, plain: bool) -> Json:
    if text.startswith("~"):
        raise Wrong(f"{short(text)} begins with ~", "observed paths are resolved: write it from / on")
    if len(text) > 1 and text.endswith("/"):
        raise Wrong(f"{short(text)} ends with /", f"observed paths don't: write {text.rstrip('/') or '/'}")
    return _text(text, plain)


def _option(text: str, plain: bool) -> Json:
    if plain and text == "true":
        return True
    if plain and text == "false":
        fix = "`true` is an option without a value, `absent: true` no such option; quote it if the value is this text"
        raise Wrong("an option is never false", fix)
    return _text(text, plain)


def _int(text: str, _plain: bool) -> Json:
    if _INT.fullmatch(text) is None or text == "-0":
        raise Wrong(f"{short(text)} is not a whole number in plain decimal", _decimal(text))
    if len(text) > MAX_DIGITS:
        raise Wrong(f"{short(text)} has more than {MAX_DIGITS} digits")
    return int(text)


def _decimal(text: str) -> str:
    digits = text.replace("_", "").replace(",", "").lstrip("+").lstrip("0")
    return f"write {digits}" if digits.isascii() and digits.isdecimal() else "write digits only, without leading zeros"


def _float(text: str, _plain: bool) -> Json:
    if _NUMBER.fullmatch(text) is None or not math.isfinite(float(text)):
        raise Wrong(f"{short(text)} is not a number", "write it in decimal, such as 0.5")
    return float(text)


def _bool(text: str, _plain: bool) -> Json:
    if text not in ("true", "false"):
        raise Wrong(f"{short(text)} is not a truth value", "write `true` or `false`")
    return text == "true"


def _bytes(text: str, _plain: bool) -> Json:
    match = _BYTES.fullmatch(text)
    if match is None:
        raise Wrong(f"{short(text)} is not a number of bytes", "write a number and its unit, such as `3 GiB`")
    number, unit = match.groups()
    if not unit:
        raise Wrong(f"{short(text)} has no unit", f"write `{text} B`, or another of {', '.join(UNITS)}")
    if unit not in UNITS:
        same = [known for known in UNITS if known.lower() == unit.lower()]
        fix = f"write {same[0]}" if same else f"units are {', '.join(UNITS)}"
        raise Wrong(f"{short(unit)} is not a unit of bytes", fix)
    value = Fraction(number) * UNITS[unit]
    if value.denominator != 1:
        raise Wrong(f"{short(text)} is not a whole number of bytes", "write it in a smaller unit")
    return int(value)


def _json(text: str, plain: bool) -> Json:
    if not plain:
        return _text(text, plain)
    if text in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[text]
    if _NUMBER.fullmatch(text) and text != "-0":
        if len(text) > MAX_DIGITS:
            raise Wrong(f"{short(text)} has more than {MAX_DIGITS} digits", "quote it if it is a text")
        number: Json = int(text) if _INT.fullmatch(text) else float(text)
        if isinstance(number, float) and not math.isfinite(number):
            raise Wrong(f"{short(text)} is too large a number", "quote it if it is a text")
        return number
    if _ALMOST_JSON.fullmatch(text):
        fix = "write it as JSON does (true, false, null, 10, 0.5), or quote it if it is a text"
        raise Wrong(f"{short(text)} is neither a JSON value nor surely a text", fix)
    return _text(text, plain)


def _digest(type_: str) -> Callable[[str, bool], Json]:
    return lambda text, _plain: read_digest(text, type_)


READERS: Mapping[str, Callable[[str, bool], Json]] = {
    "text": _text,
    "path": _path,
    "option": _option,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "bytes": _bytes,
    "json": _json,
    "sha256": _digest("sha256"),
    "commit": _digest("commit"),
}
NUMERIC = frozenset({"int", "float", "bytes", "json"})
