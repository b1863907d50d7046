# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a shell's grammar gives, and the tokens that it is read from.

This module util is private to the collectors.
"""

from __future__ import annotations

import dataclasses
import re

from ._shell_parts import Text, Trouble
from ._shell_words import Operator, Scanner, Token, Word

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
STRAY = ("then", "elif", "else", "fi", "do", "done", "esac", "}", "in", "]]")


@dataclasses.dataclass(frozen=True)
class Simple:
    """A simple command: the assignments before it, and its words, if any."""

    assignments: tuple[Word, ...]
    words: tuple[Word, ...]
    redirected: bool
    raw: str
    line: int


@dataclasses.dataclass(frozen=True)
class Statement:
    """One command of the file with everything inside it.

    `plain`: it is one simple command that the shell runs itself, unconditionally.
    `names` are variables that the grammar itself sets (`for x in`), `functions`
    the functions that it defines, `texts` what else it expands: arithmetic, tests,
    patterns, targets of redirections, here-documents.
    """

    simples: tuple[Simple, ...]
    names: tuple[str, ...]
    functions: tuple[str, ...]
    texts: tuple[str, ...]
    plain: bool
    line: int


def literal(word: Word) -> str | None:
    """Give the text of a word that has no expansions, else None."""
    if all(isinstance(part, Text) for part in word.parts):
        return "".join(part.text for part in word.parts if isinstance(part, Text))
    return None


def assigned_name(word: Word) -> str:
    """Give `NAME=` or `NAME+=` where the word begins with it unquoted, else ""."""
    first = word.parts[0] if word.parts else None
    match = _ASSIGNMENT.match(first.text) if isinstance(first, Text) and not first.quoted else None
    return match.group() if match else ""


def is_operator(token: Token, *operators: str) -> bool:
    """Say whether a token is one of these operators; "" is the end of the text."""
    return isinstance(token, Operator) and token.text in operators


def is_word(token: Token, *keywords: str) -> bool:
    """Say whether a token is one of these words, unquoted."""
    return isinstance(token, Word) and token.raw in keywords


class TokenReader:
    """Gives tokens with one of them looked ahead."""

    def __init__(self, text: str) -> None:
        self._scanner = Scanner(text)
        self._next: Token | None = None

    def _peek(self) -> Token:
        if self._next is None:
            self._next = self._scanner.token()
        return self._next

    def _take(self) -> Token:
        token = self._peek()
        self._next = None
        return token

    def _skip_newlines(self) -> None:
        while is_operator(self._peek(), "\n"):
            self._take()

    def _expect(self, keyword: str) -> None:
        token = self._take()
        if not is_word(token, keyword):
            raise self._unexpected(token)

    def _unexpected(self, token: Token) -> Trouble:
        # Words are not told: they can be part of a value.
        if isinstance(token, Operator):
            shown = {"": "the end of the file", "\n": "the end of the line"}.get(token.text, "`%s`" % token.text)
        else:
            shown = "`%s`" % token.raw if token.raw in STRAY else "a word"
        return self._scanner.trouble("a shell does not expect %s there" % shown, token.start)
