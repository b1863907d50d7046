# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading an argument vector by option instead of by position.

This module util is private to the collectors. It knows no program's own
options, so that it goes by one rule for all of them:

- `--name=value` and `--name value` are the same; a bare word after an option is
  that option's value, and any further bare words are positionals.
- A token that starts with `-` and a digit (`-1`, `-.5`) is a value, as is `-`
  alone; `--` ends the options.
- Options are named without dashes. In long names underscores count as dashes,
  up to the first dot: what follows a dot is a key of a JSON value.
- An option without a value is true; one that is repeated is a list, in order.
- A value that is a JSON object or list, given once, is JSON; JSON that parsers
  could read differently (duplicate keys, numbers beyond a float) stays text.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._strict_json import loads

_INTERPRETER = re.compile(r"(python)[0-9.]*|(?:ba|da)?(sh)|(node)|(perl)|(env)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclasses.dataclass(frozen=True)
class Argv:
    """Arguments by option: text, True, or a list of those; JSON values apart; the rest in order."""

    options: dict[str, t.Any]
    json: dict[str, t.Any]
    positionals: list[str]


@dataclasses.dataclass(frozen=True)
class Invocation:
    """A command line taken apart: `interpreter` is empty unless the program is a script or module of one."""

    program: str
    interpreter: list[str]
    arguments: list[str]

    @property
    def name(self) -> str:
        """The last path component of the program."""
        return self.program.rsplit("/", 1)[-1]


@dataclasses.dataclass(frozen=True)
class _Grammar:
    """The options of an interpreter that matter for finding the script after them."""

    takes_value: str
    code: str
    module: str = ""
    long_takes_value: tuple[str, ...] = ()
    long_code: tuple[str, ...] = ()


_GRAMMARS = {
    "python": _Grammar("WX", "c", "m", ("--check-hash-based-pycs",)),
    "sh": _Grammar("oO", "cs", "", ("--rcfile", "--init-file")),
    "node": _Grammar("rC", "ep", "", ("--require", "--import", "--loader", "--conditions"), ("--eval", "--print")),
    "perl": _Grammar("IMm", "eE"),
    "env": _Grammar("uC", "S", "", ("--unset", "--chdir"), ("--split-string",)),
}


def parse(arguments: list[str]) -> Argv:
    """Take arguments (without the program) apart by the rule above; any list of texts can be."""
    given: dict[str, list[t.Any]] = {}
    positionals: list[str] = []
    position = 0
    while position < len(arguments):
        token = arguments[position]
        position += 1
        if token == "--":
            positionals.extend(arguments[position:])
            break
        name, attached = _option(token)
        if not name:
            positionals.append(token)
        elif attached is not None:
            given.setdefault(name, []).append(attached)
        elif position < len(arguments) and _is_value(arguments[position]):
            given.setdefault(name, []).append(arguments[position])
            position += 1
        else:
            given.setdefault(name, []).append(True)
    return _sorted_out(given, positionals)


def _is_value(token: str) -> bool:
    return token != "--" and not _option(token)[0]


def _option(token: str) -> tuple[str, str | None]:
    """Give an option's name and the value attached to it; the name is empty for what is no option."""
    digits = token[1:2] if token[1:2] != "." else token[2:3]
    if not token.startswith("-") or (digits and digits in "0123456789"):
        return "", None
    name, equals, value = token.partition("=")
    name = name.lstrip("-")
    if token.startswith("--"):
        head, dot, tail = name.partition(".")
        name = head.replace("_", "-") + dot + tail
    return name, value if equals else None


def _sorted_out(given: dict[str, list[t.Any]], positionals: list[str]) -> Argv:
    options: dict[str, t.Any] = {}
    structured: dict[str, t.Any] = {}
    for name, values in given.items():
        found = json_value(values[0]) if len(values) == 1 and isinstance(values[0], str) else None
        if found is not None:
            structured[name] = found
        else:
            options[name] = values[0] if len(values) == 1 else values
    return Argv(options, structured, positionals)


def json_value(text: str) -> t.Any:
    """Give the JSON object or list that a text is, or None for anything else."""
    if text.strip()[:1] not in ("{", "["):
        return None
    try:
        return loads(text)
    except ValueError:
        return None


def invocation(argv: list[str]) -> Invocation:
    """Find the program of a whole argument vector: argument 0, or the script where that is an interpreter.

    Code on the command line (`-c`) and an interpreter alone leave the interpreter as the program.
    """
    plain = Invocation(argv[0], [], argv[1:]) if argv else Invocation("", [], [])
    kind = _INTERPRETER.fullmatch(plain.name)
    if kind is None:
        return plain
    family = t.cast("str", kind.group(kind.lastindex or 0))
    start = _script(argv, _GRAMMARS[family], family)
    if start is None or argv[start] in ("", "-"):
        return plain
    if family == "env":
        inner = invocation(argv[start:])
        return Invocation(inner.program, argv[:start] + inner.interpreter, inner.arguments)
    return Invocation(argv[start], argv[:start], argv[start + 1 :])


def _script(argv: list[str], grammar: _Grammar, family: str) -> int | None:
    """Give the index of the script or module among an interpreter's arguments, None where there is none."""
    position = 1
    while position < len(argv):
        token = argv[position]
        if family == "env" and _ASSIGNMENT.match(token):
            position += 1
            continue
        if token == "--":
            position += 1
            break
        if len(token) < 2 or token[0] not in ("-+" if family == "sh" else "-"):
            break
        step = _long(token, grammar) if token.startswith("--") else _cluster(token, grammar)
        if step is None:
            return None
        position += abs(step)
        if step < 0:
            break
    return position if position < len(argv) else None


def _long(token: str, grammar: _Grammar) -> int | None:
    name = token.partition("=")[0]
    if name in grammar.long_code:
        return None
    return 2 if token in grammar.long_takes_value else 1


def _cluster(token: str, grammar: _Grammar) -> int | None:
    """Give how many tokens a cluster of short options takes; negative: the next is the program, None: code."""
    for index, letter in enumerate(token[1:], 2):
        if letter in grammar.code:
            return None
        if letter in grammar.module:
            # A module that is attached (`-mpackage`) is left to the interpreter as it stands.
            return -1 if index == len(token) else None
        if letter in grammar.takes_value:
            return 2 if index == len(token) else 1
    return 1


__all__ = ["Argv", "Invocation", "invocation", "json_value", "parse"]
