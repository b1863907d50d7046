"""The shapes that parts of a manifest have.

A shape checks a node and says what is wrong with it, and gives the same rule as
JSON Schema: what an editor completes and what the loader accepts come from one
place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pinproof.manifest.errors import Problems, nearest, short
from pinproof.manifest.nodes import Broken, Mapping, Node, Scalar, Sequence

Schema = dict[str, Any]


class Shape(Protocol):
    """What a node must look like."""

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Say what is wrong with the node; false where it can't be used."""
        ...

    def schema(self) -> Schema:
        """Give the rule as JSON Schema."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """A text. `what` completes "must be ..."; `pattern` must match it from end to end.

    `loose` texts may look like numbers or truth values to YAML; they are texts all the same.
    """

    what: str = "a text"
    pattern: str = ""
    loose: bool = False

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check it."""
        if not isinstance(node, Scalar):
            return _wrong_word(node, key, self.what, problems)
        if not node.text:
            problems.add(node, f"'{key}' is empty", f"write {self.what}, or remove the key")
            return False
        if self.pattern and re.fullmatch(self.pattern, node.text) is None:
            problems.add(node, f"'{key}': {short(node.text)} is not {self.what}")
            return False
        return True

    def schema(self) -> Schema:
        """Give the rule."""
        text: Schema = {"type": ["string", "number", "boolean"] if self.loose else "string", "minLength": 1}
        return text | ({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words. `fix` says what to do about another one, where the nearest word is no help."""

    words: tuple[str, ...]
    fix: str = ""

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check it."""
        if not isinstance(node, Scalar) or node.missing:
            return _wrong_word(node, key, f"one of {', '.join(self.words)}", problems)
        if node.text not in self.words:
            fix = self.fix or nearest(node.text, self.words)
            problems.add(node, f"'{key}': unknown value {short(node.text)}", fix)
            return False
        return True

    def schema(self) -> Schema:
        """Give the rule; words that YAML takes for truth values or numbers are allowed as those."""
        words: list[Any] = list(self.words)
        words += [{"true": True, "false": False}[word] for word in self.words if word in ("true", "false")]
        words += [int(word) for word in self.words if word.isdecimal()]
        return {"enum": words}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list that is not empty; texts in it are unique. With `or_one`, a single item needs no list.

    `instead` says what to do where the list is empty.
    """

    item: Shape
    what: str
    or_one: bool = False
    unique: bool = True
    instead: str = "remove the key"

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check it; a record in it that can't be used does not spoil the others."""
        if self.or_one and isinstance(node, Scalar):
            return self.item.check(node, key, problems)
        if not isinstance(node, Sequence):
            return _wrong_word(node, key, f"a list of {self.what}", problems)
        if not node.items:
            problems.add(node, f"'{key}' is an empty list", f"list the {self.what}, or {self.instead}")
            return False
        broken = [place for place, item in enumerate(node.items) if not self.item.check(item, key, problems)]
        for place in broken:
            node.items[place] = Broken(node.items[place].line, node.items[place].column)
        return self._check_unique(node, key, problems) and (not broken or isinstance(self.item, Record))

    def _check_unique(self, node: Sequence, key: str, problems: Problems) -> bool:
        seen: set[str] = set()
        for item in node.items:
            if self.unique and isinstance(item, Scalar):
                if item.text in seen:
                    problems.add(item, f"'{key}' lists {short(item.text)} twice", "keep one of them")
                    return False
                seen.add(item.text)
        return True

    def schema(self) -> Schema:
        """Give the rule."""
        rule: Schema = {"type": "array", "items": self.item.schema(), "minItems": 1}
        rule |= {"uniqueItems": True} if self.unique else {}
        return {"anyOf": [self.item.schema(), rule]} if self.or_one else rule


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map of names that the manifest chooses to values of one shape; not empty."""

    item: Shape
    what: str
    name: Text = Text()

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check it; an item that can't be used does not spoil the others."""
        if not isinstance(node, Mapping):
            return _wrong_word(node, key, f"a map of {self.what}", problems)
        if not node.entries:
            problems.add(node, f"'{key}' is an empty map", f"name the {self.what}, or remove the key")
            return False
        for name, (scalar, value) in node.entries.items():
            if not (self.name.check(scalar, key, problems) and self.item.check(value, name, problems)):
                node.entries[name] = (scalar, Broken(value.line, value.column))
        return True

    def schema(self) -> Schema:
        """Give the rule."""
        rule: Schema = {"type": "object", "additionalProperties": self.item.schema(), "minProperties": 1}
        return rule | ({"propertyNames": self.name.schema()} if self.name.pattern else {})


@dataclass(frozen=True, slots=True)
class Either:
    """A single text, or a map."""

    one: Text
    many: Shape

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check it as what it is."""
        return (self.many if isinstance(node, Mapping) else self.one).check(node, key, problems)

    def schema(self) -> Schema:
        """Give the rule."""
        return {"anyOf": [self.one.schema(), self.many.schema()]}


@dataclass(frozen=True, slots=True)
class Expected:
    """A value that only the pinned attribute can type."""

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check no more than that something is there."""
        if isinstance(node, Scalar) and node.missing:
            problems.add(node, f"'{key}' has no value", "write one, or `absent: true` where nothing must be there")
            return False
        return not isinstance(node, Broken)

    def schema(self) -> Schema:
        """Give the rule: anything but an empty list or map."""
        return {"$ref": "#/$defs/expected"}


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a record."""

    shape: Shape
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A map with fixed keys; `extra` is the shape of other keys where those are free."""

    title: str
    fields: AbstractMapping[str, Field]
    extra: Shape | None = None
    rules: Schema = field(default_factory=dict)

    def check(self, node: Node, key: str, problems: Problems) -> bool:
        """Check that it is a map; its keys are checked when it is opened."""
        if not isinstance(node, Mapping | Broken):
            problems.add(node, f"'{key}': {self.title} must be a map, not {node.word}")
        return isinstance(node, Mapping)

    def open(self, node: Mapping, problems: Problems) -> Opened:
        """Check keys and values; gives those that can be used."""
        usable: dict[str, Node] = {}
        broken: set[str] = set()
        for name, (scalar, value) in node.entries.items():
            known = self.fields.get(name)
            shape = known.shape if known else self.extra
            if shape is None:
                problems.add(scalar, f"unknown key {short(name)} in {self.title}", nearest(name, self.fields))
            elif shape.check(value, name, problems):
                usable[name] = value
                continue
            broken.add(name)
        for name, known in self.fields.items():
            if known.required and name not in usable and name not in broken:
                problems.add(node, f"'{name}' is missing in {self.title}", f"add it: {known.about}")
                broken.add(name)
        return Opened(node, usable, frozenset(broken))

    def schema(self) -> Schema:
        """Give the rule."""
        rule: Schema = {
            "type": "object",
            "properties": {
                name: {"description": known.about} | known.shape.schema() for name, known in self.fields.items()
            },
            "additionalProperties": self.extra.schema() if self.extra else False,
        }
        required = [name for name, known in self.fields.items() if known.required]
        return rule | ({"required": required} if required else {}) | self.rules


@dataclass(frozen=True, slots=True)
class Opened:
    """A record's usable values by key, and the names of keys that are missing or wrong (told already)."""

    node: Mapping
    values: AbstractMapping[str, Node]
    broken: frozenset[str]

    @property
    def line(self) -> int:
        """The line of the record."""
        return self.node.line

    @property
    def column(self) -> int:
        """The column of the record."""
        return self.node.column

    def get(self, name: str) -> Node | None:
        """Give the value of a key; None where it is not there or not usable."""
        return self.values.get(name)

    def text(self, name: str, default: str = "") -> str:
        """Give the text of a key that holds one."""
        node = self.values.get(name)
        return node.text if isinstance(node, Scalar) else default

    def list(self, name: str) -> list[Scalar]:
        """Give the texts of a key that holds one or a list of them."""
        node = self.values.get(name)
        if isinstance(node, Sequence):
            return [item for item in node.items if isinstance(item, Scalar)]
        return [node] if isinstance(node, Scalar) else []


def _wrong_word(node: Node, key: str, what: str, problems: Problems) -> bool:
    if isinstance(node, Broken):
        return False
    if isinstance(node, Scalar) and node.missing:
        problems.add(node, f"'{key}' has no value", f"it must be {what}")
    else:
        problems.add(node, f"'{key}' must be {what}, not {node.word}")
    return False
