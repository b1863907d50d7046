# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two halves of a look at a unit: its files, and what the service manager has loaded.

This module util is private to the collectors. Each half fills its part of an
observation and records what it could not read as faults of that part.
"""

from __future__ import annotations

import hashlib
import typing as t

from ._accounts import Account
from ._argv import parse as parse_argv
from ._disclosure import Disclosure
from ._observation import Absent, LookError, Observation, Unparsable, Unstable
from ._reading import steady
from ._root import HostRoot, changed_at
from ._segments import within
from ._specifiers import Specifiers
from ._strict_json import canonical
from ._systemctl import parse_command, parse_environment, parse_number, parse_words, parse_yes_no
from ._unit_file import Assignment, parse
from ._unit_paths import UnitFiles, is_null_link, same_files
from ._unit_settings import Settings, settle

DERIVED = ("exec", "environment", "environment_files", "settings")


# -- files -----------------------------------------------------------------------
def look_at_files(
    observation: Observation, root: HostRoot, files: UnitFiles, account: t.Optional[Account], disclosure: Disclosure
) -> None:
    """Fill `file.*` and `changed_at`. Raises Unstable when the set of files moved meanwhile."""
    digests: dict[str, str] = {}
    observation.identity["file"] = facts = {
        "fragment": files.fragment,
        "dropins": list(files.dropins),
        "masked": files.masked,
        "digests": digests,
    }
    observation.notes += files.notes
    assignments: list[Assignment] = []
    broken: t.Optional[LookError] = None
    for path in (files.fragment, *files.dropins):
        if is_null_link(root, path):
            continue
        try:
            data = _read(observation, root, path)
            if data:
                digests[path] = hashlib.sha256(data).hexdigest()
            parsed = parse(data, path)
            assignments += parsed.assignments
            observation.notes += parsed.notes
        except Unstable:
            raise
        except Absent:
            observation.notes.append("%s: leads to no file, passed over" % path)
        except LookError as error:
            broken = broken or error
            if path not in digests:
                observation.fault(within("file", "digests", path), error)
                observation.fault("changed_at", error)
    if not same_files(root, files, account):
        raise Unstable("%s: its unit files changed while they were read" % files.asked)
    if files.masked and broken is None:
        return
    sections = ("Unit", "Install", files.name.type.capitalize())
    settings = settle(assignments, sections, Specifiers(root, files, account))
    broken = broken or settings.refused
    if broken is None:
        _tell(observation, facts, settings, disclosure)
        return
    for name in DERIVED:
        observation.fault("file." + name, broken)


def _read(observation: Observation, root: HostRoot, path: str) -> bytes:
    data, way, info = steady(root, path, lambda: root.read(path))
    latest = max(way.changed_at, changed_at(info))
    observation.state["changed_at"] = max(observation.state.get("changed_at", 0.0), latest)
    if not data:
        observation.notes.append("%s: is empty" % path)
    return data


def _tell(observation: Observation, facts: dict[str, t.Any], settings: Settings, disclosure: Disclosure) -> None:
    """Put settings into an observation, values only as far as pins name them."""
    observation.notes += settings.notes
    if isinstance(settings.commands, LookError):
        observation.fault("file.exec", settings.commands)
    elif settings.commands:
        facts["exec"] = command_facts(settings.commands[-1], disclosure)
        if len(settings.commands) > 1:
            observation.notes.append("%d commands in ExecStart=; file.exec is the last" % len(settings.commands))
    if isinstance(settings.environment, LookError):
        observation.fault("file.environment", settings.environment)
    else:
        facts["environment"] = {}
        for name, value in settings.environment.items():
            if isinstance(value, LookError):
                observation.fault(within("file", "environment", name), value)
            else:
                facts["environment"][name] = disclosure.value(name, value)
    if isinstance(settings.environment_files, LookError):
        observation.fault("file.environment_files", settings.environment_files)
    else:
        facts["environment_files"] = settings.environment_files
    facts["settings"] = {name: disclosure.value(name, value) for name, value in settings.others.items()}


def command_facts(command: list[str], disclosure: Disclosure) -> dict[str, t.Any]:
    """Give a command by option, the values of options that no pin names as their digests."""
    argv = parse_argv(command[1:])
    structured = {}
    for name, value in argv.json.items():
        plain = disclosure.is_plain(name)
        structured[name] = value if plain else disclosure.value(name, canonical(value))
    return {
        "program": command[0],
        "argv": {name: _disclosed(name, value, disclosure) for name, value in argv.options.items()},
        "json": structured,
        "arguments": [disclosure.value("arguments", item) for item in argv.positionals],
    }


def _disclosed(name: str, value: t.Any, disclosure: Disclosure) -> t.Any:
    if isinstance(value, list):
        return [_disclosed(name, item, disclosure) for item in value]
    return disclosure.value(name, value) if isinstance(value, str) else value


# -- what is loaded ------------------------------------------------------------------
def look_at_loaded(observation: Observation, properties: dict[str, list[str]], disclosure: Disclosure) -> None:
    """Fill `loaded.*` from the properties that systemctl printed. Raises Absent for a unit systemd does not know."""
    first = {name: values[0] for name, values in properties.items()}
    if first["LoadState"] == "not-found":
        raise Absent("%s: systemd knows no such unit" % first["Id"])
    facts: dict[str, t.Any] = {"load_state": first["LoadState"]}
    state: dict[str, t.Any] = {}
    observation.identity["loaded"] = facts
    observation.state["loaded"] = state
    for name, key in (
        ("ActiveState", "active_state"),
        ("SubState", "sub_state"),
        ("UnitFileState", "unit_file_state"),
        ("FragmentPath", "fragment"),
    ):
        if first.get(name):
            facts[key] = first[name]
    if first.get("InvocationID"):
        state["invocation_id"] = first["InvocationID"]
    readers: list[tuple[str, dict[str, t.Any], t.Callable[[], t.Any]]] = [
        ("dropins", facts, lambda: parse_words(first["DropInPaths"], "DropInPaths")),
        ("needs_reload", facts, lambda: parse_yes_no(first["NeedDaemonReload"], "NeedDaemonReload")),
        ("main_pid", state, lambda: parse_number(first["MainPID"], "MainPID") or None),
        ("restarts", state, lambda: parse_number(first["NRestarts"], "NRestarts")),
        ("exec", facts, lambda: _loaded_exec(observation, properties["ExecStart"], disclosure)),
        ("environment", facts, lambda: _loaded_environment(first["Environment"], disclosure)),
    ]
    for key, place, read in readers:
        try:
            value = read()
        except KeyError:
            # Not a property of this type of unit, or of this version of systemd.
            continue
        except LookError as error:
            observation.fault("loaded." + key, error)
            continue
        if value is not None:
            place[key] = value


def _loaded_exec(observation: Observation, values: list[str], disclosure: Disclosure) -> t.Optional[dict[str, str]]:
    commands = [parse_command(value) for value in values if value]
    if not commands:
        return None
    if len(commands) > 1:
        observation.notes.append("%d commands are loaded; loaded.exec is the last" % len(commands))
    last = commands[-1]
    if not last.program:
        raise Unparsable("systemctl show: ExecStart tells no program")
    return {"program": last.program, "command": disclosure.value("command", last.joined)}


def _loaded_environment(text: str, disclosure: Disclosure) -> dict[str, str]:
    return {name: disclosure.value(name, value) for name, value in parse_environment(text).items()}
