# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files make up a systemd unit: fragment, drop-ins, aliases, masks.

This module util is private to the collectors. It answers what the service
manager would load, from the files alone: the first folder of the search path
wins, a name may be a link to another unit (an alias), and drop-ins are gathered
over all names and folders, applied in the order of their file names.
"""

from __future__ import annotations

import dataclasses
import os
import typing as t

from ._accounts import Account
from ._observation import Absent, LookError, Unparsable, from_oserror
from ._root import HostRoot
from ._unit_name import ALIASABLE, UnitName

SYSTEM_PATH = (
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/etc/systemd/system.attached",
    "/run/systemd/system",
    "/run/systemd/system.attached",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/run/systemd/generator.late",
)
# {home} and {runtime} are the user's; the folders of XDG variables at their defaults.
USER_PATH = (
    "{home}/.config/systemd/user.control",
    "{runtime}/systemd/user.control",
    "{runtime}/systemd/transient",
    "{runtime}/systemd/generator.early",
    "{home}/.config/systemd/user",
    "/etc/xdg/systemd/user",
    "/etc/systemd/user",
    "{runtime}/systemd/user",
    "/run/systemd/user",
    "{runtime}/systemd/generator",
    "{home}/.local/share/systemd/user",
    "/usr/local/share/systemd/user",
    "/usr/share/systemd/user",
    "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user",
    "{runtime}/systemd/generator.late",
)
FOLLOW_LIMIT = 8


@dataclasses.dataclass(frozen=True)
class UnitFiles:
    """The files of a unit. `name` is the name systemd gives the unit, which an alias is not."""

    name: UnitName
    asked: UnitName
    fragment: str
    masked: bool
    dropins: tuple[str, ...]
    notes: tuple[str, ...]


def search_path(root: HostRoot, account: t.Optional[Account]) -> list[str]:
    """List the folders of the search path that are there, highest first; a folder under two names once."""
    if account is None:
        wanted = list(SYSTEM_PATH)
    else:
        terms = {"home": account.home, "runtime": "/run/user/%d" % account.uid}
        wanted = [pattern.format(**terms) for pattern in USER_PATH]
    found: list[str] = []
    for folder in wanted:
        try:
            resolved = root.resolve(folder)
        except Absent:
            continue
        # With /lib a link to /usr/lib, both names are one folder: keep the one that is no link.
        place = resolved if folder == "/lib/systemd/system" else folder
        if resolved not in [root.resolve(other) for other in found]:
            found.append(place)
    return found


class UnitFinder:
    """Finds the files of units in one search path."""

    def __init__(self, root: HostRoot, folders: t.Sequence[str]) -> None:
        self._root = root
        self._folders = list(folders)
        self._places = {*folders, *(root.resolve(folder) for folder in folders)}
        self._listings: dict[str, list[str]] = {}
        # By unit name: the path of its file, or the name of the unit that it is an alias of.
        self._entries: dict[str, str] = {}
        for folder in self._folders:
            self._add_folder(folder)

    def find(self, asked: UnitName) -> UnitFiles:
        """Find a unit's files. Raises Absent when there is no unit file, or another LookError."""
        if asked.is_template:
            raise Unparsable("%s: a template is no unit; name an instance of it" % asked)
        fragment = self._fragment_of(str(asked))
        if not fragment and asked.is_instance:
            fragment = self._fragment_of(str(asked.template()))
        if not fragment:
            raise Absent(
                "%s: no unit file in %s" % (asked, ", ".join(self._folders) or "any folder of the search path")
            )
        name = UnitName.parse(os.path.basename(fragment))
        if name.is_template and asked.instance:
            name = name.with_instance(asked.instance)
        aliases = self._aliases(fragment, name, asked)
        dropins, notes = self._dropins(name, aliases)
        return UnitFiles(name, asked, fragment, self._is_masked(fragment), tuple(dropins), tuple(notes))

    # -- the map of names ----------------------------------------------------
    def _add_folder(self, folder: str) -> None:
        place = self._root.real(folder)
        for entry in self._list(folder):
            unit = UnitName.maybe(entry)
            if unit is None or entry in self._entries:
                continue
            path = "%s/%s" % (folder, entry)
            target = _link_text("%s/%s" % (place, entry), path)
            if target is None:
                self._entries[entry] = path
                continue
            leads_to = _target(self._root, folder, target)
            if not any(leads_to.startswith(other + "/") for other in self._places):
                # A link to elsewhere, or to /dev/null: the unit's file is the link.
                self._entries[entry] = path
                continue
            named = UnitName.maybe(os.path.basename(leads_to))
            if named is not None and str(named) != entry and _may_alias(unit, named):
                self._entries[entry] = str(named)

    def _fragment_of(self, name: str) -> str:
        """Follow aliases from a name to the path of a unit file; "" for none."""
        for _ in range(FOLLOW_LIMIT):
            entry = self._entries.get(name)
            if entry is None:
                unit = UnitName.maybe(name)
                entry = self._entries.get(str(unit.template())) if unit is not None and unit.is_instance else None
            if entry is None or entry.startswith("/"):
                return entry or ""
            name = entry
        raise Unparsable("%s: its aliases form a loop" % name)

    def _aliases(self, fragment: str, name: UnitName, asked: UnitName) -> list[str]:
        """List the other names of the unit, sorted."""
        found = {str(asked), str(name)}
        for entry in self._entries:
            unit = UnitName.maybe(entry) if entry.endswith("." + name.type) else None
            if unit is None:
                continue
            if unit.is_template and asked.instance:
                unit = unit.with_instance(asked.instance)
            try:
                same = (self._fragment_of(str(unit)) or "") == fragment
            except LookError:
                continue
            if same and (unit.instance or "") == (name.instance or ""):
                found.add(str(unit))
        return sorted(found - {str(name)})

    def _is_masked(self, fragment: str) -> bool:
        """Say whether the unit file is a link to /dev/null, or empty."""
        return is_null_link(self._root, fragment) or self._root.stat(fragment).st_size == 0

    # -- drop-ins ----------------------------------------------------------------
    def _dropins(self, name: UnitName, aliases: list[str]) -> tuple[list[str], list[str]]:
        """List the drop-ins in the order in which they apply, and notes about them."""
        groups = [name.dropin_stems()]
        groups += [UnitName.parse(alias).dropin_stems() for alias in aliases]
        winners: dict[str, tuple[str, int]] = {}
        notes: list[str] = []
        for number, stems in enumerate([*groups, [name.type]]):
            for folder in self._folders:
                for stem in stems:
                    for path in self._conf_files("%s/%s.d" % (folder, stem), stem + ".d" in self._list(folder)):
                        base = os.path.basename(path)
                        have = winners.setdefault(base, (path, number))
                        if have[0] != path and 0 < have[1] < number <= len(aliases):
                            notes.append("%s: a drop-in of this name exists for two aliases of %s" % (base, name))
        return [winners[base][0] for base in sorted(winners, key=os.fsencode)], notes

    def _conf_files(self, folder: str, listed: bool) -> list[str]:
        if not listed:
            return []
        try:
            place = self._root.resolve(folder)
        except Absent:
            return []
        return ["%s/%s" % (place, entry) for entry in self._list(place) if _is_conf(entry)]

    def _list(self, folder: str) -> list[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = self._root.listdir(folder)
            except Absent:
                # Not there, or not a folder: systemd passes over it.
                self._listings[folder] = []
        return self._listings[folder]


def _is_conf(entry: str) -> bool:
    return entry.endswith(".conf") and not entry.startswith(".")


def _may_alias(link: UnitName, target: UnitName) -> bool:
    """Say whether systemd takes a link of this name to that name for an alias."""
    if link.type != target.type or link.type not in ALIASABLE:
        return False
    if link.is_instance:
        return target.is_template or target.instance == link.instance
    return link.is_template == target.is_template and not target.is_instance


def _link_text(real: str, path: str) -> t.Optional[str]:
    """Give the text of the link at `real`, which is `path` in the tree, or None for what is no link."""
    try:
        return os.readlink(real) if os.path.islink(real) else None
    except OSError as error:
        raise from_oserror(error, path) from None


def _target(root: HostRoot, folder: str, target: str) -> str:
    """Give where a link leads in one step, its folders resolved; what is missing on the way may be missing."""
    path = target if target.startswith("/") else "%s/%s" % (folder, target)
    try:
        return root.resolve(path, follow_last=False)
    except Absent:
        return os.path.normpath(path)


def is_null_link(root: HostRoot, path: str) -> bool:
    """Say whether a path is a link that leads to /dev/null, be it there (on a host) or not (in a replica)."""
    for _ in range(FOLLOW_LIMIT):
        if path == "/dev/null":
            return True
        try:
            target = _link_text(root.real(path, follow_last=False), path)
        except Absent:
            return False
        if target is None:
            return False
        path = _target(root, os.path.dirname(path), target)
    return False


def same_files(root: HostRoot, files: UnitFiles, account: t.Optional[Account]) -> bool:
    """Say whether the same files make up the unit still."""
    try:
        return UnitFinder(root, search_path(root, account)).find(files.asked) == files
    except Absent:
        return False
