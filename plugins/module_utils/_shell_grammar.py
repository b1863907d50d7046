# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a shell's language: where each begins and ends, and which simple commands it is made of.

This module util is private to the collectors. It has to be right about the
ends: a shell stops at a syntax error, and what would stand behind one is never
assigned.
"""

from __future__ import annotations

import re
import typing as t

from ._shell_commands import STRAY, Simple, Statement, TokenReader, assigned_name, is_operator, is_word, literal
from ._shell_parts import DEPTH, Text
from ._shell_words import Operator, Token, Word

_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REDIRECTIONS = ("<", ">", ">>", "<<", "<<-", "<<<", "<&", ">&", "<>", ">|", "&>", "&>>")
_DECLARING = ("export", "readonly", "declare", "typeset", "local")


class Parser(TokenReader):
    """Gives the statements of a text, one after the other. Raises Trouble at what a shell refuses."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
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
            if is_operator(start, ""):
                return
            self._clear()
            self._scanner.documents = []
            plain = self._and_or()
            end = self._take()
            if not is_operator(end, ";", "&", "\n", ""):
                raise self._unexpected(end)
            yield Statement(
                tuple(self._simples),
                tuple(self._names),
                tuple(self._functions),
                (*self._texts, *self._scanner.documents),
                plain and not is_operator(end, "&"),
                start.line,
            )

    # -- grammar -----------------------------------------------------------
    def _and_or(self) -> bool:
        """Read a list of pipelines up to its end; True for one plain command."""
        plain = self._pipeline()
        while is_operator(self._peek(), "&&", "||"):
            plain = False
            self._take()
            self._skip_newlines()
            self._pipeline()
        return plain

    def _pipeline(self) -> bool:
        plain = True
        while is_word(self._peek(), "!", "time"):
            self._take()
            plain = False
        plain = self._command() and plain
        while is_operator(self._peek(), "|", "|&"):
            plain = False
            self._take()
            self._skip_newlines()
            self._command()
        return plain

    def _command(self) -> bool:
        token = self._peek()
        if isinstance(token, Operator) and token.text != "(" and token.text not in _REDIRECTIONS:
            raise self._unexpected(token)
        if isinstance(token, Word) and token.raw in STRAY:
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
        elif is_operator(token, "("):
            self._parenthesis(token)
        else:
            return False
        while is_operator(self._peek(), *_REDIRECTIONS):
            self._redirection()
        return True

    def _list(self, *enders: str) -> None:
        """Read commands up to a word or operator of `enders`, which is left; at least one command."""
        self._skip_newlines()
        empty = True
        while not is_operator(self._peek(), *enders) and not is_word(self._peek(), *enders):
            empty = False
            self._and_or()
            token = self._peek()
            if is_operator(token, ";", "&", "\n"):
                self._take()
                self._skip_newlines()
            elif not is_operator(token, *enders):
                raise self._unexpected(token)
        if empty and "esac" not in enders:
            raise self._unexpected(self._peek())

    def _if(self) -> None:
        self._list("then")
        self._expect("then")
        self._list("elif", "else", "fi")
        while is_word(self._peek(), "elif"):
            self._take()
            self._list("then")
            self._expect("then")
            self._list("elif", "else", "fi")
        if is_word(self._peek(), "else"):
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
        if is_operator(token, "("):
            self._texts.append(self._scanner.arithmetic(token.start))
            self._next = None
        elif isinstance(token, Word) and _NAME.fullmatch(token.raw):
            self._names.append(token.raw)
            self._for_words()
        else:
            raise self._unexpected(token)
        if is_operator(self._peek(), ";"):
            self._take()
        self._skip_newlines()
        self._body()

    def _for_words(self) -> None:
        self._skip_newlines()
        if not is_word(self._peek(), "in"):
            return
        start = self._take()
        words = []
        while isinstance(self._peek(), Word):
            words.append(t.cast("Word", self._take()))
        # The words are expanded, though nothing runs with them.
        self._simples.append(
            Simple((), (Word((Text(":", False),), ":", start.line, start.start), *words), False, "", 0)
        )
        if not is_operator(self._peek(), ";", "\n"):
            raise self._unexpected(self._peek())

    def _case(self) -> None:
        word = self._take()
        if not isinstance(word, Word):
            raise self._unexpected(word)
        self._texts.append(word.raw)
        self._skip_newlines()
        self._expect("in")
        self._skip_newlines()
        while not is_word(self._peek(), "esac"):
            self._pattern()
            self._list(";;", ";&", ";;&", "esac")
            if is_operator(self._peek(), ";;", ";&", ";;&"):
                self._take()
            self._skip_newlines()
        self._take()

    def _pattern(self) -> None:
        if is_operator(self._peek(), "("):
            self._take()
        while True:
            word = self._take()
            if not isinstance(word, Word):
                raise self._unexpected(word)
            self._texts.append(word.raw)
            token = self._take()
            if is_operator(token, ")"):
                return
            if not is_operator(token, "|"):
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
        while not is_word(self._peek(), "]]"):
            token = self._take()
            if is_operator(token, "", "\n", ";", "&"):
                raise self._unexpected(token)
        self._texts.append("[[ " + self._scanner.text[start : self._take().start])

    def _function(self) -> None:
        word = self._take()
        if not isinstance(word, Word):
            raise self._unexpected(word)
        if is_operator(self._peek(), "("):
            self._take()
            if not is_operator(self._peek(), ")"):
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
            if is_operator(token, *_REDIRECTIONS):
                self._redirection()
                redirected = True
            elif isinstance(token, Word):
                self._take()
                self._refuse_arrays(token, words)
                (words if words or not assigned_name(token) else assignments).append(token)
            elif is_operator(token, "(") and len(words) == 1 and not assignments and not redirected:
                self._define(words[0])
                return False
            else:
                break
        raw = self._scanner.text[start.start : token.start]
        self._simples.append(Simple(tuple(assignments), tuple(words), redirected, raw, start.line))
        return True

    def _define(self, name: Word) -> None:
        self._take()
        if not is_operator(self._peek(), ")"):
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
