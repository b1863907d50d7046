# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environment files as compose's `env_file` reads them (compose 2.11 and newer).

This module util is private to the collectors. Variables are replaced, in plain
and in double-quoted values, and the launch environment comes before the file's
own earlier lines: what refers to another variable is a default at best. Where
versions are known to differ the value is undecidable.
"""

from __future__ import annotations

import re

from ._env_assignment import ANY, DEFAULT, LITERAL, Assignment, trouble, undecided

_BLANKS = "\t\v\f\r \x85\xa0"
_BOM = "\ufeff"
_NAME = re.compile(r"[A-Za-z0-9_.]+")
_EXPORT = re.compile(r"export[\t\v\f\r ]+")
_VARIABLE = re.compile(r"\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)([^${}\\\"']*))?\})")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "$": "$$"}


def parse_compose(text: str) -> list[Assignment]:
    """Parse a file that compose reads for a service."""
    return _Reader(text).read()


class _Undecided(Exception):
    def __init__(self, why: str, overridable: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.overridable = overridable


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text[len(_BOM) :] if text.startswith(_BOM) else text
        self._at = 0
        self._counted = 0
        self._line = 1
        self._found: list[Assignment] = []
        self._values: dict[str, Assignment] = {}

    def read(self) -> list[Assignment]:
        while self._skip_to_statement():
            self._statement()
        refused = next((item.line for item in self._found if item.kind == "malformed"), 0)
        if refused:
            self._found.append(undecided(ANY, refused, "line %d makes compose refuse the whole file" % refused))
        return self._found

    def _here(self) -> int:
        """Give the number of the present line."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _rest_of_line(self) -> str:
        end = self._text.find("\n", self._at)
        rest = self._text[self._at : end if end >= 0 else len(self._text)]
        self._at += len(rest)
        return rest

    def _skip_to_statement(self) -> bool:
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == "#":
                self._rest_of_line()
            elif char in _BLANKS or char == "\n":
                self._at += 1
            else:
                return True
        return False

    def _statement(self) -> None:
        line = self._here()
        match = _EXPORT.match(self._text, self._at)
        self._at = match.end() if match else self._at
        head = re.compile(r"[^=:\n]*").match(self._text, self._at)
        assert head is not None
        name = head.group().rstrip(_BLANKS)
        self._at = head.end()
        separator = self._text[self._at : self._at + 1]
        if not name or not all(char.isalnum() or char in "_.-[]" for char in name):
            self._rest_of_line()
            self._found.append(trouble(line, "what stands before `=` is no name of a variable: compose refuses it"))
        elif separator not in ("=", ":"):
            why = "a name alone: whoever starts compose gives the value"
            self._add(undecided(name, line, why, "", True))
        else:
            self._at += 1
            self._assignment(name, line)

    def _assignment(self, name: str, line: int) -> None:
        while self._text[self._at : self._at + 1] in tuple(_BLANKS):
            self._at += 1
        begin = self._at
        try:
            if self._text[self._at : self._at + 1] in ("'", '"'):
                kind, value, why = self._quoted()
            else:
                kind, value, why = self._plain()
            if not _NAME.fullmatch(name) or name.startswith("export"):
                raise _Undecided("versions of compose differ on this name")
        except _Undecided as error:
            self._add(undecided(name, line, error.why, self._text[begin : self._at], error.overridable))
            return
        raw = self._text[begin : self._at].rstrip(_BLANKS)
        self._add(Assignment(name, value, kind, kind == DEFAULT, line, why, raw))

    def _add(self, item: Assignment) -> None:
        self._found.append(item)
        self._values[item.name] = item

    def _plain(self) -> tuple[str, str, str]:
        line = self._rest_of_line()
        if line.startswith("#") or "\t#" in line:
            raise _Undecided("versions of compose differ on where the comment begins")
        value = line.partition(" #")[0].rstrip()
        if "$" not in value:
            return LITERAL, value, ""
        if "\\" in value:
            raise _Undecided("versions of compose differ on a backslash beside `$`")
        return self._expanded(value)

    def _quoted(self) -> tuple[str, str, str]:
        quote = self._text[self._at]
        start = self._here()
        self._at += 1
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] != quote:
            self._at += 2 if self._text[self._at] == "\\" else 1
        if self._at >= len(self._text):
            self._at = len(self._text)
            self._found.append(trouble(start, "a quote is not closed: compose refuses the file"))
            raise _Undecided("its quote is not closed")
        content = self._text[begin : self._at]
        self._at += 1
        rest = self._rest_of_line().strip(_BLANKS)
        if rest and not rest.startswith("#"):
            self._found.append(trouble(start, "text follows the closing quote: compose takes it for another setting"))
            raise _Undecided("text follows the closing quote")
        if "\r" in content:
            raise _Undecided("versions of compose differ on a carriage return within quotes")
        if quote == "'":
            if "\\'" in content or content.endswith("\\"):
                raise _Undecided("versions of compose differ on an escaped single quote")
            return LITERAL, content, ""
        return self._expanded(_unescaped(content))

    def _expanded(self, text: str) -> tuple[str, str, str]:
        """Replace the variables of a value; by the file's earlier lines, which the launch environment overrides."""
        parts: list[str] = []
        why = ""
        at = 0
        while True:
            found = text.find("$", at)
            parts.append(text[at : found if found >= 0 else len(text)])
            if found < 0:
                return DEFAULT if why else LITERAL, "".join(parts), why
            match = _VARIABLE.match(text, found)
            if match is None:
                raise _Undecided("it is more than a default")
            at = match.end()
            name = match.group(1) or match.group(2)
            if not name:
                parts.append("$")
                continue
            parts.append(self._replacement(name, match.group(3), match.group(4)))
            why = why or "unless the launch environment sets %s" % name

    def _replacement(self, name: str, operator: str | None, default: str | None) -> str:
        before = self._values.get(name)
        if before is not None and before.kind not in (LITERAL, DEFAULT):
            raise _Undecided("$%s cannot be told" % name, True)
        if before is not None and (before.value or operator != ":-"):
            return before.value
        if operator is None:
            raise _Undecided("$%s comes from the launch environment" % name, True)
        return default or ""


def _unescaped(content: str) -> str:
    """Replace the escapes of a double-quoted value; an escaped `$` becomes two, which stand for one later."""

    def replace(match: re.Match[str]) -> str:
        if match.group(1) not in _ESCAPES:
            raise _Undecided("versions of compose differ on this escape")
        return _ESCAPES[match.group(1)]

    return _ESCAPE.sub(replace, content)
