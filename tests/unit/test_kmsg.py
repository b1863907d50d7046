"""The kernel's log."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils import _kmsg
from plugins.module_utils._kmsg import (
    Log,
    Record,
    earliest,
    gpu_errors,
    oom_kills,
    parse_records,
    reaches_back,
    read_log,
    read_records,
)
from plugins.module_utils._observation import Denied, LookError, NotAttempted, NoTool, Unparsable, Unstable
from plugins.module_utils._root import HostRoot

from tests.unit.file_roots import write_tree

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy

XID = "NVRM: Xid (PCI:000f:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def log(*records: tuple[int, float, str], broken: LookError | None = None) -> Log:
    return Log(tuple(Record(*record) for record in records), broken)


# -- records ---------------------------------------------------------------------------
def test_records_with_fields_and_escapes() -> None:
    data = (
        b"6,0,0,-;Linux version 6.14\n"
        b" SUBSYSTEM=pci\n DEVICE=+pci:000f:01:00.0\n"
        b"4,17,1500000,-;tab\\x09and caf\\xc3\\xa9; semicolon, comma\n"
        b"3,18,2500001,-,caller=T123;\n"
    )
    assert parse_records(data) == (
        Record(0, 0.0, "Linux version 6.14"),
        Record(17, 1.5, "tab\tand café; semicolon, comma"),
        Record(18, 2.500001, ""),
    )


@pytest.mark.parametrize("data", [b"words\n", b"6,0,x,-;a\n", b"6,1,2;a\n", b"[    0.0] Linux\n"])
def test_what_is_no_record(data: bytes) -> None:
    with pytest.raises(Unparsable, match="line 1"):
        parse_records(data)


@QUICK
@given(st.binary(max_size=100) | st.text(alphabet="0123,;-a \n\\x41", max_size=60).map(str.encode))
def test_any_bytes_are_records_or_are_refused(data: bytes) -> None:
    try:
        records = parse_records(data)
    except Unparsable:
        return
    assert all(record.seconds >= 0 for record in records)


# -- what is picked -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "picked"),
    [
        (XID, True),
        ("NVRM: GPU at PCI:000f:01:00: GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", True),
        ("nvidia 000f:01:00.0: NVRM: GPU 000f:01:00.0 is already bound", True),
        ("NVRM: loading NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build", False),
        ("nvidia: loading out-of-tree module taints kernel.", False),
        ("nvidia-nvlink: Nvlink Core is being initialized", False),
        ("XNVRM: not ours", False),
    ],
)
def test_lines_of_the_gpu_driver(text: str, picked: bool) -> None:
    assert gpu_errors(log((7, 9.0, text)), 1.0) == ({"7": text} if picked else {})


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("Out of memory: Killed process 4242 (vllm) total-vm:1kB, anon-rss:1kB", True),
        ("Memory cgroup out of memory: Killed process 4242 (vllm) total-vm:1kB", True),
        ("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=vllm,pid=4242", True),
        ("Out of memory: Kill process 12 (x) score 900 or sacrifice child", True),
        ("oom_reaper: reaped process 4242 (vllm), now anon-rss:0kB", False),
        ("systemd-oomd: started", False),
    ],
)
def test_kills_for_lack_of_memory(text: str, picked: bool) -> None:
    assert oom_kills(log((7, 9.0, text)), 1.0) == ({"7": text} if picked else {})


def test_only_since_the_start_with_the_drift_of_clocks() -> None:
    records = log((1, 99.0, XID), (2, 999.1, XID), (3, 1000.0, XID), (4, 5000.0, XID))
    assert list(gpu_errors(records, 1000.0)) == ["2", "3", "4"]
    assert list(gpu_errors(records, 0.0)) == ["1", "2", "3", "4"]
    assert earliest(1000.0) == pytest.approx(998.95)
    assert earliest(0.5) == 0.0


def test_long_texts_are_cut() -> None:
    assert gpu_errors(log((1, 1.0, XID + "x" * 9000)), 0.0)["1"].startswith(XID)
    assert len(gpu_errors(log((1, 1.0, XID + "x" * 9000)), 0.0)["1"]) == 500


# -- how far it reaches back ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("records", "since", "reaches"),
    [
        (log((0, 0.0, "a"), (1, 5.0, "b")), 0.0, True),
        (log((0, 3.0, "a")), 0.0, True),
        (log((211, 0.0, "a")), 0.0, True),
        (log((211, 4.0, "a")), 0.0, False),
        (log((211, 4.0, "a")), 5.3, True),
        (log((211, 900.0, "a")), 1000.0, True),
        (log((211, 999.5, "a")), 1000.0, False),
        (log((211, 1200.0, "a")), 1000.0, False),
        (log(), 0.0, False),
        (log((0, 0.0, "a"), broken=Unstable("overwritten")), 0.0, False),
    ],
)
def test_reaching_back(records: Log, since: float, reaches: bool) -> None:
    assert (reaches_back(records, since) is None) is reaches


# -- reading the device --------------------------------------------------------------------------
def reader(*answers: bytes | type[OSError]) -> object:
    left = list(answers)

    def read() -> bytes:
        if not left:
            raise BlockingIOError(errno.EAGAIN, "x")
        answer = left.pop(0)
        if isinstance(answer, bytes):
            return answer
        raise answer(errno.EPIPE, "x")

    return read


def test_record_after_record_until_there_is_none() -> None:
    assert read_records(reader(b"6,0,0,-;a\n", b"6,1,1,-;b\n A=1\n")) == (b"6,0,0,-;a\n6,1,1,-;b\n A=1\n", None)  # type: ignore[arg-type]
    assert read_records(reader()) == (b"", None)  # type: ignore[arg-type]


def test_overwritten_records_are_told_and_the_rest_is_read() -> None:
    data, broken = read_records(reader(b"6,0,0,-;a\n", BrokenPipeError, b"6,9,9,-;b\n"))  # type: ignore[arg-type]
    assert data == b"6,0,0,-;a\n6,9,9,-;b\n"
    assert isinstance(broken, Unstable)
    assert "overwritten" in broken.why


def test_a_log_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kmsg, "LOG_LIMIT", 100)
    data, broken = read_records(lambda: b"6,0,0,-;aaaa\n")
    assert len(data) < 200
    assert isinstance(broken, Unparsable)


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (errno.EPERM, Denied, "CAP_SYSLOG"),
        (errno.EACCES, Denied, "CAP_SYSLOG"),
        (errno.ENOENT, NoTool, "no kernel log"),
        (errno.ENXIO, NoTool, "no kernel log"),
        (errno.EIO, Unparsable, "EIO"),
    ],
)
def test_a_log_that_is_refused(
    number: int, kind: type[LookError], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: str, flags: int) -> int:
        assert flags & (_kmsg.os.O_WRONLY | _kmsg.os.O_RDWR) == 0
        raise OSError(number, "x")

    monkeypatch.setattr(_kmsg.os, "open", refuse)
    write_tree(tmp_path, {"dev/kmsg": ""})
    with pytest.raises(kind, match=words):
        read_log(HostRoot(str(tmp_path)))


def test_the_real_device_of_this_machine_is_read_or_refused() -> None:
    try:
        found = read_log(HostRoot())
    except (Denied, NoTool):
        return
    numbers = [record.number for record in found.records]
    assert numbers == sorted(numbers)


def test_the_lane_admits_no_device(tmp_path: Path) -> None:
    write_tree(tmp_path, {"dev/kmsg": "6,0,0,-;a\n"})
    with pytest.raises(NotAttempted):
        read_log(HostRoot(str(tmp_path), recorded=True, lane="files"))


@pytest.mark.parametrize("recorded", [True, False])
def test_a_machine_without_a_log_has_none(recorded: bool, tmp_path: Path) -> None:
    """Which is no evidence that nothing happened: it must not count as absent."""
    with pytest.raises(NoTool):
        read_log(HostRoot(str(tmp_path), recorded=recorded))
