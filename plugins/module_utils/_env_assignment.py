# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One assignment of an environment file, as every dialect gives it.

This module util is private to the collectors.
"""

from __future__ import annotations

import dataclasses

LITERAL = "literal"
DEFAULT = "default"
UNDECIDABLE = "undecidable"
MALFORMED = "malformed"

# The name of an entry that stands for every name: what was said before it no
# longer holds, and a name that is not listed may be set all the same.
ANY = "*"


@dataclasses.dataclass(frozen=True)
class Assignment:
    """What one place of the file does to one name.

    `kind` is literal, default (a launch environment may override it),
    undecidable (something would have to run) or malformed (the dialect refuses
    or ignores it). `name` is "" where no name is concerned, and `ANY` where all
    are. `value` is "" unless the kind is literal or default. `line` counts from
    1. `why` never holds a value: values can be secrets. `raw` is the right-hand
    side as it is spelled.
    """

    name: str
    value: str
    kind: str
    overridable: bool
    line: int
    why: str
    raw: str = dataclasses.field(default="", compare=False)


def trouble(line: int, why: str, name: str = "") -> Assignment:
    """Give the entry of a line that the dialect refuses or ignores."""
    return Assignment(name, "", MALFORMED, False, line, why)


def undecided(name: str, line: int, why: str, raw: str = "", overridable: bool = False) -> Assignment:
    """Give the entry of a name whose value cannot be told."""
    return Assignment(name, "", UNDECIDABLE, overridable, line, why, raw)
