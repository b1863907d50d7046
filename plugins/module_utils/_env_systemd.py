# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environment files as systemd's `EnvironmentFile=` reads them.

This module util is private to the collectors. Quotes may follow each other, but
one in the middle of plain text is part of the value; nothing is expanded; lines
that set nothing are ignored.
"""

from __future__ import annotations

import re

from ._env_assignment import ANY, LITERAL, Assignment, trouble, undecided

_BLANKS = " \t\n\r"
_NEWLINES = "\n\r"
_ESCAPED = '"\\`$'
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile("[\x01-\x08\x0b-\x1f\x7f]")


def parse_systemd(text: str) -> list[Assignment]:
    """Parse a file that systemd reads for a service."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._found: list[Assignment] = []
        self._uncertain = 0

    def read(self) -> list[Assignment]:
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in _BLANKS:
                self._take()
            elif char in "#;":
                self._comment()
            else:
                self._entry()
        if self._uncertain:
            why = "line %d is a comment that ends in a backslash: versions of systemd differ on what follows"
            self._found.append(undecided(ANY, self._uncertain, why % self._uncertain))
        return self._found

    def _take(self) -> str:
        char = self._text[self._at]
        self._at += 1
        self._line += char == "\n"
        return char

    def _comment(self) -> None:
        start = self._line
        while self._at < len(self._text):
            char = self._take()
            if char in _NEWLINES:
                return
            if char == "\\" and self._at < len(self._text) and self._take() in _NEWLINES:
                self._uncertain = self._uncertain or start
                return

    def _entry(self) -> None:
        start = self._line
        name = ""
        while True:
            char = self._take() if self._at < len(self._text) else "\n"
            if char in _NEWLINES:
                self._found.append(trouble(start, "no `=`: systemd ignores the line"))
                return
            if char == "=":
                break
            name += char
        begin = self._at
        value = self._value()
        raw = self._text[begin : self._at].rstrip(_NEWLINES)
        self._add(name.rstrip(_BLANKS), value, start, raw)

    def _add(self, name: str, value: str, line: int, raw: str) -> None:
        if not _NAME.fullmatch(name):
            self._found.append(trouble(line, "what stands before `=` is no name of a variable: systemd ignores it"))
        elif _CONTROL.search(value):
            self._found.append(trouble(line, "a control character in the value: systemd ignores it", name))
        else:
            self._found.append(Assignment(name, value, LITERAL, False, line, "", raw))

    def _value(self) -> str:
        """Read a value up to and with the newline that ends it."""
        value = ""
        while self._at < len(self._text):
            char = self._take()
            if char in _NEWLINES:
                return value
            if char == "'":
                value += self._single()
            elif char == '"':
                value += self._double()
            elif char not in _BLANKS:
                self._at -= 1
                return value + self._plain()
        return value

    def _single(self) -> str:
        value = ""
        while self._at < len(self._text):
            char = self._take()
            if char == "'":
                break
            value += char
        return value

    def _double(self) -> str:
        value = ""
        while self._at < len(self._text):
            char = self._take()
            if char == '"':
                break
            if char == "\\":
                char = self._take() if self._at < len(self._text) else "\n"
                char = char if char in _ESCAPED else "" if char == "\n" else "\\" + char
            value += char
        return value

    def _plain(self) -> str:
        """Read unquoted text up to and with the newline that ends it; blanks at its end are not part of it."""
        value = ""
        kept = 0
        while self._at < len(self._text):
            char = self._take()
            if char in _NEWLINES:
                break
            if char == "\\":
                char = self._take() if self._at < len(self._text) else "\n"
                value += "" if char in _NEWLINES else char
                kept = len(value)
                continue
            value += char
            if char not in _BLANKS:
                kept = len(value)
        return value[:kept]
