"""Lists of digests beside a manifest, in the format of sha256sum."""

from __future__ import annotations

import re
from collections.abc import Callable

from pinproof.manifest.errors import Wrong, short
from pinproof.manifest.nodes import MAX_BYTES
from pinproof.manifest.placeholders import refuse_placeholder

_LINE = re.compile(r"(?P<digest>[0-9a-f]{64}) [ *](?P<path>\S.*)")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


def read_digests(name: str, read: Callable[[str], str]) -> dict[str, str]:
    """Read a list as path to digest. Raises Wrong where there is none, or a line is not as sha256sum writes it."""
    if _NAME.fullmatch(name) is None:
        raise Wrong(f"{short(name)} is not a name beside the manifest", "write a relative name without `..`")
    text = _text(name, read)
    digests: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        match = _LINE.fullmatch(line.removesuffix("\r"))
        if match is None or not match["path"].isprintable():
            what = f"{name}:{number}: {short(line)} is not a line of sha256sum"
            raise Wrong(what, "64 hex digits, two blanks, a path")
        if match["path"] in digests:
            raise Wrong(f"{name}:{number}: {short(match['path'])} is listed twice", "keep one of them")
        try:
            refuse_placeholder(match["digest"], match["path"])
        except Wrong as wrong:
            raise Wrong(f"{name}:{number}: {wrong.what}", wrong.fix) from wrong
        digests[match["path"]] = match["digest"]
    return digests


def _text(name: str, read: Callable[[str], str]) -> str:
    try:
        text = read(name)
    except FileNotFoundError as error:
        raise Wrong(f"there is no list {short(name)}", "put it beside the manifest") from error
    except OSError as error:
        raise Wrong(f"the list {short(name)} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise Wrong(f"the list {short(name)} is not UTF-8", "write it with sha256sum") from error
    if len(text) > MAX_BYTES:
        raise Wrong(f"the list {short(name)} is larger than {MAX_BYTES} bytes")
    if not text.strip():
        raise Wrong(f"the list {short(name)} is empty", "write it with sha256sum")
    return text
