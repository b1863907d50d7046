# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environment files, in the dialect of whoever reads them.

This module util is private to the collectors. A file is parsed and never
sourced. The same line means other things to a shell, to `docker run --env-file`,
to compose and to systemd, so that there is no parsing without a dialect.
"""

from __future__ import annotations

import typing as t

from ._env_assignment import ANY, DEFAULT, LITERAL, MALFORMED, UNDECIDABLE, Assignment, undecided
from ._env_compose import parse_compose
from ._env_container import parse_container
from ._env_shell import parse_shell
from ._env_systemd import parse_systemd
from ._observation import Unparsable

DIALECTS = ("shell", "container", "compose", "systemd")
SIZE_LIMIT = 1 << 20

_PARSERS: dict[str, t.Callable[[str], list[Assignment]]] = {
    "shell": parse_shell,
    "container": parse_container,
    "compose": parse_compose,
    "systemd": parse_systemd,
}


def parse(text: str, dialect: str) -> list[Assignment]:
    """Give the file's assignments in their order.

    Lines that the dialect refuses or ignores are among them, as malformed; lines
    that run something are among them without a name. Raises Unparsable for what
    is no text of this kind at all.
    """
    if dialect not in _PARSERS:
        raise Unparsable("'%s' is no dialect of environment files; there are %s" % (dialect, ", ".join(DIALECTS)))
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Unparsable("line %d holds a NUL byte: this is no environment file" % line)
    if len(text) > SIZE_LIMIT:
        raise Unparsable("%d characters, more than an environment file has" % len(text))
    return _PARSERS[dialect](text)


def deciding(assignments: list[Assignment]) -> dict[str, Assignment]:
    """Give by name the assignment that decides: the last, undecidable where something later can have changed it."""
    last_any = max((at for at, item in enumerate(assignments) if item.name == ANY), default=-1)
    found: dict[str, Assignment] = {}
    for at, item in enumerate(assignments):
        if item.name in ("", ANY):
            continue
        if at < last_any:
            item = undecided(item.name, item.line, assignments[last_any].why, item.raw, item.overridable)
        found[item.name] = item
    return found


def settings(assignments: list[Assignment]) -> dict[str, dict[str, t.Any]]:
    """Give by name what decides: `kind`, `overridable`, `line`, and `value` where it can be told."""
    found: dict[str, dict[str, t.Any]] = {}
    for name, item in deciding(assignments).items():
        found[name] = {"kind": item.kind, "overridable": item.overridable, "line": item.line}
        if item.kind in (LITERAL, DEFAULT):
            found[name]["value"] = item.value
    return found


def malformed(assignments: list[Assignment]) -> dict[str, str]:
    """Give by line number why the dialect refuses or ignores the line."""
    return {str(item.line): item.why for item in assignments if item.kind == MALFORMED}


def unlisted(assignments: list[Assignment]) -> str:
    """Say why a name that is not listed may be set all the same; "" where the file says all."""
    return next((item.why for item in reversed(assignments) if item.name == ANY), "")


def commands(assignments: list[Assignment]) -> list[int]:
    """List the lines that run a command."""
    return sorted({item.line for item in assignments if item.name == "" and item.kind == UNDECIDABLE})


__all__ = ["DIALECTS", "SIZE_LIMIT", "Assignment", "commands", "deciding", "malformed", "parse", "settings", "unlisted"]
