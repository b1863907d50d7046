"""One writer at a time in an archive."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from pinproof.archive.files import FILE_MODE, telling
from pinproof.archive.layout import LOCK_FILE
from pinproof.errors import ArchiveError

_POLL_S = 0.02


@contextlib.contextmanager
def locked(root: Path, patience_s: float = 60.0) -> Iterator[None]:
    """Hold the archive's lock. Raises ArchiveError where another process keeps it longer than `patience_s` seconds.

    The kernel lets go of it when its holder ends, in whichever way.
    """
    path = root / LOCK_FILE
    with telling("lock", path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
    try:
        end = time.monotonic() + patience_s
        while not _taken(handle):
            if time.monotonic() >= end:
                raise ArchiveError(f"the archive: another process has held {path} for {patience_s:g} s; see who it is")
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
