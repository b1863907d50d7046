# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading JSON that every reader reads alike.

This module util is private to the collectors. Duplicate keys, numbers beyond a
float, NaN and halves of surrogate pairs are read in different ways by different
programs, so that nothing can be concluded from them.
"""

from __future__ import annotations

import json
import math
import typing as t


def loads(text: str) -> t.Any:
    """Parse JSON. Raises ValueError for anything that is not JSON or that could be read in two ways."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refused)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def canonical(value: t.Any) -> str:
    """Give the one text of a JSON value: keys sorted, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _unique(pairs: list[tuple[str, t.Any]]) -> dict[str, t.Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate keys")
    return result


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("%s is beyond a float" % text[:40])
    return number


def _refused(text: str) -> t.NoReturn:
    raise ValueError("%s is not JSON" % text)
