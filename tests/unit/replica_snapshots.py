"""What lies in a replica, as data that tests can compare."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

# What a restart of a service rewrites on top of what a test changed.
RESTAMPED = ("/stat", "/status.json", "/verify_runtime.json")

Content = tuple[str, int, bytes]


def entries(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Give everything below a folder with its relative path."""
    waiting = [(str(root), "")]
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as found:
            for entry in found:
                yield prefix + entry.name, entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, prefix + entry.name + "/"))


def generations(root: Path) -> dict[str, tuple[int, int, int]]:
    """Give what tells a changed path apart, without reading it: inode, size, time of change."""
    found = {}
    for path, entry in entries(root):
        info = entry.stat(follow_symlinks=False)
        found[path] = (info.st_ino, info.st_size, info.st_ctime_ns)
    return found


def content(path: Path) -> Content | None:
    """Give kind, mode and bytes (a link's text) of what lies at a path, None for nothing."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return ("link", 0, str(path.readlink()).encode())
    if stat.S_ISDIR(mode):
        return ("folder", stat.S_IMODE(mode), b"")
    return ("file", stat.S_IMODE(mode), path.read_bytes())


def contents(root: Path) -> dict[str, Content]:
    """Give the content of everything below a folder, by relative path."""
    found = {}
    for path, _ in entries(root):
        held = content(root / path)
        assert held is not None
        found[path] = held
    return found


def differing(before: dict[str, Content], after: dict[str, Content]) -> set[str]:
    """List the paths that differ between two contents."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


class Watched:
    """A folder that is read once; from then on only what moved since is read again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.contents = contents(root)
        self.generations = generations(root)

    def differing(self) -> set[str]:
        """List the paths whose content is not what it was at first."""
        now = generations(self.root)
        moved = {path for path in now.keys() | self.generations.keys() if now.get(path) != self.generations.get(path)}
        return {path for path in moved if content(self.root / path) != self.contents.get(path)}


def is_restamped(path: str) -> bool:
    """Say whether a restart of a service rewrites this path."""
    return path.endswith(RESTAMPED) or "docker.sock" in path or "recorded-tools/systemctl" in path
