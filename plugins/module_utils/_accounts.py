# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking a user up in a tree's own user database.

This module util is private to the collectors. Only the files are read: users
that come from a directory service are not found, and that is said.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ._observation import Incomparable
from ._root import HostRoot


@dataclasses.dataclass(frozen=True)
class Account:
    """One user."""

    name: str
    uid: int
    gid: int
    home: str


def accounts(root: HostRoot) -> t.Iterator[Account]:
    """Give the users of /etc/passwd; lines that are no user are passed over. Raises a LookError."""
    for line in root.read("/etc/passwd").decode("utf-8", "replace").splitlines():
        fields = line.split(":")
        if len(fields) >= 7 and fields[2].isdecimal() and fields[3].isdecimal():
            yield Account(fields[0], int(fields[2]), int(fields[3]), fields[5])


def account_named(root: HostRoot, name: str) -> Account:
    """Give the user of this name. Raises Incomparable when the file does not know it."""
    for account in accounts(root):
        if account.name == name:
            return account
    raise Incomparable("/etc/passwd: no user '%s'" % name)


def account_of(root: HostRoot, uid: int) -> Account:
    """Give the user of this number. Raises Incomparable when the file does not know it."""
    for account in accounts(root):
        if account.uid == uid:
            return account
    raise Incomparable("/etc/passwd: no user with number %d" % uid)


def group_name(root: HostRoot, gid: int) -> str:
    """Give the name of a group. Raises Incomparable when the file does not know it."""
    for line in root.read("/etc/group").decode("utf-8", "replace").splitlines():
        fields = line.split(":")
        if len(fields) >= 4 and fields[2] == str(gid):
            return fields[0]
    raise Incomparable("/etc/group: no group with number %d" % gid)
