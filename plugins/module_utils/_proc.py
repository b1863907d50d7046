# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel's files about a process say: stat, cgroup, cmdline, environ.

This module util is private to the collectors. Parsing only, of bytes; the
failures are `LookError`s that name the file.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Unparsable

TICKS_A_SECOND = 100  # USER_HZ: the unit of these files on every architecture, whatever the kernel's own is

_CONTAINER = re.compile(r"(?:docker-|libpod-|crio-|cri-containerd-|nerdctl-)?([0-9a-f]{64})(?:\.scope)?")


@dataclasses.dataclass(frozen=True)
class Stat:
    """The fields of `/proc/PID/stat` that matter here; `start_ticks` counts from the boot."""

    pid: int
    name: str
    state: str
    parent: int
    start_ticks: int


@dataclasses.dataclass(frozen=True)
class ControlGroup:
    """What a process' control group names: the container (64 hex digits) and the unit; "" where none."""

    container: str
    unit: str


@dataclasses.dataclass(frozen=True)
class Environment:
    """An initial environment. `intact` is false where the block was written over since the program was started.

    `ambiguous` are names that stand in it more than once with different values:
    programs differ in which of them counts.
    """

    values: dict[str, str]
    ambiguous: tuple[str, ...]
    intact: bool


def text(data: bytes) -> str:
    """Decode what the kernel passes on as bytes; any bytes can be, and encoded back to the same."""
    return data.decode("utf-8", "surrogateescape")


def parse_stat(data: bytes, what: str) -> Stat:
    """Parse `/proc/PID/stat`; the name in it may hold blanks and parentheses. Raises Unparsable."""
    opening, closing = data.find(b"("), data.rfind(b")")
    fields = data[closing + 1 :].split()
    try:
        if not 0 < opening < closing:
            raise ValueError
        return Stat(
            int(data[:opening]),
            text(data[opening + 1 : closing]),
            fields[0].decode("ascii"),
            int(fields[1]),
            int(fields[19]),
        )
    except (ValueError, IndexError):
        raise Unparsable("%s: is not in the kernel's format" % what) from None


def parse_cgroup(data: bytes) -> ControlGroup:
    """Parse `/proc/PID/cgroup` of either version; lines that are not in its format name nothing.

    The unified hierarchy is asked first for the container, then systemd's own,
    then the others; a line that names none does not outvote one that does.
    """
    paths: dict[str, str] = {}
    for line in text(data).split("\n"):
        number, _, rest = line.partition(":")
        controllers, separator, path = rest.partition(":")
        if separator and number.isdigit():
            paths.setdefault("unified" if number == "0" and not controllers else controllers, path)
    order = sorted(paths, key=lambda name: (name != "unified", name != "name=systemd", name))
    container = next(filter(None, (_container(paths[name]) for name in order)), "")
    units = (_unit(paths.get(name, "")) for name in ("name=systemd", "unified"))
    return ControlGroup(container, next(filter(None, units), ""))


def _container(path: str) -> str:
    """Give the innermost container of a control group's path: engines nest, and so do containers' own groups."""
    for component in reversed(path.split("/")):
        found = _CONTAINER.fullmatch(component)
        if found:
            return found.group(1)
    return ""


def _unit(path: str) -> str:
    for component in reversed(path.split("/")):
        if component.endswith((".service", ".scope")):
            return component
    return ""


def split_arguments(data: bytes) -> list[str]:
    """Split `/proc/PID/cmdline`: every argument ends with NUL, and arguments may be empty."""
    if not data:
        return []
    return [text(item) for item in (data[:-1] if data.endswith(b"\0") else data).split(b"\0")]


def is_title(arguments: t.Sequence[str]) -> bool:
    """Say whether a process wrote a title over its argument vector.

    A title is followed by what is left of the vector's space, as NULs; one that
    fills it is told by its form (`VLLM::EngineCore`, `nginx: worker process`).
    """
    if not arguments or any(arguments[1:]):
        return False
    return len(arguments) > 2 or "::" in arguments[0] or ": " in arguments[0]


def parse_environment(data: bytes) -> Environment:
    """Parse `/proc/PID/environ`.

    A title can be longer than the argument vector and run into the environment,
    and what sets it clears the rest: only a block of texts without gaps is what
    the program was started with.
    """
    entries = data[:-1].split(b"\0") if data.endswith(b"\0") else [data] if data else []
    intact = not data or (data.endswith(b"\0") and all(entries) and any(b"=" in entry for entry in entries))
    values: dict[str, str] = {}
    ambiguous: set[str] = set()
    for entry in entries:
        name, equals, value = text(entry).partition("=")
        if not equals or not intact:
            continue
        if values.setdefault(name, value) != value:
            ambiguous.add(name)
    return Environment(values, tuple(sorted(ambiguous)), intact)


def parse_boot_time(data: bytes) -> int:
    """Give the boot time of `/proc/stat` in seconds since the epoch. Raises Unparsable."""
    found = re.search(rb"^btime (\d{1,12})$", data, re.MULTILINE)
    if found is None:
        raise Unparsable("/proc/stat: tells no boot time")
    return int(found.group(1))


def parse_effective_user(data: bytes, what: str) -> str:
    """Give the effective user id of `/proc/PID/status` as text. Raises Unparsable."""
    found = re.search(rb"^Uid:\t\d+\t(\d+)\t", data, re.MULTILINE)
    if found is None:
        raise Unparsable("%s: tells no user id" % what)
    return found.group(1).decode("ascii")
