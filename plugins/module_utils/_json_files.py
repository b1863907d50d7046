# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON of files, without the liberties that parsers take, each refusal with its reason.

This module util is private to the collectors. Of a key given twice most parsers
keep the last in silence, `NaN` is no JSON, `1e999` is no number, a lone
surrogate is no text, and deep nesting ends some of them.
"""

from __future__ import annotations

import json
import re
import typing as t

from ._observation import Unparsable

DEPTH_LIMIT = 200
_TOKEN = re.compile(r'\\.|["\[\]{}]', re.DOTALL)


class _Refused(ValueError):
    """A liberty that was not taken."""


def parse_json(data: bytes, what: str) -> t.Any:
    """Parse one JSON value; `what` names it in errors. Raises Unparsable."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unparsable("%s: byte %d is not UTF-8" % (what, error.start)) from None
    if _depth(text) > DEPTH_LIMIT:
        raise Unparsable("%s: nested more than %d deep" % (what, DEPTH_LIMIT))
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        raise Unparsable("%s: not JSON, line %d column %d: %s" % (what, error.lineno, error.colno, error.msg)) from None
    except _Refused as error:
        raise Unparsable("%s: %s" % (what, error)) from None
    except ValueError:
        raise Unparsable("%s: a number of too many digits" % what) from None
    if "\\u" in text and not _is_text(value):
        raise Unparsable("%s: an escape from \\uD800 to \\uDFFF that is half a character" % what)
    return value


def type_name(value: t.Any) -> str:
    """Name the JSON type of a value, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


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
            raise _Refused("the key %s is given twice" % json.dumps(key)[:80])
        result[key] = value
    return result


def _constant(text: str) -> t.Any:
    raise _Refused("%s is not a JSON number" % text)


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Refused("%s is too great for a number" % text[:40])
    return value


def _is_text(value: t.Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
