# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mounts of a process, from its `/proc/PID/mountinfo`.

This module util is private to the collectors.
"""

from __future__ import annotations

import re

from ._names import shown_bytes
from ._observation import Unparsable

_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")


def mount_points(data: bytes, what: str) -> list[bytes]:
    """List the mount points in the file's order, their octal escapes undone. Raises Unparsable naming the line.

    A line is: id, parent's id, major:minor, root, mount point, options, any
    number of optional fields, `-`, type, source, super block options.
    """
    points = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        fields = line.split(b" ")
        if len(fields) < 10 or b"-" not in fields[6:] or not fields[4].startswith(b"/"):
            raise Unparsable("%s: line %d is not a mount" % (what, number))
        points.append(_OCTAL.sub(lambda match: bytes([int(match.group(1), 8)]), fields[4]))
    return points


def mount_of(path: bytes, points: list[bytes]) -> str | None:
    """Give the deepest mount point that `path` lies on, by whole components, as shown; None where none holds it."""
    best: bytes | None = None
    for point in points:
        prefix = point.rstrip(b"/") + b"/"
        if (path + b"/").startswith(prefix) and (best is None or len(point) >= len(best)):
            best = point
    return None if best is None else shown_bytes(best)
