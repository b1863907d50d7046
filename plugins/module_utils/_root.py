# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a file tree: a host's own, a replica's, or a container's.

This module util is private to the collectors. Every path that a collector
reads goes through a `HostRoot`: links are resolved inside the tree (an absolute
link in a container must not lead to the host's file of that name), only regular
files are opened, sizes are bounded, and a file that changes while it is read is
`unstable`. Failures are `LookError`s that name the path.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat as stat_module
import time
import typing as t

from ._observation import Absent, LookError, NotAttempted, Unparsable, Unstable, from_oserror

READ_LIMIT = 4 << 20
DIGEST_LIMIT = 48 << 20
CHUNK = 1 << 20
LINK_LIMIT = 40
BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclasses.dataclass(frozen=True)
class FileFact:
    """A file's digest with the generation it was read at; times in seconds since the epoch."""

    sha256: str
    size: int
    changed_at: float
    inode: int


def _generation(info: os.stat_result) -> tuple[int, ...]:
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def changed_at(info: os.stat_result) -> float:
    """When the file last changed: the later of content and inode change.

    The content time alone is what a copying tool may set; the inode's is the kernel's.
    """
    return max(info.st_mtime_ns, info.st_ctime_ns) / 1e9


def open_to_read(path: str, more: int = 0) -> int:
    """Open for reading only; the access time stays where the kernel grants that: own files, or as root."""
    # O_NONBLOCK: opening a FIFO must not wait for its writer.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | more
    try:
        return os.open(path, flags | os.O_NOATIME)
    except PermissionError:
        return os.open(path, flags)


class HostRoot:
    """A file tree below `prefix` ("" is the machine's own root).

    `recorded` says that the tree is a replica: engine answers and tool outputs
    are files in it. `user` is the login whose home `~` means (default: our own).
    `lane` is "full", or "files": regular files and the boot id only.
    """

    def __init__(self, prefix: str = "", user: str = "", recorded: bool = False, lane: str = "full") -> None:
        self.prefix = prefix.rstrip("/")
        self.user = user
        self.recorded = recorded
        self.lane = lane
        self.label = ""
        self.touched: list[str] = []
        self._homes: dict[str, str] = {}
        # When the look must have ended, by the monotonic clock; tools and sockets wait no longer.
        self.end: float | None = None

    def time_left(self, at_most: float) -> float:
        """Seconds that a tool or a socket may take: `at_most`, or what is left of the look's deadline."""
        if self.end is None:
            return at_most
        return max(min(at_most, self.end - time.monotonic() - 0.25), 0.05)

    def need_full_lane(self, what: str) -> None:
        """Refuse a look that is more than reading files where the lane admits only that."""
        if self.lane != "full":
            raise NotAttempted("%s: not looked at, this lane reads files only on this host" % what)

    def _note(self, path: str) -> None:
        path = self.expand(path)  # what is shown is where it was read: homes differ between hosts
        if path.startswith(("/proc/", "/sys/")) and path != BOOT_ID:
            self.need_full_lane(path)
        self.touched.append(self.label + path)

    # -- paths -------------------------------------------------------------
    def expand(self, path: str) -> str:
        """Resolve a leading `~` or `~name` by this tree's own user database."""
        if not path.startswith("~"):
            if not path.startswith("/"):
                raise Unparsable("%s: not an absolute path" % path)
            return path
        head, _, rest = path[1:].partition("/")
        name = head or self.user
        if name not in self._homes:
            self._homes[name] = self._home(name).rstrip("/")
        home = self._homes[name]
        return home + "/" + rest if rest else home or "/"

    def _home(self, name: str) -> str:
        uid = str(os.getuid())
        for line in self.read("/etc/passwd").decode("utf-8", "replace").splitlines():
            fields = line.split(":")
            if len(fields) >= 7 and (fields[0] == name if name else fields[2] == uid):
                return fields[5]
        raise Unparsable("/etc/passwd: no home for %s" % (name or "uid " + uid))

    def real(self, path: str, follow_last: bool = True) -> str:
        """Give the path to open for `path`, every link resolved inside this tree.

        Raises Absent, Denied, or Unparsable for a loop.
        """
        return self.prefix + self.resolve(path, follow_last) or "/"

    def resolve(self, path: str, follow_last: bool = True, passed: list[str] | None = None) -> str:
        """Resolve links of `path`; the answer is in this tree's own terms ("/srv/x").

        Every folder, link and file on the way is added to `passed`, its own parents resolved.
        """
        todo = [part for part in reversed(self.expand(path).split("/")) if part not in ("", ".")]
        done: list[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                if done:
                    done.pop()
                continue
            here = "/" + "/".join([*done, part])
            target = self._link_target(here)
            if passed is not None:
                passed.append(here)
            if target is None or (not todo and not follow_last):
                done.append(part)
                continue
            links += 1
            if links > LINK_LIMIT:
                raise Unparsable("%s: symbolic links form a loop" % path)
            if target.startswith("/"):
                done = []
            todo.extend(item for item in reversed(target.split("/")) if item not in ("", "."))
        return "/" + "/".join(done)

    def _link_target(self, here: str) -> str | None:
        """Give the target of the link at `here`, or None for anything else; absence is the caller's to find."""
        try:
            if stat_module.S_ISLNK(os.lstat(self.prefix + here).st_mode):
                return os.readlink(self.prefix + here)
        except OSError as error:
            raise from_oserror(error, here) from None
        return None

    # -- looks -------------------------------------------------------------
    def stat(self, path: str) -> os.stat_result:
        """Give the stat of what `path` leads to. Raises a LookError."""
        self._note(path)
        real = self.real(path)
        try:
            return os.lstat(real)
        except OSError as error:
            raise from_oserror(error, path) from None

    def lstat(self, path: str) -> os.stat_result:
        """Give the stat of `path` itself: of a link, not of what it leads to. Raises a LookError."""
        self._note(path)
        real = self.real(path, follow_last=False)
        try:
            return os.lstat(real)
        except OSError as error:
            raise from_oserror(error, path) from None

    def exists(self, path: str) -> bool:
        """Say whether `path` leads to something; any failure but absence is raised."""
        try:
            self.stat(path)
        except Absent:
            return False
        return True

    def readlink(self, path: str) -> str:
        """Give the text of the link at `path`. Raises a LookError (Unparsable: not a link)."""
        self._note(path)
        real = self.real(path, follow_last=False)
        try:
            if not stat_module.S_ISLNK(os.lstat(real).st_mode):
                raise Unparsable("%s: is not a symbolic link" % path)
            return os.readlink(real)
        except OSError as error:
            raise from_oserror(error, path) from None

    def listdir(self, path: str, limit: int = 20000) -> list[str]:
        """List a folder's names, sorted. Raises a LookError."""
        self._note(path)
        real = self.real(path)
        try:
            handle = open_to_read(real, os.O_DIRECTORY)
            try:
                names = sorted(os.listdir(handle))
            finally:
                os.close(handle)
        except OSError as error:
            raise from_oserror(error, path) from None
        if len(names) > limit:
            raise Unparsable("%s: %d entries, more than the %d this look reads" % (path, len(names), limit))
        return names

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Read a file whole. Raises a LookError: Unstable when it moves, Unparsable over `limit` bytes."""
        parts: list[bytes] = []
        self._scan(path, limit, parts.append)
        return b"".join(parts)

    def text(self, path: str, limit: int = READ_LIMIT) -> str:
        """Read a file as UTF-8; other bytes are Unparsable, an empty file too."""
        data = self.read(path, limit)
        if not data:
            raise Unparsable("%s: is empty" % path)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unparsable("%s: byte %d is not UTF-8" % (path, error.start)) from None

    def digest(self, path: str, limit: int = DIGEST_LIMIT) -> FileFact:
        """Hash a file with the generation it had. Raises a LookError as `read` does."""
        hasher = hashlib.sha256()
        info = self._scan(path, limit, hasher.update)
        return FileFact(hasher.hexdigest(), info.st_size, changed_at(info), info.st_ino)

    def _scan(self, path: str, limit: int, take: t.Callable[[bytes], object]) -> os.stat_result:
        self._note(path)
        real = self.real(path)
        try:
            handle = open_to_read(real)
        except OSError as error:
            raise from_oserror(error, path) from None
        try:
            return self._scan_open(handle, real, path, limit, take)
        except OSError as error:
            raise from_oserror(error, path) from None
        finally:
            os.close(handle)

    def _scan_open(
        self, handle: int, real: str, path: str, limit: int, take: t.Callable[[bytes], object]
    ) -> os.stat_result:
        before = os.fstat(handle)
        if not stat_module.S_ISREG(before.st_mode):
            raise Unparsable("%s: is not a regular file" % path)
        if before.st_size > limit:
            raise Unparsable("%s: %d bytes, more than the %d this look reads" % (path, before.st_size, limit))
        total = 0
        while True:
            chunk = os.read(handle, CHUNK)
            if not chunk:
                break
            total += len(chunk)
            if total > limit:
                raise Unparsable("%s: more than the %d bytes this look reads" % (path, limit))
            take(chunk)
        # By handle and by name: a file replaced by rename moves only under its name.
        if _generation(os.fstat(handle)) != _generation(before) or self._moved(real, before):
            raise Unstable("%s: changed while it was read" % path)
        # Files of /proc and /sys have no size of their own (0, or one page).
        if total != before.st_size and before.st_size not in (0, 4096):
            raise Unstable("%s: %d of %d bytes read" % (path, total, before.st_size))
        return before

    @staticmethod
    def _moved(real: str, before: os.stat_result) -> bool:
        try:
            now = os.lstat(real)
        except FileNotFoundError:
            return True
        return (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino)

    def inside(self, path: str) -> HostRoot:
        """Give the tree that a process sees, from its `/proc/PID/root`.

        In a replica that entry is a link inside the tree; on a host the kernel
        follows it by itself and its text must not be trusted.
        """
        self.need_full_lane(path)
        prefix = self.real(path) if self.recorded else self.prefix + path
        inner = HostRoot(prefix, self.user, self.recorded, self.lane)
        inner.label = path
        inner.touched = self.touched
        inner.end = self.end
        return inner


def optional(look: t.Callable[[], t.Any]) -> t.Any:
    """Give what `look` answers, or None where the thing is absent; other failures are raised."""
    try:
        return look()
    except Absent:
        return None


__all__ = ["DIGEST_LIMIT", "READ_LIMIT", "FileFact", "HostRoot", "LookError", "changed_at", "open_to_read", "optional"]
