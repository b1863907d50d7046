"""Expectations: the values of a pin, typed by the attribute that it is about."""

from __future__ import annotations

from pinproof.catalogue import KINDS
from pinproof.manifest.errors import Problems, Wrong, short
from pinproof.manifest.model import Json
from pinproof.manifest.nodes import Broken, Mapping, Node, Scalar, Sequence
from pinproof.manifest.scalars import read_scalar
from pinproof.manifest.targets import Target

_LISTS = {"list[text]": "text", "list[int]": "int"}


class Failed:
    """What a value that could not be read is; its mistake is noted."""


FAILED = Failed()


def read_value(node: Node, target: Target, split: bool, problems: Problems) -> Json | Failed:
    """Read the value of an expectation.

    Args:
        node: What the manifest says.
        target: What it is about; its attribute types the value.
        split: Whether the text is made a list before it is checked.
        problems: Takes the mistakes.

    """
    if isinstance(node, Broken):
        return FAILED
    type_ = target.type
    if split:
        return _list(node, "text", target, problems)
    if type_ in _LISTS:
        return _list(node, _LISTS[type_], target, problems)
    if type_ == "map":
        return _map(node, target, problems)
    if isinstance(node, Mapping) and type_ == "json":
        return _map(node, target, problems)
    if isinstance(node, Sequence) and type_ in ("json", "option"):
        return _list(node, "json" if type_ == "json" else "text", target, problems)
    return read_single(node, type_, str(target.path), problems)


def read_single(node: Node, type_: str, about: str, problems: Problems) -> Json | Failed:
    """Read a single value of a scalar type."""
    if isinstance(node, Broken):
        return FAILED
    if not isinstance(node, Scalar):
        problems.add(node, f"'{about}' is {_word(type_)}, not {node.word}", "write a single value")
        return FAILED
    if not node.text:
        problems.add(node, f"an empty expectation for '{about}'", "write the value, or `absent: true`")
        return FAILED
    try:
        return read_scalar(node.text, node.plain, type_)
    except Wrong as wrong:
        problems.add(node, f"'{about}': {wrong.what}", wrong.fix)
        return FAILED


def _list(node: Node, member: str, target: Target, problems: Problems) -> Json | Failed:
    if not isinstance(node, Sequence):
        fix = f"write a list: [{node.text}]" if isinstance(node, Scalar) and node.text else "write a list"
        problems.add(node, f"'{target.path}' is a list, not {node.word}", fix)
        return FAILED
    if not node.items:
        problems.add(node, f"an empty expectation for '{target.path}'", "write its members, or `absent: true`")
        return FAILED
    values: list[Json] = []
    failed = False
    for item in node.items:
        value = _item(item, member, target, problems)
        if isinstance(value, Failed):
            failed = True
        else:
            values.append(value)
    return FAILED if failed else values


def _item(item: Node, member: str, target: Target, problems: Problems) -> Json | Failed:
    if member == "json" and isinstance(item, Mapping | Sequence):
        return read_value(item, target, False, problems)
    return read_single(item, member, str(target.path), problems)


def _map(node: Node, target: Target, problems: Problems) -> Json | Failed:
    if not isinstance(node, Mapping):
        kind = KINDS[target.probe.kind] if target.probe else None
        names = kind.names_below(target.path.segments) if kind else []
        fix = f"write {{KEY: VALUE}}{f', KEY one of {chr(44).join(names)}' if names else ''}, or pin a single key"
        problems.add(node, f"'{target.path}' is a map, not {node.word}", fix)
        return FAILED
    if not node.entries:
        problems.add(node, f"an empty expectation for '{target.path}'", "write its keys, or `absent: true`")
        return FAILED
    values: dict[str, Json] = {}
    failed = False
    for key, (scalar, item) in node.entries.items():
        value = _entry(key, scalar, item, target, problems)
        if isinstance(value, Failed):
            failed = True
        else:
            values[key] = value
    return FAILED if failed else values


def _entry(key: str, scalar: Scalar, item: Node, target: Target, problems: Problems) -> Json | Failed:
    try:
        below = target.below(key)
    except Wrong as wrong:
        problems.add(scalar, wrong.what, wrong.fix)
        return FAILED
    if isinstance(item, Scalar) and not item.text and not item.plain and below.type in ("text", "option", "json"):
        return ""  # quoted and under a key: set, and empty
    if isinstance(item, Scalar) and item.missing:
        problems.add(item, f"{short(key)} has no value", 'write one, or "" where it must be set and empty')
        return FAILED
    return read_value(item, below, False, problems)


def _word(type_: str) -> str:
    words = {
        "int": "a whole number",
        "float": "a number",
        "bool": "a truth value",
        "bytes": "a number of bytes",
        "sha256": "a sha256",
        "path": "a path",
        "commit": "a commit",
        "option": "an option",
        "json": "JSON",
    }
    return words.get(type_, "a text")
