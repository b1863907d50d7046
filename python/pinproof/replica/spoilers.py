"""What every spoiler is given, and how one is found for a pin.

A spoiler changes the bytes of the one thing that a pin is about. It is found by
the probe's kind and a pattern of the attribute's path, `*` for any segment; the
first that fits is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pinproof.errors import UsageError
from pinproof.manifest.model import Closed, Is, Manifest, PerHost, Pin, Probe
from pinproof.replica.journal import Journal
from pinproof.replica.site import CONTAINER_ROOT, HOME


class CannotSpoil(UsageError):
    """The replica has no bytes to spoil for this pin; the text says why."""


@dataclass(frozen=True, slots=True)
class Spoil:
    """One thing to spoil: a pin of a manifest on a host, with the journal that its changes go to.

    `segments` lead to it inside the probe's observation. `key` is the key of a
    map that is to be changed, or a name that is to be added to it; "" where the
    pin is about no map.
    """

    manifest: Manifest
    pin: Pin
    probe: Probe
    host: str
    segments: tuple[str, ...]
    key: str
    journal: Journal

    def path(self, parameter: str) -> str:
        """Give the path that a parameter of the probe names, as it lies in the machine's tree."""
        return self.placed(str(self.probe.parameters[parameter]))

    def placed(self, path: str) -> str:
        """Give where a path of the probe lies: inside the container's root where the probe looks there."""
        if path.startswith("~/"):
            return HOME + path[1:]
        return CONTAINER_ROOT + path if "inside" in self.probe.parameters else path

    @property
    def leaf(self) -> str:
        """The name that the change is about: the key of the map, else the last segment."""
        return self.key or self.segments[-1]

    def json(self, path: str) -> Any:
        """Read a JSON file."""
        return json.loads(self.journal.text(path))

    def write_json(self, path: str, value: Any, indent: int | None = None) -> None:
        """Write a JSON file."""
        separators = (",", ":") if indent is None else None
        self.journal.write(path, json.dumps(value, indent=indent, separators=separators) + "\n")


Spoiler = Callable[[Spoil], str]
Table = Mapping[str, Spoiler]


def other(value: Any) -> Any:
    """Give another value of the same type: never equal, not even after normalising."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*value, "other"]
    text = str(value)
    if text in ("0", "1"):
        return "1" if text == "0" else "0"
    if "," in text:
        head, _, last = text.rpartition(",")
        return f"{head},{other(last)}"
    if re.fullmatch(r"[0-9a-f]{40,64}", text):
        return ("0" if text[0] != "0" else "1") + text[1:]
    if re.fullmatch(r"[0-9]+", text):
        return str(int(text) + 1)
    if re.fullmatch(r"[0-9.]+", text):
        return text[:-1] + str((int(text[-1]) + 1) % 10) if text[-1].isdecimal() else text + "1"
    return text + "-other"


def choose_key(pin: Pin, host: str, key: str | None) -> str:
    """Choose the key of the map that a pin is about.

    By default the first key that it lists, else an unlisted name that `closed`
    refuses. "" for a pin that is about no map.
    """
    if key:
        return key
    for check in pin.checks:
        value = check.value if isinstance(check, Is) else None
        if isinstance(check, PerHost):
            value = check.values.get(host)
        if isinstance(value, dict) and value:
            return next(iter(value))
    closed = next((check for check in pin.checks if isinstance(check, Closed)), None)
    return unlisted(closed) if closed is not None else ""


def unlisted(closed: Closed) -> str:
    """Give a name that a closed set refuses."""
    name = closed.globs[0].strip("*") or "unlisted"
    if closed.globs[0].startswith("*") and closed.globs[0] != "*" and name.isupper():
        name = f"VLLM{name}" if name.startswith("_") else f"VLLM_{name}"
    if closed.globs[0].endswith("*") and name.endswith("_"):
        name += "UNLISTED"
    return name


def find(table: Table, segments: tuple[str, ...]) -> Spoiler | None:
    """Find the spoiler whose pattern fits these segments; a pattern may end before them."""
    for pattern, spoiler in table.items():
        wanted = pattern.split("/") if pattern else []
        if len(wanted) <= len(segments) and all(
            want in ("*", have) for want, have in zip(wanted, segments, strict=False)
        ):
            return spoiler
    return None
