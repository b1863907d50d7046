# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tokens of a shell's language: words, operators, comments and here-documents.

This module util is private to the collectors.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._shell_parts import Opaque, Part, PartReader, Text, joined

_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_META = " \t\n|&;()<>"
# The longest first.
_OPERATORS = ("<<<", "<<-", "&>>", ";;&", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "&&", "||", ";;", ";&", "|&")


@dataclasses.dataclass(frozen=True)
class Word:
    """A word with its parts; `raw` is its text without line continuations."""

    parts: tuple[Part, ...]
    raw: str
    line: int
    start: int


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator, a newline, or "" at the end of the text."""

    text: str
    line: int
    start: int


Token = t.Union[Word, Operator]


class Scanner(PartReader):
    """Gives the tokens of a text, one after the other. Raises Trouble."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._here: list[tuple[str, bool]] = []
        # The here-documents read so far.
        self.documents: list[str] = []

    def here_document(self, delimiter: str, tabs: bool) -> None:
        """Say that a document follows the next newline, up to a line of `delimiter`."""
        self._here.append((delimiter, tabs))

    def token(self) -> Token:
        """Give the next token."""
        self._skip_blanks()
        start = self.position
        if start >= len(self.text):
            return Operator("", self.line_of(start), start)
        if self.text[start] == "\n":
            self.position += 1
            self._skip_here_documents()
            return Operator("\n", self.line_of(start), start)
        if self.text[start] not in _META or self.text.startswith(("<(", ">("), start):
            return self._word()
        operator = next((text for text in _OPERATORS if self.text.startswith(text, start)), self.text[start])
        self.position += len(operator)
        return Operator(operator, self.line_of(start), start)

    def _skip_blanks(self) -> None:
        while self.position < len(self.text):
            if self.text[self.position] in " \t":
                self.position += 1
            elif self.text.startswith("\\\n", self.position):
                self.position += 2
            else:
                break
        if self.text.startswith("#", self.position):
            self._skip_comment()

    def _skip_here_documents(self) -> None:
        for delimiter, tabs in self._here:
            start = self.position
            while True:
                if self.position >= len(self.text):
                    raise self.trouble("a here-document is not closed")
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                self.position = end + 1
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
            self.documents.append(self.text[start : self.position])
        self._here = []
        self.position = min(self.position, len(self.text))

    def _word(self) -> Word:
        start = self.position
        parts: list[Part] = []
        while self.position < len(self.text):
            char = self.text[self.position]
            if self.text.startswith(("<(", ">("), self.position):
                self.position += 1
                parts.append(Opaque(self._parentheses(), "a command would have to run", False))
            elif char == "(" and _is_array(parts):
                parts.append(Opaque(self._parentheses(), "it is an array", True))
            elif char in _META:
                break
            else:
                self._part(parts)
        raw = self.text[start : self.position].replace("\\\n", "")
        return Word(joined(parts), raw, self.line_of(start), start)


def _is_array(parts: list[Part]) -> bool:
    return (
        len(parts) == 1
        and isinstance(parts[0], Text)
        and not parts[0].quoted
        and _ARRAY.fullmatch(parts[0].text) is not None
    )
