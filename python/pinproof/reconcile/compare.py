"""The strict comparator: the one that decides.

Two values are equal when their JSON texts (with sorted keys) are: `1`, `"1"`,
`true` and `1.0` are four values, lists are ordered and keep duplicates, maps are
compared by key. What is no number (`nan`) equals nothing, itself included: it was
not measured. Values are told apart by JSON kind, not by Python class, so that
subclasses of the plain types compare as what they hold.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pinproof.paths import MISSING

Path = tuple[str | int, ...]

DEPTH_LIMIT = 64

# In the order in which subclasses must be asked: a bool is an int to Python.
_KINDS: dict[type, str] = {
    str: "text",
    bool: "bool",
    int: "int",
    float: "float",
    dict: "map",
    list: "list",
    tuple: "list",
    type(None): "null",
    Mapping: "map",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Two values that are not equal, and where; MISSING on the side that has nothing there."""

    path: Path
    expected: object
    observed: object


def kind(value: object) -> str:
    """Give the JSON kind of a value; "" for what JSON does not have, which equals nothing."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    return next((name for type_, name in _KINDS.items() if isinstance(value, type_)), "")


def equal(one: Any, other: Any) -> bool:
    """Say whether both are the same value of the same kind."""
    what = kind(one)
    if not what or what != kind(other):
        return False
    if what == "map":
        return len(one) == len(other) and all(key in other and equal(one[key], other[key]) for key in one)
    if what == "list":
        return len(one) == len(other) and all(map(equal, one, other))
    if what == "float":
        return bool(one == other and math.copysign(1, one) == math.copysign(1, other))
    return bool(one == other)


def differences(expected: Any, observed: Any, *, listed: bool = False, path: Path = ()) -> Iterator[Difference]:
    """Give every place where both differ, in the order of the keys.

    With `listed`, maps are held to the keys that `expected` lists, nested maps
    too; a map that lists nothing must find nothing. Inside lists all keys count.
    Lists of unequal length differ as a whole.
    """
    what = kind(expected)
    if what == "map" and kind(observed) == "map":
        partly = listed and bool(expected)
        for key in sorted(expected if partly else {*expected, *observed}, key=str):
            want, have = expected.get(key, MISSING), observed.get(key, MISSING)
            # The leaves of large trees are texts, and nearly all are equal.
            if type(want) is not str or want != have or type(have) is not str:
                yield from differences(want, have, listed=listed, path=(*path, key))
    elif what == "list" and kind(observed) == "list" and len(expected) == len(observed):
        for index, (want, have) in enumerate(zip(expected, observed, strict=True)):
            yield from differences(want, have, path=(*path, index))
    elif not equal(expected, observed):
        yield Difference(path, expected, observed)


def listed_part(expected: Any, observed: Any) -> Any:
    """Give of `observed` only what `expected` lists; what is no map on both sides is given whole."""
    if kind(expected) != "map" or kind(observed) != "map" or not expected:
        return observed
    return {key: listed_part(expected[key], observed[key]) for key in expected if key in observed}


def is_container(value: object) -> bool:
    """Say whether it is a map or a list."""
    return kind(value) in ("map", "list")


def leaves(value: Any, limit: int) -> int:
    """Count scalars and empty containers, and stop counting at `limit`."""
    count, todo = 0, [value]
    while todo and count < limit:
        item = todo.pop()
        if is_container(item) and item:
            todo.extend(item.values() if kind(item) == "map" else item)
        else:
            count += 1
    return count


def too_deep(value: Any) -> bool:
    """Say whether containers are nested deeper than anything that is compared here."""
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            inner for item in level if is_container(item) for inner in (item.values() if kind(item) == "map" else item)
        ]
        if not level:
            return False
    return True


def plain(value: Any) -> Any:
    """Give the value in plain dicts, lists and scalars; what is no JSON value (`nan` too) as its text."""
    what = kind(value)
    if what == "map":
        return {str(key): plain(item) for key, item in value.items()}
    if what == "list":
        return [plain(item) for item in value]
    if what == "float":
        return float(value) if math.isfinite(value) else str(float(value))
    if what in ("null", "bool"):
        return value
    return int(value) if what == "int" else str(value)


def summary(value: Any) -> dict[str, Any]:
    """Give the number of entries of a container and the sha256 of its canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=plain)
    return {"entries": len(value), "digest": hashlib.sha256(text.encode("ascii")).hexdigest()}
