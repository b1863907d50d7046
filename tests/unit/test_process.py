"""A process is found by container, unit, pid file or program, or it is said why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._observation import Absent, Incomparable, LookError, NotAttempted, Unparsable, Unstable
from plugins.module_utils._process import (
    Process,
    argv,
    container_root,
    environment,
    find_process,
    inherited,
    need_same_process,
    read_entry,
)
from plugins.module_utils._root import HostRoot

from tests.unit.process_tree import BOOT, CONTAINER, NOW, OTHER, Tree

INSIDE = f"/docker/{CONTAINER}"
VLLM = ["/usr/bin/python3", "/opt/venv/bin/vllm", "serve", "/m"]


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def find(tree: Tree, **selector: Any) -> int:
    return find_process(tree.root, selector, NOW).pid


# -- by container ----------------------------------------------------------
def test_main_process_of_a_container(tree: Tree) -> None:
    tree.container(pid=100)
    tree.process(100, ["/init"], group=INSIDE, ticks=45289)
    assert find_process(tree.root, {"container": "dsv41"}, NOW) == Process(100, 45289, BOOT + 452.89, CONTAINER)


@pytest.mark.parametrize(
    "group",
    [
        INSIDE,
        INSIDE + "/init",
        f"/system.slice/docker-{CONTAINER}.scope",
        f"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-{CONTAINER}.scope",
        f"/machine.slice/libpod-{CONTAINER}.scope/container",
    ],
)
def test_program_in_a_container(tree: Tree, group: str) -> None:
    tree.container(pid=100)
    tree.process(100, ["/init", "--", "vllm"], group=group)
    tree.process(101, VLLM, parent=100, group=group)
    tree.process(102, b"VLLM::EngineCore" + b"\0" * 30, parent=101, group=group)
    tree.process(103, ["/bin/vllm"], group=f"/docker/{OTHER}")
    tree.process(104, ["/usr/bin/vllm"], group="/")
    tree.process(105, b"", parent=100, group=group)
    assert find(tree, container="dsv41", program="vllm") == 101
    assert find(tree, container="dsv41") == 100


def test_forked_workers_are_their_eldest(tree: Tree) -> None:
    tree.container(pid=100)
    tree.process(100, ["/init"], group=INSIDE)
    tree.process(101, VLLM, parent=100, group=INSIDE)
    tree.process(102, ["bash", "-c", "x"], parent=101, group=INSIDE)
    tree.process(103, VLLM, parent=102, group=INSIDE)
    tree.process(104, VLLM, parent=101, group=INSIDE)
    assert find(tree, container="dsv41", program="vllm") == 101


def test_two_that_do_not_descend_from_each_other_are_not_told_apart(tree: Tree) -> None:
    tree.container(pid=100)
    tree.process(100, ["/init"], group=INSIDE)
    tree.process(101, VLLM, parent=100, group=INSIDE)
    tree.process(102, VLLM, parent=100, group=INSIDE)
    with pytest.raises(Unparsable, match=r"2 processes fit.*\(101, 102\)"):
        find(tree, container="dsv41", program="vllm")


@pytest.mark.parametrize(
    ("state", "selector", "error", "why"),
    [
        ({}, {"container": "dsv41", "program": "nope"}, Absent, "no process of program nope in container dsv41"),
        ({}, {"container": "other"}, Absent, "No such thing"),
        ({}, {"container": "../info"}, Unparsable, "can not be the name"),
        ({"Running": False, "Status": "exited", "Pid": 0}, {"container": "dsv41"}, Absent, "does not run .exited"),
        ({"Restarting": True, "Pid": 0}, {"container": "dsv41"}, Absent, "does not run"),
        ({"Pid": 0}, {"container": "dsv41"}, Unparsable, "runs, and has no process"),
        ({"Pid": "100"}, {"container": "dsv41"}, Unparsable, "no running state"),
        ({"Pid": 999}, {"container": "dsv41"}, Unstable, "process 999 ended"),
        ({"Pid": 50}, {"container": "dsv41"}, Unparsable, "not in that container's control group"),
    ],
)
def test_container_that_has_no_such_process(
    tree: Tree, state: dict[str, Any], selector: dict[str, str], error: type[LookError], why: str
) -> None:
    tree.container(**{"pid": 100, **state})
    tree.process(100, ["/init"], group=INSIDE)
    tree.process(50, ["/sbin/init"], group="/init.scope")
    with pytest.raises(error, match=why):
        find(tree, **selector)


def test_container_of_another_pid_namespace_is_no_evidence_of_absence(tree: Tree) -> None:
    tree.container(pid=100)
    tree.process(100, ["/bin/vllm"], group=f"/docker/{OTHER}")
    with pytest.raises(Unparsable, match="no control group of this host names it"):
        find(tree, container="dsv41", program="vllm")


def test_the_beginning_of_an_id_is_no_name(tree: Tree) -> None:
    tree.container(name="dsv41")
    tree.answer(
        "/containers/2f6/json",
        {"Id": CONTAINER, "Name": "/dsv41", "State": {"Running": True, "Pid": 1, "StartedAt": ""}},
    )
    with pytest.raises(Absent, match="no container is named 2f6"):
        find(tree, container="2f6")


# -- by unit, pid file, program --------------------------------------------
@pytest.mark.parametrize(
    "group",
    ["/system.slice/w.service", "/system.slice/w.service/sub", "/user.slice/user@1.service/app.slice/w.service"],
)
def test_main_process_of_a_unit(tree: Tree, group: str) -> None:
    tree.process(1, ["/sbin/init"], parent=0, group="/init.scope")
    tree.process(200, ["/bin/worker"], parent=1, group=group)
    tree.process(201, ["/bin/worker"], parent=200, group=group)
    tree.process(202, ["/bin/helper"], parent=201, group=group)
    tree.process(300, ["/bin/worker"], parent=1, group="/system.slice/w2.service")
    assert find(tree, unit="w.service") == 200
    assert find(tree, unit="w.service", program="helper") == 202
    with pytest.raises(Absent, match=r"no process of program x in unit w\.service"):
        find(tree, unit="w.service", program="x")
    with pytest.raises(Absent, match=r"no process of unit v\.service"):
        find(tree, unit="v.service")


def test_unit_of_two_unrelated_processes(tree: Tree) -> None:
    tree.process(200, ["/bin/a"], group="/system.slice/w.service")
    tree.process(201, ["/bin/b"], group="/system.slice/w.service")
    with pytest.raises(Unparsable, match=r"unit w\.service: 2 processes fit"):
        find(tree, unit="w.service")
    assert find(tree, unit="w.service", program="b") == 201


@pytest.mark.parametrize(
    ("content", "selector", "error", "why"),
    [
        (b"200\n", {"program": "x"}, Absent, r"process 200, which /run/w\.pid names, is not x"),
        (b"201\n", {}, Absent, "is not there"),
        (b"", {}, Unparsable, "holds no process id"),
        (b"0", {}, Unparsable, "holds no process id"),
        (b"-5", {}, Unparsable, "holds no process id"),
        (b"99999999999", {}, Unparsable, "holds no process id"),
        (b"two hundred", {}, Unparsable, "holds no process id"),
    ],
)
def test_pid_file_without_its_process(
    tree: Tree, content: bytes, selector: dict[str, str], error: type[LookError], why: str
) -> None:
    tree.process(200, ["/bin/w"])
    tree.write("/run/w.pid", content)
    with pytest.raises(error, match=why):
        find(tree, pid_file="/run/w.pid", **selector)


def test_pid_file(tree: Tree) -> None:
    tree.process(200, ["/bin/w"])
    tree.write("/run/w.pid", b"200\n")
    assert find(tree, pid_file="/run/w.pid") == find(tree, pid_file="/run/w.pid", program="w") == 200
    with pytest.raises(Absent):
        find(tree, pid_file="/run/other.pid")


def test_program_alone(tree: Tree) -> None:
    tree.process(200, ["/bin/w"])
    tree.process(201, ["/bin/v"])
    assert find(tree, program="w") == 200
    with pytest.raises(Absent, match="no process of program u on this host"):
        find(tree, program="u")


@pytest.mark.parametrize("selector", [{}, {"container": "a", "unit": "b"}, {"libraries": ["x"]}, {"container": ""}])
def test_selector_that_selects_nothing_or_too_much(tree: Tree, selector: dict[str, Any]) -> None:
    with pytest.raises(Unparsable, match="a process is selected by one of"):
        find_process(tree.root, selector, NOW)


def test_lane_that_admits_files_only(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.process(200, ["/bin/w"])
    with pytest.raises(NotAttempted):
        find_process(HostRoot(str(tmp_path), recorded=True, lane="files"), {"program": "w"}, NOW)


def test_clock_that_was_set_back(tree: Tree) -> None:
    tree.process(200, ["/bin/w"], ticks=45289)
    assert find_process(tree.root, {"program": "w"}, BOOT + 400.0).pid == 200
    with pytest.raises(Unparsable, match="set back"):
        find_process(tree.root, {"program": "w"}, BOOT + 10.0)


def test_scan_is_one_source(tree: Tree) -> None:
    for pid in range(200, 220):
        tree.process(pid, ["/bin/x"], group="/system.slice/w.service", parent=199 if pid == 200 else 200)
    find(tree, unit="w.service")
    assert "/proc/*/cgroup" in tree.root.touched
    assert not [path for path in tree.root.touched if path.endswith("/cgroup") and path[6].isdigit()][1:]


# -- reading ---------------------------------------------------------------
def test_container_root_is_the_process_own(tree: Tree) -> None:
    tree.container(pid=100)
    tree.process(100, ["/init"], group=INSIDE, root="/containers/rank0")
    tree.write("/containers/rank0/etc/x", b"inside\n")
    tree.write("/etc/x", b"outside\n")
    assert container_root(tree.root, {"container": "dsv41"}, NOW).read("/etc/x") == b"inside\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [(["a", "", "b c", "\udcff"], None), (["a\nb"], None), (b"no end", ["no end"]), (["p", ""], None)],
)
def test_argv(tree: Tree, command: Any, expected: list[str] | None) -> None:
    tree.process(200, command)
    assert argv(tree.root, 200) == (expected or command)


@pytest.mark.parametrize(
    ("command", "error", "why"),
    [
        (b"", Unparsable, "zombie"),
        (b"VLLM::EngineCore" + b"\0" * 30, Incomparable, "wrote its title over its argument vector: VLLM::EngineCore"),
    ],
)
def test_argv_that_is_none(tree: Tree, command: bytes, error: type[LookError], why: str) -> None:
    tree.process(200, command)
    with pytest.raises(error, match=why):
        argv(tree.root, 200)


def test_environment_of_the_process_itself(tree: Tree) -> None:
    tree.process(200, ["x"], environment={"A": "1", "B": "two\nlines"})
    assert environment(tree.root, 200) == ({"A": "1", "B": "two\nlines"}, "process")
    tree.process(201, ["x"], environment=b"")
    assert environment(tree.root, 201) == ({}, "process")
    tree.process(202, b"", environment=b"")
    with pytest.raises(Unparsable, match="zombie"):
        environment(tree.root, 202)


def test_wiped_environment_is_that_of_the_nearest_ancestor_that_has_one(tree: Tree) -> None:
    wiped = b"\0" * 100
    tree.process(10, ["/usr/bin/containerd-shim"], environment={"SHIM": "1"}, group="/system.slice/containerd.service")
    tree.process(100, ["vllm"], parent=10, environment={"A": "1"}, group=INSIDE)
    tree.process(101, b"T::A\0\0\0", parent=100, environment=wiped, group=INSIDE)
    tree.process(102, b"T::B\0\0\0", parent=101, environment=b"ore_DP0" + wiped, group=INSIDE)
    assert environment(tree.root, 102) == ({"A": "1"}, "ancestor")
    assert inherited(tree.root, 102).pid == 100


def test_wiped_environment_is_never_that_of_another_container_or_of_none(tree: Tree) -> None:
    wiped = b"\0" * 100
    tree.process(10, ["/usr/bin/containerd-shim"], environment={"SHIM": "1"}, group="/system.slice/containerd.service")
    tree.process(100, b"T::A\0\0\0", parent=10, environment=wiped, group=INSIDE)
    assert environment(tree.root, 100) == (None, "wiped")
    tree.process(20, ["/bin/bash"], environment={"SHELL": "1"}, group="/")
    tree.process(200, b"T::A\0\0\0", parent=20, environment=wiped, group="/")
    assert environment(tree.root, 200) == (None, "wiped")


def test_ancestors_that_form_a_ring_end(tree: Tree) -> None:
    tree.process(100, b"T::A\0\0\0", parent=101, environment=b"\0\0", group=INSIDE)
    tree.process(101, b"T::B\0\0\0", parent=100, environment=b"\0\0", group=INSIDE)
    assert environment(tree.root, 100) == (None, "wiped")


def test_generation(tree: Tree) -> None:
    tree.process(200, ["/bin/w"], ticks=1000)
    found = find_process(tree.root, {"program": "w"}, NOW)
    need_same_process(tree.root, found)
    tree.process(200, ["/bin/w"], ticks=2000)
    with pytest.raises(Unstable, match="its id was used again"):
        need_same_process(tree.root, found)
    (tree.folder / "proc/200/stat").unlink()
    with pytest.raises(Unstable, match="process 200 ended"):
        need_same_process(tree.root, found)
    with pytest.raises(Unstable, match="process 200 ended"):
        read_entry(tree.root, 200, "nothing")
    tree.process(200, ["/bin/w"])
    with pytest.raises(Unparsable, match="not there, though the process is"):
        read_entry(tree.root, 200, "nothing")


@pytest.mark.parametrize("name", ["stat", "cgroup"])
def test_entries_that_are_not_in_the_kernels_format(tree: Tree, name: str) -> None:
    tree.process(200, ["/bin/w"])
    tree.write("/run/w.pid", b"200")
    tree.write(f"/proc/200/{name}", b"\xff\x00 nonsense")
    if name == "cgroup":
        assert find_process(tree.root, {"pid_file": "/run/w.pid"}, NOW).container_id == ""
    else:
        with pytest.raises(Unparsable, match="/proc/200/stat"):
            find(tree, pid_file="/run/w.pid")


class Flickering(HostRoot):
    """Finds one file moving while it is read, a number of times, after which the process is there or gone."""

    def __init__(self, folder: Path, path: str, times: int, gone: bool) -> None:
        super().__init__(str(folder), recorded=True)
        self._path, self._times, self._gone = path, times, gone

    def read(self, path: str, limit: int = 4 << 20) -> bytes:
        if path == self._path:
            if self._times > 0:
                self._times -= 1
                raise Unstable(f"{path}: changed while it was read")
            if self._gone:
                raise Absent(f"{path}: not there")
        return super().read(path, limit)


@pytest.mark.parametrize("name", ["cgroup", "cmdline"])
def test_processes_that_end_meanwhile_do_not_spoil_the_look(tree: Tree, name: str) -> None:
    tree.process(200, ["/bin/w"])
    tree.process(201, ["/bin/short"])
    assert find_process(Flickering(tree.folder, f"/proc/201/{name}", 1, True), {"program": "w"}, NOW).pid == 200
    assert find_process(Flickering(tree.folder, f"/proc/201/{name}", 1, False), {"program": "short"}, NOW).pid == 201
    with pytest.raises(Unstable, match="can not be read twice alike"):
        find_process(Flickering(tree.folder, f"/proc/201/{name}", 9, False), {"program": "w"}, NOW)
