# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bytes that a process runs from: its executable and the libraries that it has mapped.

This module util is private to the collectors. A path tells where a file was when
it was opened, in the process' own root; what lies there now can be another file.
On a host the kernel gives the running file itself, or its inode to compare with;
a replica can only give the file at the path.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat as stat_module

from ._maps import DELETED, Mapped
from ._observation import Absent, Denied, Incomparable, LookError, Unparsable, Unstable, from_oserror
from ._process_entry import HINT
from ._root import CHUNK, HostRoot, open_to_read

LIMIT = 512 << 20


@dataclasses.dataclass(frozen=True)
class Executable:
    """A process' executable: the path as its own root sees it, and whether the file is gone from there."""

    path: str
    deleted: bool


class RunningFiles:
    """The files of one process. Looks raise LookErrors."""

    def __init__(self, root: HostRoot, pid: int) -> None:
        self._root = root
        self._entry = "/proc/%d" % pid
        # Links of /proc lead to the files themselves only where they are the kernel's.
        self._live = not root.recorded and not root.prefix

    def inside(self) -> HostRoot:
        """Give the tree that the process sees."""
        return self._root.inside(self._entry + "/root")

    def own_path(self, name: str) -> str:
        """Give the path that the link `name` (exe, cwd) tells, as the process' own root sees it."""
        path, top = self._link(name), self._link("root")
        return path[len(top) :] if top != "/" and path.startswith(top + "/") else path

    def _link(self, name: str) -> str:
        path = "%s/%s" % (self._entry, name)
        try:
            return self._root.readlink(path)
        except Denied as error:
            raise Denied("%s; %s" % (error.why, HINT)) from None
        except Absent:
            # An entry of /proc is there as long as its process is; a zombie's leads nowhere.
            raise Unparsable("%s: leads nowhere, the process has ended" % path) from None

    # -- executable -------------------------------------------------------
    def executable(self) -> Executable:
        """Tell path and whether the file that runs is gone from it."""
        path = self.own_path("exe")
        marked = path.endswith(DELETED)
        if not (self._live or marked) or self._is_at(path):
            return Executable(path, False)
        return Executable(path[: -len(DELETED)] if marked else path, True)

    def _is_at(self, path: str) -> bool:
        """Say whether the running file is what lies at `path`; a file's own name can end like the kernel's mark."""
        try:
            there = self.inside().stat(path)
        except Absent:
            return False
        if not self._live:
            return True
        running = self._kernel_stat("exe")
        return (there.st_dev, there.st_ino) == (running.st_dev, running.st_ino)

    def executable_digest(self, executable: Executable) -> str:
        """Hash the file that runs, even where it is gone from its path."""
        if self._live:
            return self._kernel_digest("exe")
        if executable.deleted:
            raise Incomparable("%s: gone from disk, its bytes can not be had" % executable.path)
        try:
            return self.inside().digest(executable.path, LIMIT).sha256
        except Absent:
            raise Incomparable("%s: not in this replica" % executable.path) from None

    # -- libraries --------------------------------------------------------
    def is_gone(self, mapped: Mapped) -> bool:
        """Say whether a mapped file is gone from its path."""
        if not mapped.says_deleted:
            return False
        try:
            there = self.inside().stat(mapped.path)
        except Absent:
            return True
        # A name can end like the kernel's mark: then the file of that name is the one mapped.
        return self._live and there.st_ino != mapped.inode

    def library_digest(self, mapped: Mapped) -> str:
        """Hash a mapped file by its path. Raises Incomparable where another file lies there now."""
        try:
            fact = self.inside().digest(mapped.path, LIMIT)
        except Absent:
            raise Incomparable("%s: mapped, and not at its path: something covers it" % mapped.path) from None
        if self._live and fact.inode != mapped.inode and not self._same_by_area(mapped, fact.inode):
            raise Incomparable(
                "%s: the file there now is not the one mapped (inode %d, not %d)"
                % (mapped.path, fact.inode, mapped.inode)
            )
        return fact.sha256

    def _same_by_area(self, mapped: Mapped, inode: int) -> bool:
        """Ask the mapping itself: stacked file systems tell other inodes in maps than by path."""
        try:
            return self._kernel_stat("map_files/" + mapped.area).st_ino == inode
        except LookError:
            return False

    # -- the kernel's own links -------------------------------------------
    def _kernel_stat(self, name: str) -> os.stat_result:
        path = "%s/%s" % (self._entry, name)
        self._root.touched.append(path)
        try:
            return os.stat(path)
        except OSError as error:
            raise self._failure(error, path) from None

    def _kernel_digest(self, name: str) -> str:
        path = "%s/%s" % (self._entry, name)
        self._root.touched.append(path)
        try:
            handle = open_to_read(path)
        except OSError as error:
            raise self._failure(error, path) from None
        try:
            return _digest(handle, path)
        except OSError as error:
            raise self._failure(error, path) from None
        finally:
            os.close(handle)

    @staticmethod
    def _failure(error: OSError, path: str) -> LookError:
        failure = from_oserror(error, path)
        return Denied("%s; %s" % (failure.why, HINT)) if isinstance(failure, Denied) else failure


def _digest(handle: int, path: str) -> str:
    before = os.fstat(handle)
    if not stat_module.S_ISREG(before.st_mode) or before.st_size > LIMIT:
        raise Unparsable("%s: no regular file of at most %d bytes" % (path, LIMIT))
    hasher = hashlib.sha256()
    total = 0
    while True:
        chunk = os.read(handle, CHUNK)
        if not chunk:
            break
        hasher.update(chunk)
        total += len(chunk)
    after = os.fstat(handle)
    moved = (after.st_mtime_ns, after.st_ctime_ns) != (before.st_mtime_ns, before.st_ctime_ns)
    if moved or not total == after.st_size == before.st_size:
        raise Unstable("%s: changed while it was read" % path)
    return hasher.hexdigest()


__all__ = ["LIMIT", "Executable", "RunningFiles"]
