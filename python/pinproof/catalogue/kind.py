"""What a kind of probe is: its collector, its parameters, and the attributes that can be pinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pinproof.paths import split_within

AttributeType = Literal[
    "text",
    "int",
    "float",
    "bool",
    "bytes",
    "sha256",
    "commit",
    "path",
    "option",
    "json",
    "list[text]",
    "list[int]",
    "map",
]
ParameterType = Literal[
    "text", "path", "commit", "names", "bool", "int", "duration", "process", "dialect", "patterns", "dialects", "regex"
]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing that can be pinned: its type, whether it may move between arms, and where it comes from."""

    type: AttributeType
    about: str
    state: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a probe."""

    type: ParameterType
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of probe. `subject` is the parameter that a plain scalar stands for."""

    collector: str
    about: str
    subject: str
    parameters: Mapping[str, Parameter]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def attribute(self, segments: tuple[str, ...]) -> Attribute | None:
        """Find the attribute that these segments name; a prefix of attributes is a map of them."""
        for pattern, attribute in self.attributes.items():
            wanted = split_within(pattern)
            if _fits(wanted, segments):
                return attribute
        if any(_is_prefix(segments, split_within(pattern)) for pattern in self.attributes):
            return Attribute("map", "the attributes below it")
        return None

    def names_below(self, segments: tuple[str, ...]) -> list[str]:
        """List the fixed names that may follow these segments, for suggestions."""
        names = set()
        for pattern in self.attributes:
            wanted = split_within(pattern)
            if _is_prefix(segments, wanted) and len(wanted) > len(segments) and "*" not in wanted[len(segments)]:
                names.add(wanted[len(segments)])
        return sorted(names)


def _fits(wanted: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    if wanted and wanted[-1] == "**":
        return len(segments) >= len(wanted) - 1 and _is_prefix(segments[: len(wanted) - 1], wanted[:-1])
    return len(wanted) == len(segments) and _is_prefix(segments, wanted)


def _is_prefix(segments: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if len(segments) > len(wanted):
        return False
    return all(have == want or want == "*" for have, want in zip(segments, wanted, strict=False))
