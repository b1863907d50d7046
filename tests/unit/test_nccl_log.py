"""NCCL's own lines, in old and new spellings, joined and prefixed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._nccl_log import nccl_evidence

P = "host-a:101:180 [0] NCCL INFO "
TWO = ["rocep1s0f1:1", "roceP2p1s0f1:1"]
USING = P + "NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; OOB enp1s0f1np1:10.0.0.1<0>"


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ([USING, P + "Using network IB"], {"devices": TWO, "network": "IB", "out_of_band": "enp1s0f1np1"}),
        # rail, plane, the direct data path, no relaxed ordering
        (
            [
                P + "NET/IB : Using [0]rocep1s0f1:1:0/RoCE [1]roceP2p1s0f1_dma:1::2/RoCE ; OOB eth0:10.0.0.1<0>",
                P + "Using network IBext_v10",
            ],
            {"devices": TWO, "network": "IBext_v10", "out_of_band": "eth0"},
        ),
        # an older release: no out-of-band part, merged devices, the bootstrap line tells the interface
        (
            [
                P + "Bootstrap : Using [0]enp1s0f1np1:10.0.0.1<0>",
                P + "NET/IB : Using [0]={[0] rocep1s0f1:1/RoCE, [1] roceP2p1s0f1:1/RoCE} [RO]",
                P + "Using network IB",
            ],
            {"devices": TWO, "network": "IB", "out_of_band": "enp1s0f1np1"},
        ),
        # a newer one: no blank before the colon, the plugin's assignment instead of the network line
        (
            [
                P + "Bootstrap: Using enp1s0f1np1:10.0.0.1<0>",
                P + "NET/IB: Using [0]mlx5_1:2/IB ; OOB enp1s0f1np1:fe80::1%enp1s0f1np1<0>",
                P + "Assigned NET plugin IB to comm",
            ],
            {"devices": ["mlx5_1:2"], "network": "IB", "out_of_band": "enp1s0f1np1"},
        ),
        # several processes of one rank tell the same
        (
            ["(EngineCore_DP0 pid=2301) " + USING, USING, P + "Using network IB"] * 2,
            {"devices": TWO, "network": "IB", "out_of_band": "enp1s0f1np1"},
        ),
        # several records on one line
        ([USING + "   " + P + "Using network IB"], {"devices": TWO, "network": "IB", "out_of_band": "enp1s0f1np1"}),
        # sockets: no device is used, and that is evidence
        (
            [
                P + "NET/Socket : Using [0]eth0:10.0.0.1<0>",
                P + "Bootstrap : Using eth0:10.0.0.1<0>",
                P + "Using network Socket",
            ],
            {"network": "Socket", "out_of_band": "eth0"},
        ),
        (
            [P + "NET/IB : No device found.", P + "NET/IB : Using ; OOB eth0:10.0.0.1<0>", P + "Using network Socket"],
            {"devices": [], "network": "Socket", "out_of_band": "eth0"},
        ),
    ],
)
def test_evidence(lines: list[str], values: dict[str, Any]) -> None:
    assert nccl_evidence(lines) == (values, {})


def test_no_line_of_that_level_is_no_evidence() -> None:
    lines = ["NCCL version 2.27.3+cuda13.0", "host:1:1 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed"]
    values, failures = nccl_evidence(lines)
    assert values == {}
    assert failures[""].status == "incomparable"
    assert "not 'socket'" in failures[""].why


def test_lines_of_other_parts_tell_nothing_about_the_network() -> None:
    values, failures = nccl_evidence(
        [P + "Channel 00/02 : 0 1", P + "NET/IB : Made virtual device [0] name=a speed=1 ndevs=1"]
    )
    assert values == {}
    assert set(failures) == {"devices", "network", "out_of_band"}


def test_a_list_without_the_network_line_is_told_and_the_rest_is_a_failure() -> None:
    values, failures = nccl_evidence([USING])
    assert values == {"devices": TWO, "out_of_band": "enp1s0f1np1"}
    assert set(failures) == {"network"}


def test_two_lists_are_no_list() -> None:
    other = P + "NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; OOB enp1s0f1np1:10.0.0.1<0>"
    values, failures = nccl_evidence([USING, other, P + "Using network IB", P + "Using network Socket"])
    assert values == {"out_of_band": "enp1s0f1np1"}
    assert "more than one" in failures["devices"].why
    assert "IB; Socket" in failures["network"].why


@given(
    st.lists(
        st.lists(st.sampled_from([P, "NET/IB : Using", " [0]a:1/RoCE", "[RO]", "; OOB x:", "Using network ", "y", " "]))
    )
)
def test_any_lines_give_evidence_or_say_why_not(parts: list[list[str]]) -> None:
    values, failures = nccl_evidence(["".join(item) for item in parts])
    told = set(values) | set(failures)
    assert told == {""} or told >= {"network", "out_of_band"}
    assert not set(values) & set(failures)
