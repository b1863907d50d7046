# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a look at the fabric: devices and GIDs, network interfaces, NCCL's choice.

This module util is private to the collectors. Each leaf that can not be read
is a fault of its own.
"""

from __future__ import annotations

import typing as t

from ._ip import Network
from ._leaves import set_leaf
from ._nccl import Setting, select_devices, select_interfaces
from ._nccl_settings import Merged
from ._observation import Absent, Incomparable, LookError, Observation, Unparsable
from ._rdma import Gid, Port, attribute, gids, netdev, pci_function, port_state
from ._root import HostRoot, optional
from ._segments import within

NETDEVS = "/sys/class/net"


# -- devices -------------------------------------------------------------------
def tell_port(observation: Observation, root: HostRoot, port: Port) -> list[Gid]:
    """Fill the attributes and GIDs of one port; give the GIDs that could be read."""
    facts: dict[str, t.Any] = {}
    observation.identity["devices"][port.key] = facts

    def leaf(name: str, look: t.Callable[[], t.Any]) -> None:
        set_leaf(observation, facts, ("devices", port.key, name), lambda: optional(look))

    leaf("state", lambda: port_state(root, port, "state"))
    leaf("physical_state", lambda: port_state(root, port, "phys_state"))
    leaf("link_layer", lambda: attribute(root, port.folder + "/link_layer"))
    leaf("rate", lambda: attribute(root, port.folder + "/rate"))
    leaf("pci", lambda: pci_function(root, port.device))
    addresses: t.Union[list[Gid], LookError]
    try:
        addresses = gids(root, port)
        _tell_gids(observation, port, addresses)
    except LookError as error:
        addresses = error
        observation.fault(within("gids", port.key), error)
        observation.fault(within("gid_index", port.key), error)
    leaf("netdev", lambda: netdev(root, port, addresses))
    return [] if isinstance(addresses, LookError) else addresses


def _tell_gids(observation: Observation, port: Port, addresses: t.Sequence[Gid]) -> None:
    """Put GIDs by content and type; one that two interfaces share names both, and has the lower index."""
    owners: dict[str, set[str]] = {}
    indexes: dict[str, int] = {}
    for address in addresses:
        key = "%s %s" % (address.gid, address.type)
        owners.setdefault(key, set()).add(address.netdev)
        indexes[key] = min(indexes.get(key, address.index), address.index)
    observation.identity["gids"][port.key] = {key: ",".join(sorted(names)) for key, names in owners.items()}
    observation.state["gid_index"][port.key] = indexes


# -- network interfaces ------------------------------------------------------------
def interfaces_of(observation: Observation, root: HostRoot) -> list[str]:
    """List the interfaces that the look is about: of RDMA devices, and those that NCCL's settings select.

    Where it is not known which these are, all of the machine are: one that is
    left out would seem not to be there.
    """
    identity = observation.identity
    known = {facts["netdev"] for facts in identity["devices"].values() if "netdev" in facts}
    known.update(identity.get("nccl", {}).get("socket_interfaces", ()))
    unknown = [
        path
        for path, fault in observation.faults.items()
        if fault["status"] != Absent.status
        and (path in ("devices", "nccl") or (path.startswith("devices") and path.endswith("netdev")))
    ]
    if not unknown:
        return sorted(known)
    try:
        return sorted({*known, *root.listdir(NETDEVS)})
    except LookError as error:
        observation.fault("netdevs", error)
        return sorted(known)


def tell_interface(observation: Observation, root: HostRoot, name: str, network: t.Union[Network, LookError]) -> None:
    """Fill the attributes of one network interface."""
    folder = "%s/%s" % (NETDEVS, name)
    try:
        root.stat(folder)
    except LookError as error:
        observation.fault(within("netdevs", name), error)
        return
    facts: dict[str, t.Any] = {}
    observation.identity["netdevs"][name] = facts

    def leaf(key: str, look: t.Callable[[], t.Any]) -> None:
        set_leaf(observation, facts, ("netdevs", name, key), lambda: optional(look))

    leaf("mtu", lambda: _whole(folder + "/mtu", attribute(root, folder + "/mtu")))
    leaf("speed_mbps", lambda: _speed(root, folder))
    leaf("operational_state", lambda: attribute(root, folder + "/operstate"))
    leaf("hardware_address", lambda: attribute(root, folder + "/address").lower())
    leaf("addresses", lambda: _network(network).addresses(name))


def _speed(root: HostRoot, folder: str) -> t.Optional[int]:
    """Give the negotiated speed; an interface that is down has none (-1, or EINVAL)."""
    text = attribute(root, folder + "/speed")
    return None if text == "-1" else _whole(folder + "/speed", text)


def _whole(path: str, text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise Unparsable("%s: is not a number" % path)
    return int(text)


def _network(network: t.Union[Network, LookError]) -> Network:
    if isinstance(network, LookError):
        raise network
    return network


def tell_route(observation: Observation, master: str, network: t.Union[Network, LookError]) -> None:
    """Fill the interface by which the master address is reached."""
    facts: dict[str, t.Any] = {}
    set_leaf(observation, facts, ("route", "interface"), lambda: _network(network).interface_to(master))
    observation.identity["route"] = facts


# -- what NCCL selects -------------------------------------------------------------
def tell_nccl(
    observation: Observation, root: HostRoot, merged: Merged, devices: t.Union[t.Sequence[Port], LookError]
) -> None:
    """Fill NCCL's settings and what they select."""
    settings: dict[str, t.Any] = {}
    facts: dict[str, t.Any] = {"settings": settings}
    observation.identity["nccl"] = facts
    observation.notes += merged.notes
    for name, setting in merged.settings.items():

        def look(name: str = name, setting: Setting = setting) -> dict[str, t.Optional[str]]:
            return {"value": merged.value(name), "origin": setting.origin}

        set_leaf(observation, settings, ("nccl", "settings", name), look)
    if merged.settings.get("NCCL_IB_DISABLE", Setting("0", "")).value not in ("0", ""):
        observation.notes.append("NCCL_IB_DISABLE is set: NCCL uses no RDMA device, whatever is selected")

    def selected_devices() -> list[str]:
        return select_devices(merged.value("NCCL_IB_HCA"), active_ports(observation, devices))

    def selected_interfaces() -> list[str]:
        chosen = select_interfaces(merged.value("NCCL_SOCKET_IFNAME"), root.listdir(NETDEVS))
        if chosen is None:
            raise Incomparable("NCCL_SOCKET_IFNAME names no interface: NCCL chooses by itself")
        return chosen

    set_leaf(observation, facts, ("nccl", "devices"), selected_devices)
    set_leaf(observation, facts, ("nccl", "socket_interfaces"), selected_interfaces)


def active_ports(observation: Observation, devices: t.Union[t.Sequence[Port], LookError]) -> list[tuple[str, int]]:
    """List the ports that NCCL considers: active ones. Raises a LookError where a port's state is not known.

    On a machine without RDMA devices there are none, and that is known.
    """
    if isinstance(devices, LookError):
        if isinstance(devices, Absent):
            return []
        raise devices
    found = []
    for port in devices:
        facts = observation.identity["devices"][port.key]
        if "state" not in facts or "link_layer" not in facts:
            raise Incomparable("%s: its state is not known" % port.key)
        if facts["state"] == "ACTIVE" and facts["link_layer"] in ("Ethernet", "InfiniBand"):
            found.append((port.device, port.number))
    return found
