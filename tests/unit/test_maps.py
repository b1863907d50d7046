"""The files that a process has mapped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._maps import Mapped, has_stem, is_shared_object, parse_maps
from plugins.module_utils._observation import Unparsable

LINES = b"""\
00400000-00401000 r--p 00000000 fe:00 2146538                            /bin/sleeper
00401000-00479000 r-xp 00001000 fe:00 2146538                            /bin/sleeper
004a7000-004ac000 rw-p 00000000 00:00 0\x20
2cf73000-2cf95000 rw-p 00000000 00:00 0                                  [heap]
7fbdc7000000-7fbdc7001000 r-xp 00000000 fe:00 77                         /usr/lib/libnccl.so.2.27.3
7fbdc7001000-7fbdc7002000 r-xp 00000000 fe:00 78                         /usr/lib/libnccl.so.2.27.3 (deleted)
7fbdc7002000-7fbdc7003000 rw-s 00000000 00:01 9                          /dev/zero (deleted)
7fbdc7003000-7fbdc7004000 rw-s 00000000 00:0f 12                         anon_inode:[eventfd]
7fbdc7004000-7fbdc7005000 r--p 00000000 fe:00 80                         /srv/a b\\012c.so
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
"""


def test_each_file_once_with_its_inode() -> None:
    assert parse_maps(LINES, "x") == [
        Mapped("/bin/sleeper", "fe:00", 2146538, "400000-401000"),
        Mapped("/usr/lib/libnccl.so.2.27.3", "fe:00", 77, "7fbdc7000000-7fbdc7001000"),
        Mapped("/usr/lib/libnccl.so.2.27.3 (deleted)", "fe:00", 78, "7fbdc7001000-7fbdc7002000"),
        Mapped("/dev/zero (deleted)", "00:01", 9, "7fbdc7002000-7fbdc7003000"),
        Mapped("/srv/a b\nc.so", "fe:00", 80, "7fbdc7004000-7fbdc7005000"),
    ]


def test_the_mark_of_a_deleted_file() -> None:
    mapped = Mapped("/a.so (deleted)", "fe:00", 1, "0-1")
    assert (mapped.says_deleted, mapped.bare_path) == (True, "/a.so")
    mapped = Mapped("/a.so", "fe:00", 1, "0-1")
    assert (mapped.says_deleted, mapped.bare_path) == (False, "/a.so")


@pytest.mark.parametrize(
    "line", [b"x", b"00400000-00401000 r--p", b"g-1 r--p 0 0:0 0 /a", b"0-1 rwxq 0 0:0 0 /a", b" \n"]
)
def test_other_lines_are_unparsable_and_named(line: bytes) -> None:
    with pytest.raises(Unparsable, match=r"/proc/7/maps: line 11 is not"):
        parse_maps(LINES + line, "/proc/7/maps")


@given(st.binary(max_size=200))
def test_any_bytes_are_maps_or_unparsable(data: bytes) -> None:
    try:
        found = parse_maps(data, "x")
    except Unparsable:
        return
    assert all(item.path.startswith("/") for item in found)


@given(st.permutations(LINES.splitlines(keepends=True)))
def test_the_set_of_files_does_not_depend_on_the_order(lines: list[bytes]) -> None:
    key = {(item.path, item.inode) for item in parse_maps(b"".join(lines), "x")}
    assert key == {(item.path, item.inode) for item in parse_maps(LINES, "x")}


@pytest.mark.parametrize(
    ("path", "stem", "fits"),
    [
        ("/usr/lib/libnccl.so", "libnccl", True),
        ("/usr/lib/libnccl.so.2.27.3", "libnccl", True),
        ("/opt/libnccl-7c6a2f1e.so.2", "libnccl", True),
        ("/opt/libnccl_net.so", "libnccl", True),
        ("/opt/libtorch_cpu.so", "libtorch", True),
        ("/opt/libncclx.so", "libnccl", False),
        ("/opt/xlibnccl.so", "libnccl", False),
        ("/opt/libnccl/x.so", "libnccl", False),
        ("/opt/libexl3.cpython-312-aarch64-linux-gnu.so", "libexl3", True),
        ("/opt/libnccl.so.2", "libnccl.so.2", True),
    ],
)
def test_stems(path: str, stem: str, fits: bool) -> None:
    assert has_stem(path, stem) is fits


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("/a/libx.so", True),
        ("/a/libx.so.1.2", True),
        ("/a/x.sofa", False),
        ("/a.so/x", False),
        ("/dev/zero", False),
        ("/.so", False),
    ],
)
def test_shared_objects(path: str, shared: bool) -> None:
    assert is_shared_object(path) is shared


def test_the_kernel_of_this_machine_writes_this_format() -> None:
    assert any("python" in item.path for item in parse_maps(Path("/proc/self/maps").read_bytes(), "x"))
