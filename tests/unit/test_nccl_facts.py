"""The fabric: every case is a host as it is, and what is observed of it; and where NCCL's settings come from."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._nccl import Setting
from plugins.module_utils._nccl_settings import settings_of
from plugins.module_utils._observation import Incomparable, LookError, Unparsable, Unstable
from plugins.module_utils._root import HostRoot

from tests.unit.collector_cases import cases, expected, observe
from tests.unit.file_roots import write_tree


@pytest.mark.parametrize("folder", cases("nccl_facts"))
def test_case(folder: Path, tmp_path: Path) -> None:
    assert observe("nccl_facts", folder, tmp_path) == expected(folder)


def process(tree: Path, environ: str, pid: int = 4242, parent: int = 1, **files: str) -> dict[str, Any]:
    """Write a process that started a moment from now, and what it sees; give its selector."""
    write_tree(
        tree,
        {
            "run/engine.pid": "4242\n",
            "proc/stat": f"btime {int(time.time()) - 40}\n",
            f"proc/{pid}/stat": f"{pid} (vllm) S {parent} 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 5000 0 0\n",
            f"proc/{pid}/cgroup": f"0::/system.slice/docker-{'c' * 64}.scope\n",
            f"proc/{pid}/cmdline": "/usr/bin/vllm\0serve\0",
            f"proc/{pid}/environ": environ,
            f"proc/{pid}/status": "Uid:\t0\t0\t0\t0\n",
            f"proc/{pid}/root": "-> /c",
            "c/etc/hostname": "x",
            **{name.replace("__", "/"): text for name, text in files.items()},
        },
    )
    return {"pid_file": "/run/engine.pid"}


def merged(tree: Path, selector: dict[str, Any]) -> dict[str, Setting]:
    return settings_of(HostRoot(str(tree), recorded=True), selector, time.time()).settings


def test_the_files_are_those_that_the_process_sees(tmp_path: Path) -> None:
    write_tree(tmp_path, {"etc/nccl.conf": "NCCL_HOST=1\n", "c/etc/nccl.conf": "NCCL_CONTAINER=1\n"})
    assert merged(tmp_path, process(tmp_path, "A=1\0")) == {"NCCL_CONTAINER": Setting("1", "/etc/nccl.conf")}


def test_the_users_own_file_needs_a_home(tmp_path: Path) -> None:
    selector = process(tmp_path, "A=1\0", **{"c/root/.nccl.conf": "NCCL_A=1\n"})
    root = HostRoot(str(tmp_path), recorded=True)
    found = settings_of(root, selector, time.time())
    assert found.settings == {}
    assert found.notes == ("~/.nccl.conf is not looked at: /etc/passwd: not there",)
    write_tree(tmp_path, {"c/etc/passwd": "root:x:0:0::/root/:/bin/sh\n"})
    assert merged(tmp_path, selector) == {"NCCL_A": Setting("1", "/root/.nccl.conf")}


@pytest.mark.parametrize(
    ("environ", "origin"),
    [("NCCL_CONF_FILE=/n\0", "/n"), ("NCCL_CONF_FILE=\0", "/root/.nccl.conf"), ("A=\0", "/root/.nccl.conf")],
)
def test_a_named_file_takes_the_place_of_the_users_own(environ: str, origin: str, tmp_path: Path) -> None:
    files = {"c/etc/passwd": "root:x:0:0::/root:/bin/sh\n", "c/root/.nccl.conf": "NCCL_A=1\n", "c/n": "NCCL_A=2\n"}
    assert merged(tmp_path, process(tmp_path, environ, **files))["NCCL_A"].origin == origin


def test_a_named_file_that_is_not_there_has_no_settings(tmp_path: Path) -> None:
    files = {"c/etc/passwd": "root:x:0:0::/root:/bin/sh\n", "c/root/.nccl.conf": "NCCL_A=1\n"}
    assert "NCCL_A" not in merged(tmp_path, process(tmp_path, "NCCL_CONF_FILE=/gone\0", **files))


def test_a_relative_file_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(Incomparable, match="relative"):
        merged(tmp_path, process(tmp_path, "NCCL_CONF_FILE=nccl.conf\0"))


def test_the_ancestors_environment_where_a_title_wiped_the_own_one(tmp_path: Path) -> None:
    process(tmp_path, "NCCL_A=1\0", pid=4000)
    selector = process(tmp_path, "\0" * 50, parent=4000)
    found = settings_of(HostRoot(str(tmp_path), recorded=True), selector, time.time())
    assert found.settings == {"NCCL_A": Setting("1", "process")}
    assert "process 4000, its ancestor" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", Unparsable), ("Name:\tx\n", Unparsable), ("Uid:\t7\t7\t7\t7\n", None)],
)
def test_the_user_by_the_kernels_word(text: str, kind: type[LookError] | None, tmp_path: Path) -> None:
    files = {
        "proc/4242/status": text,
        "c/etc/passwd": "x:x:7:7::/home/x:/bin/sh\n",
        "c/home/x/.nccl.conf": "NCCL_A=1\n",
    }
    selector = process(tmp_path, "A=1\0", **files)
    if kind is None:
        assert merged(tmp_path, selector)["NCCL_A"].origin == "/home/x/.nccl.conf"
    else:
        with pytest.raises(kind, match="status"):
            merged(tmp_path, selector)


@pytest.mark.parametrize(
    ("uid_map", "home"), [("0 100000 65536\n", "/root"), ("0 0 4294967295\n", "/home/host"), ("0 5 7\n", "/home/host")]
)
def test_the_user_as_the_process_sees_itself(uid_map: str, home: str, tmp_path: Path) -> None:
    passwd = "root:x:0:0::/root:/bin/sh\nhost:x:100000:1::/home/host:/bin/sh\n"
    files = {"proc/4242/status": "Uid:\t100000\t100000\t0\t0\n", "proc/4242/uid_map": uid_map, "c/etc/passwd": passwd}
    selector = process(tmp_path, "A=1\0", **files, **{f"c{home}/.nccl.conf": "NCCL_A=1\n"})
    assert merged(tmp_path, selector)["NCCL_A"].origin == home + "/.nccl.conf"


def test_a_map_of_users_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(Unparsable, match="uid_map"):
        merged(tmp_path, process(tmp_path, "A=1\0", **{"proc/4242/uid_map": "words\n"}))


def test_a_process_that_ends_meanwhile_leaves_no_evidence(tmp_path: Path) -> None:
    selector = process(tmp_path, "A=1\0", **{"c/etc/nccl.conf": "NCCL_A=1\n"})

    class Ending(HostRoot):
        def read(self, path: str, *arguments: int) -> bytes:
            data = super().read(path, *arguments)
            if path.endswith("environ"):
                stat = tmp_path / "proc/4242/stat"
                stat.write_text(stat.read_text().replace(" 5000 ", " 6000 "))
            return data

    with pytest.raises(Unstable):
        settings_of(Ending(str(tmp_path), recorded=True), selector, time.time())
