"""The kernel's files about a process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._observation import Unparsable
from plugins.module_utils._proc import (
    ControlGroup,
    is_title,
    parse_boot_time,
    parse_cgroup,
    parse_effective_user,
    parse_environment,
    parse_stat,
    split_arguments,
)

ID = "2f66973bc58aaedbcb9bb13e37f23318849dee9dc4d95796b1e59a82b87147d7"
OTHER = "a" * 64
STAT_TAIL = b" S 2412 2433 2433 0 -1 4194560 939 0 0 0 0 1 0 0 20 0 1 0 45289 1011712 163 1 0 0"


@pytest.mark.parametrize("name", ["sleeper", "a b", "(x) y", "1 (S) 3) ", ") S 1 (", "VLLM::EngineCor"])
def test_stat_with_any_name(name: str) -> None:
    found = parse_stat(b"2433 (" + name.encode() + b")" + STAT_TAIL, "/proc/2433/stat")
    assert (found.pid, found.name, found.state, found.parent, found.start_ticks) == (2433, name, "S", 2412, 45289)


@pytest.mark.parametrize(
    "data", [b"", b"1 (x)", b"1 (x) S 2", b"x (y)" + STAT_TAIL, b"(x)" + STAT_TAIL, b"1 )(" + STAT_TAIL]
)
def test_stat_that_is_none(data: bytes) -> None:
    with pytest.raises(Unparsable, match="/proc/1/stat"):
        parse_stat(data, "/proc/1/stat")


@pytest.mark.parametrize(
    ("lines", "container", "unit"),
    [
        (f"0::/system.slice/docker-{ID}.scope", ID, f"docker-{ID}.scope"),
        (f"0::/docker/{ID}", ID, ""),
        (f"0::/system.slice/docker-{ID}.scope/init", ID, f"docker-{ID}.scope"),
        (f"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-{ID}.scope", ID, f"docker-{ID}.scope"),
        (
            f"12:memory:/docker/{ID}\n1:name=systemd:/docker/{ID}\n0::/system.slice/containerd.service",
            ID,
            "containerd.service",
        ),
        (f"0::/machine.slice/libpod-{ID}.scope/container", ID, f"libpod-{ID}.scope"),
        (f"0::/machine.slice/libpod-conmon-{ID}.scope", "", f"libpod-conmon-{ID}.scope"),
        (f"0::/../../docker-{ID}.scope", ID, f"docker-{ID}.scope"),
        (f"0::/docker/{OTHER}/docker/{ID}", ID, ""),
        (f"0::/kubepods/burstable/podx/cri-containerd-{ID}.scope", ID, f"cri-containerd-{ID}.scope"),
        (f"0::/docker/{ID[:12]}", "", ""),
        ("0::/", "", ""),
        ("1:name=systemd:/system.slice/a.service\n0::/", "", "a.service"),
        ("0::/system.slice/a.service/worker", "", "a.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/b.service", "", "b.service"),
        ("0::/system.slice/system-x.slice/x@1.service", "", "x@1.service"),
        ("not a line\n::\n9", "", ""),
        ("", "", ""),
    ],
)
def test_control_group(lines: str, container: str, unit: str) -> None:
    assert parse_cgroup(lines.encode() + b"\n") == ControlGroup(container, unit)


def test_control_group_of_a_container_on_the_first_version() -> None:
    controllers = ((9, "name=systemd"), (4, "memory"), (0, ""))
    sample = "".join(f"{number}:{name}:/docker/{ID}\n" for number, name in controllers)
    assert parse_cgroup(sample.encode()) == ControlGroup(ID, "")


@given(st.binary(max_size=200))
def test_any_control_group_file_names_something_or_nothing(data: bytes) -> None:
    found = parse_cgroup(data)
    assert found.container == "" or len(found.container) == 64


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\0", ["a"]),
        (b"a\0\0b c\0\0", ["a", "", "b c", ""]),
        (b"a\nb\0\xff\0", ["a\nb", "\udcff"]),
        (b"no end", ["no end"]),
        (b"\0", [""]),
    ],
)
def test_arguments(data: bytes, expected: list[str]) -> None:
    assert split_arguments(data) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1))
def test_arguments_come_back(arguments: list[str]) -> None:
    assert split_arguments(b"".join(item.encode() + b"\0" for item in arguments)) == arguments


@pytest.mark.parametrize(
    ("data", "titled"),
    [
        (b"VLLM::EngineCore" + b"\0" * 60, True),
        (b"VLLM::Worker_TP0\0", True),
        (b"nginx: worker process", True),
        (b"sglang::scheduler\0\0\0", True),
        (b"vllm serve /model\0\0\0\0", True),
        (b"/usr/bin/vllm\0serve\0", False),
        (b"/usr/bin/vllm\0", False),
        (b"prog\0\0", False),
        (b"prog\0\0x\0", False),
        (b"", False),
    ],
)
def test_title(data: bytes, titled: bool) -> None:
    assert is_title(split_arguments(data)) is titled


@pytest.mark.parametrize(
    ("data", "values", "ambiguous", "intact"),
    [
        (b"A=1\0B=x=y\0C=\0", {"A": "1", "B": "x=y", "C": ""}, (), True),
        (b"A=line one\nline two\0", {"A": "line one\nline two"}, (), True),
        (b"A=\xff\0", {"A": "\udcff"}, (), True),
        (b"A=1\0no assignment\0", {"A": "1"}, (), True),
        (b"A=1\0A=2\0B=1\0B=1\0", {"A": "1", "B": "1"}, ("A",), True),
        (b"", {}, (), True),
        (b"\0" * 200, {}, (), False),
        (b"gineCore_DP0" + b"\0" * 90, {}, (), False),
        (b"rker tp=2" + b"\0" * 90, {}, (), False),
        (b"A=1\0\0\0\0B=2\0", {}, (), False),
        (b"A=1\0B=cut", {}, (), False),
        (b"title that fills it\0", {}, (), False),
    ],
)
def test_environment(data: bytes, values: dict[str, str], ambiguous: tuple[str, ...], intact: bool) -> None:
    found = parse_environment(data)
    assert (found.values, found.ambiguous, found.intact) == (values, ambiguous, intact)


@given(st.binary(max_size=300))
def test_an_environment_that_is_not_intact_tells_nothing(data: bytes) -> None:
    found = parse_environment(data)
    assert found.intact or not found.values


def test_boot_time_and_user() -> None:
    assert parse_boot_time(b"cpu 1 2\nbtime 1796095180\nprocesses 3\n") == 1796095180
    assert parse_effective_user(b"Name:\tx\nUid:\t1000\t0\t1000\t1000\nGid:\t1\t1\t1\t1\n", "x") == "0"
    with pytest.raises(Unparsable, match="no boot time"):
        parse_boot_time(b"cpu 1 2\n")
    with pytest.raises(Unparsable, match="/proc/1/status"):
        parse_effective_user(b"Name:\tx\n", "/proc/1/status")


def test_the_kernel_of_this_machine_writes_these_formats() -> None:
    me = parse_stat(Path("/proc/self/stat").read_bytes(), "x")
    assert (me.state, me.start_ticks > 0) == ("R", True)
    assert parse_boot_time(Path("/proc/stat").read_bytes()) > 10**9
    assert parse_effective_user(Path("/proc/self/status").read_bytes(), "x").isdecimal()
