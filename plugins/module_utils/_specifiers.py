# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `%` specifiers of unit files.

This module util is private to the collectors. A specifier whose value can not
be told from the files is never guessed: what it stands in is Incomparable.
"""

from __future__ import annotations

import os
import typing as t

from ._accounts import Account, group_name
from ._observation import Absent, Incomparable, NotAttempted
from ._root import BOOT_ID, HostRoot
from ._unit_name import UnitName, unescape
from ._unit_paths import UnitFiles

ROOT_ACCOUNT = Account("root", 0, 0, "/root")
# Of the system's manager; a user's follow variables of that user's session.
SYSTEM_FOLDERS = {
    "C": "/var/cache",
    "E": "/etc",
    "L": "/var/log",
    "S": "/var/lib",
    "T": "/tmp",
    "V": "/var/tmp",
    "t": "/run",
}
ARCHITECTURES = {"x86_64": "x86-64", "aarch64": "arm64"}
ABOUT_THE_NAME = "nNpPjJ"


class Specifiers:
    """Replaces specifiers for one unit. `account` is the user whose manager runs it, None for the system's."""

    def __init__(self, root: HostRoot, files: UnitFiles, account: t.Optional[Account]) -> None:
        self._root = root
        self._files = files
        self._name = files.name
        self._user = account
        self._account = account or ROOT_ACCOUNT
        self._known: dict[str, str] = {}

    def expand(self, text: str) -> str:
        """Replace the specifiers of a word. Raises a LookError that names the first one without a value."""
        done: list[str] = []
        position = 0
        while position < len(text):
            letter = text[position]
            follows = text[position + 1 : position + 2]
            if letter != "%" or not follows:
                done.append(letter)
                position += 1
            elif follows.isascii() and follows.isalnum():
                done.append(self._value(follows))
                position += 2
            else:
                done.append("%" if follows == "%" else letter + follows)
                position += 2
        return "".join(done)

    def _value(self, letter: str) -> str:
        if letter not in self._known:
            try:
                value = self._look_up(letter)
            except Absent as error:
                raise Incomparable("%%%s: %s" % (letter, error.why)) from None
            except NotAttempted as error:
                raise NotAttempted("%%%s: %s" % (letter, error.why)) from None
            if value is None:
                raise Incomparable("%%%s: its value is not told by the unit's files" % letter)
            self._known[letter] = value
        return self._known[letter]

    def _look_up(self, letter: str) -> t.Optional[str]:
        """Give a specifier's value, or None for one that is unknown here."""
        if letter in ABOUT_THE_NAME and self._files.asked != self._name:
            raise Incomparable("%%%s: depends on which of the unit's names was loaded first" % letter)
        if letter in "nNpPiIjJf":
            return _of_name(letter, self._name)
        if letter in "yY":
            return self._files.fragment if letter == "y" else os.path.dirname(self._files.fragment)
        if letter in "uUgGh":
            return self._of_account(letter)
        if letter in SYSTEM_FOLDERS:
            return self._of_folder(letter)
        return self._of_machine(letter)

    def _of_folder(self, letter: str) -> t.Optional[str]:
        if self._user is None:
            return SYSTEM_FOLDERS[letter]
        return "/run/user/%d" % self._user.uid if letter == "t" else None

    def _of_account(self, letter: str) -> str:
        account = self._account
        if letter == "g":
            return "root" if account.gid == 0 else group_name(self._root, account.gid)
        return {"u": account.name, "U": str(account.uid), "G": str(account.gid), "h": account.home}[letter]

    def _of_machine(self, letter: str) -> t.Optional[str]:
        if letter == "m":
            return self._line("/etc/machine-id")
        if letter == "b":
            return self._line(BOOT_ID).replace("-", "")
        if letter in "Hl":
            host = self._line("/proc/sys/kernel/hostname")
            return host if letter == "H" else host.split(".")[0]
        if letter == "v":
            return self._line("/proc/sys/kernel/osrelease")
        if letter == "a":
            return ARCHITECTURES.get(self._line("/proc/sys/kernel/arch"))
        return None

    def _line(self, path: str) -> str:
        return self._root.text(path).strip()


def _of_name(letter: str, name: UnitName) -> str:
    last = name.prefix.rpartition("-")[2]
    instance = name.instance or ""
    values = {
        "n": str(name),
        "N": name.stem,
        "p": name.prefix,
        "P": unescape(name.prefix),
        "i": instance,
        "I": unescape(instance),
        "j": last,
        "J": unescape(last),
        "f": "/" + unescape(instance or name.prefix).lstrip("/"),
    }
    return values[letter]
