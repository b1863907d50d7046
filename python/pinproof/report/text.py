"""Text that is safe to print: one line, printable characters, nothing that a terminal would obey."""

from __future__ import annotations

import json
import textwrap
import unicodedata
from typing import Any


def printable(text: str, ascii_only: bool = False) -> str:
    """Give a text as one line; what is not printable (control characters, ANSI escapes, direction marks) is escaped.

    A backslash stays as it is: the result is to be read, not to be parsed. `spell` is unambiguous.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() and (char.isascii() or not ascii_only) else _escape(char) for char in text
    )


def spell(value: Any) -> str:
    """Give a JSON value in ASCII such that different values never look alike: `1`, `"1"`, `1.0` and `true` are four."""
    return printable(json.dumps(value, sort_keys=True))


def width_of(text: str) -> int:
    """Give the number of columns that a printable text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def pad(text: str, width: int) -> str:
    """Fill a text with blanks up to a width."""
    return text + " " * max(0, width - width_of(text))


def clip(text: str, width: int, ellipsis: str) -> str:
    """Cut a text to a width, and show that it was cut."""
    if width_of(text) <= width:
        return text
    room = width - width_of(ellipsis)
    kept = ""
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        kept += char
    return kept + ellipsis


def wrap(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Break a text into lines of at most a width; the first begins with `indent`, the others with `hanging` as well."""
    return textwrap.wrap(
        text,
        max(width, len(indent + hanging) + 8),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_on_hyphens=False,
    ) or [indent]


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
