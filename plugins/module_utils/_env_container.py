# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environment files as `docker run --env-file` reads them: a name, an equals sign, and the rest of the line.

This module util is private to the collectors. Quotes, blanks and comments
behind a value belong to it. One line that is refused refuses the whole file.
"""

from __future__ import annotations

from ._env_assignment import ANY, LITERAL, Assignment, trouble, undecided

# What the client takes for blank at the beginning of a line.
_BLANKS = "\t\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
# The client's line buffer, in bytes.
_LINE_LIMIT = 65536
_BOM = "\ufeff"


def parse_container(text: str) -> list[Assignment]:
    """Parse a file that a container engine's client reads."""
    found: list[Assignment] = []
    values: dict[str, tuple[str, int]] = {}
    refused = 0
    for number, line in enumerate(text.split("\n"), 1):
        if len(line.encode("utf-8", "surrogatepass")) >= _LINE_LIMIT:
            item = trouble(number, "the line is longer than the client reads: it refuses the file")
        else:
            line = line[:-1] if line.endswith("\r") else line
            line = (line[len(_BOM) :] if number == 1 and line.startswith(_BOM) else line).lstrip(_BLANKS)
            if not line or line.startswith("#"):
                continue
            item = _assignment(line, number, values)
        found.append(item)
        if item.kind == "malformed":
            refused = refused or number
    if refused:
        found.append(undecided(ANY, refused, "line %d makes the client refuse the whole file" % refused))
    return found


def _assignment(line: str, number: int, values: dict[str, tuple[str, int]]) -> Assignment:
    name, equals, value = line.partition("=")
    if not name:
        return trouble(number, "no name before `=`: the client refuses the file")
    if " " in name or "\t" in name:
        return trouble(number, "a blank in the name: the client refuses the file")
    before = values.get(name)
    values[name] = (value if equals else "\0", number)
    if before is not None and before[0] != values[name][0]:
        why = "line %d sets it too: both are sent, and the program decides which one counts" % before[1]
        return undecided(name, number, why, value)
    if not equals:
        return undecided(name, number, "a name alone: whoever starts the container gives the value", "", True)
    return Assignment(name, value, LITERAL, False, number, "", value)
