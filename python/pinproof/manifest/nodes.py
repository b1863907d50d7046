"""YAML as a tree of marked texts.

A manifest uses the plain part of YAML: one document of maps, lists and scalars.
Every scalar stays the text that was written, never a number, a date or a truth
value by YAML's guess; whether it was quoted is kept. Anchors, aliases, merge
keys, tags, directives and duplicate keys are errors, because each of them lets
a text mean something else than what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pinproof.manifest.errors import Problems, short

MAX_BYTES = 1 << 20
MAX_DEPTH = 32

_REFUSED = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff\\ufeff\\ufffe\\uffff]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Scalar:
    """A text; `plain` where it stands without quotes."""

    text: str
    plain: bool
    line: int
    column: int
    word = "a single value"

    @property
    def missing(self) -> bool:
        """Whether nothing was written (`key:` and no more)."""
        return self.plain and not self.text


@dataclass(slots=True)
class Sequence:
    """A list."""

    line: int
    column: int
    items: list[Node] = field(default_factory=list)
    word = "a list"


@dataclass(slots=True)
class Mapping:
    """A map; keys are unique texts."""

    line: int
    column: int
    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    word = "a map"

    def get(self, key: str) -> Node | None:
        """Give the value of a key, None where the key is not there."""
        entry = self.entries.get(key)
        return entry[1] if entry else None


@dataclass(slots=True)
class Broken:
    """A place whose mistake was told already; nothing more is said about it."""

    line: int
    column: int
    word = "broken"


Node = Scalar | Sequence | Mapping | Broken


@dataclass(frozen=True, slots=True)
class Position:
    """A place that is not a node."""

    line: int
    column: int


def read_tree(text: str, problems: Problems) -> Node:
    """Read one YAML document. Raises ManifestErrors where there is no tree to go on with."""
    _refuse_characters(text, problems)
    builder = _Builder(problems)
    try:
        for event in yaml.parse(text, Loader=_LOADER):  # type: ignore[no-untyped-call, unused-ignore]
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        _syntax(error, text, problems)
    except yaml.YAMLError as error:
        problems.add(Position(1, 1), f"this is not YAML: {' '.join(str(error).split())}")
    root = builder.root
    if (root is None and not len(problems)) or (isinstance(root, Scalar) and root.missing):
        problems.add(Position(1, 1), "the manifest is empty", "start it with `manifest: NAME` and `version: 1`")
        root = None
    if root is None or builder.abandoned or builder.open:
        problems.raise_if_any()
    assert root is not None
    return root


def _refuse_characters(text: str, problems: Problems) -> None:
    """Refuse what YAML does not allow or no editor shows; the parser would say less about it."""
    if text.startswith("\ufeff"):
        problems.add(Position(1, 1), "the file starts with a byte order mark", "save it as UTF-8 without one")
        problems.raise_if_any()
    for match in _REFUSED.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        column = match.start() - (text.rfind("\n", 0, match.start()) + 1) + 1
        problems.add(Position(line, column), f"a control character, U+{ord(match.group()):04X}", "remove it")
    problems.raise_if_any()


def _syntax(error: yaml.MarkedYAMLError, text: str, problems: Problems) -> None:
    mark = error.problem_mark or error.context_mark
    position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    lines = text.split("\n")
    here = lines[position.line - 1][position.column - 1 :] if position.line <= len(lines) else ""
    if here.startswith("\t"):
        problems.add(position, "a tab where YAML wants blanks", "indent with blanks")
        return
    what = f"this is not YAML: {error.problem}"
    if error.context and error.context_mark and error.context_mark.line + 1 != position.line:
        what += f" ({error.context} that began in line {error.context_mark.line + 1})"
    fix = "quote the text if it contains ': ' or begins with a special character"
    problems.add(position, what, fix if "mapping values" in what or "start any token" in what else "")


class _Builder:
    """Builds the tree from parser events; without recursion, so that no depth of nesting exhausts the stack."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.root: Node | None = None
        self.abandoned = False
        self.open: list[tuple[Sequence | Mapping, list[Scalar | None]]] = []
        self._documents = 0

    def take(self, event: Any) -> None:
        """Take the next event."""
        if self.abandoned or self._documents > 1:
            return
        mark = event.start_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if isinstance(event, yaml.ScalarEvent):
            self._properties(event, line, column)
            self._place(self._scalar(event, line, column))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._properties(event, line, column)
            self._start(Mapping(line, column) if isinstance(event, yaml.MappingStartEvent) else Sequence(line, column))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._place(self.open.pop()[0])
        elif isinstance(event, yaml.AliasEvent):
            self.problems.add(Position(line, column), f"an alias, `*{event.anchor}`", "write the value out")
            self._place(Broken(line, column))
        elif isinstance(event, yaml.DocumentStartEvent):
            self._document(event, line, column)

    def _document(self, event: Any, line: int, column: int) -> None:
        self._documents += 1
        if self._documents > 1:
            self.problems.add(Position(line, column), "a second document", "one manifest a file; remove the `---`")
        if event.version or event.tags:
            self.problems.add(Position(line, column), "a YAML directive", "remove the line that begins with `%`")

    def _properties(self, event: Any, line: int, column: int) -> None:
        if event.anchor is not None:
            what = f"an anchor, `&{event.anchor}`"
            self.problems.add(Position(line, column), what, "remove it; values are written out where they count")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.problems.add(Position(line, column), f"a tag, `{tag}`", "remove it; pinned attributes are typed")

    def _scalar(self, event: Any, line: int, column: int) -> Scalar:
        text = str(event.value)
        if not text.isprintable():
            for character in text:
                if not character.isprintable() and character not in "\n\t":
                    what = f"a character that does not show, U+{ord(character):04X}, in {short(text)}"
                    self.problems.add(Position(line, column), what, "remove it")
                    break
        return Scalar(text, bool(event.implicit[0]), line, column)

    def _start(self, node: Sequence | Mapping) -> None:
        if len(self.open) >= MAX_DEPTH:
            self.problems.add(node, f"nested deeper than {MAX_DEPTH} levels", "a manifest is flat")
            self.abandoned = True
            return
        self.open.append((node, []))

    def _place(self, node: Node) -> None:
        """Put a finished node where it belongs: under its key, into its list, or at the root."""
        if not self.open:
            self.root = node
            return
        parent, pending = self.open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif isinstance(parent, Mapping) and not pending:
            pending.append(self._key(node, parent))
        elif isinstance(parent, Mapping):
            key = pending.pop()
            if key is not None:
                parent.entries[key.text] = (key, node)

    def _key(self, node: Node, parent: Mapping) -> Scalar | None:
        """Give the key, or None where its value is to be left out."""
        if not isinstance(node, Scalar):
            if not isinstance(node, Broken):
                self.problems.add(node, f"{node.word} as a key", "keys are texts")
            return None
        if node.plain and node.text == "<<":
            self.problems.add(node, "a merge key, `<<`", "write the keys out")
            return None
        if not node.text:
            self.problems.add(node, "an empty key", "name it, or remove it")
            return None
        if node.text in parent.entries:
            first = parent.entries[node.text][0]
            what = f"{short(node.text)} stands here twice, first in line {first.line}"
            self.problems.add(node, what, "keep one of them")
            return None
        return node


def walk(root: Node) -> Iterator[tuple[str, Scalar]]:
    """Go through all scalars, keys included, each with the key it stands under ("" for none)."""
    pending: list[tuple[str, Node]] = [("", root)]
    while pending:
        key, node = pending.pop()
        if isinstance(node, Scalar):
            yield key, node
        elif isinstance(node, Sequence):
            pending.extend((key, item) for item in node.items)
        elif isinstance(node, Mapping):
            for name, (scalar, value) in node.entries.items():
                yield "", scalar
                pending.append((name, value))
