"""Repositories made by git itself, and looks at them that must leave every byte and time as it was."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from plugins.module_utils._observation import Observation
from plugins.module_utils._root import HostRoot
from plugins.modules import source_facts

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Spark Operator",
    "GIT_AUTHOR_EMAIL": "operator@sparkhead",
    "GIT_AUTHOR_DATE": "1791201600 +0000",
    "GIT_COMMITTER_NAME": "Spark Operator",
    "GIT_COMMITTER_EMAIL": "operator@sparkhead",
    "GIT_COMMITTER_DATE": "1791201600 +0000",
}
KEY = "00112233445566778899aabbccddeeff"
LONG_AGO = time.time() - 86400


class Work:
    """A repository with a work tree at `path`."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        self._written = LONG_AGO
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options, ".")

    def git(self, *arguments: str, given: str | None = None) -> str:
        """Run git and give what it prints; whatever it finds may be written, as by an operator."""
        command = ["git", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false", *arguments]
        done = subprocess.run(command, cwd=self.path, env=ENVIRONMENT, capture_output=True, input=given, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        """Write a file of the work tree."""
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)
        return place

    def commit(self, message: str = "commit", **files: str) -> str:
        """Commit files, by name with `_` for `.`, and give the id.

        Their times are old, so that the index trusts them, and other ones at each
        commit: git would not see a change that keeps size and time.
        """
        self._written += 10
        for name, text in files.items():
            self.write(name.replace("_", "."), text)
        for path in self.path.rglob("*"):
            if ".git" not in path.parts and not path.is_symlink():
                os.utime(path, (self._written, self._written))
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


def snapshot(tree: Path) -> dict[str, tuple[Any, ...]]:
    """Give mode, owner, times of change and content of everything below a folder."""
    found = {}
    for folder, folders, files in os.walk(tree):
        for name in [".", *folders, *files]:
            path = Path(folder) / name
            info = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
            found[str(path)] = (info.st_mode, info.st_uid, info.st_ino, info.st_mtime_ns, info.st_ctime_ns, content)
    return found


def look(tree: Path, kind: str, repo: str, *, plain: tuple[str, ...] = ("*",), **parameters: Any) -> Observation:
    """Look at a repository of the tree at `repo` ("/r"), and make sure that nothing below the tree moved."""
    before = snapshot(tree)
    request = {
        "probe": "p",
        "kind": kind,
        "params": {"repo": repo, **parameters},
        "now": time.time(),
        "disclose": {"plain": plain, "key": KEY},
    }
    try:
        return source_facts.collect(request, HostRoot(str(tree)))
    finally:
        assert snapshot(tree) == before
