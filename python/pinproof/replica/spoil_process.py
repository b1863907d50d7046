"""Spoiling what a process was started with, what it runs on and what it has mapped."""

from __future__ import annotations

import json
from typing import Any

from pinproof.replica import container_root, engine, site, systemd
from pinproof.replica.content import shared_object
from pinproof.replica.journal import Journal
from pinproof.replica.spoilers import CannotSpoil, Spoil, Table, other

EXTRA_LIBRARIES = "/opt/dsv41/lib"


# -- finding -------------------------------------------------------------------
def process_id(spoil: Spoil, probe: str = "") -> int:
    """Give the id of the process that a probe (by default the spoil's own) is about."""
    parameters = spoil.manifest.probes[probe].parameters if probe else spoil.probe.parameters
    if "unit" in parameters:
        shown = spoil.journal.text(systemd.show_path(str(parameters["unit"])))
        return int(next(line[8:] for line in shown.splitlines() if line.startswith("MainPID=")))
    return container_process(spoil.journal, str(parameters.get("program", "vllm")))


def container_process(journal: Journal, program: str) -> int:
    """Give the id of the container's process of this program."""
    for name in journal.names("/proc"):
        if not name.isdecimal() or "docker-" not in journal.text(f"/proc/{name}/cgroup"):
            continue
        if program in {word.rpartition("/")[2] for word in read_argv(journal, int(name))[:2]}:
            return int(name)
    raise CannotSpoil(f"no process of program {program} in the container")


def read_argv(journal: Journal, pid: int) -> list[str]:
    """Read a process' argument vector."""
    return journal.text(f"/proc/{pid}/cmdline").split("\0")[:-1]


def read_environment(journal: Journal, pid: int) -> dict[str, str]:
    """Read a process' environment."""
    entries = journal.text(f"/proc/{pid}/environ").split("\0")[:-1]
    return {name: value for name, _, value in (entry.partition("=") for entry in entries)}


def _write_argv(spoil: Spoil, pid: int, argv: list[str], prefix: int) -> None:
    """Write an argument vector; the engine tells its container's main process the same (`prefix` words less)."""
    spoil.journal.write(f"/proc/{pid}/cmdline", "".join(word + "\0" for word in argv))
    if prefix:
        inspected = spoil.json(engine.answer_path(engine.INSPECT))
        inspected["Args"] = inspected["Config"]["Cmd"] = argv[prefix:]
        spoil.write_json(engine.answer_path(engine.INSPECT), inspected)


# -- environment ---------------------------------------------------------------
def set_environment(spoil: Spoil, pid: int, name: str, value: str) -> None:
    """Set a variable as a launch would have: the process and, where it is the engine, the container's settings."""
    environment = {**read_environment(spoil.journal, pid), name: value}
    spoil.journal.write(f"/proc/{pid}/environ", "".join(f"{key}={text}\0" for key, text in environment.items()))
    path = engine.answer_path(engine.INSPECT)
    if spoil.journal.exists(path):
        inspected = spoil.json(path)
        entries = dict(entry.partition("=")[::2] for entry in inspected["Config"]["Env"])
        inspected["Config"]["Env"] = [f"{key}={text}" for key, text in {**entries, name: value}.items()]
        spoil.write_json(path, inspected)


def _environment(spoil: Spoil) -> str:
    pid = process_id(spoil)
    name = spoil.key or spoil.segments[1]
    present = read_environment(spoil.journal, pid).get(name)
    value = "1" if present is None else other(present)
    set_environment(spoil, pid, name, value)
    return f"{name}={value} in the environment of process {pid}"


# -- arguments -----------------------------------------------------------------
def _option(spoil: Spoil) -> str:
    """Change an option's value; one that is not there is added."""
    pid = process_id(spoil)
    argv = read_argv(spoil.journal, pid)
    name = spoil.key if len(spoil.segments) == 1 else spoil.segments[1]
    flag = f"--{name}"
    if flag in argv:
        at = argv.index(flag) + 1
        argv[at] = other(argv[at])
        told = f"{flag} {argv[at]}"
    else:
        argv += [flag, "other"]
        told = f"{flag} is added"
    _write_argv(spoil, pid, argv, _prefix(argv))
    return f"{told} in the arguments of process {pid}"


def _json_option(spoil: Spoil) -> str:
    pid = process_id(spoil)
    argv = read_argv(spoil.journal, pid)
    flag = f"--{spoil.segments[1]}"
    if flag in argv:
        at = argv.index(flag) + 1
        value: dict[str, Any] = json.loads(argv[at])
        value[spoil.leaf] = other(value[spoil.leaf]) if spoil.leaf in value else True
        argv[at] = json.dumps(value, separators=(",", ":"))
    else:
        argv += [flag, '{"kv_connector":"OtherConnector"}']
    _write_argv(spoil, pid, argv, _prefix(argv))
    return f"{flag} {argv[argv.index(flag) + 1]} in the arguments of process {pid}"


def _arguments(spoil: Spoil) -> str:
    pid = process_id(spoil)
    argv = read_argv(spoil.journal, pid)
    at = _prefix(argv) + 1
    argv[at] += "-lmhead"
    _write_argv(spoil, pid, argv, _prefix(argv))
    return f"{argv[at]} in the arguments of process {pid}"


def _prefix(argv: list[str]) -> int:
    """Give how many words of the engine's vector stand before its arguments; 0 for another process."""
    return 2 if argv[0] == site.PYTHON else 0


# -- executable ----------------------------------------------------------------
def _executable_bytes(spoil: Spoil) -> str:
    path = _in_root(spoil, container_root.BASE_PYTHON)
    spoil.journal.append(path, b"\0")
    return f"{path} has a byte more"


def _in_root(spoil: Spoil, path: str) -> str:
    return site.CONTAINER_ROOT + path if "container" in spoil.probe.parameters else path


def _executable_path(spoil: Spoil) -> str:
    pid = process_id(spoil)
    old = str(spoil.journal.real(f"/proc/{pid}/exe").readlink())
    new = old.replace("/bin/", "/libexec/")
    spoil.journal.write(_in_root(spoil, new), spoil.journal.read(_in_root(spoil, old)))
    spoil.journal.link(f"/proc/{pid}/exe", new)
    return f"process {pid} runs {new}"


def _executable_deleted(spoil: Spoil) -> str:
    pid = process_id(spoil)
    old = str(spoil.journal.real(f"/proc/{pid}/exe").readlink())
    spoil.journal.link(f"/proc/{pid}/exe", old + " (deleted)")
    return f"process {pid} runs {old}, which was replaced since"


# -- libraries -----------------------------------------------------------------
def _library_bytes(spoil: Spoil) -> str:
    stems = spoil.probe.parameters["libraries"]
    stem = spoil.key or (spoil.segments[1] if len(spoil.segments) > 1 else "")
    if not stem and isinstance(stems, list):
        stem = str(stems[0])
    path = next(path for path in container_root.ENGINE_MAPPED if path.rpartition("/")[2].startswith(stem + "."))
    spoil.journal.append(_in_root(spoil, path), b"\0")
    return f"{path} has a byte more"


def _one_more_library(spoil: Spoil) -> str:
    stem = spoil.segments[1]
    path = f"{EXTRA_LIBRARIES}/{stem}.so.2"
    spoil.journal.write(_in_root(spoil, path), shared_object(f"another {stem}"))
    _map(spoil, path)
    return f"{path} is mapped too"


def _deleted_library(spoil: Spoil) -> str:
    _map(spoil, f"{EXTRA_LIBRARIES}/libpatch.so (deleted)")
    return f"{EXTRA_LIBRARIES}/libpatch.so is mapped and gone from disk"


def _map(spoil: Spoil, path: str) -> None:
    maps = f"/proc/{process_id(spoil)}/maps"
    line = "ffff70000000-ffff70400000 r-xp 00000000 103:02 1999999".ljust(73) + path
    stack = next(text for text in spoil.journal.text(maps).splitlines() if text.endswith("[vvar]"))
    spoil.journal.write(maps, spoil.journal.text(maps).replace(stack, f"{line}\n{stack}"))


PROCESS: Table = {
    "env": _environment,
    "argv": _option,
    "json/*": _json_option,
    "arguments": _arguments,
    "exe/sha256": _executable_bytes,
    "exe/path": _executable_path,
    "exe/deleted": _executable_deleted,
    "libraries": _library_bytes,
    "library_counts/*": _one_more_library,
    "deleted_libraries": _deleted_library,
}
