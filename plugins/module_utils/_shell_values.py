# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a shell's words come to, as far as that can be told without running anything.

This module util is private to the collectors. A value is literal (the same in
every launch environment), a default (this text unless the launch environment
sets something), unset, or undecidable.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._env_assignment import DEFAULT, LITERAL, UNDECIDABLE
from ._shell_parts import Opaque, Part, Text, Trouble, Variable

UNSET = "unset"

# Variables that the shell sets, changes or computes by itself.
# fmt: off
_OWN = frozenset((
    "_", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "HISTCMD", "DIRSTACK", "GROUPS",
    "FUNCNAME", "PIPESTATUS", "SHLVL", "COMP_WORDBREAKS", "OPTIND", "OPTARG", "OPTERR", "UID", "EUID", "PPID",
    "SHELLOPTS", "PS4", "REPLY", "MAPFILE", "HISTSIZE", "LINES", "COLUMNS",
))
# Variables that the shell or the login sets, and that a file may set as any other.
_PRESET = frozenset((
    "PWD", "OLDPWD", "PATH", "TERM", "IFS", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "SHELL", "HOME",
    "LOGNAME", "USER",
))
# fmt: on
_TILDE = re.compile(r"[:=]~")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SET_BY_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?=")
_ARITHMETIC = re.compile(r"\(\(|\$\{[A-Za-z_][A-Za-z0-9_]*(?:\[|:[^-=?+])")
_NUMERIC_TEST = re.compile(r"-(?:eq|ne|lt|le|gt|ge)\b")
_NUMBER = re.compile(r"-?[0-9]*")
# Characters that bash uses for marks of its own inside of words.
_MARKS = re.compile("[\x01\x7f]")


def is_own(name: str) -> bool:
    """Say whether the shell changes the variable by itself."""
    return name in _OWN or name.startswith("BASH")


def names_set_by(raw: str) -> set[str]:
    """List the names that expanding a text may set: by `${x:=...}`, and by arithmetic."""
    names = set(_SET_BY_DEFAULT.findall(raw))
    assigns = "=" in raw or "++" in raw or "--" in raw
    numeric = _NUMERIC_TEST.search(raw) if raw.startswith("[[") else _ARITHMETIC.search(raw)
    if assigns and numeric:
        names.update(_NAME.findall(raw))
    return names


@dataclasses.dataclass(frozen=True)
class Value:
    """What a word or a variable comes to. `text` counts for literals and defaults only."""

    kind: str
    text: str = ""
    why: str = ""
    overridable: bool = False

    @property
    def told(self) -> bool:
        """Whether the text is known."""
        return self.kind in (LITERAL, DEFAULT)


def literal_value(text: str) -> Value:
    """Make the value of plain text."""
    return Value(LITERAL, text)


def undecidable(why: str, overridable: bool = False) -> Value:
    """Make the value that something would have to run for, or that only the launch environment knows."""
    return Value(UNDECIDABLE, "", why, overridable)


class Variables:
    """The variables while a file is read from the top, and the values of words by them.

    `changed` tells of names that an expansion itself set (`${x:=d}`).
    """

    def __init__(self, changed: t.Callable[[str, Value], None]) -> None:
        self._values: dict[str, Value] = {}
        self._changed = changed
        self._swept = ""
        # A conditional expansion sets what it names for us only as "may be".
        self._uncertain = 0

    def get(self, name: str) -> Value | None:
        """Give what is known of a variable; None where only the launch environment could set it."""
        if is_own(name):
            return undecidable("the shell itself sets $%s" % name)
        if name in self._values:
            return self._values[name]
        if self._swept:
            return undecidable(self._swept)
        return undecidable("the shell or the login sets $%s" % name, True) if name in _PRESET else None

    def known(self) -> t.KeysView[str]:
        """Give the names that the file has set or unset so far."""
        return self._values.keys()

    def set(self, name: str, value: Value) -> None:
        """Set a variable."""
        self._values[name] = value

    def sweep(self, why: str) -> None:
        """Forget everything: any variable may have been changed."""
        self._values.clear()
        self._swept = why

    def refuse_sums_of_text(self, raw: str) -> None:
        """Raise Trouble where arithmetic would evaluate a variable's text, which may itself assign."""
        if not _ARITHMETIC.search(raw) and not raw.startswith("[["):
            return
        for name in _NAME.findall(raw):
            value = self._values.get(name)
            if value is not None and value.told and not _NUMBER.fullmatch(value.text):
                raise Trouble(0, "arithmetic on the text of %s is not followed" % name)

    # -- words -------------------------------------------------------------
    def value_of(self, parts: t.Sequence[Part]) -> Value:
        """Expand the right-hand side of an assignment."""
        texts: list[str] = []
        worst = literal_value("")
        for part in parts:
            if isinstance(part, Text) and not part.quoted and _has_tilde(part.text, not "".join(texts)):
                value = undecidable("a home folder would have to be looked up")
            else:
                value = self._part(part)
            texts.append(value.text)
            worst = _worse(worst, value)
        return dataclasses.replace(worst, text="".join(texts) if worst.told else "")

    def _part(self, part: Part) -> Value:
        if isinstance(part, Text):
            if _MARKS.search(part.text):
                return undecidable("a control character")
            return literal_value(part.text)
        if isinstance(part, Opaque):
            if part.acts:
                self.refuse_sums_of_text(part.raw)
                for name in sorted(names_set_by(part.raw)):
                    self._assign(name, undecidable(part.why))
            return undecidable(part.why)
        if part.operator:
            return self._with_operator(part)
        value = self.get(part.name)
        if value is None:
            return undecidable("$%s comes from the launch environment" % part.name, True)
        if value.kind == UNSET:
            return literal_value("")
        if value.kind == LITERAL or part.name not in self._values:
            return value
        return undecidable("$%s cannot be told" % part.name, value.overridable)

    def _assign(self, name: str, value: Value) -> None:
        if self._uncertain and value.kind != UNDECIDABLE:
            value = undecidable("it is set only under a condition", True)
        self._values[name] = value
        self._changed(name, value)

    def _with_operator(self, part: Variable) -> Value:
        value = self.get(part.name)
        colon = part.operator.startswith(":")
        action = part.operator[-1]
        if value is not None and value.kind == UNDECIDABLE:
            # What the word would set may be set or not.
            self._word(part, certain=False)
            if action == "=":
                self._assign(part.name, undecidable(value.why, value.overridable))
            return value
        if action == "+":
            return self._alternative(part, value, colon)
        if _is_filled(value, colon):
            return t.cast("Value", value)
        if action == "?":
            return undecidable("the shell stops where $%s is not set" % part.name, value is None)
        return self._default(part, value)

    def _default(self, part: Variable, value: Value | None) -> Value:
        """Give the default of a variable that is unset or empty here, unless the launch environment sets it."""
        certain = value is not None and value.kind != DEFAULT
        result = self._word(part, certain)
        if not certain:
            why = "unless the launch environment sets %s%s"
            even = "" if part.operator.startswith(":") else ", even to nothing"
            why = why % (part.name, even) if result.told else result.why
            result = Value(DEFAULT if result.told else UNDECIDABLE, result.text, why, True)
        if part.operator[-1] == "=":
            self._assign(part.name, result)
        return result

    def _alternative(self, part: Variable, value: Value | None, colon: bool) -> Value:
        if value is None or (value.kind == DEFAULT and colon):
            self._word(part, certain=False)
            return undecidable("it depends on whether the launch environment sets $%s" % part.name, True)
        if _is_filled(value, colon):
            return self._word(part, certain=True)
        return literal_value("")

    def _word(self, part: Variable, certain: bool) -> Value:
        self._uncertain += 0 if certain else 1
        value = self.value_of(part.word)
        self._uncertain -= 0 if certain else 1
        return value


def _is_filled(value: Value | None, colon: bool) -> bool:
    """Say whether a variable counts as set: to something, with a colon."""
    return value is not None and value.kind != UNSET and bool(value.text or not colon)


def _has_tilde(text: str, first: bool) -> bool:
    return (first and text.startswith("~")) or _TILDE.search(text) is not None


def _worse(one: Value, other: Value) -> Value:
    order = (LITERAL, DEFAULT, UNDECIDABLE)
    worse = other if order.index(other.kind) > order.index(one.kind) else one
    return dataclasses.replace(worse, overridable=one.overridable or other.overridable)
