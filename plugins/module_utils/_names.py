# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
r"""File names as text, and patterns over relative paths.

This module util is private to the collectors. A name on a host is bytes. It is
shown as UTF-8; a byte that is not UTF-8 becomes `\xNN`, and a backslash of the
name's own becomes two, so that two names never look alike and every name can be
had back.
"""

from __future__ import annotations

import fnmatch
import os
import typing as t


def shown(name: str) -> str:
    """Show a name as the operating system gave it; `original(shown(name)) == os.fsencode(name)`."""
    return shown_bytes(os.fsencode(name))


def shown_bytes(raw: bytes) -> str:
    """Show the bytes of a name."""
    return raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def original(text: str) -> bytes:
    """Give back the bytes of a shown name. Raises ValueError for a text that `shown` never gives."""
    parts: list[bytes] = []
    position = 0
    while True:
        found = text.find("\\", position)
        if found < 0:
            parts.append(text[position:].encode("utf-8"))
            return b"".join(parts)
        parts.append(text[position:found].encode("utf-8"))
        if text.startswith("\\\\", found):
            parts.append(b"\\")
            position = found + 2
        elif text.startswith("\\x", found):
            parts.append(bytes([int(text[found + 2 : found + 4], 16)]))
            position = found + 4
        else:
            raise ValueError("a backslash that stands for nothing at %d" % found)


def leaf(area: str, name: str) -> str:
    """Give the path of `area[name]` inside an observation, or `area` where the name cannot stand in brackets."""
    if not name or "[" in name or "]" in name:
        return area
    return "%s[%s]" % (area, name)


def leads_out(name: str) -> bool:
    """Say whether a relative name is none: absolute, empty, or with a `..` in it."""
    return not name or name.startswith("/") or ".." in name.split("/")


class Patterns:
    """Globs over relative paths, as `ignore` lists and cache rules write them.

    A pattern without a slash fits a name at any depth; one with a slash fits from
    the tree's top, `*` staying within one component and `**` standing for any
    number of them. What fits a folder fits everything below it.
    """

    def __init__(self, patterns: t.Iterable[str]) -> None:
        self._patterns = [(pattern, _parts(pattern)) for pattern in patterns]

    def fits(self, relative: str) -> bool:
        """Say whether the entry at this relative path, or a folder above it, fits a pattern."""
        return self.first(relative) is not None

    def first(self, relative: str) -> str | None:
        """Give the first pattern that fits, or None."""
        names = relative.split("/")
        for text, parts in self._patterns:
            if _fit(parts, names):
                return text
        return None


def _parts(pattern: str) -> list[str]:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if "/" not in pattern.rstrip("/"):
        parts = ["**", *parts]
    if parts and parts[-1] == "**":
        # `a/**` is what lies below a, not a itself.
        parts.append("*")
    return parts


def _fit(parts: list[str], names: list[str]) -> bool:
    """Follow all ways through the pattern at once: `**` must not cost more than one pass."""
    states = _reachable({0}, parts)
    for name in names:
        following = set()
        for state in states:
            if state < len(parts) and parts[state] == "**":
                following.add(state)
            elif state < len(parts) and fnmatch.fnmatchcase(name, parts[state]):
                following.add(state + 1)
        states = _reachable(following, parts)
        if len(parts) in states:
            return True
    return False


def _reachable(states: set[int], parts: list[str]) -> set[int]:
    found = set(states)
    for state in sorted(states):
        while state < len(parts) and parts[state] == "**":
            state += 1
            found.add(state)
    return found
