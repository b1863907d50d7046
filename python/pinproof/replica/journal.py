"""Changing a replica's tree so that everything can be taken back.

Paths are absolute in the machine's own terms. What is mounted into the
container is one file under two names: written in place it changes under both,
and what comes or goes under one name comes or goes under the other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from pinproof.replica.site import CONTAINER_ROOT, MOUNTS
from pinproof.replica.tree import Tree


def twins(path: str) -> tuple[str, ...]:
    """Give every name of the file: itself first, then the one in the container or on the host."""
    found = [path]
    for source, destination, _ in MOUNTS:
        inside = CONTAINER_ROOT + destination
        if path.startswith(source + "/"):
            found.append(inside + path.removeprefix(source))
        elif path.startswith(inside + "/"):
            found.append(source + path.removeprefix(inside))
    return tuple(found)


class Journal:
    """Changes of one machine's tree, and how to undo them. Raises OSError for what is not there."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.touched: list[str] = []
        self._undo: list[Callable[[], object]] = []

    # -- looks ---------------------------------------------------------------
    def real(self, path: str) -> Path:
        """Give where `path` lies."""
        return self.tree.real(path)

    def exists(self, path: str) -> bool:
        """Say whether there is something (a link counts by itself)."""
        return os.path.lexists(self.real(path))

    def read(self, path: str) -> bytes:
        """Read a file."""
        return self.real(path).read_bytes()

    def text(self, path: str) -> str:
        """Read a file as text, byte for byte."""
        return self.read(path).decode("utf-8", "surrogateescape")

    def names(self, path: str) -> list[str]:
        """List a folder, sorted."""
        return sorted(entry.name for entry in self.real(path).iterdir())

    # -- changes -------------------------------------------------------------
    def write(self, path: str, data: bytes | str) -> None:
        """Write a file in place, or make one with those above it."""
        raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        self.touched.append(path)
        if self.exists(path):
            before = self.read(path)
            self._undo.append(lambda: _overwrite(self.real(path), before))
            _overwrite(self.real(path), raw)
        else:
            self._create(path, raw, 0o644)

    def append(self, path: str, data: bytes) -> None:
        """Add bytes to the end of a file."""
        self.write(path, self.read(path) + data)

    def substitute(self, path: str, pattern: str, replacement: str) -> None:
        """Replace the first match in a text file, by this very text. Raises LookupError where nothing matches."""
        text = self.text(path)
        match = re.search(pattern, text, re.MULTILINE)
        if match is None:
            raise LookupError(f"{path}: nothing matches {pattern}")
        self.write(path, text[: match.start()] + replacement + text[match.end() :])

    def _create(self, path: str, raw: bytes, mode: int) -> None:
        names = [self.real(name) for name in twins(path)]
        for name in names:
            self._make_folder(name.parent)
        names[0].write_bytes(raw)
        names[0].chmod(mode)
        for name in names[1:]:
            name.hardlink_to(names[0])
        self._undo.append(lambda: _unlink(names))

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        folder.mkdir()
        self._undo.append(folder.rmdir)

    def remove(self, path: str) -> None:
        """Remove a file or a link."""
        self.touched.append(path)
        real = self.real(path)
        if real.is_symlink():
            target = real.readlink()
            self._undo.append(lambda: real.symlink_to(target))
            real.unlink()
            return
        before, mode = real.read_bytes(), real.stat().st_mode & 0o7777
        names = [self.real(name) for name in twins(path)]

        def put_back() -> None:
            names[0].write_bytes(before)
            names[0].chmod(mode)
            for name in names[1:]:
                name.hardlink_to(names[0])

        self._undo.append(put_back)
        for name in names:
            name.unlink()

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link with this text, in place of what is there."""
        if self.exists(path):
            self.remove(path)
        self.touched.append(path)
        for name in twins(path):
            real = self.real(name)
            self._make_folder(real.parent)
            real.symlink_to(target)
            self._undo.append(real.unlink)

    def rename(self, path: str, other: str) -> None:
        """Give a file or folder another name."""
        self.touched.append(path)
        for name, new in zip(twins(path), twins(other), strict=True):
            before, after = self.real(name), self.real(new)
            self._make_folder(after.parent)
            before.rename(after)
            self._undo.append(lambda before=before, after=after: after.rename(before))  # type: ignore[misc]

    def copy_folder(self, path: str, other: str) -> None:
        """Copy a folder, links as they are."""
        for folder, names, files in os.walk(self.real(path)):
            names.sort()
            below = other + folder[len(str(self.real(path))) :]
            for name in sorted(files):
                source = Path(folder, name)
                if source.is_symlink():
                    self.link(f"{below}/{name}", str(source.readlink()))
                else:
                    self.write(f"{below}/{name}", source.read_bytes())
                    self.real(f"{below}/{name}").chmod(source.stat().st_mode & 0o7777)

    def undo(self) -> None:
        """Take everything back, last change first."""
        while self._undo:
            self._undo.pop()()


def _unlink(names: list[Path]) -> None:
    for name in names:
        name.unlink()


def _overwrite(real: Path, raw: bytes) -> None:
    """Write in place whatever the mode says (an ordinary user's own read-only file too)."""
    mode = real.stat().st_mode & 0o7777
    real.chmod(mode | 0o200)
    try:
        with real.open("r+b") as handle:
            handle.write(raw)
            handle.truncate()
    finally:
        real.chmod(mode)
