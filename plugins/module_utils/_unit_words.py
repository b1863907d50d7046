# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words, quotes and escapes inside the values of unit files.

This module util is private to the collectors. A value is worked on as text in
which a byte that is not UTF-8 stands as its surrogate.
"""

from __future__ import annotations

import re
import typing as t

from ._unit_file import BLANKS

_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "s": " ",
}
_NUMERIC = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})")


class BadQuoting(Exception):
    """A quote that does not end, a backslash at the end, or an escape that is none."""


def take_escape(text: str, position: int, extra: str = "") -> t.Optional[tuple[bytes, int]]:
    """Decode the escape whose letter stands at `position` (after the backslash).

    Gives its bytes and the position after it, or None for what is no escape.
    `extra` are characters that stand for themselves.
    """
    letter = text[position : position + 1]
    if letter in _SIMPLE:
        return _SIMPLE[letter].encode(), position + 1
    if letter and letter in extra:
        return letter.encode(), position + 1
    match = _NUMERIC.match(text, position)
    if match is None:
        return None
    byte, short, long, octal = match.groups()
    number = int(octal, 8) if octal else int(byte or short or long, 16)
    if number == 0 or (octal and number > 255) or number > 0x10FFFF:
        return None
    if byte or octal:
        return bytes([number]), match.end()
    return chr(number).encode("utf-8", "surrogatepass"), match.end()


def take_word(text: str, position: int, relaxed: bool = False, extra: str = "") -> tuple[t.Optional[str], int]:
    """Take one word, its quotes removed and its escapes decoded.

    Gives the word, or None when only blanks are left, and the position after the
    blanks behind it. Raises BadQuoting; `relaxed` keeps escapes that are none as
    they stand.
    """
    position = skip_blanks(text, position)
    if position >= len(text):
        return None, position
    word = bytearray()
    quote = ""
    while position < len(text):
        letter = text[position]
        position += 1
        if letter == "\\":
            position = _take_backslash(text, position, word, relaxed and not quote, relaxed, extra)
        elif quote:
            if letter == quote:
                quote = ""
            else:
                word += letter.encode("utf-8", "surrogateescape")
        elif letter in "'\"":
            quote = letter
        elif letter in BLANKS:
            return _text(word), skip_blanks(text, position)
        else:
            word += letter.encode("utf-8", "surrogateescape")
    if quote:
        raise BadQuoting("a quote that does not end")
    return _text(word), position


def _take_backslash(text: str, position: int, word: bytearray, may_end: bool, relaxed: bool, extra: str) -> int:
    if position >= len(text):
        if not may_end:
            raise BadQuoting("a backslash at the end")
        word += b"\\"
        return position
    taken = take_escape(text, position, extra)
    if taken is not None:
        word += taken[0]
        return taken[1]
    if not relaxed:
        raise BadQuoting("'\\%s' is not an escape" % text[position])
    word += b"\\" + text[position].encode("utf-8", "surrogateescape")
    return position + 1


def take_word_leniently(text: str, position: int) -> tuple[t.Optional[str], int]:
    """Take one word as command lines do: an escape that is none stays as written. Raises BadQuoting."""
    try:
        return take_word(text, position)
    except BadQuoting:
        return take_word(text, position, relaxed=True)


def skip_blanks(text: str, position: int) -> int:
    """Give the position of the next character that is not blank."""
    while position < len(text) and text[position] in BLANKS:
        position += 1
    return position


def _text(word: bytearray) -> str:
    return bytes(word).decode("utf-8", "surrogateescape")
