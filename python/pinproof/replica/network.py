"""Routes and addresses of a machine in /proc/net, in the kernel's formats."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from pinproof.replica.site import Machine, Rank
from pinproof.replica.sysfs import functions
from pinproof.replica.tree import Tree

_ROUTE_HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
_LINE_WIDTH = 127  # every line of the kernel's table is padded to this


@dataclass(frozen=True, slots=True)
class Address:
    """An IPv4 address on an interface, in a network of 24 bits."""

    interface: str
    address: str

    @property
    def network(self) -> ipaddress.IPv4Network:
        """The network it is in."""
        return ipaddress.IPv4Network(f"{self.address}/24", strict=False)


def addresses(machine: Machine, rank: Rank | None) -> tuple[Address, ...]:
    """Give the addresses of a machine."""
    found = [Address("enP7s7", machine.management)]
    if rank is not None:
        found += [Address(function.netdev, function.address) for function in functions(rank) if function.up]
    elif machine.name == "x86host":
        found.append(Address("enP7s8", "10.202.28.1"))
    return tuple(found)


def write_network(tree: Tree, machine: Machine, rank: Rank | None) -> None:
    """Write /proc/net/route and /proc/net/fib_trie."""
    found = addresses(machine, rank)
    tree.write("/proc/net/route", route_table(found), 0o444)
    tree.write("/proc/net/fib_trie", fib_trie(found), 0o444)


def little_endian(address: str) -> str:
    """Spell an address as /proc/net/route does: eight hex digits, last byte first."""
    return ipaddress.IPv4Address(address).packed[::-1].hex().upper()


def route_line(interface: str, destination: str, gateway: str, flags: int, mask: str) -> str:
    """Give one line of the routing table."""
    fields = (
        interface,
        little_endian(destination),
        little_endian(gateway),
        f"{flags:04X}",
        "0",
        "0",
        "100" if gateway != "0.0.0.0" else "0",
        little_endian(mask),
        "0",
        "0",
        "0",
    )
    return "\t".join(fields).ljust(_LINE_WIDTH) + "\n"


def route_table(found: tuple[Address, ...]) -> str:
    """Give the main table: the default route by the management network, and each network of its own."""
    lines = [_ROUTE_HEAD.ljust(_LINE_WIDTH) + "\n"]
    lines.append(route_line("enP7s7", "0.0.0.0", "10.20.30.1", 3, "0.0.0.0"))
    for item in sorted(found, key=lambda each: each.network):
        lines.append(route_line(item.interface, str(item.network.network_address), "0.0.0.0", 1, "255.255.255.0"))
    return "".join(lines)


def fib_trie(found: tuple[Address, ...]) -> str:
    """Give the trie of all routes, the main table and the local one, which hold the same entries."""
    lines = ["  +-- 0.0.0.0/0 3 0 5", "     |-- 0.0.0.0", "        /0 universe UNICAST"]
    loopback = ("127.0.0.0/8 2 0 2", "127.0.0.0/31 1 0 0")
    lines += [f"     +-- {loopback[0]}", f"        +-- {loopback[1]}"]
    lines += ["           |-- 127.0.0.0", "              /8 host LOCAL"]
    lines += ["           |-- 127.0.0.1", "              /32 host LOCAL"]
    lines += ["        |-- 127.255.255.255", "           /32 link BROADCAST"]
    for item in sorted(found, key=lambda each: each.network):
        network = item.network
        lines += [f"     +-- {network} 2 0 2", f"        +-- {network.network_address}/27 2 0 2"]
        lines += [f"           |-- {network.network_address}", "              /24 link UNICAST"]
        lines += [f"           |-- {item.address}", "              /32 host LOCAL"]
        lines += [f"        |-- {network.broadcast_address}", "           /32 link BROADCAST"]
    body = "\n".join(lines) + "\n"
    return f"Main:\n{body}Local:\n{body}"
