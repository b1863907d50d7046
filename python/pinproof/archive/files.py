"""Writing files that are there after a power cut, and reading them back; failures become ArchiveErrors."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pinproof.errors import ArchiveError

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_FIXES = {
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there",
    errno.EROFS: "the file system is read-only; name another archive",
    errno.EACCES: "this user may not write there",
    errno.EPERM: "this user may not write there",
    errno.ENOTDIR: "a part of this path is no folder",
}


@contextlib.contextmanager
def telling(what: str, path: Path) -> Iterator[None]:
    """Turn an operating system error into an ArchiveError that names what failed, where, and what helps."""
    try:
        yield
    except OSError as error:
        fix = _FIXES.get(error.errno or 0, "")
        where = error.filename if isinstance(error.filename, str) else str(path)
        reason = error.strerror or str(error)
        raise ArchiveError(f"the archive: cannot {what} {where}: {reason}{'; ' + fix if fix else ''}") from error


def make_folder(path: Path) -> None:
    """Make a folder that only its owner can look into. Raises FileExistsError."""
    path.mkdir(mode=FOLDER_MODE)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, down to the disk. Raises OSError, FileExistsError included."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE)
    with os.fdopen(handle, "wb") as out:
        os.fchmod(out.fileno(), FILE_MODE)
        # A lone surrogate is no UTF-8; it stays visible as its escape.
        out.write(text.encode("utf-8", "backslashreplace"))
        out.flush()
        os.fsync(out.fileno())


def sync_folder(path: Path) -> None:
    """Bring a folder's entries down to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def as_text(data: object) -> str:
    """Give JSON text: readable, and the same for the same data. Raises ArchiveError for what JSON cannot hold."""
    try:
        return json.dumps(data, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise ArchiveError(f"the archive: a run holds data that is not JSON: {error}") from error


def read_text(path: Path) -> str:
    """Read a regular file. Raises ArchiveError naming it."""
    with telling("read", path):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as source:
            if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
                raise ArchiveError(f"the archive: {path} is no regular file")
            data = source.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArchiveError(f"the archive: {path} is not UTF-8: {error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object. Raises ArchiveError naming it."""
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"the archive: {path} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ArchiveError(f"the archive: {path} holds no JSON object")
    return data
