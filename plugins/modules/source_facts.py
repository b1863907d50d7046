#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of git repositories: a work tree as it lies on a host, and blobs of a local clone."""

from __future__ import annotations

DOCUMENTATION = r"""
module: source_facts
short_description: Tell which commit a git repository is at, and whether its files are that commit's
version_added: "0.1.0"
description:
  - Reads refs, objects and the index with git's plumbing, without optional locks. Nothing is written, not even the
    index, and nothing that the repository's configuration names is run, be it a file system monitor, a hook, a content
    filter or a transport.
  - C(source) looks at a work tree on a host. C(clone) looks at blobs of a local clone, which says what the source is,
    not what a host holds.
  - Every object that is told has been hashed again, from the commit over its trees to the blobs.
  - A revision may be abbreviated, when only one commit begins with it. Branches and tags of the same name play no part.
  - Environment files are parsed and never sourced.
notes:
  - A file that is under a content filter (Git LFS, for one) and moved since the index was written cannot be told to be
    modified or not. The same holds for files that the index says not to look at, and for a split index, which git
    would touch in reading it.
  - Files are compared with the index by git's rules for line ends. C(same_as_revision) compares bytes.
  - Untracked files are those that the repository's own rules do not ignore; a user's own rules do not count.
author:
  - the pinproof authors
attributes:
  check_mode:
    support: full
    description: This action does not modify state.
  diff_mode:
    support: none
    description: There is nothing to show a difference of.
options:
  kind:
    description: The kind of look.
    type: str
    choices: [source, clone]
    required: true
    version_added: "0.1.0"
  repo:
    description:
      - The work tree, for C(source), or the clone, bare or not, for C(clone).
      - Only a repository in this very folder counts, not one of a folder above it.
    type: path
    required: true
    version_added: "0.1.0"
  revision:
    description:
      - A commit, or an abbreviation of at least four digits that only one commit begins with.
      - Required for C(clone). Where C(source) has none, files are compared with HEAD.
    type: str
    version_added: "0.1.0"
  tags:
    description: Tags to follow to their commit, for C(source).
    type: list
    elements: str
    version_added: "0.1.0"
  files:
    description: Files whose bytes are told, relative to the work tree.
    type: list
    elements: str
    version_added: "0.1.0"
  env_files:
    description: Environment files to parse at the revision, with their dialects, for C(clone).
    type: dict
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: The deploy repository on the head
  source_facts:
    kind: source
    repo: ~/dsv41-deploy
    revision: 21bed31
    tags: [prod-k1-327-20261023]
    files: [dsv41.env, serve.sh, start.sh]

- name: What the source says, from a local clone
  source_facts:
    kind: clone
    repo: ~/clones/dsv41-deploy
    revision: 21bed31
    files: [dsv41.env]
    env_files:
      dsv41.env: shell
"""

RETURN = r"""
ansible_facts:
  description: The observation under C(source_facts).
  returned: always
  type: dict
  contains:
    source_facts:
      description: What was seen; the identity is described here.
      type: dict
      returned: always
      contains:
        branch:
          description: For C(source), the branch that HEAD is on; missing where it is on none.
          type: str
          returned: when HEAD is on a branch
        head:
          description: For C(source), the commit that HEAD leads to.
          type: str
          returned: when there is a commit
        revision:
          description: The one commit that O(revision) means.
          type: str
          returned: when O(revision) is given
        tags:
          description: For C(source), by tag, the commit it leads to.
          type: dict
          returned: for C(source)
        modified:
          description: For C(source), by path, git's two letters of a tracked file that differs from HEAD or the index.
          type: dict
          returned: for C(source)
        untracked:
          description: For C(source), by path, C(?) for a file that is neither tracked nor ignored.
          type: dict
          returned: for C(source)
        files:
          description: By file, C(sha256) of its bytes, and for C(source) C(blob_sha256) of the revision's.
          type: dict
          returned: always
        same_as_revision:
          description: For C(source), by file, whether the bytes on disk are the revision's.
          type: dict
          returned: for C(source)
        settings:
          description: For C(clone), by name, C(value), C(kind) and C(overridable) of the environment files' settings.
          type: dict
          returned: when O(env_files) is given
        malformed:
          description: For C(clone), by line, why a dialect refuses it.
          type: dict
          returned: when O(env_files) is given
"""

import hashlib
import typing as t

from ..module_utils._disclosure import Disclosure
from ..module_utils._env_assignment import Assignment, undecided
from ..module_utils._env_file import deciding, malformed
from ..module_utils._env_looks import add_settings, parse_bytes
from ..module_utils._git import Repository
from ..module_utils._git_tree import tree_state
from ..module_utils._names import leads_out
from ..module_utils._observation import Absent, LookError, Observation, Unparsable, Unstable
from ..module_utils._reading import steady
from ..module_utils._root import HostRoot
from ..module_utils._segments import within


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a repository as the request's kind says. Raises a LookError."""
    if request["kind"] == "clone":
        return _clone(request["params"], root, Disclosure.of(request))
    if request["kind"] == "source":
        return _source(request["params"], root)
    raise Unparsable("source_facts has no look of kind '%s'" % request["kind"])


# -- a work tree on a host -------------------------------------------------
def _source(params: dict[str, t.Any], root: HostRoot) -> Observation:
    repository = Repository(root, params["repo"])
    if not repository.work_tree:
        raise Unparsable("%s: is a bare repository, which has no work tree" % params["repo"])
    observation = Observation("file", "git without locks, filters and hooks; files hashed")
    before = _generation(repository)
    branch, head = repository.head()
    _put(observation, "branch", branch)
    _put(observation, "head", head)
    _add_tags(observation, repository, params.get("tags") or [])
    commit = _revision(observation, repository, params.get("revision"), head)
    _add_tree(observation, repository)
    _add_files(observation, repository, params.get("files") or [], commit)
    if _generation(repository) != before:
        raise Unstable("%s: HEAD or the index moved while they were read" % params["repo"])
    return observation


def _put(observation: Observation, key: str, value: str) -> None:
    if value:
        observation.identity[key] = value


def _generation(repository: Repository) -> tuple[t.Any, ...]:
    """Give what changes when a commit is made, another one is checked out, or something is staged."""
    stats: list[t.Any] = list(repository.head())
    for name in ("HEAD", "index"):
        try:
            info = repository.root.stat("%s/%s" % (repository.git_dir, name))
        except Absent:
            stats.append(None)
        else:
            stats.append((info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
    return tuple(stats)


def _add_tags(observation: Observation, repository: Repository, names: list[str]) -> None:
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = repository.tag(name)
        except Absent as error:
            observation.notes.append(error.why)
        except LookError as error:
            observation.fault(within("tags", name), error)
    observation.identity["tags"] = found
    observation.scope["tags"] = sorted(names)


def _revision(observation: Observation, repository: Repository, text: str | None, head: str) -> t.Union[str, LookError]:
    """Give the commit that files are compared with, or why there is none."""
    if not text:
        return head or Absent("%s: HEAD has no commit" % repository.path)
    try:
        commit = repository.commit(text)
        # Read once, so that a damaged commit is not told as the revision.
        repository.tree_of(commit)
    except LookError as error:
        observation.fault("revision", error)
        return error
    observation.identity["revision"] = commit
    return commit


def _add_tree(observation: Observation, repository: Repository) -> None:
    try:
        state = tree_state(repository)
    except LookError as error:
        observation.fault("modified", error)
        observation.fault("untracked", error)
        return
    observation.identity["modified"] = state.modified
    observation.identity["untracked"] = state.untracked
    for path, untold in state.untold.items():
        observation.fault(within("modified", path), untold)
    if state.untracked_untold is not None:
        observation.fault("untracked", state.untracked_untold)


def _add_files(
    observation: Observation, repository: Repository, names: list[str], commit: t.Union[str, LookError]
) -> None:
    files: dict[str, dict[str, str]] = {}
    same: dict[str, bool] = {}
    latest = 0.0
    for name in names:
        disk, changed_at = _on_disk(repository, name)
        blob = _at_commit(repository, commit, name)
        latest = max(latest, changed_at)
        files[name] = {}
        for key, result in (("sha256", disk), ("blob_sha256", blob)):
            if isinstance(result, str):
                files[name][key] = result
            elif result is commit or not isinstance(result, Absent):
                observation.fault(within("files", name, key), result)
        verdict = commit if isinstance(commit, LookError) else _same(disk, blob)
        if isinstance(verdict, bool):
            same[name] = verdict
        else:
            observation.fault(within("same_as_revision", name), verdict)
    observation.identity["files"] = files
    observation.identity["same_as_revision"] = same
    observation.scope["files"] = sorted(names)
    if latest:
        observation.state["changed_at"] = latest


def _on_disk(repository: Repository, name: str) -> tuple[t.Union[str, LookError], float]:
    """Hash a file of the work tree; also when it, or what leads to it, changed."""
    try:
        if leads_out(name):
            raise Unparsable("%s: leads out of %s" % (name, repository.path))
        root, path = repository.root, "%s/%s" % (repository.work_tree, name)
        fact, taken, _ = steady(root, path, lambda: root.digest(path))
    except LookError as error:
        return error, 0.0
    return fact.sha256, max(fact.changed_at, taken.changed_at)


def _at_commit(repository: Repository, commit: t.Union[str, LookError], name: str) -> t.Union[str, LookError]:
    """Hash a file's blob."""
    if isinstance(commit, LookError):
        return commit
    try:
        if leads_out(name):
            raise Unparsable("%s: leads out of %s" % (name, repository.path))
        return hashlib.sha256(repository.blob(commit, name)).hexdigest()
    except LookError as error:
        return error


def _same(disk: t.Union[str, LookError], blob: t.Union[str, LookError]) -> t.Union[bool, LookError]:
    """Say whether both are there with the same bytes; why not, where one cannot be told or neither is there."""
    for side in (disk, blob):
        if isinstance(side, LookError) and not isinstance(side, Absent):
            return side
    if isinstance(disk, Absent) and isinstance(blob, Absent):
        return blob
    return disk == blob


# -- blobs of a clone ------------------------------------------------------
def _clone(params: dict[str, t.Any], root: HostRoot, disclosure: Disclosure) -> Observation:
    repository = Repository(root, params["repo"])
    commit = repository.commit(params["revision"])
    repository.tree_of(commit)
    observation = Observation("source", "blobs of a local clone, hashed and parsed, never sourced")
    observation.identity["revision"] = commit
    files: dict[str, dict[str, str]] = {}
    for name in params.get("files") or []:
        result = _at_commit(repository, commit, name)
        if isinstance(result, str):
            files[name] = {"sha256": result}
        elif not isinstance(result, Absent):
            observation.fault(within("files", name), result)
        else:
            observation.notes.append(result.why)
    observation.identity["files"] = files
    observation.scope["files"] = sorted(params.get("files") or [])
    if params.get("env_files"):
        _add_env_files(observation, repository, commit, params["env_files"], disclosure)
    return observation


def _add_env_files(
    observation: Observation, repository: Repository, commit: str, dialects: dict[str, str], disclosure: Disclosure
) -> None:
    """Parse environment files of the commit; where several set one name otherwise, it cannot be told."""
    found: list[Assignment] = []
    values: dict[str, Assignment] = {}
    lines: dict[str, str] = {}
    for name, dialect in dialects.items():
        try:
            assignments = parse_bytes(repository.blob(commit, name), "%s at %s" % (name, commit[:12]), dialect)
        except LookError as error:
            for area in ("settings", "malformed"):
                observation.fault(area, error)
            return
        found += assignments
        lines.update(("%s:%s" % (name, line), why) for line, why in malformed(assignments).items())
        for key, item in deciding(assignments).items():
            before = values.setdefault(key, item)
            if (before.value, before.kind, before.raw) != (item.value, item.kind, item.raw):
                found.append(undecided(key, item.line, "more than one of the environment files sets it, not alike"))
    add_settings(observation, found, disclosure)
    if len(dialects) > 1:
        observation.identity["malformed"] = lines
    observation.scope["settings"] = sorted(dialects)
