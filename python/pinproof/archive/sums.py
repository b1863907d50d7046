"""SHA256SUMS of a run: written over all its other files, and checked in both directions.

The format is that of sha256sum, so `sha256sum -c SHA256SUMS` checks it as well;
that one, though, does not see a file that was added.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from pinproof.archive.files import read_text, telling
from pinproof.archive.layout import SUMS_FILE
from pinproof.errors import ArchiveError

_LINE = re.compile(r"([0-9a-f]{64})  ([^\\\n]+)")


def sums_of(folder: Path) -> str:
    """Give the text of SHA256SUMS for all files now in a folder. Raises ArchiveError."""
    lines = []
    for name, is_file in sorted(_entries(folder)):
        if not is_file:
            raise ArchiveError(f"the archive: {folder / name} is neither a regular file nor a folder with files")
        lines.append(f"{_digest(folder / name)}  {name}\n")
    return "".join(lines)


def sums_digest(folder: Path) -> str:
    """Give the sha256 of a run's SHA256SUMS, by which the next run refers to it. Raises ArchiveError."""
    return _digest(folder / SUMS_FILE)


def check_sums(folder: Path) -> list[str]:
    """Compare a run's files with its SHA256SUMS; every file that changed, is missing or was added is one line."""
    try:
        listed = _parse(read_text(folder / SUMS_FILE))
        there = dict(_entries(folder))
    except ArchiveError as error:
        return [str(error)]
    problems = [f"{name} is missing" for name in sorted(listed.keys() - there.keys())]
    problems += [f"{name} was added" for name in sorted(there.keys() - listed.keys() - {SUMS_FILE})]
    for name in sorted(listed.keys() & there.keys()):
        if not there[name]:
            problems.append(f"{name} is no regular file any more")
            continue
        try:
            if _digest(folder / name) != listed[name]:
                problems.append(f"{name} was changed")
        except ArchiveError as error:
            problems.append(str(error))
    return problems


def _parse(text: str) -> dict[str, str]:
    listed: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ArchiveError(f"{SUMS_FILE} has no checksum in line {number}")
        if match[2] in listed:
            raise ArchiveError(f"{SUMS_FILE} lists {match[2]} twice")
        listed[match[2]] = match[1]
    if not listed:
        raise ArchiveError(f"{SUMS_FILE} is empty")
    return listed


def _entries(folder: Path, below: str = "") -> Iterator[tuple[str, bool]]:
    """List files by relative path, and whether they are regular ones; an empty folder counts as an odd one."""
    with telling("list", folder / below):
        entries = sorted(os.scandir(folder / below), key=lambda entry: entry.name)
    if not entries and below:
        yield below, False
    for entry in entries:
        name = f"{below}/{entry.name}" if below else entry.name
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            yield from _entries(folder, name)
        else:
            yield name, stat.S_ISREG(mode)


def _digest(path: Path) -> str:
    with telling("read", path), path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
