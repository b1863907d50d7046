"""The replica's files in the formats of their real sources, and in agreement with each other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from plugins.module_utils import _systemctl, _tools
from plugins.module_utils._engine import recorded_name as engine_name

from pinproof.replica import (
    clock,
    container_root,
    engine,
    engine_log,
    nvidia,
    site,
    systemd,
)
from pinproof.replica.build import build
from pinproof.replica.clock import Start
from pinproof.replica.site import Arm

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", name="root")
def _root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("formats") / "replica"
    build(root, Arm("experiment", "off-1", "measured"))
    return root


@pytest.fixture(name="head")
def _head(root: Path) -> Path:
    return root / "sparkhead"


def processes(tree: Path) -> list[Path]:
    return sorted((tree / "proc").glob("[0-9]*"))


def engine_process(tree: Path) -> Path:
    return next(path for path in processes(tree) if (path / "comm").read_text() == "vllm\n")


def inspected(tree: Path) -> dict[str, object]:
    data: dict[str, object] = json.loads((tree / engine.answer_path(engine.INSPECT).lstrip("/")).read_text())
    return data


# -- names that those who read build too ------------------------------------------
@pytest.mark.parametrize("command", [nvidia.QUERY, nvidia.PROCESSES, nvidia.TOPOLOGY, nvidia.LIST, "a*b/c 'd' ü%"])
def test_recorded_names_agree_with_those_who_read_them(command: str) -> None:
    assert nvidia.recorded_name(command) == _tools.recorded_name(command.split(" "))


def test_recorded_requests_agree_with_the_engine_client() -> None:
    for request in (engine.INSPECT, engine.log_request(10**18), engine.image_request(site.IMAGE)):
        assert Path(engine.answer_path(request)).name == engine_name(request)


def test_systemctl_is_asked_for_what_is_recorded() -> None:
    assert ",".join(_systemctl.PROPERTIES) == systemd.PROPERTIES
    assert all(len(Path(systemd.show_path(name)).name) < 255 for name in (systemd.CLOCK_CAP, site.WORKER_UNIT))


# -- processes --------------------------------------------------------------------
def test_every_process_is_in_the_kernels_formats(root: Path) -> None:
    for host in site.HOSTS:
        for entry in processes(root / host):
            stat = (entry / "stat").read_text()
            assert re.fullmatch(rf"{entry.name} \([^)]+\) S( -?\d+){{49}}\n", stat), stat
            assert (entry / "comm").read_text().rstrip("\n") in stat
            status = (entry / "status").read_text()
            assert re.search(rf"^Pid:\t{entry.name}$", status, re.MULTILINE)
            assert re.search(r"^Uid:\t(\d+)\t\1\t\1\t\1$", status, re.MULTILINE)
            assert re.fullmatch(r"0::/\S*\n", (entry / "cgroup").read_text())
            for name in ("cmdline", "environ"):
                data = (entry / name).read_bytes()
                assert data.endswith(b"\0") or not data
                assert b"\0\0" not in data
            for line in (entry / "maps").read_text().splitlines():
                assert re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]{12} [r-][w-][x-]p [0-9a-f]{8} \w\w+:\d\d \d+ +\S+", line)


def test_an_environment_names_nothing_twice_and_holds_a_secret(head: Path) -> None:
    names = [entry.partition(b"=")[0] for entry in (engine_process(head) / "environ").read_bytes().split(b"\0")[:-1]]
    assert len(names) == len(set(names))
    assert b"HF_TOKEN" in names


def test_the_engine_names_the_process_that_is_there(root: Path) -> None:
    for rank in site.RANKS:
        tree = root / rank.name
        state = inspected(tree)["State"]
        assert isinstance(state, dict)
        entry = engine_process(tree)
        assert state["Pid"] == int(entry.name)
        assert inspected(tree)["Id"] in (entry / "cgroup").read_text()
        assert re.search(rf"^NSpid:\t{entry.name}\t1$", (entry / "status").read_text(), re.MULTILINE)
        words = (entry / "cmdline").read_text().split("\0")[:-1]
        assert words[2:] == inspected(tree)["Args"]
        configured = inspected(tree)["Config"]
        assert isinstance(configured, dict)
        environment = (entry / "environ").read_text().split("\0")
        assert set(configured["Env"]) <= set(environment)


def test_one_container_holds_two_processes_and_the_shim_is_outside(head: Path) -> None:
    groups = [(entry / "cgroup").read_text() for entry in processes(head)]
    assert len([group for group in groups if "docker-" in group]) == 2
    assert "0::/system.slice/containerd.service\n" in groups


def test_what_is_mapped_lies_in_the_processes_own_root(root: Path) -> None:
    for host in ("sparkhead", "sparkpeer", "x86host"):
        for entry in processes(root / host):
            inside = (
                root / host / str((entry / "root").readlink()).lstrip("/") if (entry / "root").is_symlink() else None
            )
            own = "docker-" in (entry / "cgroup").read_text() or "dspark" in (entry / "cgroup").read_text()
            if inside is None or not own:
                continue
            mapped = {line.split()[-1] for line in (entry / "maps").read_text().splitlines() if "/" in line.split()[-1]}
            assert len(mapped) > 3
            assert [path for path in mapped if not (inside / path.lstrip("/")).is_file()] == []
            assert str((entry / "exe").readlink()) in mapped


def test_the_interpreter_of_the_environment_leads_to_the_image_s(head: Path) -> None:
    venv = head / "containers/dsv41/opt/dsv41/venv/bin"
    assert str((venv / "python3.12").readlink()) == "python3"
    assert str((venv / "python3").readlink()) == container_root.BASE_PYTHON


def test_mounts_are_told_alike_by_kernel_and_engine(head: Path) -> None:
    lines = (engine_process(head) / "mountinfo").read_text().splitlines()
    assert all(re.fullmatch(r"\d+ \d+ \d+:\d+ \S+ \S+ \S+( \S+)* - \S+ \S+ \S+", line) for line in lines)
    bound = {
        line.split()[4]: (line.split()[3], line.split()[5].startswith("rw")) for line in lines if " 259:2 " in line
    }
    told = {mount["Destination"]: (mount["Source"], mount["RW"]) for mount in inspected(head)["Mounts"]}  # type: ignore[attr-defined]
    assert {path: bound[path] for path in told} == told
    assert set(told) == {destination for _, destination, _ in site.MOUNTS}


# -- starts -----------------------------------------------------------------------
def test_all_sources_of_one_start_agree(root: Path) -> None:
    for rank in site.RANKS:
        tree = root / rank.name
        state = inspected(tree)["State"]
        assert isinstance(state, dict)
        started = clock.nanoseconds(state["StartedAt"])
        boot = int(re.search(r"^btime (\d+)$", (tree / "proc/stat").read_text(), re.MULTILINE).group(1))  # type: ignore[union-attr]
        ticks = int((engine_process(tree) / "stat").read_text().rpartition(")")[2].split()[19])
        assert 0 < started - (boot * 100 + ticks) * 10_000_000 < 10_000_000
        log = tree / engine.answer_path(engine.log_request(started)).lstrip("/")
        times = [clock.nanoseconds(line[:30].decode()) for _, line in engine_log.frames(log.read_bytes())]
        assert started < times[0]
        assert times == sorted(times)
        assert times[-1] - started < 10_000_000
        emitted = json.loads((tree / "var/log/dsv41/verify_runtime.json").read_text())["emitted_at"]
        assert state["StartedAt"][:23] < emitted[:23] + "~"


@pytest.mark.parametrize("seconds", [1792834200.0, 1792834200.001, 1792834200.129, 1792834200.999])
def test_a_start_is_never_before_its_moment(seconds: float) -> None:
    start = Start.at(seconds)
    assert start.seconds >= seconds
    assert start.seconds - seconds < 0.0101
    assert start.boot + start.ticks / 100 == pytest.approx(start.seconds, abs=1e-6)
    assert clock.nanoseconds(clock.nanosecond_time(start.engine_ns())) == start.engine_ns()
    assert Start.at(seconds, start.boot) == start


def test_the_kernel_log_holds_only_the_usual(root: Path) -> None:
    for host in site.HOSTS:
        text = (root / host / "dev/kmsg").read_text()
        records = [line for line in text.splitlines() if not line.startswith(" ")]
        heads = [re.fullmatch(r"(\d+),(\d+),(\d+),-;.+", line) for line in records]
        assert all(heads)
        numbers = [int(head.group(2)) for head in heads if head]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert "Xid" not in text
        assert ("NVRM: loading" in text) is bool(site.MACHINES[host].driver)
