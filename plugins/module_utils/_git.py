# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a git repository without writing to it, and without running what its configuration names.

This module util is private to the collectors. The repository is named to git
outright, so that neither a parent folder's repository nor another owner of the
folder plays a part. Every object is hashed again: what git gives for an id is
told only when it has that id. `_git_tree` reads work trees with it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import posixpath
import re
import stat as stat_module
import typing as t

from ._names import shown_bytes
from ._observation import Absent, Denied, Unparsable
from ._root import HostRoot
from ._tools import ToolAnswer, ask

ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # Versions that do not know the former find no protocol to fetch by.
    "GIT_ALLOW_PROTOCOL": "none",
    # A replaced object has another content under the same id.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    # Git refuses configurations that say `~` where there is no home; in this one there is nothing to read.
    "HOME": "/nonexistent",
}
_CONFIGURATION = (
    # Empty rather than "false": older versions take any other text for a program.
    "core.fsmonitor=",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "safe.directory=*",
    # What would hide changes from a look at the work tree.
    "core.checkStat=default",
    "core.trustctime=true",
    "core.fileMode=true",
    "core.ignoreCase=false",
    "core.autocrlf=false",
)
OPTIONS = [word for setting in _CONFIGURATION for word in ("-c", setting)]
OPTIONS += ["--no-optional-locks", "--no-pager", "--literal-pathspecs"]
DENIED = b"Permission denied"
MISSING = b"could not get object info"
CANDIDATE_LIMIT = 64
TAG_DEPTH = 10
_HEX = re.compile(r"[0-9a-f]+")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FILTER = re.compile(r"filter\.(.+)\.[^.]+", re.DOTALL)
_TAG_NAME = re.compile(r"(?!-)(?:(?!\.\.|@\{|//|/\.)[^\x00-\x20~^:?*\[\\\x7f])+(?<![./])")


@dataclasses.dataclass(frozen=True)
class TreeEntry:
    """An entry of a tree: mode ("100644", "120000", "40000", "160000") and id."""

    mode: str
    oid: str


class Repository:
    """A repository below `path`. All paths are in the terms of the root; `work_tree` is "" for a bare one."""

    def __init__(self, root: HostRoot, path: str) -> None:
        self.root = root
        self.path = path
        self.git_dir, self.work_tree = _find(root, path)
        self._filters: list[str] | None = None

    # -- asking git --------------------------------------------------------
    def ask(self, *arguments: str, options: t.Sequence[str] = (), timeout: float = 8.0) -> ToolAnswer:
        """Run git on this repository and give its answer, whatever it is. `options` stand before the command."""
        real = self.root.real(self.work_tree or self.git_dir)
        argv = ["git", *OPTIONS, "-C", real, "--git-dir", self.root.real(self.git_dir)]
        if self.work_tree:
            argv += ["--work-tree", real]
        return ask(self.root, [*argv, *options, *arguments], timeout, ENVIRONMENT, real_in_replica=True)

    def run(self, *arguments: str, options: t.Sequence[str] = (), timeout: float = 8.0) -> bytes:
        """Run git and give its output. Raises a LookError where git fails."""
        answer = self.ask(*arguments, options=options, timeout=timeout)
        # Git goes on without a folder that it may not read, and only warns.
        if answer.code != 0 or DENIED in answer.err:
            raise self.failure(answer, arguments[0])
        return answer.out

    def failure(self, answer: ToolAnswer, command: str) -> Denied | Unparsable:
        """Make the error of an answer that git gave none in."""
        lines = answer.err.decode("utf-8", "backslashreplace").strip().splitlines()
        said = lines[0][:300] if lines else "it said nothing"
        text = "%s: git %s ended with %d: %s" % (self.path, command, answer.code, said)
        return Denied(text + "; read it as its owner") if DENIED in answer.err else Unparsable(text)

    def without_filters(self) -> list[str]:
        """Give the options that switch off every filter that the configuration names. Raises a LookError."""
        if self._filters is None:
            answer = self.ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
            if answer.code not in (0, 1):
                raise self.failure(answer, "config")
            names = set()
            for key in answer.out.decode("utf-8", "surrogateescape").split("\0"):
                match = _FILTER.fullmatch(key)
                if match:
                    names.add(match.group(1))
            self._filters = [word for name in sorted(names) for word in _switched_off(self.path, name)]
        return self._filters

    # -- objects -----------------------------------------------------------
    def kind_of(self, oid: str) -> str:
        """Give an object's kind ("commit", "tag", ...), or "" where it is not there."""
        answer = self.ask("cat-file", "-t", oid)
        if answer.code == 0:
            return answer.out.decode("ascii", "replace").strip()
        if MISSING in answer.err and len(answer.err.strip().splitlines()) == 1:
            return ""
        raise self.failure(answer, "cat-file")

    def read(self, kind: str, oid: str) -> bytes:
        """Read an object and check that it has its id. Raises Unparsable where it has not."""
        if not _ID.fullmatch(oid):
            raise Unparsable("%s: '%s' is no object id" % (self.path, oid))
        data = self.run("cat-file", kind, oid)
        whole = b"%s %d\0" % (kind.encode("ascii"), len(data)) + data
        name = "sha1" if len(oid) == 40 else "sha256"
        if hashlib.new(name, whole, usedforsecurity=False).hexdigest() != oid:
            raise Unparsable("%s: object %s does not have its own id: the repository is damaged" % (self.path, oid))
        return data

    def commit(self, text: str) -> str:
        """Give the one commit that a full or abbreviated id means.

        Raises Absent where there is none, Unparsable where there are several. A
        branch or tag of that name plays no part.
        """
        prefix = text.lower()
        if len(prefix) < 4 or len(prefix) > 64 or not _HEX.fullmatch(prefix):
            raise Unparsable("%s: '%s' is no commit id of at least four hexadecimal digits" % (self.path, text))
        found = self.run("rev-parse", "--disambiguate=" + prefix).decode("ascii", "replace").split()
        if len(found) > CANDIDATE_LIMIT:
            raise Unparsable("%s: %s abbreviates %d objects: give more digits" % (self.path, text, len(found)))
        commits = [oid for oid in sorted(set(found)) if self.kind_of(oid) == "commit"]
        if not commits:
            self._need_objects(prefix)
            raise Absent("%s: no commit %s in this repository" % (self.path, text))
        if len(commits) > 1:
            raise Unparsable("%s: %s is ambiguous: %s; give more digits" % (self.path, text, ", ".join(commits[:5])))
        return commits[0]

    def _need_objects(self, prefix: str) -> None:
        """Raise Denied where objects that begin with `prefix` could not have been seen: git does not say so."""
        objects = posixpath.join(self._common_dir(), "objects")
        names = self.root.listdir(objects)
        for name in ("pack", prefix[:2]):
            if name in names:
                self.root.listdir(posixpath.join(objects, name))

    def _common_dir(self) -> str:
        """Give the git folder that holds objects and refs; for a further work tree it is another one."""
        try:
            text = self.root.text(posixpath.join(self.git_dir, "commondir")).strip()
        except Absent:
            return self.git_dir
        return self.root.resolve(posixpath.join(self.git_dir, text))

    def tree_of(self, commit: str) -> str:
        """Give the id of a commit's tree."""
        first = self.read("commit", commit).split(b"\n", 1)[0].decode("ascii", "replace")
        if not first.startswith("tree "):
            raise Unparsable("%s: commit %s names no tree" % (self.path, commit))
        return first[len("tree ") :]

    def entries(self, tree: str) -> dict[bytes, TreeEntry]:
        """Give a tree's entries by name."""
        data = self.read("tree", tree)
        found: dict[bytes, TreeEntry] = {}
        size = len(tree) // 2
        position = 0
        while position < len(data):
            end = data.find(b"\0", position)
            mode, _, name = data[position:end].partition(b" ")
            position = end + 1 + size
            if end < 0 or not name or position > len(data):
                raise Unparsable("%s: tree %s is damaged" % (self.path, tree))
            found[name] = TreeEntry(mode.decode("ascii", "replace"), data[end + 1 : position].hex())
        return found

    def blob(self, commit: str, name: str) -> bytes:
        """Give the bytes of a regular file at a commit. Raises Absent, or Unparsable for what is none."""
        what = "%s: %s at %s" % (self.path, name, commit[:12])
        entry = TreeEntry("40000", self.tree_of(commit))
        for part in name.encode("utf-8", "surrogateescape").split(b"/"):
            if entry.mode != "40000":
                raise Absent("%s: not there" % what)
            below = self.entries(entry.oid)
            if part not in below:
                raise Absent("%s: not there" % what)
            entry = below[part]
        if entry.mode not in ("100644", "100755", "100664"):
            kind = {"40000": "a folder", "120000": "a symbolic link", "160000": "a submodule"}
            raise Unparsable("%s: is %s" % (what, kind.get(entry.mode, "no regular file")))
        return self.read("blob", entry.oid)

    # -- refs --------------------------------------------------------------
    def head(self) -> tuple[str, str]:
        """Give HEAD's branch ("" when detached) and commit ("" on a branch without commits)."""
        answer = self.ask("symbolic-ref", "-q", "HEAD")
        if answer.code not in (0, 1):
            raise self.failure(answer, "symbolic-ref")
        reference = shown_bytes(answer.out.rstrip(b"\n"))
        branch = reference[len("refs/heads/") :] if reference.startswith("refs/heads/") else reference
        found = self.ask("rev-parse", "-q", "--verify", "HEAD^{commit}")
        if found.code == 0:
            return branch, found.out.decode("ascii", "replace").strip()
        if not reference or self.reference(reference):
            raise Unparsable("%s: HEAD leads to a commit that is not there" % self.path)
        return branch, ""

    def reference(self, name: str) -> str:
        """Give the id that the reference of this full name holds, or "". Raises Unparsable for a broken one."""
        answer = self.ask("for-each-ref", "--format=%(objectname) %(refname)", name)
        if answer.code != 0 or answer.err:
            raise self.failure(answer, "for-each-ref")
        for line in answer.out.decode("utf-8", "surrogateescape").splitlines():
            oid, _, found = line.partition(" ")
            if found == name:
                return oid
        try:
            info = self.root.stat(posixpath.join(self._common_dir(), name))
        except Absent:
            return ""
        # A folder holds references of longer names.
        if not stat_module.S_ISDIR(info.st_mode):
            raise Unparsable("%s: %s is there, and git does not list it" % (self.path, name))
        return ""

    def tag(self, name: str) -> str:
        """Give the commit that a tag peels to. Raises Absent, or Unparsable where it leads to something else."""
        if not _TAG_NAME.fullmatch(name):
            raise Unparsable("'%s' is no name of a tag" % name)
        oid = self.reference("refs/tags/" + name)
        if not oid:
            raise Absent("%s: no tag %s" % (self.path, name))
        for _ in range(TAG_DEPTH):
            kind = self.kind_of(oid)
            if kind == "commit":
                return oid
            if kind != "tag":
                raise Unparsable("%s: tag %s leads to %s" % (self.path, name, kind or "an object that is not there"))
            first = self.read("tag", oid).split(b"\n", 1)[0].decode("ascii", "replace")
            oid = first[len("object ") :] if first.startswith("object ") else ""
        raise Unparsable("%s: tag %s leads to a tag of a tag, and so on" % (self.path, name))


def _find(root: HostRoot, path: str) -> tuple[str, str]:
    """Find the git folder and the work tree of a repository at `path`, not above it."""
    if not stat_module.S_ISDIR(root.stat(path).st_mode):
        raise Unparsable("%s: is not a folder" % path)
    here = root.resolve(path)
    dot_git = posixpath.join(here, ".git")
    if not root.exists(dot_git):
        if _is_git_dir(root, here):
            return here, ""
        raise Unparsable("%s: is not a git repository" % path)
    if stat_module.S_ISDIR(root.stat(dot_git).st_mode):
        git_dir = root.resolve(dot_git)
    else:
        text = root.text(dot_git).rstrip("\n")
        if not text.startswith("gitdir: "):
            raise Unparsable("%s: does not say where the repository is" % dot_git)
        git_dir = root.resolve(posixpath.join(here, text[len("gitdir: ") :]))
    if not _is_git_dir(root, git_dir):
        raise Unparsable("%s: %s is not a git repository" % (path, git_dir))
    return git_dir, here


def _is_git_dir(root: HostRoot, path: str) -> bool:
    """Say whether it looks like a git folder: of a repository, or of one of its further work trees."""
    if not root.exists(posixpath.join(path, "HEAD")):
        return False
    # Read, so that what is denied is told as that: git takes it for no repository.
    root.read(posixpath.join(path, "HEAD"))
    if root.exists(posixpath.join(path, "commondir")):
        return True
    return root.exists(posixpath.join(path, "objects")) and bool(root.listdir(posixpath.join(path, "objects")))


def _switched_off(path: str, name: str) -> list[str]:
    if "=" in name or "\n" in name:
        raise Unparsable("%s: the configuration names a filter '%s', which can not be switched off" % (path, name))
    keys = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    return [word for key, value in keys for word in ("-c", "filter.%s.%s=%s" % (name, key, value))]
