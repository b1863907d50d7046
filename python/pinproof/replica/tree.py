"""Writing a file tree of the replica: modes and bytes as asked, whatever the umask."""

from __future__ import annotations

import os
from pathlib import Path


class Tree:
    """A machine's file tree below `root`; paths are absolute in the machine's own terms."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folders: set[str] = set()

    def real(self, path: str) -> Path:
        """Give where `path` lies; links are not followed."""
        return self.root / path.lstrip("/")

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Make a folder and those above it."""
        self._make(str(self.real(path)), mode)

    def _make(self, real: str, mode: int = 0o755) -> None:
        if real in self._folders:
            return
        self._folders.add(real)
        if Path(real).is_dir():
            return
        self._make(str(Path(real).parent))
        Path(real).mkdir()
        Path(real).chmod(mode)

    def write(self, path: str, data: bytes | str, mode: int = 0o644) -> None:
        """Write a file that is not there yet, or write one anew in place."""
        real = f"{self.root}{path}"
        self._make(real.rpartition("/")[0])
        handle = os.open(real, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, data.encode() if isinstance(data, str) else data)
            os.fchmod(handle, mode)
        finally:
            os.close(handle)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link with this very text."""
        real = f"{self.root}{path}"
        self._make(real.rpartition("/")[0])
        Path(real).symlink_to(target)

    def mount(self, source: str, destination: str) -> None:
        """Let a folder's content be seen at `destination` too, as a bind mount would: the same inodes."""
        for folder, names, files in os.walk(self.real(source)):
            names.sort()
            there = f"{self.root}{destination}{folder[len(str(self.real(source))) :]}"
            self._make(there)
            for name in sorted(files):
                os.link(f"{folder}/{name}", f"{there}/{name}", follow_symlinks=False)
