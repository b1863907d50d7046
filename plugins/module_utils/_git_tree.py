# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a git work tree holds that its last commit does not, submodules included.

This module util is private to the collectors. Git compares contents where the
index's times do not already say that nothing moved. No filter runs for that:
a file that has one, and moved, cannot be told; neither can one that the index
says to take for unchanged.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import posixpath
import typing as t

from ._git import Repository
from ._names import shown_bytes
from ._observation import LookError, Unparsable

SLOW_S = 60.0
INDEX_LIMIT = 64 << 20
SUBMODULE_DEPTH = 5
UNTRACKED_LIMIT = 20000
ATTRIBUTES_AT_ONCE = 200
_CLEAR_FLAGS = "git update-index --no-assume-unchanged --no-skip-worktree clears that"


@dataclasses.dataclass
class TreeState:
    """By path: git's two letters of what is modified, "?" for what is untracked, and what could not be told."""

    modified: dict[str, str] = dataclasses.field(default_factory=dict)
    untracked: dict[str, str] = dataclasses.field(default_factory=dict)
    untold: dict[str, LookError] = dataclasses.field(default_factory=dict)
    untracked_untold: LookError | None = None


def tree_state(repository: Repository, depth: int = 0) -> TreeState:
    """Look at a work tree. Raises a LookError where nothing of it can be told."""
    _check_index(repository)
    state = TreeState()
    submodules = _index_flags(repository, state)
    _set_filtered_aside(repository, state, _read_status(repository, state))
    try:
        _read_untracked(repository, state)
    except LookError as error:
        state.untracked_untold = error
    for path in submodules:
        _add_submodule(repository, path, state, depth)
    return state


def _check_index(repository: Repository) -> None:
    """Refuse an index that git would touch or take as it is.

    Git sets the time of a split index's shared part when it reads it, and there
    is no way to keep it from doing so. It does not check the index's sum.
    """
    names = repository.root.listdir(repository.git_dir)
    if "index" not in names:
        return
    data = repository.root.read(posixpath.join(repository.git_dir, "index"), limit=INDEX_LIMIT)
    if b"link" in data and any(name.startswith("sharedindex.") for name in names):
        raise Unparsable(
            "%s: its index is split, and git would touch the shared part in reading it; "
            "join it with `git update-index --no-split-index`" % repository.path
        )
    sums = [(20, "sha1"), (32, "sha256")]
    fits = any(hashlib.new(name, data[:-size], usedforsecurity=False).digest() == data[-size:] for size, name in sums)
    # Without a sum (index.skipHash) zeros stand in its place.
    if not fits and data[-20:] != bytes(20):
        raise Unparsable("%s: the index does not have its own sum: it is damaged" % repository.path)


def _index_flags(repository: Repository, state: TreeState) -> list[bytes]:
    """Record the paths that git does not look at; the answer are the submodules."""
    submodules = []
    for item in repository.run("ls-files", "-z", "-s", "-v", timeout=SLOW_S).split(b"\0"):
        if not item:
            continue
        head, _, name = item.partition(b"\t")
        fields = head.split(b" ")
        if len(fields) != 4:
            raise Unparsable("%s: git ls-files answered in another format" % repository.path)
        if fields[0].islower() or fields[0] == b"S":
            path = shown_bytes(name)
            state.untold[path] = Unparsable("%s: the index says not to look at it (%s)" % (path, _CLEAR_FLAGS))
        if fields[1] == b"160000":
            submodules.append(name)
    return submodules


def _read_status(repository: Repository, state: TreeState) -> list[bytes]:
    """Record what is modified; the answer are the paths whose content in the work tree differs."""
    arguments = ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=dirty"]
    answer = repository.run(*arguments, options=repository.without_filters(), timeout=SLOW_S)
    differing = []
    for item in answer.split(b"\0"):
        if not item or item.startswith(b"# "):
            continue
        kind = item[:2]
        # `1 XY sub mH mI mW hH hI path` and `u XY sub m1 m2 m3 mW h1 h2 h3 path`.
        fields = item.split(b" ", {b"1 ": 8, b"u ": 10}.get(kind, 0))
        if len(fields) < 9:
            raise Unparsable("%s: git status answered in another format" % repository.path)
        state.modified[shown_bytes(fields[-1])] = fields[1].decode("ascii", "replace")
        if fields[1][1:] == b"M":
            differing.append(fields[-1])
    return differing


def _set_filtered_aside(repository: Repository, state: TreeState, paths: list[bytes]) -> None:
    """Take back what is said of files with a filter: they may only look modified, because it was not run."""
    for start in range(0, len(paths), ATTRIBUTES_AT_ONCE):
        some = [os.fsdecode(path) for path in paths[start : start + ATTRIBUTES_AT_ONCE]]
        words = repository.run("check-attr", "-z", "filter", "--", *some).split(b"\0")
        for at in range(0, len(words) - 2, 3):
            path, value = shown_bytes(words[at]), words[at + 2]
            if value not in (b"unspecified", b"unset"):
                del state.modified[path]
                why = "its content goes through the filter '%s', which is never run" % shown_bytes(value)
                state.untold[path] = Unparsable("%s: moved since the index was written, and %s" % (path, why))


def _read_untracked(repository: Repository, state: TreeState) -> None:
    answer = repository.run("ls-files", "-z", "--others", "--exclude-standard", timeout=SLOW_S)
    names = [shown_bytes(item) for item in answer.split(b"\0") if item]
    if len(names) > UNTRACKED_LIMIT:
        raise Unparsable("%s: %d untracked files, more than are listed" % (repository.path, len(names)))
    state.untracked.update((name, "?") for name in names)


def _add_submodule(repository: Repository, name: bytes, state: TreeState, depth: int) -> None:
    """Add what a submodule's own work tree shows; one that is not checked out shows nothing."""
    where = posixpath.join(repository.work_tree, os.fsdecode(name))
    path = shown_bytes(name)
    try:
        if not repository.root.exists(posixpath.join(where, ".git")):
            return
        if depth >= SUBMODULE_DEPTH:
            raise Unparsable("%s: submodules within submodules, deeper than is followed" % where)
        inner = tree_state(Repository(repository.root, where), depth + 1)
    except LookError as error:
        state.untold[path] = error
        return
    state.modified.update(_below(path, inner.modified))
    state.untracked.update(_below(path, inner.untracked))
    state.untold.update(_below(path, inner.untold))
    state.untracked_untold = state.untracked_untold or inner.untracked_untold


T = t.TypeVar("T")


def _below(path: str, found: dict[str, T]) -> dict[str, T]:
    return {"%s/%s" % (path, name): value for name, value in found.items()}
