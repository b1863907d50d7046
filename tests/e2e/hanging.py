"""A file system that is mounted and never answers, as a dead network mount is."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
MNT_FORCE = 1
MNT_DETACH = 2


@contextlib.contextmanager
def hanging_folder(folder: Path) -> Iterator[None]:
    """Mount over `folder`; every look into it waits until the mount ends. Needs root and /dev/fuse."""
    handle = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={handle},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if _libc.mount(b"hanging", os.fsencode(folder), b"fuse", 0, options) != 0:
        error = ctypes.get_errno()
        os.close(handle)
        raise OSError(error, f"cannot mount over {folder}: {os.strerror(error)}")
    try:
        yield
    finally:
        # Closing the device ends every look that waits, with ENOTCONN.
        os.close(handle)
        _libc.umount2(os.fsencode(folder), MNT_DETACH)
