"""Trees for tests of file looks: roots in which files move while they are read, and folders of cases."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plugins.module_utils._observation import Denied, Observation
from plugins.module_utils._root import FileFact, HostRoot

CASES = Path(__file__).parents[1] / "cases"


class MovingRoot(HostRoot):
    """A tree in which `move` is done once, when the look named `on` ("digest", "read", "listdir") has been made."""

    def __init__(self, prefix: Path, on: str, move: Callable[[], object]) -> None:
        super().__init__(str(prefix))
        self._on = on
        self._move: Callable[[], object] | None = move

    def _did(self, look: str) -> None:
        if look == self._on and self._move is not None:
            move, self._move = self._move, None
            move()

    def digest(self, *arguments: Any) -> FileFact:
        fact = super().digest(*arguments)
        self._did("digest")
        return fact

    def read(self, *arguments: Any) -> bytes:
        data = super().read(*arguments)
        self._did("read")
        return data

    def listdir(self, *arguments: Any) -> list[str]:
        names = super().listdir(*arguments)
        self._did("listdir")
        return names


class DenyingRoot(HostRoot):
    """A tree in which some paths are refused, as to a user without rights (tests run as root)."""

    def __init__(self, prefix: Path, *denied: str) -> None:
        super().__init__(str(prefix))
        self._denied = denied

    def _refuse(self, path: str) -> None:
        if self.resolve(path) in self._denied:
            raise Denied(f"{path}: permission denied (EACCES)")

    def digest(self, path: str, *arguments: Any) -> FileFact:
        self._refuse(path)
        return super().digest(path, *arguments)

    def read(self, path: str, *arguments: Any) -> bytes:
        self._refuse(path)
        return super().read(path, *arguments)

    def listdir(self, path: str, *arguments: Any) -> list[str]:
        self._refuse(path)
        return super().listdir(path, *arguments)


def case_names(collector: str) -> list[str]:
    """List the cases of a collector."""
    return sorted(path.name for path in (CASES / collector).iterdir())


def run_case(
    collector: str, name: str, tmp_path: Path, collect: Callable[[dict[str, Any], HostRoot], Observation]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a case (`root/`, `request.json`, `expected.json`) on a copy; give what was observed and what is expected.

    Times are the file system's, and left out; `expected.json` names the parts to compare.
    """
    case = CASES / collector / name
    shutil.copytree(case / "root", tmp_path / "root", symlinks=True)
    for path in (tmp_path / "root").rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o644)
    request = {"probe": name, "now": 2_000_000_000.0, "disclose": {"plain": [], "key": ""}}
    request.update(json.loads((case / "request.json").read_text()))
    expected = json.loads((case / "expected.json").read_text())
    observed = copy.deepcopy(collect(request, HostRoot(str(tmp_path / "root"), recorded=True)).as_dict())
    assert json.loads(json.dumps(observed, allow_nan=False)) == observed
    for timed in ("changed_at", "age_s"):
        observed["state"].pop(timed, None)
    return {key: observed[key] for key in expected}, expected


def write_tree(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files by relative name; a text that begins with `-> ` is a link's target."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def write_process(
    prefix: Path,
    pid: int = 4711,
    *,
    root: str = "/containers/rank0",
    environ: dict[str, str] | bytes = b"PATH=/usr/bin\0",
    mounts: str = "67 44 0:50 / / rw,relatime - overlay overlay rw\n",
    start_ticks: int = 100,
) -> dict[str, Any]:
    """Write the kernel's files about a process of program `vllm`, as a replica holds them; give its selector."""
    if isinstance(environ, dict):
        environ = b"".join(f"{name}={value}\0".encode() for name, value in environ.items())
    fields = f"S 1 {pid} {pid} 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 {start_ticks} 0 0"
    entry = f"proc/{pid}"
    write_tree(
        prefix,
        {
            "proc/stat": "cpu  1 1 1 1\nbtime 1790000000\n",
            f"{entry}/stat": f"{pid} (vllm) {fields}\n",
            f"{entry}/cgroup": f"0::/system.slice/docker-{'c' * 64}.scope\n",
            f"{entry}/cmdline": b"/usr/bin/vllm\0serve\0/srv/model\0",
            f"{entry}/environ": environ,
            f"{entry}/mountinfo": mounts,
            f"{entry}/root": f"-> {root}",
        },
    )
    return {"program": "vllm"}
