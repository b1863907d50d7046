"""Addresses and routes from /proc/net."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._ip import Network, number, parse_local_addresses, parse_routes
from plugins.module_utils._observation import Absent, Incomparable, LookError, Unparsable
from plugins.module_utils._root import HostRoot

from tests.unit.file_roots import write_tree

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy

HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT                        \n"


def route(interface: str, network: str, bits: int, *, flags: int = 1, gateway: str = "0.0.0.0", metric: int = 0) -> str:
    def hexed(value: int) -> str:
        return value.to_bytes(4, "little").hex().upper()

    mask = (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF
    return (
        f"{interface}\t{hexed(number(network))}\t{hexed(number(gateway))}\t{flags:04X}\t0\t0\t{metric}\t{hexed(mask)}"
        "\t0\t0\t0" + " " * 40 + "\n"
    )


def trie(*addresses: str) -> str:
    leaf = "     |-- {0}\n        {1}\n"
    broadcast = leaf.format("9.9.9.255", "/32 link BROADCAST")
    leaves = "".join(leaf.format(item, "/32 host LOCAL") + broadcast for item in addresses)
    head = "  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n        /24 link UNICAST\n"
    return f"Main:\n{head}{leaves}Local:\n{head}{leaves}"


ROUTES = (
    HEAD
    + route("enP7s7", "0.0.0.0", 0, flags=3, gateway="192.168.7.1", metric=100)
    + route("enp1s0f1np1", "10.100.16.0", 24)
    + route("enP2p1s0f1np1", "10.100.17.0", 24)
    + route("enp1s0f0np0", "10.202.28.0", 31)
    + route("enP7s7", "192.168.7.0", 24, metric=100)
    + route("enP7s7", "10.55.0.0", 16, flags=3, gateway="192.168.7.9")
    + route("*", "10.66.0.0", 16, flags=0x201)
    + route("down0", "10.77.0.0", 16, flags=0)
)
LOCALS = trie("10.100.16.1", "10.100.17.1", "10.202.28.1", "127.0.0.1", "192.168.7.20")


def network(tree: Path, routes: str = ROUTES, locals_: str = LOCALS, **known: str) -> Network:
    write_tree(tree, {"proc/net/route": routes, "proc/net/fib_trie": locals_})
    return Network(HostRoot(str(tree)), {address.replace("_", "."): name for address, name in known.items()})


# -- parsing ---------------------------------------------------------------------------
def test_routes_of_the_kernel() -> None:
    text = (
        HEAD
        + "eth0\t00000000\t0107A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        + "eth0\t0007A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
    )
    default, connected = parse_routes(text)
    assert (default.interface, default.mask, default.metric, default.connected) == ("eth0", 0, 100, False)
    assert connected.destination == number("192.168.7.0")
    assert connected.connected
    assert parse_routes(HEAD) == []


@pytest.mark.parametrize(
    "text", ["", "x\n", HEAD + "eth0\t00\n", HEAD + "eth0\tXX000000\t0\t1\t0\t0\t0\t00FFFFFF\n", HEAD + "a b\n"]
)
def test_what_is_no_table(text: str) -> None:
    with pytest.raises(Unparsable, match="/proc/net/route"):
        parse_routes(text)


def test_own_addresses_once_and_in_order() -> None:
    assert parse_local_addresses(trie("10.0.0.10", "10.0.0.9")) == ["10.0.0.9", "10.0.0.10"]
    assert parse_local_addresses("") == []


@QUICK
@given(st.text(alphabet="|-+ /32hostLOCAL0.\n1", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    parse_local_addresses(text)
    try:
        parse_routes("Iface\n" + text)
    except Unparsable:
        return


@QUICK
@given(st.integers(0, 2**32 - 1), st.integers(1, 32))
def test_a_route_comes_back_from_how_it_is_printed(address: int, bits: int) -> None:
    mask = (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF
    text = ".".join(str(byte) for byte in (address & mask).to_bytes(4, "big"))
    (found,) = parse_routes(HEAD + route("x", text, bits))
    assert (found.destination, found.mask) == (address & mask, mask)
    assert found.leads_to(address)


@pytest.mark.parametrize(
    ("text", "kind"), [("master.example", Unparsable), ("", Unparsable), ("10.0.0", Unparsable), ("::1", Incomparable)]
)
def test_what_is_no_ipv4_address(text: str, kind: type[LookError]) -> None:
    with pytest.raises(kind):
        number(text)


# -- addresses of interfaces ---------------------------------------------------------------
def test_addresses_by_the_interfaces_own_networks(tmp_path: Path) -> None:
    found = network(tmp_path)
    assert found.addresses("enp1s0f1np1") == ["10.100.16.1"]
    assert found.addresses("enp1s0f0np0") == ["10.202.28.1"]
    assert found.addresses("enP7s7") == ["192.168.7.20"]
    assert found.addresses("lo") == ["127.0.0.1"]
    assert found.addresses("enP2p1s0f0np0") == []


def test_two_interfaces_in_one_network_are_told_apart_by_gids_only(tmp_path: Path) -> None:
    routes = HEAD + route("a", "10.1.0.0", 24) + route("b", "10.1.0.0", 24)
    unknown = network(tmp_path, routes, trie("10.1.0.1", "10.1.0.2"))
    with pytest.raises(Incomparable, match=r"10\.1\.0\.1: could be an address of a or b"):
        unknown.addresses("a")
    known = Network(HostRoot(str(tmp_path)), {"10.1.0.1": "a", "10.1.0.2": "b"})
    assert (known.addresses("a"), known.addresses("b")) == (["10.1.0.1"], ["10.1.0.2"])


def test_an_address_without_a_network_belongs_to_no_interface(tmp_path: Path) -> None:
    assert network(tmp_path, HEAD, trie("10.9.9.9")).addresses("a") == []


@pytest.mark.parametrize("missing", ["route", "fib_trie"])
def test_without_the_kernels_tables_nothing_is_told(tmp_path: Path, missing: str) -> None:
    network(tmp_path)
    (tmp_path / "proc/net" / missing).unlink()
    with pytest.raises(Absent, match=missing):
        Network(HostRoot(str(tmp_path)), {})


def test_no_own_address_at_all_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(Unparsable, match="fib_trie"):
        network(tmp_path, ROUTES, "Main:\n")


# -- routes ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("address", "interface"),
    [
        ("10.100.16.2", "enp1s0f1np1"),
        ("10.100.16.1", "enp1s0f1np1"),
        ("10.202.28.0", "enp1s0f0np0"),
        ("10.202.28.2", "enP7s7"),
        ("10.55.1.1", "enP7s7"),
        ("8.8.8.8", "enP7s7"),
        ("10.77.1.1", "enP7s7"),
        ("127.0.0.1", "lo"),
    ],
)
def test_the_interface_to_an_address(address: str, interface: str, tmp_path: Path) -> None:
    assert network(tmp_path).interface_to(address) == interface


def test_the_lower_metric_wins_and_equal_ones_are_undecided(tmp_path: Path) -> None:
    routes = HEAD + route("a", "10.1.0.0", 24, metric=20) + route("b", "10.1.0.0", 24, metric=10)
    assert network(tmp_path, routes, trie("10.9.9.9")).interface_to("10.1.0.7") == "b"
    routes += route("c", "10.1.0.0", 24, metric=10)
    with pytest.raises(Incomparable, match="b and c"):
        network(tmp_path, routes, trie("10.9.9.9")).interface_to("10.1.0.7")


def test_no_route_and_a_refusing_one_are_absent(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="refuses"):
        network(tmp_path).interface_to("10.66.1.1")
    with pytest.raises(Absent, match="no route"):
        network(tmp_path, HEAD + route("a", "10.1.0.0", 24)).interface_to("10.2.0.1")


def test_an_own_address_of_no_known_interface_is_undecided(tmp_path: Path) -> None:
    with pytest.raises(Incomparable, match="no single interface"):
        network(tmp_path, HEAD, trie("10.9.9.9")).interface_to("10.9.9.9")
