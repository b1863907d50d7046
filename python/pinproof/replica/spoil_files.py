"""Spoiling files, folders, links, and what is written about them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from pinproof.replica import site
from pinproof.replica.content import sha256, shared_object
from pinproof.replica.proc import mount_line
from pinproof.replica.site import CONTAINER_ROOT
from pinproof.replica.spoil_process import container_process, read_environment, set_environment
from pinproof.replica.spoilers import CannotSpoil, Spoil, Table, other

_VOLATILE = (".json", ".ninja", ".o", ".lock", ".best_config", ".log")


# -- bytes and places --------------------------------------------------------------
def _append(spoil: Spoil, path: str) -> str:
    extra = b"\n" if path.endswith((".json", ".py", ".txt", ".md")) else b"\0"
    spoil.journal.append(path, extra)
    return f"{path} has a byte more"


def _moved(spoil: Spoil, path: str) -> str:
    """Rename a folder and leave a link to it."""
    new = path + "-moved"
    spoil.journal.rename(path, new)
    spoil.journal.link(path, posixpath.basename(new))
    return f"{path} is a link to {new} now"


def _named_file(spoil: Spoil) -> str:
    names = spoil.probe.parameters["names"]
    name = spoil.key or (spoil.segments[1] if len(spoil.segments) > 1 else "")
    if not name and isinstance(names, list):
        name = str(names[0])
    return _append(spoil, f"{spoil.path('under')}/{name}")


def _files_in(spoil: Spoil, path: str) -> list[str]:
    """List the files of a folder by relative path, links left out."""
    top = spoil.journal.real(path)
    found = [str(item.relative_to(top)) for item in sorted(top.rglob("*")) if item.is_file() and not item.is_symlink()]
    if not found:
        raise CannotSpoil(f"{path}: holds no file")
    return found


def _tree_entry(spoil: Spoil) -> str:
    path = spoil.path("path")
    name = spoil.key or _files_in(spoil, path)[0]
    return _append(spoil, f"{path}/{name}")


def _shadow(spoil: Spoil) -> str:
    path = spoil.path("path") + ".py"
    spoil.journal.write(path, '"""Found before the folder of this name."""\n')
    return f"{path} lies beside the tree"


def _tree_moved(spoil: Spoil) -> str:
    return _moved(spoil, spoil.path("path"))


def _files_moved(spoil: Spoil) -> str:
    return _moved(spoil, spoil.path("under"))


def _link(spoil: Spoil) -> str:
    """Let the link lead to a copy of what it led to."""
    path = spoil.path("path")
    folder, target = posixpath.split(path)[0], str(spoil.journal.real(path).readlink())
    spoil.journal.copy_folder(f"{folder}/{target}", f"{folder}/{target}-hotfix")
    spoil.journal.link(path, f"{target}-hotfix")
    return f"{path} leads to {target}-hotfix, a copy"


def _one_line(spoil: Spoil) -> str:
    path = spoil.path("path")
    text = other(spoil.journal.text(path).rstrip("\n"))
    spoil.journal.write(path, text + "\n")
    return f"{path} says {text}"


def _json_value(spoil: Spoil) -> str:
    path = spoil.path("file")
    value = spoil.json(path)
    inner = value
    for segment in spoil.segments[1:-1]:
        inner = inner[segment]
    inner[spoil.segments[-1]] = other(inner[spoil.segments[-1]])
    spoil.write_json(path, value, indent=2)
    return f"{path} tells {spoil.segments[-1]} {inner[spoil.segments[-1]]}"


# -- lists of digests ----------------------------------------------------------------
def _sums(spoil: Spoil) -> tuple[str, list[str]]:
    path = spoil.path("list")
    return path, spoil.journal.text(path).splitlines()


def _listed_file(spoil: Spoil) -> str:
    name = spoil.key or _sums(spoil)[1][0][66:]
    return f"{spoil.path('under')}/{name}"


def _count(spoil: Spoil) -> str:
    """List one file more, which is there."""
    data = shared_object("one more")
    spoil.journal.write(f"{spoil.path('under')}/one-more.bin", data)
    spoil.journal.append(spoil.path("list"), f"{sha256(data)}  one-more.bin\n".encode())
    return "one-more.bin is there and listed"


def _differing(spoil: Spoil) -> str:
    return _append(spoil, _listed_file(spoil))


def _missing(spoil: Spoil) -> str:
    path = _listed_file(spoil)
    spoil.journal.remove(path)
    return f"{path} is gone"


def _extra(spoil: Spoil) -> str:
    path = f"{spoil.path('under')}/unlisted.bin"
    spoil.journal.write(path, shared_object("unlisted"))
    return f"{path} is there and not listed"


def _listed(spoil: Spoil) -> str:
    """Change a file and its line in the list, so that they agree."""
    path = _listed_file(spoil)
    old = sha256(spoil.journal.read(path))
    _append(spoil, path)
    spoil.journal.substitute(spoil.path("list"), old, sha256(spoil.journal.read(path)))
    return f"{path} and its line in the list are others"


# -- the engine's own emission ---------------------------------------------------------
def _emitted(change: Callable[[dict[str, object], str], str]) -> Callable[[Spoil], str]:
    def spoiler(spoil: Spoil) -> str:
        path = spoil.path("file")
        value = spoil.json(path)
        told = change(value, spoil.key)
        spoil.write_json(path, value, indent=1)
        return f"{path}: {told}"

    return spoiler


def _emitted_tool(value: dict[str, object], _key: str) -> str:
    value["tool"] = "verify_something"
    return "emitted by verify_something"


def _emitted_count(value: dict[str, object], _key: str) -> str:
    files = value["files"]
    assert isinstance(files, list)
    return f"does not cover {files.pop()['path']}"


def _emitted_not_ok(value: dict[str, object], _key: str) -> str:
    files = value["files"]
    assert isinstance(files, list)
    files[0].update(ok=False, why="differs from the build")
    return f"{files[0]['path']} is not ok"


def _emitted_digest(value: dict[str, object], key: str) -> str:
    files = value["files"]
    assert isinstance(files, list)
    found = next((item for item in files if item["path"] == key), None)
    if found is None:
        files.append({"path": key, "sha256": sha256(key), "ok": True})
        return f"covers {key} too"
    found["sha256"] = other(found["sha256"])
    return f"another digest of {key}"


# -- caches ------------------------------------------------------------------------------
def _cache(spoil: Spoil) -> tuple[int, str, str]:
    """Give the process, the variable and the path in the container of a cache."""
    if "variable" not in spoil.probe.parameters:
        raise CannotSpoil(f"{spoil.probe.name}: the cache is not located by a variable")
    pid = container_process(spoil.journal, "vllm")
    variable = str(spoil.probe.parameters["variable"])
    return pid, variable, read_environment(spoil.journal, pid)[variable]


def _cache_entry(spoil: Spoil) -> str:
    path = CONTAINER_ROOT + _cache(spoil)[2]
    stable = [name for name in _files_in(spoil, path) if not name.endswith(_VOLATILE) and "tmp.pid_" not in name]
    stable = [name for name in stable if not posixpath.basename(name).startswith(".") and not name.endswith("/lock")]
    return _append(spoil, f"{path}/{spoil.key or stable[0]}")


def _cache_path(spoil: Spoil) -> str:
    """Let the variable name a copy of the cache on the same mount."""
    pid, variable, path = _cache(spoil)
    spoil.journal.copy_folder(CONTAINER_ROOT + path, f"{CONTAINER_ROOT}{path}-copy")
    set_environment(spoil, pid, variable, path + "-copy")
    return f"{variable}={path}-copy, a copy"


def _cache_mount(spoil: Spoil) -> str:
    """Mount something over the cache itself."""
    pid, _, path = _cache(spoil)
    mounts = f"/proc/{pid}/mountinfo"
    spoil.journal.write(mounts, spoil.journal.text(mounts) + mount_line(1799, "/mnt/scratch", path, writable=True))
    return f"{path} is a mount of its own"


LINK: Table = {"resolved": _link, "target": _link, "name": _link}
FILE: Table = {"text": _one_line, "sha256": _one_line}
FILES: Table = {"resolved": _files_moved, "files": _named_file}
TREE: Table = {"entries": _tree_entry, "digest": _tree_entry, "shadows": _shadow, "resolved": _tree_moved}
JSON: Table = {"value": _json_value}
STATUS: Table = {"value": _json_value}
SUMS: Table = {
    "count": _count,
    "matching": _differing,
    "missing": _missing,
    "extra": _extra,
    "differing": _differing,
    "listed": _listed,
}
EMISSION: Table = {
    "tool": _emitted(_emitted_tool),
    "count": _emitted(_emitted_count),
    "not_ok": _emitted(_emitted_not_ok),
    "files": _emitted(_emitted_digest),
}
JIT: Table = {"entries": _cache_entry, "digest": _cache_entry, "path": _cache_path, "mount": _cache_mount}

# Written by the running service itself: a change of these is no change of what it runs on.
WRITTEN_BY_SERVICE = (site.EMISSION, site.WORKER_STATUS)
