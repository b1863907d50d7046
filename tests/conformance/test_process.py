"""What the collector tells of real processes is what they were started with."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._observation import Absent, LookError, Observation, Unparsable, Unstable
from plugins.module_utils._process import argv, environment, find_process, inherited, need_same_process
from plugins.module_utils._root import HostRoot
from plugins.modules import process_facts

SCRIPT = """
import ctypes, os, sys, time
def title(text):
    fields = open("/proc/self/stat").read().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[48])
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))
for word in sys.argv[1:]:
    if word == "--wipe":
        title(b"VLLM::EngineCore")
    if word == "--fork" and os.fork() == 0:
        break
    if word == "--child" and os.fork() == 0:
        title(b"VLLM::Worker_TP0")
        break
    if word.startswith("--load="):
        ctypes.CDLL(word[7:])
sys.stdout.write("%d\\n" % os.getpid())
sys.stdout.flush()
time.sleep(60)
"""

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(name="script")
def _script(tmp_path: Path) -> Path:
    """The script, under a name that no other process of this machine has."""
    script = tmp_path / f"sleeper-{os.getpid()}.py"
    script.write_text(SCRIPT)
    return script


@pytest.fixture(name="start")
def _start(tmp_path: Path, script: Path) -> Iterator[Start]:
    """Start the script with these arguments, wait for its words, and end it with its children afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        *arguments: str | bytes, variables: dict[str, str] | None = None, words: int = 1
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-B", str(script), *arguments],
            env={"A": "1"} if variables is None else variables,
            stdout=subprocess.PIPE,
            cwd=tmp_path,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        for _ in range(words):
            assert process.stdout.readline().strip().isdigit()
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def selector(tmp_path: Path, pid: int, **more: Any) -> dict[str, Any]:
    (tmp_path / "pid").write_text(f"{pid}\n")
    return {"pid_file": str(tmp_path / "pid"), **more}


def look(tmp_path: Path, pid: int, **more: Any) -> Observation:
    request = {
        "kind": "process",
        "params": selector(tmp_path, pid, **more),
        "now": time.time(),
        "disclose": {"plain": ["*"], "key": "00"},
    }
    return process_facts.collect(request, HostRoot())


def test_odd_arguments_and_variables(tmp_path: Path, script: Path, start: Start) -> None:
    variables = {"A": "1", "MULTI": "x\ny", "EMPTY": "", "EQUALS": "a=b", "BYTES": "\udcff"}
    arguments = ["serve", "--empty", "", "--text", "two\nlines", "--json", '{"a": [1]}', "--n", "-1", b"\xff", "--flag"]
    process = start(*arguments, variables=variables)
    found = look(tmp_path, process.pid)
    assert found.faults == {}
    identity = found.identity
    assert identity["argv"] == {"empty": "", "text": "two\nlines", "n": "-1", "flag": True}
    assert identity["json"] == {"json": {"a": [1]}}
    assert identity["arguments"] == ["serve", "\udcff"]
    assert identity["program"] == str(script)
    assert identity["interpreter"] == [sys.executable, "-B"]
    assert {name: value for name, value in identity["env"].items() if name in variables} == variables
    assert identity["env_source"] == "process"
    assert (identity["cwd"], identity["user"]) == (str(tmp_path), str(os.getuid()))
    real = Path(sys.executable).resolve()
    assert identity["exe"] == {
        "path": str(real),
        "deleted": False,
        "sha256": hashlib.sha256(real.read_bytes()).hexdigest(),
    }
    assert found.state["pid"] == process.pid
    assert abs(found.state["started_at"] - time.time()) < 30


def test_program_among_all_processes(script: Path, start: Start) -> None:
    wanted = {"program": script.name}
    with pytest.raises(Absent, match=f"no process of program {re.escape(script.name)} on this host"):
        find_process(HostRoot(), wanted, time.time())
    process = start()
    assert find_process(HostRoot(), wanted, time.time()).pid == process.pid
    start()
    with pytest.raises(Unparsable, match="2 processes fit, none of which started all others"):
        find_process(HostRoot(), wanted, time.time())


def test_forked_workers_are_their_eldest(script: Path, start: Start) -> None:
    process = start("--fork", "--fork", words=3)
    assert find_process(HostRoot(), {"program": script.name}, time.time()).pid == process.pid


def test_title_wipes_arguments_and_environment(tmp_path: Path, start: Start) -> None:
    process = start("--wipe", "x" * 50)
    assert Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(b"VLLM::EngineCore\0\0")
    assert not Path(f"/proc/{process.pid}/environ").read_bytes().strip(b"\0")
    with pytest.raises(LookError, match="wrote its title over its argument vector: VLLM::EngineCore"):
        argv(HostRoot(), process.pid)
    found = look(tmp_path, process.pid)
    assert {found.faults[name]["status"] for name in ("argv", "json", "arguments", "program", "env")} == {
        "incomparable"
    }
    assert found.identity["exe"]["deleted"] is False


@pytest.fixture(name="group")
def _group() -> Iterator[Path]:
    """A control group that is named like a unit's, of whichever version this machine has."""
    mounted = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    tops = [
        fields[4] for fields in mounted if "name=systemd" in fields[-1] or fields[fields.index("-") + 1] == "cgroup2"
    ]
    if not tops:
        pytest.fail("no control groups are mounted here: neither cgroup2 nor name=systemd")
    folder = Path(tops[0]) / f"pinproof-test-{os.getpid()}.service"
    folder.mkdir()
    yield folder
    for _ in range(100):
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.05)
        else:
            return


def test_environment_of_the_nearest_ancestor_in_the_same_unit(tmp_path: Path, group: Path, start: Start) -> None:
    parent = start("--child", "x" * 50, variables={"A": "of the parent"}, words=2)
    child = int(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text())
    assert environment(HostRoot(), child) == (None, "wiped")
    for pid in (parent.pid, child):
        (group / "cgroup.procs").write_text(str(pid))
    found = inherited(HostRoot(), child)
    assert (found.source, found.pid) == ("ancestor", parent.pid)
    told = look(tmp_path, child)
    os.killpg(parent.pid, signal.SIGKILL)
    assert told.identity["env"]["A"] == "of the parent"
    assert told.identity["env_source"] == "ancestor"


# -- files -----------------------------------------------------------------
def test_executable_that_was_replaced_is_told_with_the_bytes_that_run(tmp_path: Path) -> None:
    program, sleep = tmp_path / "odd (deleted)", Path("/bin/sleep")
    shutil.copy(sleep, program)
    process = subprocess.Popen([program, "60"])
    time.sleep(0.05)
    before = look(tmp_path, process.pid).identity["exe"]
    shutil.copy("/bin/true", tmp_path / "new")
    (tmp_path / "new").rename(program)
    after = look(tmp_path, process.pid).identity["exe"]
    process.kill()
    process.wait()
    digest = hashlib.sha256(sleep.read_bytes()).hexdigest()
    assert before == {"path": str(program), "deleted": False, "sha256": digest}
    assert after == {"path": str(program), "deleted": True, "sha256": digest}


@pytest.fixture(name="library")
def _library(tmp_path: Path) -> Path:
    """A library that nothing else has mapped."""
    ctypes.CDLL("libm.so.6")
    mapped = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libm.so.6" in line]
    library = tmp_path / "libdemo-7c.so.1"
    shutil.copy(mapped[0], library)
    return library


def test_libraries_are_hashed_where_they_are_the_ones_mapped(tmp_path: Path, library: Path, start: Start) -> None:
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    process = start(f"--load={library}")
    found = look(tmp_path, process.pid, libraries=["libdemo", "libnccl"])
    assert found.faults == {}
    assert found.identity["libraries"] == {"libdemo": {str(library): digest}, "libnccl": {}}
    assert found.identity["library_counts"] == {"libdemo": 1, "libnccl": 0}
    assert str(library) not in found.identity["deleted_libraries"]
    library.unlink()
    library.write_bytes(b"another")
    found = look(tmp_path, process.pid, libraries=["libdemo"])
    assert found.identity["libraries"] == {"libdemo": {}}
    assert found.identity["library_counts"] == {"libdemo": 1}
    assert found.identity["deleted_libraries"][str(library)] == "deleted"


def test_library_that_a_mount_covers_is_not_taken_for_the_one_mapped(
    tmp_path: Path, library: Path, start: Start
) -> None:
    process = start(f"--load={library}")
    (tmp_path / "cover").write_bytes(b"another")
    subprocess.run(["mount", "--bind", tmp_path / "cover", library], check=True)
    try:
        found = look(tmp_path, process.pid, libraries=["libdemo"])
    finally:
        subprocess.run(["umount", library], check=True)
    assert found.identity["libraries"] == {"libdemo": {}}
    fault = found.faults[f"libraries.libdemo[{library}]"]
    assert fault["status"] == "incomparable"
    assert "is not the one mapped" in fault["why"]


def test_library_on_a_stacked_file_system(tmp_path: Path, library: Path, start: Start) -> None:
    for name in ("lower", "upper", "work", "merged"):
        (tmp_path / name).mkdir()
    shutil.copy(library, tmp_path / "lower/libdemo.so")
    options = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, tmp_path / "merged"], check=True)
    try:
        process = start(f"--load={tmp_path}/merged/libdemo.so")
        found = look(tmp_path, process.pid, libraries=["libdemo"])
    finally:
        subprocess.run(["umount", "-l", tmp_path / "merged"], check=True)
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    assert found.faults == {}
    assert found.identity["libraries"] == {"libdemo": {f"{tmp_path}/merged/libdemo.so": digest}}


# -- those that end, and other users' --------------------------------------
def test_process_that_ended(tmp_path: Path, start: Start) -> None:
    process = start()
    found = find_process(HostRoot(), selector(tmp_path, process.pid), time.time())
    need_same_process(HostRoot(), found)
    process.kill()
    time.sleep(0.1)
    with pytest.raises(Unparsable, match="zombie"):
        look(tmp_path, process.pid)
    process.wait()
    with pytest.raises(Unstable, match="ended during the look"):
        need_same_process(HostRoot(), found)
    with pytest.raises(Absent, match="is not there"):
        look(tmp_path, process.pid)


def as_nobody(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Give what a look tells to a user who owns nothing here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            os.write(writer, json.dumps(look()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        data = told.read()
    os.waitpid(child, 0)
    result: dict[str, Any] = json.loads(data)
    return result


def test_another_users_process_is_denied_where_it_may_not_be_read(script: Path, start: Start) -> None:
    start("serve", "--a", "1", variables={"SECRET": "of the site"})
    disclose = {"plain": ["a"], "key": "00"}
    params = {"program": script.name, "libraries": ["libc"]}

    def told() -> dict[str, Any]:
        request = {"params": params, "now": time.time(), "disclose": disclose}
        return process_facts.collect(request, HostRoot()).as_dict()

    found = as_nobody(told)
    assert found["identity"]["argv"] == {"a": "1"}
    assert found["identity"]["program"] == str(script)
    assert found["identity"]["user"] == "0"
    assert set(found["faults"]) == {
        "env",
        "env_source",
        "exe",
        "cwd",
        "libraries",
        "library_counts",
        "deleted_libraries",
    }
    for fault in found["faults"].values():
        assert fault["status"] == "denied"
        assert "the same user or become" in fault["why"]
    assert "of the site" not in json.dumps(found)
