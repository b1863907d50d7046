# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a shell's language: where each begins and ends, and which simple commands it is made of.

This module util is private to the collectors. It has to be right about the
ends: a shell stops at a syntax error, and what would stand behind one is never
assigned.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._shell_parts import DEPTH, Text
from ._shell_words import Operator, Scanner, Token, Word

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REDIRECTIONS = ("<", ">", ">>", "<<", "<<-", "<<<", "<&", ">&", "<>", ">|", "&>", "&>>")
_STRAY = ("then", "elif", "else", "fi", "do", "done", "esac", "}", "in", "]]")
_DECLARING = ("export", "readonly", "declare", "typeset", "local")


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


class Parser:
    """Gives the statements of a text, one after the other. Raises Trouble at what a shell refuses."""

    def __init__(self, text: str) -> None:
        self._scanner = Scanner(text)
        self._next: Token | None = None
        self._depth = 0
        self._clear()

    def _clear(self) -> None:
        self._simples: list[Simple] = []
        self._names: list[str] = []
        self._functions: list[str] = []
        self._texts: list[str] = []

    def statements(self) -> t.Iterator[Statement]:
        """Give each statement when it is read in full, as a shell runs it."""
        while True:
            self._skip_newlines()
            start = self._peek()
            if _is(start, ""):
                return
            self._clear()
            self._scanner.documents = []
            plain = self._and_or()
            end = self._take()
            if not _is(end, ";", "&", "\n", ""):
                raise self._unexpected(end)
            yield Statement(
                tuple(self._simples),
                tuple(self._names),
                tuple(self._functions),
                (*self._texts, *self._scanner.documents),
                plain and not _is(end, "&"),
                start.line,
            )

    # -- tokens ------------------------------------------------------------
    def _peek(self) -> Token:
        if self._next is None:
            self._next = self._scanner.token()
        return self._next

    def _take(self) -> Token:
        token = self._peek()
        self._next = None
        return token

    def _skip_newlines(self) -> None:
        while _is(self._peek(), "\n"):
            self._take()

    def _expect(self, keyword: str) -> None:
        token = self._take()
        if not _is_word(token, keyword):
            raise self._unexpected(token)

    def _unexpected(self, token: Token) -> t.Any:
        # Words are not told: they can be part of a value.
        if isinstance(token, Operator):
            shown = {"": "the end of the file", "\n": "the end of the line"}.get(token.text, "`%s`" % token.text)
        else:
            shown = "`%s`" % token.raw if token.raw in _STRAY else "a word"
        return self._scanner.trouble("a shell does not expect %s there" % shown, token.start)

    # -- grammar -----------------------------------------------------------
    def _and_or(self) -> bool:
        """Read a list of pipelines up to its end; True for one plain command."""
        plain = self._pipeline()
        while _is(self._peek(), "&&", "||"):
            plain = False
            self._take()
            self._skip_newlines()
            self._pipeline()
        return plain

    def _pipeline(self) -> bool:
        plain = True
        while _is_word(self._peek(), "!", "time"):
            self._take()
            plain = False
        plain = self._command() and plain
        while _is(self._peek(), "|", "|&"):
            plain = False
            self._take()
            self._skip_newlines()
            self._command()
        return plain

    def _command(self) -> bool:
        token = self._peek()
        if isinstance(token, Operator) and token.text != "(" and token.text not in _REDIRECTIONS:
            raise self._unexpected(token)
        if isinstance(token, Word) and token.raw in _STRAY:
            raise self._unexpected(token)
        self._depth += 1
        if self._depth > DEPTH:
            raise self._scanner.trouble("commands are nested deeper than is followed here", token.start)
        plain = not self._compound(token) and self._simple()
        self._depth -= 1
        return plain

    def _compound(self, token: Token) -> bool:
        """Read a compound command, if one begins here."""
        word = token.raw if isinstance(token, Word) else ""
        readers: dict[str, t.Callable[[], None]] = {
            "if": self._if,
            "while": self._loop,
            "until": self._loop,
            "for": self._for,
            "select": self._for,
            "case": self._case,
            "{": self._group,
            "[[": self._test,
            "function": self._function,
        }
        if word == "coproc":
            raise self._scanner.trouble("a coprocess is not followed", token.start)
        if word in readers:
            self._take()
            readers[word]()
        elif _is(token, "("):
            self._parenthesis(token)
        else:
            return False
        while _is(self._peek(), *_REDIRECTIONS):
            self._redirection()
        return True

    def _list(self, *enders: str) -> None:
        """Read commands up to a word or operator of `enders`, which is left; at least one command."""
        self._skip_newlines()
        empty = True
        while not _is(self._peek(), *enders) and not _is_word(self._peek(), *enders):
            empty = False
            self._and_or()
            token = self._peek()
            if _is(token, ";", "&", "\n"):
                self._take()
                self._skip_newlines()
            elif not _is(token, *enders):
                raise self._unexpected(token)
        if empty and "esac" not in enders:
            raise self._unexpected(self._peek())

    def _if(self) -> None:
        self._list("then")
        self._expect("then")
        self._list("elif", "else", "fi")
        while _is_word(self._peek(), "elif"):
            self._take()
            self._list("then")
            self._expect("then")
            self._list("elif", "else", "fi")
        if _is_word(self._peek(), "else"):
            self._take()
            self._list("fi")
        self._expect("fi")

    def _loop(self) -> None:
        self._list("do")
        self._body()

    def _body(self) -> None:
        self._expect("do")
        self._list("done")
        self._expect("done")

    def _for(self) -> None:
        token = self._take()
        if _is(token, "("):
            self._texts.append(self._scanner.arithmetic(token.start))
            self._next = None
        elif isinstance(token, Word) and _NAME.fullmatch(token.raw):
            self._names.append(token.raw)
            self._for_words()
        else:
            raise self._unexpected(token)
        if _is(self._peek(), ";"):
            self._take()
        self._skip_newlines()
        self._body()

    def _for_words(self) -> None:
        self._skip_newlines()
        if not _is_word(self._peek(), "in"):
            return
        start = self._take()
        words = []
        while isinstance(self._peek(), Word):
            words.append(t.cast("Word", self._take()))
        # The words are expanded, though nothing runs with them.
        self._simples.append(
            Simple((), (Word((Text(":", False),), ":", start.line, start.start), *words), False, "", 0)
        )
        if not _is(self._peek(), ";", "\n"):
            raise self._unexpected(self._peek())

    def _case(self) -> None:
        word = self._take()
        if not isinstance(word, Word):
            raise self._unexpected(word)
        self._texts.append(word.raw)
        self._skip_newlines()
        self._expect("in")
        self._skip_newlines()
        while not _is_word(self._peek(), "esac"):
            self._pattern()
            self._list(";;", ";&", ";;&", "esac")
            if _is(self._peek(), ";;", ";&", ";;&"):
                self._take()
            self._skip_newlines()
        self._take()

    def _pattern(self) -> None:
        if _is(self._peek(), "("):
            self._take()
        while True:
            word = self._take()
            if not isinstance(word, Word):
                raise self._unexpected(word)
            self._texts.append(word.raw)
            token = self._take()
            if _is(token, ")"):
                return
            if not _is(token, "|"):
                raise self._unexpected(token)

    def _group(self) -> None:
        self._list("}")
        self._expect("}")

    def _parenthesis(self, token: Token) -> None:
        if self._scanner.text.startswith("((", token.start):
            self._texts.append(self._scanner.arithmetic(token.start))
            self._next = None
            return
        self._take()
        self._list(")")
        self._take()

    def _test(self) -> None:
        start = self._peek().start
        while not _is_word(self._peek(), "]]"):
            token = self._take()
            if _is(token, "", "\n", ";", "&"):
                raise self._unexpected(token)
        self._texts.append("[[ " + self._scanner.text[start : self._take().start])

    def _function(self) -> None:
        word = self._take()
        if not isinstance(word, Word):
            raise self._unexpected(word)
        if _is(self._peek(), "("):
            self._take()
            if not _is(self._peek(), ")"):
                raise self._unexpected(self._peek())
            self._take()
        self._function_body(word)

    def _function_body(self, word: Word) -> None:
        self._functions.append(word.raw)
        self._skip_newlines()
        token = self._peek()
        if not self._compound(token):
            raise self._unexpected(token)

    def _simple(self) -> bool:
        """Read a simple command, or the definition of a function; False for the latter."""
        start = self._peek()
        assignments: list[Word] = []
        words: list[Word] = []
        redirected = False
        while True:
            token = self._peek()
            if _is(token, *_REDIRECTIONS):
                self._redirection()
                redirected = True
            elif isinstance(token, Word):
                self._take()
                self._refuse_arrays(token, words)
                (words if words or not assigned_name(token) else assignments).append(token)
            elif _is(token, "(") and len(words) == 1 and not assignments and not redirected:
                self._define(words[0])
                return False
            else:
                break
        raw = self._scanner.text[start.start : token.start]
        self._simples.append(Simple(tuple(assignments), tuple(words), redirected, raw, start.line))
        return True

    def _define(self, name: Word) -> None:
        self._take()
        if not _is(self._peek(), ")"):
            raise self._unexpected(self._peek())
        self._take()
        self._function_body(name)

    def _refuse_arrays(self, word: Word, words: list[Word]) -> None:
        first = word.parts[0] if word.parts else None
        declares = not words or words[0].raw in _DECLARING
        if declares and isinstance(first, Text) and not first.quoted and _SUBSCRIPT.match(first.text):
            raise self._scanner.trouble("arrays are not followed", word.start)

    def _redirection(self) -> None:
        operator = t.cast("Operator", self._take())
        word = self._take()
        if not isinstance(word, Word):
            raise self._unexpected(word)
        self._texts.append(word.raw)
        if operator.text in ("<<", "<<-"):
            delimiter = literal(word)
            if delimiter is None:
                raise self._scanner.trouble("a here-document with such an end is not followed", word.start)
            self._scanner.here_document(delimiter, operator.text == "<<-")


def _is(token: Token, *operators: str) -> bool:
    return isinstance(token, Operator) and token.text in operators


def _is_word(token: Token, *keywords: str) -> bool:
    return isinstance(token, Word) and token.raw in keywords
