"""Builds trees with processes in the kernel's formats, and the engine's answers beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from plugins.module_utils._engine import recorded_name
from plugins.module_utils._root import HostRoot

BOOT = 1796095180
CONTAINER = "2f66973bc58aaedbcb9bb13e37f23318849dee9dc4d95796b1e59a82b87147d7"
OTHER = "ab" * 32
NOW = BOOT + 100000.0


class Tree:
    """A recorded host below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = HostRoot(str(folder), recorded=True)
        self.write("/proc/stat", f"cpu  3583 0\nbtime {BOOT}\nprocesses 2576\n".encode())

    def write(self, path: str, data: bytes) -> Path:
        file = self.folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def process(
        self,
        pid: int,
        arguments: list[str] | bytes,
        *,
        parent: int = 1,
        group: str = "/",
        ticks: int = 45289,
        environment: dict[str, str] | bytes | None = None,
        maps: bytes = b"00400000-00401000 r-xp 00000000 fe:00 11 /bin/program\n",
        root: str = "/containers/c",
    ) -> None:
        """Write the entries of one process."""
        entry = f"/proc/{pid}"
        command = arguments if isinstance(arguments, bytes) else _block(arguments)
        variables = {"PATH": "/bin"} if environment is None else environment
        block = variables if isinstance(variables, bytes) else _block([f"{k}={v}" for k, v in variables.items()])
        self.write(f"{entry}/cmdline", command)
        self.write(f"{entry}/environ", block)
        self.write(f"{entry}/stat", f"{pid} (a (b) c) S {parent} {'0 ' * 17}{ticks} 1 2 3\n".encode())
        self.write(f"{entry}/cgroup", f"0::{group}\n".encode())
        self.write(f"{entry}/status", f"Name:\tx\nUid:\t1000\t{pid}\t1000\t1000\n".encode())
        self.write(f"{entry}/maps", maps)
        self.link(f"{entry}/exe", "/bin/program")
        self.link(f"{entry}/cwd", "/work")
        self.link(f"{entry}/root", root)
        self.write(f"{root}/bin/program", b"the program\n")

    def link(self, path: str, target: str) -> None:
        link = self.folder / path.lstrip("/")
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def answer(self, path: str, value: Any) -> None:
        """Record the engine's answer to a GET."""
        self.write(f"/run/docker.sock/{recorded_name(path)}", json.dumps(value).encode())

    def container(self, name: str = "dsv41", pid: int = 100, identity: str = CONTAINER, **state: Any) -> None:
        """Record a container that runs."""
        told = {"Status": "running", "Running": True, "Pid": pid, "StartedAt": "2026-12-01T03:27:13.6Z", **state}
        self.answer(f"/containers/{name}/json", {"Id": identity, "Name": f"/{name}", "State": told})


def _block(items: list[str]) -> bytes:
    return b"".join(item.encode("utf-8", "surrogateescape") + b"\0" for item in items)
