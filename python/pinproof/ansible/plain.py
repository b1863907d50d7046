"""Plain data at Ansible's boundary.

Values that come from inventories, variables or literals are tagged subclasses of
the plain types: equal to them, and yet told apart by deepdiff and refused by YAML.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pinproof.errors import UsageError


def plain(value: Any) -> Any:
    """Give the value as plain JSON data."""
    return json.loads(json.dumps(value, default=str))


def text_option(arguments: Mapping[str, Any], name: str, default: str = "") -> str:
    """Give a text argument of a task. Raises UsageError for another type."""
    value = arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise UsageError(f"'{name}' must be text, not {value!r}")
    return str(plain(value))
