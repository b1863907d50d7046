"""The key under which values that no pin names are digested before they leave a host."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path

from pinproof.archive.files import FOLDER_MODE, read_text, sync_folder, telling, write_new
from pinproof.archive.layout import KEY_FILE
from pinproof.errors import ArchiveError

_KEY = re.compile(r"[0-9a-f]{64}")


def project_key(archive: Path) -> str:
    """Give the project's disclosure key, 32 random bytes in hex; it is made the first time.

    Kept in the archive's folder, so that values of runs in one archive can be
    told equal. Several processes may ask at once: all get the same key.
    Raises ArchiveError where it cannot be kept, or others could read it.
    """
    path = archive / KEY_FILE
    with telling("make", archive):
        archive.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    if not path.exists():
        _make(archive, path)
    with telling("read", path):
        mode = path.lstat().st_mode
    if not stat.S_ISREG(mode) or mode & 0o077:
        raise ArchiveError(f"the archive: {path} can be read by others; make it a file of mode 600")
    key = read_text(path).strip()
    if _KEY.fullmatch(key) is None:
        raise ArchiveError(f"the archive: {path} holds no key of 64 hex digits; put the real one back, or remove it")
    return key


def _make(archive: Path, path: Path) -> None:
    """Put a whole key in place at once; where another process was faster, its key stays."""
    temporary = archive / f"{KEY_FILE}.{secrets.token_hex(8)}"
    with telling("write", path):
        write_new(temporary, secrets.token_hex(32) + "\n")
        try:
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            temporary.unlink()
        sync_folder(archive)
