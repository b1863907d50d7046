# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines of units: prefixes, words, several commands in one value.

This module util is private to the collectors. Variables (`$NAME`) stay as
written: they are replaced only when the unit starts.
"""

from __future__ import annotations

import re
import typing as t

from ._observation import Unparsable
from ._unit_file import BLANKS
from ._unit_words import BadQuoting, skip_blanks, take_word_leniently

PREFIXES = "-@:+!|"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\"'\\]")


def parse_commands(value: str, expand: t.Callable[[str], str]) -> list[list[str]]:
    """Split an ExecStart= value into commands: the program, then its arguments without argument 0.

    `expand` replaces the specifiers of a word. Raises Unparsable where systemd
    would refuse the value, or what `expand` raises.
    """
    try:
        return _commands(value, expand)
    except BadQuoting as error:
        raise Unparsable("ExecStart=: %s" % error) from None


def _commands(value: str, expand: t.Callable[[str], str]) -> list[list[str]]:
    commands: list[list[str]] = []
    position = 0
    while True:
        first, position = take_word_leniently(value, position)
        if first is None:
            return commands
        if first == ";":
            continue
        bare = first.lstrip(PREFIXES)
        arguments, position = _arguments(value, position)
        if "@" in first[: len(first) - len(bare)]:
            # The word after the program is its argument 0.
            if not arguments:
                raise Unparsable("ExecStart=: '@' without an argument 0")
            arguments = arguments[1:]
        commands.append([_program(expand(bare)), *(expand(word) for word in arguments)])


def _program(path: str) -> str:
    """Check what systemd demands of a program's name. Raises Unparsable."""
    name = path.rpartition("/")[2]
    if not path or name in ("", ".", "..") or ("/" in path and not path.startswith("/")):
        raise Unparsable("ExecStart=: the program is neither a name nor an absolute path")
    if _UNSAFE.search(path):
        raise Unparsable("ExecStart=: a control character, quote or backslash in the program's name")
    return simplified(path)


def _arguments(value: str, position: int) -> tuple[list[str], int]:
    """Take words up to a lone semicolon; an escaped one is an argument."""
    words: list[str] = []
    while True:
        if value[position : position + 1] == ";" and value[position + 1 : position + 2] in ("", *BLANKS):
            return words, skip_blanks(value, position + 1)
        if value.startswith("\\;", position) and value[position + 2 : position + 3] in ("", *BLANKS):
            words.append(";")
            position = skip_blanks(value, position + 2)
            continue
        word, position = take_word_leniently(value, position)
        if word is None:
            return words, position
        words.append(word)


def simplified(path: str) -> str:
    """Drop doubled slashes and `.` components of an absolute path, as systemd does; `..` stays."""
    if not path.startswith("/"):
        return path
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
