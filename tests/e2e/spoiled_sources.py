"""Where each kind of probe reads, so that tests can take exactly that source away or spoil it."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pinproof.manifest.model import Probe

HOME = "home/operator"
CONTAINER = "containers/dsv41"


def subject(probe: Probe, tree: Path) -> Path:
    """Give the file, in this host's tree, that the probe stands or falls with."""
    find: Callable[[Path, Probe], Path] = _SUBJECTS[probe.kind]
    return find(tree, probe)


def _in_tree(tree: Path, probe: Probe, path: str) -> Path:
    if path.startswith("~"):
        path = HOME + path[1:]
    base = tree / CONTAINER if "inside" in probe.parameters else tree
    return base / path.lstrip("/")


def _parameter(name: str, below: str = "") -> Callable[[Path, Probe], Path]:
    def find(tree: Path, probe: Probe) -> Path:
        found = _in_tree(tree, probe, str(probe.parameters[name]))
        return found / below if below else found

    return find


def _first_named(tree: Path, probe: Probe) -> Path:
    names: Any = probe.parameters["names"]
    return _in_tree(tree, probe, str(probe.parameters["under"])) / str(names[0])


def _first_file(tree: Path, probe: Probe) -> Path:
    folder = _in_tree(tree, probe, str(probe.parameters["path"])).resolve()
    return next(path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _git_head(tree: Path, probe: Probe) -> Path:
    repo = _in_tree(tree, probe, str(probe.parameters["repo"]))
    return repo / ".git/HEAD" if (repo / ".git").is_dir() else repo / "HEAD"


def _engine(path: str) -> Callable[[Path, Probe], Path]:
    def find(tree: Path, probe: Probe) -> Path:
        return tree / "run/docker.sock" / urllib.parse.quote(path.format(**probe.parameters), safe="")

    return find


def _log(tree: Path, probe: Probe) -> Path:
    return next(path for path in sorted((tree / "run/docker.sock").iterdir()) if "logs" in path.name)


def _process(tree: Path, probe: Probe) -> Path:
    words = str(probe.parameters.get("program") or "dspark-worker").encode()
    for path in sorted((tree / "proc").glob("[0-9]*")):
        argv = (path / "cmdline").read_bytes().split(b"\0")[:2]
        if any(word.rpartition(b"/")[2] == words for word in argv):
            return path / "cmdline"
    raise LookupError(f"no process {words!r} below {tree}")


def _unit(tree: Path, probe: Probe) -> Path:
    return tree / "etc/systemd/system" / str(probe.parameters["name"])


def _list_units(tree: Path, probe: Probe) -> Path:
    return next(
        path for path in (tree / "run/recorded-tools/systemctl").iterdir() if path.name.startswith("list-units")
    )


def _jit(tree: Path, probe: Probe) -> Path:
    folder = tree / CONTAINER / "var/cache/dsv41" / str(probe.parameters["cache"])
    wanted = {"triton": "*.cubin", "flashinfer": "*.so", "vllm": "*.py"}[str(probe.parameters["cache"])]
    return next(iter(sorted(folder.rglob(wanted))))


_SUBJECTS: dict[str, Callable[[Path, Probe], Path]] = {
    "source": _git_head,
    "clone": _git_head,
    "link": _parameter("path"),
    "file": _parameter("path"),
    "files": _first_named,
    "tree": _first_file,
    "json": _parameter("file"),
    "status": _parameter("file"),
    "env_file": _parameter("file"),
    "derivation": _parameter("derived"),
    "sums": _parameter("list"),
    "emission": _parameter("file"),
    "requests": _parameter("file"),
    "container": _engine("/containers/{name}/json"),
    "containers": _engine("/containers/json"),
    "engine_log": _log,
    "process": _process,
    "unit": _unit,
    "units": _list_units,
    "gpu": lambda tree, probe: next(iter(sorted((tree / "run/recorded-tools/nvidia-smi").glob("--query-gpu*csv")))),
    "fabric": lambda tree, probe: tree / "sys/class/infiniband/rocep1s0f1/ports/1/state",
    "jit": _jit,
    "host": lambda tree, probe: tree / ("dev/kmsg" if "log_since" in probe.parameters else "etc/machine-id"),
}
