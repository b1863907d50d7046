"""What lies in a replica, as data that tests can compare."""

from __future__ import annotations

import os
from pathlib import Path

# What a restart of a service rewrites on top of what a test changed.
RESTAMPED = ("/stat", "/status.json", "/verify_runtime.json")


def contents(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Give kind, mode and bytes (a link's text) of everything below a folder, by relative path."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            path = os.path.join(folder, name)
            info = os.lstat(path)
            relative = os.path.relpath(path, root)
            if os.path.islink(path):
                found[relative] = ("link", 0, os.readlink(path).encode())
            elif os.path.isdir(path):
                found[relative] = ("folder", info.st_mode & 0o7777, b"")
            else:
                found[relative] = ("file", info.st_mode & 0o7777, Path(path).read_bytes())
    return found


def differing(before: dict[str, tuple[str, int, bytes]], after: dict[str, tuple[str, int, bytes]]) -> set[str]:
    """List the paths that differ between two contents."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def is_restamped(path: str) -> bool:
    """Say whether a restart of a service rewrites this path."""
    return path.endswith(RESTAMPED) or "docker.sock" in path or "recorded-tools/systemctl" in path
