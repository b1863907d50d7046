"""Cases of collectors: one folder each, with what the host holds (`input.yml`) and what is observed (`expected.yml`).

`input.yml`: `kind`, `params`, `lane`, `plain` (names that pins name), `files`
(by path: text), `links` (by path: target), `folders`, `denied` (paths that this
user may not read).
`@BOOT@` in a file stands for a boot time by which a process of 50 s after boot
started a moment after the files were written; `@LONG_AGO@` for an earlier one.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from plugins.module_utils._observation import Denied, LookError
from plugins.module_utils._root import HostRoot

CASES = Path(__file__).resolve().parents[1] / "cases"
KEY = "00112233445566778899aabbccddeeff"


class PartlyDenied(HostRoot):
    """A replica of which some paths are refused, as they are to a user without rights (tests run as root)."""

    def __init__(self, prefix: Path, lane: str, denied: list[str]) -> None:
        super().__init__(str(prefix), "operator", recorded=True, lane=lane)
        self.denied = denied

    def inside(self, path: str) -> HostRoot:
        plain = super().inside(path)
        inner = PartlyDenied(Path(plain.prefix), self.lane, self.denied)
        inner.label, inner.touched, inner.end = plain.label, plain.touched, plain.end
        return inner

    def _refuse(self, path: str) -> None:
        if self.label + path in self.denied:
            raise Denied(f"{path}: permission denied (EACCES)")

    def read(self, path: str, *arguments: Any) -> bytes:
        self._refuse(path)
        return super().read(path, *arguments)

    def listdir(self, path: str, *arguments: Any) -> list[str]:
        self._refuse(path)
        return super().listdir(path, *arguments)


def cases(collector: str) -> list[Any]:
    """List a collector's cases, as parameters of a test."""
    folders = sorted(path.parent for path in (CASES / collector).glob("*/input.yml"))
    assert folders, f"no cases of {collector}"
    return [pytest.param(folder, id=folder.name) for folder in folders]


def build(tree: Path, given: dict[str, Any]) -> None:
    """Write a case's host below `tree`."""
    now = int(time.time())
    for path in given.get("folders", ()):
        Path(f"{tree}{path}").mkdir(parents=True, exist_ok=True)
    for path, text in given.get("files", {}).items():
        place = Path(f"{tree}{path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.replace("@BOOT@", str(now - 40)).replace("@LONG_AGO@", str(now - 9000)).encode())
    for path, target in given.get("links", {}).items():
        place = Path(f"{tree}{path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


def observe(collector: str, folder: Path, tree: Path) -> dict[str, Any]:
    """Look at a case's host; give what was seen, without times of this very run."""
    given = yaml.safe_load((folder / "input.yml").read_text(encoding="utf-8"))
    build(tree, given)
    root = PartlyDenied(tree, given.get("lane", "full"), given.get("denied", []))
    request = {
        "probe": "case",
        "kind": given["kind"],
        "params": given.get("params", {}),
        "now": time.time(),
        "disclose": {"plain": given.get("plain", ["*"]), "key": KEY},
    }
    module = importlib.import_module(f"plugins.modules.{collector}")
    try:
        observation = module.collect(request, root)
    except LookError as error:
        return {"status": error.status, "why": error.why}
    seen = observation.as_dict()
    seen["state"].pop("changed_at", None)
    faults = {path: f"{fault['status']}: {fault['why']}" for path, fault in seen["faults"].items()}
    return {
        name: value for name, value in {**seen, "faults": faults}.items() if value and name not in ("method", "scope")
    }


def expected(folder: Path) -> dict[str, Any]:
    """Give what a case expects."""
    data = yaml.safe_load((folder / "expected.yml").read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data
