# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environment files that a shell sources: what they assign, without running a shell.

This module util is private to the collectors. Assignments are followed from the
top. A line that runs something makes undecidable what it names; a line that can
change anything (it reads another file, evaluates text) makes everything so that
is not assigned after it. What a shell would refuse, or what is more involved
than is followed, leaves nothing of the file certain.
"""

from __future__ import annotations

import re
import typing as t

from ._env_assignment import ANY, LITERAL, Assignment, trouble, undecided
from ._shell_commands import Simple, Statement, assigned_name, literal
from ._shell_grammar import Parser
from ._shell_parts import Opaque, Text, Trouble
from ._shell_values import UNSET, Value, Variables, is_own, literal_value, names_set_by, undecidable
from ._shell_words import Word

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPTIONS = re.compile(r"[-+][aeuxvfhmbBCETHP]*[aeuxvfhmbBCETHPo]")
_LONG_OPTIONS = ("allexport", "errexit", "nounset", "xtrace", "verbose", "noglob", "noclobber", "pipefail")
_SPECIAL = re.compile(r"[*?\[{~]")
_BOM = "\ufeff"

# Commands that change no variable, whatever their words.
_HARMLESS = frozenset((":", "echo", "printf", "true", "false", "test", "[", "pwd", "mkdir", "chmod", "chown", "touch"))
_HARMLESS |= frozenset(("logger", "sleep", "ls", "cat", "ulimit", "umask", "hash"))
# Commands that change the variables that their words name.
_SETTERS = frozenset(("read", "printf", "mapfile", "readarray", "declare", "typeset", "local", "export", "readonly"))
_SETTERS |= frozenset(("unset", "let", "getopts", "wait"))
_SWEEPERS = {
    ".": "reads another file",
    "source": "reads another file",
    "eval": "evaluates text",
    "command": "runs a command by another",
    "builtin": "runs a command by another",
}
# Commands behind which nothing is certain, not even what is assigned later.
_ENDERS = {
    "exit": "ends the shell",
    "return": "ends the file",
    "exec": "replaces the shell",
    "trap": "sets a trap, which runs between the lines",
    "alias": "gives words another meaning",
    "shopt": "changes how the shell reads what follows",
    "enable": "changes how the shell reads what follows",
}


def parse_shell(text: str) -> list[Assignment]:
    """Parse a file that a shell sources."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._line = 1
        self._found: list[Assignment] = []
        self._unset_at: dict[str, int] = {}
        self._readonly: set[str] = set()
        # Names with attributes (integer, upper case): what is assigned is not what they hold.
        self._attributed: set[str] = set()
        self._functions: set[str] = set()
        self._ends: tuple[int, str] | None = None
        self._variables = Variables(self._set_by_expansion)

    def read(self) -> list[Assignment]:
        try:
            for statement in Parser(self._text).statements():
                self._line = statement.line
                self._run(statement)
        except Trouble as error:
            line = error.line or self._line
            self._found.append(trouble(line, error.why))
            self._found.append(undecided(ANY, line, "line %d: %s" % (line, error.why)))
        if self._ends:
            line, why = self._ends
            self._found.append(undecided(ANY, line, "line %d %s" % (line, why)))
        return [item for at, item in enumerate(self._found) if at >= self._unset_at.get(item.name, 0)]

    def _run(self, statement: Statement) -> None:
        if statement.plain:
            self._simple(statement.simples[0])
        else:
            for simple in statement.simples:
                self._effects(simple)
            self._functions.update(statement.functions)
            self._poison(set(statement.names), "is set by a loop")
        for text in statement.texts:
            self._variables.refuse_sums_of_text(text)
            self._poison(names_set_by(text), "is set by an expansion")

    def _simple(self, simple: Simple) -> None:
        command = simple.words[0].raw if simple.words else ""
        if simple.redirected and command not in _HARMLESS:
            self._effects(simple)
        elif not simple.words:
            for word in simple.assignments:
                self._assign(word)
        elif simple.assignments or self._looks_malformed(simple):
            self._effects(simple)
            self._tell_malformed(simple)
        elif command in ("export", "readonly"):
            self._declare(simple)
        elif command == "unset":
            self._unset(simple)
        elif command == "set":
            self._set_options(simple)
        elif command in _HARMLESS and not _sets_by_printf(simple):
            for word in simple.words:
                self._variables.value_of(word.parts)
        else:
            self._effects(simple)

    # -- assignments -------------------------------------------------------
    def _assign(self, word: Word) -> None:
        prefix = assigned_name(word)
        name = prefix.rstrip("+=")
        first = t.cast("Text", word.parts[0])
        value = self._variables.value_of([Text(first.text[len(prefix) :], False), *word.parts[1:]])
        if prefix.endswith("+="):
            value = self._appended(name, value)
        if any(isinstance(part, Opaque) and part.raw.startswith("(") for part in word.parts):
            # What is assigned later becomes the array's first element.
            self._attributed.add(name)
        self._set(name, value, word.line, word.raw[len(prefix) :])

    def _appended(self, name: str, value: Value) -> Value:
        before = self._variables.get(name)
        if before is None or before.kind not in (LITERAL, UNSET):
            return undecidable("it is appended to what cannot be told", True)
        return Value(value.kind, before.text + value.text if value.told else "", value.why, value.overridable)

    def _set(self, name: str, value: Value, line: int, raw: str) -> None:
        if name in self._readonly:
            raise Trouble(line, "%s was made read-only before" % name)
        if name == "POSIXLY_CORRECT":
            raise Trouble(line, "%s changes how the shell reads what follows" % name)
        if is_own(name):
            value = undecidable("the shell itself changes it")
        elif name in self._attributed:
            value = undecidable("it was declared with attributes")
        self._variables.set(name, value)
        why = "" if value.kind == LITERAL else value.why
        self._found.append(Assignment(name, value.text, value.kind, value.overridable, line, why, raw))

    def _set_by_expansion(self, name: str, value: Value) -> None:
        self._set(name, value, self._line, "${%s:=%s}" % (name, value.text))

    def _poison(self, names: set[str], why: str) -> None:
        for name in sorted(names):
            self._variables.set(name, undecidable(why))
            self._found.append(undecided(name, self._line, "it %s on line %d" % (why, self._line)))

    def _sweep(self, why: str) -> None:
        text = "line %d %s" % (self._line, why)
        self._variables.sweep(text)
        self._found.append(undecided(ANY, self._line, text))

    # -- builtins ----------------------------------------------------------
    def _declare(self, simple: Simple) -> None:
        words = list(simple.words[1:])
        while words and words[0].raw == "--":
            words.pop(0)
        if words and words[0].raw.startswith("-"):
            # `export -n`, `readonly -a`: not for us to follow.
            if words[0].raw != "-p":
                self._effects(simple)
            return
        for word in words:
            name = self._declared(word)
            if simple.words[0].raw == "readonly":
                self._readonly.add(name)

    def _declared(self, word: Word) -> str:
        """Follow one word of export or readonly; the answer is the variable it names, or ""."""
        prefix = assigned_name(word)
        braces = any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in word.parts)
        if prefix and not braces:
            self._assign(word)
            return prefix.rstrip("+=")
        text = literal(word)
        if text is None or braces:
            if prefix:
                self._poison({prefix.rstrip("+=")}, "is expanded in a way that is not followed")
            else:
                self._sweep("sets a variable that an expansion names")
            return ""
        name, equals, value = text.partition("=")
        if not _NAME.fullmatch(name):
            self._found.append(trouble(word.line, "it sets what is no name of a variable"))
            return ""
        if equals and _has_pattern(word):
            self._poison({name}, "is given a pattern")
        elif equals:
            self._set(name, literal_value(value), word.line, word.raw.partition("=")[2])
        return name

    def _unset(self, simple: Simple) -> None:
        words = [literal(word) for word in simple.words[1:]]
        if words and words[0] in ("-v", "--"):
            words.pop(0)
        if not all(text and _NAME.fullmatch(text) for text in words):
            self._effects(simple)
            return
        for name in words:
            assert name is not None
            if name in self._readonly:
                raise Trouble(self._line, "%s was made read-only before" % name)
            self._attributed.discard(name)
            self._variables.set(name, Value(UNSET))
            self._unset_at[name] = len(self._found)

    # -- what runs ---------------------------------------------------------
    def _effects(self, simple: Simple) -> None:
        """Follow what a command may do to variables, wherever it stands."""
        self._line = simple.line
        self._variables.refuse_sums_of_text(simple.raw)
        names = {assigned_name(word).rstrip("+=") for word in simple.assignments}
        self._poison(names | names_set_by(simple.raw), "is set along with a command, or under a condition,")
        if not simple.words:
            return
        command = literal(simple.words[0])
        if command in _HARMLESS and not _sets_by_printf(simple):
            return
        self._found.append(undecided("", simple.line, "line %d runs a command" % simple.line))
        if command is None:
            self._sweep("runs a command that an expansion names")
        elif command in self._functions:
            self._sweep("calls a function")
        elif command in _SWEEPERS:
            self._sweep(_SWEEPERS[command])
        elif command in _ENDERS:
            self._ends = self._ends or (simple.line, _ENDERS[command])
        elif command == "set":
            self._set_options(simple)
        elif command in _SETTERS:
            self._setter(command, simple)
        else:
            known = self._variables.known()
            named = {name for name in _NAME.findall(simple.raw) if name in known}
            self._poison(named, "is named by a command")

    def _setter(self, command: str, simple: Simple) -> None:
        texts = [literal(word) or assigned_name(word) for word in simple.words[1:]]
        if not all(texts):
            self._sweep("sets a variable that an expansion names")
            return
        names: set[str] = set()
        for text in texts:
            match = _NAME.match(text)
            if command == "let":
                self._variables.refuse_sums_of_text("((" + text)
                names.update(_NAME.findall(text))
            elif match and not text.startswith("-"):
                names.add(match.group())
        if command in ("declare", "typeset", "local", "readonly"):
            self._attributed.update(names)
        self._poison(names, "is set by a command")

    def _set_options(self, simple: Simple) -> None:
        words = [literal(word) for word in simple.words[1:]]
        while words:
            word = words.pop(0)
            if word in ("--", "-"):
                return
            known = word is not None and (word[:1] not in ("-", "+") or _OPTIONS.fullmatch(word) is not None)
            if word and word[0] in "-+" and word.endswith("o"):
                known = known and bool(words) and words.pop(0) in _LONG_OPTIONS
            if not known:
                self._ends = self._ends or (simple.line, "changes how the shell reads what follows")

    # -- mistakes ----------------------------------------------------------
    def _looks_malformed(self, simple: Simple) -> bool:
        first = simple.words[0].raw
        return first in ("\r", "=") or "=" in first or _blank_before_equals(simple)

    def _tell_malformed(self, simple: Simple) -> None:
        """Say what is wrong with a line that was meant as an assignment and runs a command."""
        first, line = simple.words[0].raw, simple.line
        names = [assigned_name(word).rstrip("+=") for word in simple.assignments]
        why = "a shell takes it for a command"
        if names:
            why = "a blank outside of quotes: a shell sets it only for the command that it runs with the rest"
        elif _blank_before_equals(simple):
            names, why = [first], "a blank before `=`: a shell runs a command of that name"
        elif first.startswith(_BOM):
            name = first[1:].partition("=")[0]
            names, why = [name if _NAME.fullmatch(name) else ""], "a byte order mark is taken for part of the name"
        elif first == "\r":
            why = "a carriage return alone: a shell takes it for a command"
        elif "=" in first:
            why = "what stands before `=` is no name of a variable: a shell takes it for a command"
        for name in names or [""]:
            if name:
                self._variables.set(name, undecidable(why))
            self._found.append(trouble(line, why, name))


def _blank_before_equals(simple: Simple) -> bool:
    first = simple.words[0].raw
    return len(simple.words) > 1 and simple.words[1].raw.startswith("=") and _NAME.fullmatch(first) is not None


def _sets_by_printf(simple: Simple) -> bool:
    return simple.words[0].raw == "printf" and any(word.raw.startswith("-v") for word in simple.words)


def _has_pattern(word: Word) -> bool:
    """Say whether it has characters outside of quotes that a shell may expand to file names."""
    return any(isinstance(part, Text) and not part.quoted and _SPECIAL.search(part.text) for part in word.parts)
