# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a shell's words: quoting and expansions, told apart and not expanded.

This module util is private to the collectors. It follows bash where bash and
the older shells differ. What is rarely written and hard to follow is `Trouble`
rather than a guess: a word that ends in the wrong place would make a value of
something else.
"""

from __future__ import annotations

import bisect
import dataclasses
import re
import typing as t

_ORDINARY = re.compile(r"[^ \t\n|&;()<>\\'\"$`]+")
_IN_DOUBLE = re.compile(r"[^\\\"$`]+")
_IN_BRACES = re.compile(r"[^\\'\"$`}<>]+")
_IN_QUOTED_BRACES = re.compile(r"[^\\'\"$`}]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COMPLEX = re.compile(r"(?:[!#]?[A-Za-z_][A-Za-z0-9_]*|[!#]?[0-9]+|[!#]?[@*#?$!-])[#%/^,@:\[}+=?*-]")
_CASE_OR_HERE = re.compile(r"<<|(?<![\w-])case(?![\w-])")
_OPS = (":-", ":=", ":?", ":+", "-", "=", "?", "+")
DEPTH = 40


class Trouble(Exception):
    """The text is not what a shell accepts, or more involved than is followed here."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


@dataclasses.dataclass(frozen=True)
class Text:
    """Characters that stand for themselves; `quoted` ones have no further meaning."""

    text: str
    quoted: bool


@dataclasses.dataclass(frozen=True)
class Variable:
    """`$name`, or `${name<operator>word}` with one of the operators for unset names."""

    name: str
    operator: str
    word: tuple[t.Any, ...]


@dataclasses.dataclass(frozen=True)
class Opaque:
    """An expansion whose value is not told here. `acts`: expanding it may itself set variables that `raw` names."""

    raw: str
    why: str
    acts: bool


Part = t.Union[Text, Variable, Opaque]


class PartReader:
    """Reads parts of words from `position` on, and moves it behind them. Raises Trouble."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._newlines = [at for at, char in enumerate(text) if char == "\n"]
        self._depth = 0

    def line_of(self, position: int) -> int:
        """Give the number of the line that holds a position, from 1."""
        return bisect.bisect_left(self._newlines, position) + 1

    def trouble(self, why: str, position: int | None = None) -> Trouble:
        """Make the error of a position (the present one by default)."""
        return Trouble(self.line_of(self.position if position is None else position), why)

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    # -- quoting -----------------------------------------------------------
    def _part(self, parts: list[Part]) -> None:
        """Read one part of a word outside double quotes."""
        char = self.text[self.position]
        if char == "\\":
            self._escape(parts)
        elif char == "'":
            parts.append(Text(self._single(), True))
        elif char == '"':
            parts.append(Text("", True))
            parts.extend(self._double())
        elif char == "$":
            parts.append(self._dollar(False))
        elif char == "`":
            parts.append(self._backquote())
        else:
            match = _ORDINARY.match(self.text, self.position)
            end = match.end() if match else self.position + 1
            parts.append(Text(self.text[self.position : end], False))
            self.position = end

    def _escape(self, parts: list[Part]) -> None:
        following = self.text[self.position + 1 : self.position + 2]
        if following != "\n":
            # At the very end of the text a backslash stands for itself.
            parts.append(Text(following or "\\", True))
        self.position = min(self.position + 2, len(self.text))

    def _single(self) -> str:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise self.trouble("a single quote is not closed")
        content = self.text[self.position + 1 : end]
        self.position = end + 1
        return content

    def _double(self, braces: bool = False) -> list[Part]:
        """Read what stands between double quotes; `braces`: within `"${...}"`, where a brace can be escaped."""
        start = self.position
        self.position += 1
        parts: list[Part] = []
        while self.position < len(self.text):
            char = self.text[self.position]
            if char == '"':
                self.position += 1
                return parts
            self._quoted_part(parts, _IN_DOUBLE, '$`"\\}' if braces else '$`"\\')
        raise self.trouble("a double quote is not closed", start)

    def _quoted_part(self, parts: list[Part], ordinary: t.Pattern[str], escaped: str) -> None:
        char = self.text[self.position]
        if char == "\\":
            following = self.text[self.position + 1 : self.position + 2]
            if following != "\n":
                parts.append(Text(following if following in escaped else char + following, True))
            self.position += 2
        elif char == "$":
            parts.append(self._dollar(True))
        elif char == "`":
            parts.append(self._backquote())
        else:
            match = ordinary.match(self.text, self.position)
            end = match.end() if match else self.position + 1
            parts.append(Text(self.text[self.position : end], True))
            self.position = end

    # -- expansions --------------------------------------------------------
    def _dollar(self, quoted: bool) -> Part:
        start = self.position
        following = self.text[start + 1 : start + 2]
        if self.text.startswith("\\\n", start + 1):
            raise self.trouble("a line is continued within an expansion")
        if following == "{":
            return self._braced(quoted)
        if following == "(":
            self.position += 1
            return self._substitution(start)
        if following == "[":
            raise self.trouble("`$[` is arithmetic of another age, which is not followed")
        if not quoted and following in ("'", '"'):
            return self._dollar_quote(following)
        match = _NAME.match(self.text, start + 1)
        if match:
            self.position = match.end()
            if self.text.startswith("\\\n", self.position):
                raise self.trouble("a line is continued within an expansion")
            return Variable(match.group(), "", ())
        if following and following in "0123456789@*#?$!-":
            self.position += 2
            return Opaque(self.text[start : self.position], "it is the shell's own", False)
        self.position += 1
        return Text("$", quoted)

    def _dollar_quote(self, quote: str) -> Opaque:
        start = self.position
        self.position += 1
        if quote == '"':
            self._double()
            return Opaque(self.text[start : self.position], "it depends on the language", False)
        self.position += 1
        while self.position < len(self.text):
            char = self.text[self.position]
            self.position += 2 if char == "\\" else 1
            if char == "'":
                return Opaque(self.text[start : self.position], "shells differ on $'...'", False)
        raise self.trouble("a single quote is not closed", start)

    def _substitution(self, start: int) -> Opaque:
        raw = "$" + self._parentheses()
        if raw.startswith("$((") and raw.endswith("))"):
            return Opaque(raw, "it is arithmetic", True)
        if _CASE_OR_HERE.search(raw):
            raise self.trouble("a command substitution is more involved than is followed here", start)
        return Opaque(raw, "a command would have to run", False)

    def _backquote(self) -> Opaque:
        start = self.position
        self.position += 1
        while self.position < len(self.text):
            char = self.text[self.position]
            self.position += 2 if char == "\\" else 1
            if char == "`":
                return Opaque(self.text[start : self.position], "a command would have to run", False)
        raise self.trouble("a backquote is not closed", start)

    def _braced(self, quoted: bool) -> Part:
        start = self.position
        match = _NAME.match(self.text, start + 2)
        after = match.end() if match else start + 2
        if match and self.text.startswith("}", after):
            self.position = after + 1
            return Variable(match.group(), "", ())
        operator = next((op for op in _OPS if match and self.text.startswith(op, after)), "")
        self._enter(start)
        if match and operator:
            self.position = after + len(operator)
            part: Part = Variable(match.group(), operator, self._braced_word(quoted, start))
        else:
            if not _COMPLEX.match(self.text, start + 2):
                raise self.trouble("an expansion that a shell refuses", start)
            self.position = start + 2
            self._braced_word(quoted, start)
            raw = self.text[start : self.position]
            if raw.startswith("${!") and "=" in raw:
                raise self.trouble("an indirect assignment is not followed", start)
            part = Opaque(raw, "it is more than a default", _may_assign(raw))
        self._depth -= 1
        return part

    def _enter(self, start: int) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            raise self.trouble("expansions are nested deeper than is followed here", start)

    def _braced_word(self, quoted: bool, start: int) -> tuple[Part, ...]:
        """Read the word of `${name<operator>word}`, up to and with the brace that closes it."""
        parts: list[Part] = []
        while self.position < len(self.text):
            char = self.text[self.position]
            if char == "}":
                self.position += 1
                return joined(parts)
            if quoted and char == "'":
                raise self.trouble('a single quote within "${...}" is not followed')
            if quoted and char == '"':
                parts.extend(self._double(braces=True))
            elif quoted:
                self._quoted_part(parts, _IN_QUOTED_BRACES, '$`"\\}')
            elif self.text.startswith(("<(", ">("), self.position):
                raise self.trouble("a process substitution within ${...} is not followed")
            elif char in "\\'\"$`":
                self._part(parts)
            else:
                match = _IN_BRACES.match(self.text, self.position)
                end = match.end() if match else self.position + 1
                parts.append(Text(self.text[self.position : end], False))
                self.position = end
        raise self.trouble("`${` is not closed", start)

    def _parentheses(self) -> str:
        """Read from an opening parenthesis to the one that closes it; the answer is the text with both."""
        start = self.position
        self._enter(start)
        arithmetic = self.text.startswith("((", start)
        depth = 0
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in "()":
                depth += 1 if char == "(" else -1
                self.position += 1
                if depth == 0:
                    self._depth -= 1
                    return self.text[start : self.position]
            elif char == "#" and self.text[self.position - 1] in " \t\n;&|(":
                if arithmetic:
                    raise self.trouble("a comment within `((` is not followed")
                self._skip_comment()
            elif char in "\\'\"$`":
                self._part([])
            else:
                self.position += 1
        raise self.trouble("a parenthesis is not closed", start)

    def arithmetic(self, start: int) -> str:
        """Read the `((...))` that begins at `start`."""
        self.position = start
        raw = self._parentheses()
        if not raw.endswith("))"):
            raise self.trouble("subshells within each other are not followed", start)
        return raw


def _may_assign(raw: str) -> bool:
    return "=" in raw or "++" in raw or "--" in raw


def joined(parts: list[Part]) -> tuple[Part, ...]:
    """Join neighbouring texts of one kind; an empty quoted text stays: it separates."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text) and last.quoted == part.quoted:
            joined[-1] = Text(last.text + part.text, part.quoted)
        else:
            joined.append(part)
    return tuple(joined)
