"""Paths into observations: `serve.image.tag`, `checkpoint.files[config.json].sha256`.

A segment is a name, or any text in brackets (`[a.b]`), which keeps dots in file
names apart from dots between segments. `str(AttributePath.parse(s)) == s` for
every path in canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_SEGMENT = re.compile(r"\.?([A-Za-z0-9_][A-Za-z0-9_+-]*)|\[([^\[\]]+)\]")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+-]*")


@dataclass(frozen=True, slots=True)
class Missing:
    """What a lookup gives where the path leads to nothing."""


MISSING = Missing()


@dataclass(frozen=True, order=True, slots=True)
class AttributePath:
    """A probe's name and the segments inside its observation."""

    probe: str
    segments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> AttributePath:
        """Parse a path. Raises ValueError that says where it stops to be one."""
        segments: list[str] = []
        position = 0
        while position < len(text):
            match = _SEGMENT.match(text, position)
            if match is None or (position == 0 and text[0] in ".["):
                raise ValueError(f"'{text}' is not a path: '{text[position:]}' does not follow")
            if position > 0 and match.group(1) is not None and text[position] != ".":
                raise ValueError(f"'{text}' is not a path: '{text[position:]}' needs a dot before it")
            segments.append(match.group(1) or match.group(2))
            position = match.end()
        if not segments:
            raise ValueError("an empty path")
        return cls(segments[0], tuple(segments[1:]))

    def __str__(self) -> str:
        return self.probe + suffix(self.segments)


def suffix(segments: tuple[str, ...]) -> str:
    """Spell segments as they follow a probe's name."""
    return "".join(f".{item}" if _NAME.fullmatch(item) else f"[{item}]" for item in segments)


def within(segments: tuple[str, ...]) -> str:
    """Spell segments as a path inside an observation (`files[config.json]`), as faults and levels use it."""
    return suffix(segments).removeprefix(".")


@lru_cache(maxsize=1024)
def split_within(text: str) -> tuple[str, ...]:
    """Parse a path inside an observation. Raises ValueError."""
    path = AttributePath.parse("x" + (text if text.startswith("[") else "." + text)) if text else None
    return path.segments if path else ()


def lookup(data: object, segments: tuple[str, ...]) -> object:
    """Follow segments through mappings and lists (by index); MISSING where they lead to nothing."""
    for segment in segments:
        if isinstance(data, Mapping) and segment in data:
            data = data[segment]
        elif isinstance(data, list) and segment.isdecimal() and int(segment) < len(data):
            data = data[int(segment)]
        else:
            return MISSING
    return data
