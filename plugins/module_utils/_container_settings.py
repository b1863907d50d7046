# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a container was configured with, from the engine's inspection and list of changes.

This module util is private to the collectors. Engines leave a thing out, say
null, or say empty for the same; anything of another type is Unparsable.
"""

from __future__ import annotations

import typing as t

from ._observation import Unparsable

CHANGES_LIMIT = 20000
_KINDS = {0: "modified", 1: "added", 2: "deleted"}


def leaf(data: dict[str, t.Any], where: tuple[str, ...], kind: type) -> t.Any:
    """Give the value at these keys. Raises Unparsable where it is not there, or of another type."""
    value: t.Any = data
    for name in where:
        value = value.get(name) if isinstance(value, dict) else None
    if type(value) is not kind:
        raise Unparsable("the engine tells no %s, or not as it should" % ".".join(where))
    return value


def command(data: dict[str, t.Any]) -> list[str]:
    """Give entry point and command, as the engine started them. Raises Unparsable."""
    arguments = data.get("Args")
    if arguments is None:
        arguments = []
    if not isinstance(arguments, list) or not all(isinstance(item, str) for item in arguments):
        raise Unparsable("the engine tells Args that are no list of texts")
    return [str(leaf(data, ("Path",), str)), *arguments]


def environment(data: dict[str, t.Any]) -> tuple[dict[str, str], list[str]]:
    """Give the configured environment, and the names that stand in it more than once: the last one counts.

    Raises Unparsable.
    """
    entries = leaf(data, ("Config",), dict).get("Env") or []
    if not isinstance(entries, list) or not all(isinstance(item, str) for item in entries):
        raise Unparsable("the engine tells an Env that is no list of texts")
    values: dict[str, str] = {}
    repeated: list[str] = []
    for entry in entries:
        name, equals, value = entry.partition("=")
        if name in values and name not in repeated:
            repeated.append(name)
        if equals:
            values[name] = value
    return values, sorted(repeated)


def mounts(data: dict[str, t.Any]) -> dict[str, dict[str, t.Any]]:
    """Give the mounts by destination: source, type, writable. Raises Unparsable.

    File systems in memory that were asked for by `--tmpfs` are told elsewhere
    than the others.
    """
    found: dict[str, dict[str, t.Any]] = {}
    listed = data.get("Mounts") or []
    in_memory = leaf(data, ("HostConfig",), dict).get("Tmpfs") or {}
    if not isinstance(listed, list) or not isinstance(in_memory, dict):
        raise Unparsable("the engine tells mounts that are no list")
    for item in listed:
        destination = str(leaf(item, ("Destination",), str)) if isinstance(item, dict) else ""
        if not destination or destination in found:
            raise Unparsable("the engine tells a mount without a destination, or two with one")
        mount = {"type": leaf(item, ("Type",), str), "writable": leaf(item, ("RW",), bool)}
        if item.get("Source"):
            mount["source"] = leaf(item, ("Source",), str)
        found[destination] = mount
    for destination, options in in_memory.items():
        found.setdefault(destination, {"type": "tmpfs", "writable": "ro" not in str(options).split(",")})
    return found


def changes(answer: t.Any, destinations: t.Iterable[str]) -> dict[str, str]:
    """Give the container's own changes by path. Raises Unparsable.

    Left out are mount points and the folders above them: an engine makes them in
    the container when it starts, and what is mounted there is no change of it.
    """
    entries = [] if answer is None else answer
    if not isinstance(entries, list):
        raise Unparsable("the engine tells changes that are no list")
    if len(entries) > CHANGES_LIMIT:
        raise Unparsable("%d changes, more than the %d this look reads" % (len(entries), CHANGES_LIMIT))
    made = _with_folders(destinations)
    found: dict[str, str] = {}
    for entry in entries:
        path, kind = (entry.get("Path"), entry.get("Kind")) if isinstance(entry, dict) else (None, None)
        if not isinstance(path, str) or type(kind) is not int or kind not in _KINDS:
            raise Unparsable("the engine tells a change that is none: %s" % str(entry)[:80])
        if path in made and kind != 2:
            continue
        found[path] = _KINDS[kind]
    return found


def _with_folders(paths: t.Iterable[str]) -> set[str]:
    result: set[str] = set()
    for path in paths:
        parts = [part for part in path.split("/") if part]
        result.update("/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return result
