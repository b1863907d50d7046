# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""IPv4 addresses and routes from /proc/net, without a socket.

This module util is private to the collectors. The kernel lists a machine's own
addresses (fib_trie) without their interfaces; they are told from connected
routes and, for RDMA interfaces, from GIDs. Only the main routing table shows.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import typing as t

from ._observation import Absent, Incomparable, Unparsable
from ._root import HostRoot

UP, GATEWAY, REJECT = 0x1, 0x2, 0x200
_LEAF = re.compile(r"\s*\|-- (\d{1,3}(?:\.\d{1,3}){3})\s*")
_LOCAL = re.compile(r"\s*/32 host LOCAL\s*")


@dataclasses.dataclass(frozen=True)
class Route:
    """One route of the main table; addresses as numbers."""

    interface: str
    destination: int
    mask: int
    flags: int
    metric: int

    def leads_to(self, address: int) -> bool:
        """Say whether the route is for this address."""
        return address & self.mask == self.destination

    @property
    def connected(self) -> bool:
        """Whether it is the route of an interface's own network."""
        return self.flags & UP != 0 and self.flags & (GATEWAY | REJECT) == 0 and self.mask != 0


def number(text: str) -> int:
    """Give an IPv4 address as a number. Raises Unparsable, Incomparable for IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise Unparsable("'%s' is not an IP address" % text) from None
    if address.version != 4:
        raise Incomparable("%s: routes of IPv6 addresses are not looked up" % text)
    return int(address)


def parse_routes(text: str) -> list[Route]:
    """Parse /proc/net/route. Raises Unparsable."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith("Iface"):
        raise Unparsable("/proc/net/route: no header line")
    routes = []
    for line in lines[1:]:
        fields = line.split()
        if not fields:
            continue
        try:
            routes.append(
                Route(fields[0], _swapped(fields[1]), _swapped(fields[7]), int(fields[3], 16), int(fields[6]))
            )
        except (IndexError, ValueError):
            raise Unparsable("/proc/net/route: a line that is not in its format") from None
    return routes


def _swapped(digits: str) -> int:
    """Read eight hex digits as the kernel prints an address on a little-endian machine."""
    if len(digits) != 8:
        raise ValueError(digits)
    return int.from_bytes(bytes.fromhex(digits), "little")


def parse_local_addresses(text: str) -> list[str]:
    """Give the machine's own addresses from /proc/net/fib_trie, sorted."""
    found: set[str] = set()
    leaf = ""
    for line in text.splitlines():
        match = _LEAF.fullmatch(line)
        if match is not None:
            leaf = match.group(1)
        elif leaf and _LOCAL.fullmatch(line):
            found.add(leaf)
    return sorted(found, key=_order)


def _order(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


class Network:
    """A machine's addresses and routes. `known` are addresses whose interface is known from elsewhere."""

    def __init__(self, root: HostRoot, known: t.Mapping[str, str]) -> None:
        self._routes = parse_routes(root.read("/proc/net/route").decode("utf-8", "replace"))
        self._locals = parse_local_addresses(root.read("/proc/net/fib_trie").decode("utf-8", "replace"))
        if not self._locals:
            raise Unparsable("/proc/net/fib_trie: shows no address of the machine's own")
        self._known = known

    def addresses(self, interface: str) -> list[str]:
        """Give an interface's addresses. Raises Incomparable where one could be this interface's or another's."""
        found = []
        for address in self._locals:
            owners = self.owners(address)
            if interface in owners and len(owners) > 1:
                raise Incomparable("%s: could be an address of %s" % (address, " or ".join(owners)))
            if owners == [interface]:
                found.append(address)
        return found

    def owners(self, address: str) -> list[str]:
        """List the interfaces that this address of the machine can belong to."""
        if address in self._known:
            return [self._known[address]]
        wanted = number(address)
        if wanted >> 24 == 127:
            return ["lo"]
        fitting = [route for route in self._routes if route.connected and route.leads_to(wanted)]
        longest = max((route.mask for route in fitting), default=0)
        return sorted({route.interface for route in fitting if route.mask == longest})

    def interface_to(self, address: str) -> str:
        """Give the interface by which an address is reached, or that owns it. Raises a LookError."""
        wanted = number(address)
        if address in self._locals:
            owners = self.owners(address)
            if len(owners) != 1:
                raise Incomparable("%s: own address of no single interface (%s)" % (address, ", ".join(owners)))
            return owners[0]
        fitting = [route for route in self._routes if route.flags & UP and route.leads_to(wanted)]
        if not fitting:
            raise Absent("%s: no route leads there" % address)
        best = min(fitting, key=lambda route: (-route.mask, route.metric))
        if best.flags & REJECT:
            raise Absent("%s: the route there refuses" % address)
        others = {r.interface for r in fitting if (r.mask, r.metric) == (best.mask, best.metric)}
        if len(others) > 1:
            raise Incomparable("%s: routes of the same rank by %s" % (address, " and ".join(sorted(others))))
        return best.interface
