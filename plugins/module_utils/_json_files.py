# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON of files: bytes in, a value out, each refusal with the file's name and its reason.

This module util is private to the collectors.
"""

from __future__ import annotations

import json
import typing as t

from ._observation import Unparsable
from ._strict_json import DEPTH_LIMIT, Refused, loads


def parse_json(data: bytes, what: str) -> t.Any:
    """Parse one JSON value; `what` names it in errors. Raises Unparsable."""
    try:
        return loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Unparsable("%s: byte %d is not UTF-8" % (what, error.start)) from None
    except json.JSONDecodeError as error:
        raise Unparsable("%s: not JSON, line %d column %d: %s" % (what, error.lineno, error.colno, error.msg)) from None
    except Refused as error:
        raise Unparsable("%s: %s" % (what, error)) from None
    except ValueError:
        raise Unparsable("%s: a number of too many digits" % what) from None


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


__all__ = ["DEPTH_LIMIT", "parse_json", "type_name"]
