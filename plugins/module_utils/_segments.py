# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spelling paths inside an observation, for faults and levels.

This module util is private to the collectors. A key that the spelling can not
hold (it has a bracket, or is empty) ends the path before it: a fault recorded
there covers the key as well.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+-]*")


def within(*segments: str) -> str:
    """Spell segments as a path: `within("gpus", "GPU-1", "a.b")` is `gpus.GPU-1[a.b]`."""
    path = ""
    for segment in segments:
        if not segment or "[" in segment or "]" in segment:
            return path
        if _NAME.fullmatch(segment):
            path += "." + segment if path else segment
        else:
            path += "[%s]" % segment
    return path
