# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a just-in-time cache by the rules of its kind.

This module util is private to the collectors. A cache is listed, its identity
hashed, and listed again. What is volatile may come and go meanwhile; of
identity, a change is told apart from growth: a server that warms up adds
kernels and alters none.
"""

from __future__ import annotations

import dataclasses
import os

from ._jit_rules import CacheRules
from ._names import shown
from ._observation import LookError, Unparsable, Unstable
from ._root import HostRoot
from ._trees import Entry, Walk, digest_of, hash_entries, walk

FILE_LIMIT = 50000


@dataclasses.dataclass(frozen=True)
class Scan:
    """What a cache holds. Names are shown names; `digest` is "" where a fault leaves it unknown.

    `unknown` are names that no rule speaks of (they count as identity).
    """

    entries: dict[str, str]
    faults: dict[str, LookError]
    digest: str
    volatile: dict[str, int]
    unknown: list[str]
    changed_at: float


def scan(root: HostRoot, path: str, rules: CacheRules) -> Scan:
    """Read a cache. Raises a LookError: Unparsable where it holds no identity, Unstable where it moved."""
    before = walk(root, path, limit=FILE_LIMIT)
    identity, volatile = _told_apart(before, rules)
    faults = _faults(before, rules)
    if rules.none_is_identity:
        if not before.entries:
            raise Unparsable("%s: is empty" % path)
        return Scan({}, {}, "", volatile, [], 0.0)
    if not identity and not faults:
        raise Unparsable("%s: holds nothing that is identity, %d files in all" % (path, len(before.entries)))
    values, unread = hash_entries(root, path, identity)
    _need_same(path, identity, _told_apart(walk(root, path, limit=FILE_LIMIT), rules)[0])
    faults.update({shown(name): error for name, error in unread.items()})
    return Scan(
        entries={shown(name): values[name] for name in sorted(values, key=os.fsencode)},
        faults=faults,
        digest="" if faults else digest_of(identity, values),
        volatile=volatile,
        unknown=[shown(name) for name in sorted(identity) if not rules.is_known(shown(name))],
        changed_at=max((entry.changed_at for entry in identity.values()), default=0.0),
    )


def _told_apart(found: Walk, rules: CacheRules) -> tuple[dict[str, Entry], dict[str, int]]:
    """Give the entries that are identity, and how many are not, by reason."""
    identity: dict[str, Entry] = {}
    volatile: dict[str, int] = {}
    for name, entry in found.entries.items():
        reason = rules.reason(shown(name))
        if reason:
            volatile[reason] = volatile.get(reason, 0) + 1
        else:
            identity[name] = entry
    return identity, volatile


def _faults(found: Walk, rules: CacheRules) -> dict[str, LookError]:
    """Give the faults that concern identity; a name below stands for all files of a folder that cannot be read."""
    return {
        shown(name): error
        for name, error in found.faults.items()
        if not rules.reason(shown(name)) and not rules.reason(shown(name) + "/-")
    }


def _need_same(path: str, before: dict[str, Entry], after: dict[str, Entry]) -> None:
    for name in sorted(before):
        if after.get(name) != before[name]:
            raise Unstable("%s: changed while it was read (%s)" % (path, shown(name)))
    new = sorted(set(after) - set(before))
    if new:
        raise Unstable(
            "%s: grew while it was read (%d new, first %s); look again when it has settled"
            % (path, len(new), shown(new[0]))
        )
