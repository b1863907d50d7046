# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading JSON that every reader reads alike, each refusal with its reason.

This module util is private to the collectors. Of a key given twice most parsers
keep the last in silence, `NaN` is no JSON, `1e999` is no number, a lone
surrogate is no text, and deep nesting ends some of them: nothing can be
concluded from these.
"""

from __future__ import annotations

import json
import re
import typing as t

DEPTH_LIMIT = 200
_TOKEN = re.compile(r'\\.|["\[\]{}]', re.DOTALL)


class Refused(ValueError):
    """A liberty that was not taken."""


def loads(text: str) -> t.Any:
    """Parse JSON. Raises ValueError: JSONDecodeError for what is none, Refused for what could be read in two ways."""
    if _depth(text) > DEPTH_LIMIT:
        raise Refused("nested more than %d deep" % DEPTH_LIMIT)
    value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    if not _is_text(value):
        raise Refused("an escape from \\uD800 to \\uDFFF that is half a character")
    return value


def canonical(value: t.Any) -> str:
    """Give the one text of a JSON value: keys sorted, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _depth(text: str) -> int:
    """Give the greatest nesting, in one pass (a pattern over whole strings would take quadratic time)."""
    deepest = depth = 0
    in_string = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == '"':
            in_string = not in_string
        elif in_string or token[0] == "\\":
            continue
        elif token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, t.Any]]) -> dict[str, t.Any]:
    result: dict[str, t.Any] = {}
    for key, value in pairs:
        if key in result:
            raise Refused("the key %s is given twice" % json.dumps(key)[:80])
        result[key] = value
    return result


def _constant(text: str) -> t.NoReturn:
    raise Refused("%s is not a JSON number" % text)


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Refused("%s is too great for a number" % text[:40])
    return value


def _is_text(value: t.Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
