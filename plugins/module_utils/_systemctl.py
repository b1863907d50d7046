# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the service manager what it has loaded, and reading its answers.

This module util is private to the collectors. `systemctl show` prints one
property a line; lists are joined by blanks with words quoted where needed,
command lines are joined by blanks without any quoting.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Denied, LookError, NoTool, Unparsable
from ._root import HostRoot
from ._tools import ToolAnswer, ask
from ._unit_words import BadQuoting, take_word

PROPERTIES = (
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "FragmentPath",
    "DropInPaths",
    "NeedDaemonReload",
    "MainPID",
    "NRestarts",
    "InvocationID",
    "ExecStart",
    "Environment",
)
_PROPERTY = re.compile(r"(%s)=" % "|".join(PROPERTIES))
_COMMAND = re.compile(
    r"\{ path=(?P<path>.*?) ; argv\[\]=(?P<argv>.*) ; (?:ignore_errors|flags)=(?P<flags>[^;]*)"
    r" ; start_time=\[(?P<start>[^\]]*)\] ; stop_time=\[[^\]]*\] ; pid=\d+ ; code=[^;]* ; status=[^;]* \}",
    re.DOTALL,
)
# A word of a list that an older systemctl could not print.
_UNPRINTABLE = "[unprintable]"
_NO_MANAGER = ("not been booted with systemd", "Failed to connect to bus", "Failed to get D-Bus connection")
_DENIED = ("Access denied", "Permission denied", "Interactive authentication required")


@dataclasses.dataclass(frozen=True)
class Command:
    """A loaded command: its program, and program and arguments joined by blanks as printed."""

    program: str
    joined: str


def show(root: HostRoot, unit: str, environment: t.Optional[dict[str, str]] = None) -> dict[str, list[str]]:
    """Give the properties of a unit as loaded; every one that was printed, with its values in order.

    With `environment` the user's manager is asked that it leads to. Raises a LookError.
    """
    scope = ["--user"] if environment is not None else []
    argv = ["systemctl", *scope, "show", "--no-pager", "-p", ",".join(PROPERTIES), "--", unit]
    return parse_show(answered(ask(root, argv, environment=environment)))


def list_active(root: HostRoot, pattern: str) -> dict[str, str]:
    """Give the active services whose names fit a pattern, with their sub-state. Raises a LookError."""
    terms = ["--no-pager", "--plain", "--no-legend", "--full", "--state=active", "--type=service"]
    return parse_list(answered(ask(root, ["systemctl", "list-units", *terms, "--", pattern])))


def answered(answer: ToolAnswer) -> str:
    """Give the text of an answer. Raises NoTool without a manager to ask, Denied, or Unparsable in its own words."""
    words = _words(answer.out) + " " + _words(answer.err)
    if any(text in words for text in _NO_MANAGER):
        raise NoTool("systemctl: no service manager to ask: %s" % words.strip())
    if answer.code != 0:
        failure: type[LookError] = Denied if any(text in words for text in _DENIED) else Unparsable
        raise failure("systemctl: ended with %d: %s" % (answer.code, words.strip() or "no word why"))
    return answer.out.decode("utf-8", "surrogateescape")


def _words(data: bytes) -> str:
    """Give the beginning of what a tool printed, in one line."""
    return " ".join(data[:2000].decode("utf-8", "replace").split())[:300]


def parse_show(text: str) -> dict[str, list[str]]:
    """Parse what `show` prints of one unit. Raises Unparsable.

    Values may hold line ends: a line that starts no property belongs to the one before.
    """
    found: dict[str, list[str]] = {}
    last: t.Optional[list[str]] = None
    for line in text.split("\n"):
        match = _PROPERTY.match(line)
        if match is not None:
            last = found.setdefault(match.group(1), [])
            last.append(line[match.end() :])
        elif last is not None:
            last[-1] += "\n" + line
        elif line:
            raise Unparsable("systemctl show: the answer does not begin with a property")
    for name, values in found.items():
        found[name] = values = [value.rstrip("\n") for value in values]
        if len(values) > 1 and name != "ExecStart":
            raise Unparsable("systemctl show: property %s is printed %d times" % (name, len(values)))
    if not found.get("Id", [""])[0] or not found.get("LoadState", [""])[0]:
        raise Unparsable("systemctl show: the answer does not tell Id and LoadState")
    return found


def parse_words(text: str, what: str) -> list[str]:
    """Split a printed list into its words. Raises Unparsable."""
    words: list[str] = []
    position = 0
    while True:
        try:
            word, position = take_word(text, position, extra="$`")
        except BadQuoting as error:
            raise Unparsable("systemctl show: %s: %s" % (what, error)) from None
        if word is None:
            return words
        if word == _UNPRINTABLE:
            raise Unparsable("systemctl show: %s: holds a value that systemctl can not print" % what)
        words.append(word)


def parse_command(value: str) -> Command:
    """Parse a printed ExecStart. Raises Unparsable."""
    match = _COMMAND.fullmatch(value)
    if match is None:
        raise Unparsable("systemctl show: ExecStart is not in the format of systemctl")
    return Command(match.group("path"), match.group("argv"))


def parse_environment(text: str) -> dict[str, str]:
    """Parse a printed Environment. Raises Unparsable."""
    found: dict[str, str] = {}
    for word in parse_words(text, "Environment"):
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Unparsable("systemctl show: Environment holds a word that is no assignment")
        found[name] = value
    return found


def parse_yes_no(text: str, what: str) -> bool:
    """Parse a printed truth value. Raises Unparsable."""
    if text not in ("yes", "no"):
        raise Unparsable("systemctl show: %s is neither yes nor no" % what)
    return text == "yes"


def parse_number(text: str, what: str) -> int:
    """Parse a printed number. Raises Unparsable."""
    if not text.isascii() or not text.isdecimal():
        raise Unparsable("systemctl show: %s is not a number" % what)
    return int(text)


def parse_list(text: str) -> dict[str, str]:
    """Parse what `list-units` prints: name, load, active and sub-state, description. Raises Unparsable."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split(None, 4)
        if not fields:
            continue
        if len(fields) < 4 or fields[2] != "active" or "." not in fields[0]:
            raise Unparsable("systemctl list-units: line %d is not in its format" % number)
        if fields[0] in found:
            raise Unparsable("systemctl list-units: %s is listed twice" % fields[0])
        found[fields[0]] = fields[3]
    return found
