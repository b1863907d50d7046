"""NCCL's own rules: what is merged, what a selector selects."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._nccl import Selector, Setting, merge, parse_conf, select_devices, select_interfaces

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy

ACTIVE = [
    ("rocep1s0f0", 1),
    ("rocep1s0f1", 1),
    ("roceP2p1s0f0", 1),
    ("roceP2p1s0f1", 1),
    ("rocep1s0f10", 1),
    ("mlx5_0", 1),
    ("mlx5_0", 2),
]
ALL = sorted(f"{name}:{port}" for name, port in ACTIVE)
NETS = ["lo", "enp1s0f1np1", "enP2p1s0f1np1", "enP7s7", "docker0", "eth0", "eth01"]


def without(*names: str) -> list[str]:
    return [name for name in ALL if name not in names]


# -- selectors --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("setting", "devices"),
    [
        (None, ALL),
        ("", ALL),
        ("=", ALL),
        (",", ALL),
        (":1", ALL),
        ("^", []),
        ("^=", []),
        ("rocep1s0f1", ["rocep1s0f10:1", "rocep1s0f1:1"]),
        ("=rocep1s0f1", ["rocep1s0f1:1"]),
        ("rocep1s0f1,roceP2p1s0f1", ["roceP2p1s0f1:1", "rocep1s0f10:1", "rocep1s0f1:1"]),
        ("=rocep1s0f1,roceP2p1s0f1", ["roceP2p1s0f1:1", "rocep1s0f1:1"]),
        ("roce", ["roceP2p1s0f0:1", "roceP2p1s0f1:1", "rocep1s0f0:1", "rocep1s0f10:1", "rocep1s0f1:1"]),
        ("ROCEP1S0F1", []),
        ("=ROCEP1S0F1", []),
        ("rocep1s0f1 ", []),
        (" rocep1s0f1", []),
        ("=rocep1s0f1, roceP2p1s0f1", ["rocep1s0f1:1"]),
        ("nothing", []),
        ("^mlx5", without("mlx5_0:1", "mlx5_0:2")),
        ("^=mlx5", ALL),
        ("^=mlx5_0,rocep1s0f1", without("mlx5_0:1", "mlx5_0:2", "rocep1s0f1:1")),
        ("^nothing", ALL),
        ("=^mlx5_0", []),
        ("^^mlx5", ALL),
        ("==mlx5_0", []),
        ("mlx5_0:1", ["mlx5_0:1"]),
        ("mlx5_0:2", ["mlx5_0:2"]),
        ("mlx5_0:3", []),
        ("mlx5_0:", ["mlx5_0:1", "mlx5_0:2"]),
        ("mlx5_0:-1", ["mlx5_0:1", "mlx5_0:2"]),
        ("mlx5_0:x", []),
        ("mlx5_0:2x", ["mlx5_0:2"]),
        ("mlx5_0: 2", ["mlx5_0:2"]),
        ("mlx5_0:2:0", ["mlx5_0:2"]),
        ("mlx5_0:2:0:1", ["mlx5_0:2"]),
        ("mlx5_0::0", ["mlx5_0:1", "mlx5_0:2"]),
        ("^mlx5_0:1", without("mlx5_0:1")),
        (",,=mlx5_0", []),
        ("mlx5_0:2,rocep1s0f0", ["mlx5_0:2", "rocep1s0f0:1"]),
        ("mlx5_0:2,,", ["mlx5_0:2"]),
    ],
)
def test_devices(setting: str | None, devices: list[str]) -> None:
    assert select_devices(setting, ACTIVE) == sorted(devices)


@pytest.mark.parametrize(
    ("setting", "interfaces"),
    [
        (None, None),
        ("", None),
        ("e", None),
        ("^", None),
        ("enp1s0f1np1", ["enp1s0f1np1"]),
        ("enp1s0f1", ["enp1s0f1np1"]),
        ("=enp1s0f1", []),
        ("=enp1s0f1np1", ["enp1s0f1np1"]),
        ("ENP1S0F1NP1", []),
        ("eth0", ["eth0", "eth01"]),
        ("=eth0,eth01", ["eth0", "eth01"]),
        ("en", ["enP2p1s0f1np1", "enP7s7", "enp1s0f1np1"]),
        ("^docker,lo", ["enP2p1s0f1np1", "enP7s7", "enp1s0f1np1", "eth0", "eth01"]),
        ("^docker0", ["enP2p1s0f1np1", "enP7s7", "enp1s0f1np1", "eth0", "eth01", "lo"]),
        ("lo", ["lo"]),
        ("eth0:7", ["eth0", "eth01"]),
    ],
)
def test_interfaces(setting: str | None, interfaces: list[str] | None) -> None:
    assert select_interfaces(setting, NETS) == interfaces


def test_nccl_reads_no_more_entries_than_it_has_room_for() -> None:
    many = ",".join(f"x{number}" for number in range(32))
    assert select_devices(many + ",mlx5_0", ACTIVE) == []
    assert select_devices(many.replace("x0,", "mlx5_0,", 1), ACTIVE) == ["mlx5_0:1", "mlx5_0:2"]
    assert select_interfaces(",".join(f"x{number}" for number in range(16)) + ",eth0", NETS) == []


@QUICK
@given(st.text(alphabet="^=,:a1- x", max_size=20))
def test_any_text_is_a_selector_and_its_opposite_selects_the_rest(text: str) -> None:
    chosen = set(select_devices(text, ACTIVE))
    if not text.startswith("^"):
        assert set(select_devices("^" + text, ACTIVE)) == set(ALL) - chosen
    assert select_devices(text, reversed(ACTIVE)) == sorted(chosen)


@QUICK
@given(st.lists(st.sampled_from(["a", "b:1", "c:"]), max_size=5))
def test_the_order_of_entries_does_not_matter(entries: list[str]) -> None:
    names = [("a", 1), ("ab", 2), ("b", 1), ("b", 2), ("c", 9)]
    assert select_devices(",".join(entries), names) == select_devices(",".join(reversed(entries)), names)


def test_flags_are_about_the_whole_list() -> None:
    assert Selector.parse("^=a:1,b", 32) == Selector(True, True, (("a", 1), ("b", None)))
    assert Selector.parse("a,^b", 32) == Selector(False, False, (("a", None), ("^b", None)))


# -- configuration files -------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"", {}),
        (b"NCCL_DEBUG=INFO\n", {"NCCL_DEBUG": "INFO"}),
        (b"NCCL_DEBUG=INFO", {"NCCL_DEBUG": "INFO"}),
        (b"NCCL_DEBUG=INFO\r\n", {"NCCL_DEBUG": "INFO"}),
        (b"# NCCL_DEBUG=INFO\n#x\n", {}),
        (b" # NCCL_DEBUG=INFO\n", {" # NCCL_DEBUG": "INFO"}),
        (b" NCCL_DEBUG=INFO\n", {" NCCL_DEBUG": "INFO"}),
        (b"NCCL_DEBUG = INFO \n", {"NCCL_DEBUG ": " INFO "}),
        (b'NCCL_DEBUG="INFO" # c\n', {"NCCL_DEBUG": '"INFO" # c'}),
        (b"NCCL_SOCKET_IFNAME==ens1f0\n", {"NCCL_SOCKET_IFNAME": "=ens1f0"}),
        (b"NCCL_IB_HCA=\n", {"NCCL_IB_HCA": ""}),
        (b"NCCL_A=1\nNCCL_A=2\n", {"NCCL_A": "1"}),
        (b"export NCCL_A=1\n", {"export NCCL_A": "1"}),
        (b"words\n=x\n\n", {}),
        (b"A=1\0B=2\nC=3\n", {"A": "1", "C": "3"}),
        (b"A=" + b"x" * 2000, {"A": "x" * 1023}),
        (b"A=\xff", {"A": "\udcff"}),
    ],
)
def test_configuration_files(data: bytes, values: dict[str, str]) -> None:
    assert parse_conf(data) == values


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes_are_a_configuration_file(data: bytes) -> None:
    for name, value in parse_conf(data).items():
        assert name
        assert "=" not in name
        assert "\n" not in name + value


def test_an_earlier_source_is_never_replaced() -> None:
    merged = merge(
        [
            ("process", {"NCCL_A": "1", "NCCL_EMPTY": "", "PATH": "/bin"}),
            ("/root/.nccl.conf", {"NCCL_A": "2", "NCCL_EMPTY": "x", "NCCL_B": "2"}),
            ("/etc/nccl.conf", {"NCCL_B": "3", "NCCL_C": "3", "nccl_d": "3"}),
        ]
    )
    assert merged == {
        "NCCL_A": Setting("1", "process"),
        "NCCL_EMPTY": Setting("", "process"),
        "NCCL_B": Setting("2", "/root/.nccl.conf"),
        "NCCL_C": Setting("3", "/etc/nccl.conf"),
    }
