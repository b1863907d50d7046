"""Spoiling the fabric: RDMA devices, their interfaces and addresses, routes, and NCCL's settings."""

from __future__ import annotations

import re

from pinproof.replica.network import little_endian, route_line
from pinproof.replica.site import CONTAINER_ROOT
from pinproof.replica.spoil_process import container_process, set_environment
from pinproof.replica.spoilers import CannotSpoil, Spoil, Table
from pinproof.replica.sysfs import NO_GID, mapped_gid

_MANAGEMENT = "enP7s7"
_DEVICE_FILES = {
    "state": ("state", "1: DOWN"),
    "physical_state": ("phys_state", "3: Disabled"),
    "link_layer": ("link_layer", "InfiniBand"),
    "rate": ("rate", "100 Gb/sec (4X EDR)"),
}
_NETDEV_FILES = {"mtu": ("mtu", "1500"), "speed_mbps": ("speed", "100000"), "operational_state": ("operstate", "down")}


def _device(spoil: Spoil) -> str:
    device = spoil.segments[1]
    name = spoil.key or spoil.segments[-1]
    folder = f"/sys/class/infiniband/{device}"
    if name == "netdev":
        table = f"{folder}/ports/1/gid_attrs/ndevs"
        for index in spoil.journal.names(table):
            spoil.journal.write(f"{table}/{index}", _MANAGEMENT + "\n")
        return f"the GIDs of {device} are of {_MANAGEMENT}"
    if name not in _DEVICE_FILES:
        raise CannotSpoil(f"{spoil.pin.id}: no file of a device tells {name}")
    file, value = _DEVICE_FILES[name]
    spoil.journal.write(f"{folder}/ports/1/{file}", value + "\n")
    return f"{device} tells {file} {value}"


def _gid(spoil: Spoil) -> str:
    """Give the slot that holds the pinned GID another address."""
    device = spoil.segments[1]
    gid, _, version = spoil.leaf.partition(" ")
    port = f"/sys/class/infiniband/{device}/ports/1"
    for index in spoil.journal.names(f"{port}/gids"):
        types = f"{port}/gid_attrs/types/{index}"
        same = spoil.journal.text(f"{port}/gids/{index}").strip() == gid
        if same and spoil.journal.exists(types) and spoil.journal.text(types).strip() == version:
            new = gid[:-2] + ("c9" if gid[-2:] != "c9" else "ca")
            spoil.journal.write(f"{port}/gids/{index}", new + "\n")
            return f"{device}: GID {index} is {new}"
    raise CannotSpoil(f"{device}: has no GID {spoil.leaf}")


def _netdev(spoil: Spoil) -> str:
    interface = spoil.segments[1]
    name = spoil.key or spoil.segments[-1]
    file, value = _NETDEV_FILES[name]
    spoil.journal.write(f"/sys/class/net/{interface}/{file}", value + "\n")
    return f"{interface} tells {file} {value}"


def _address(spoil: Spoil) -> str:
    """Give the interface another address in its network."""
    interface = spoil.segments[1]
    for line in spoil.journal.text("/proc/net/route").splitlines()[1:]:
        fields = line.split()
        if fields[0] == interface and fields[1] != "00000000":
            break
    else:
        raise CannotSpoil(f"{interface}: has no network")
    network = ".".join(str(int(fields[1][at : at + 2], 16)) for at in (6, 4, 2))
    trie = spoil.journal.text("/proc/net/fib_trie")
    match = re.search(rf"\|-- ({re.escape(network)}\.\d+)\n +/32 host LOCAL", trie)
    if match is None:
        raise CannotSpoil(f"{interface}: has no address")
    spoil.journal.write("/proc/net/fib_trie", trie.replace(f"|-- {match.group(1)}\n", f"|-- {network}.77\n"))
    return f"{interface} has the address {network}.77"


def _route(spoil: Spoil) -> str:
    """Let the master be reached over the management network: by a route, or where it is this machine by its address."""
    master = str(spoil.probe.parameters["master"])
    if f"|-- {master}\n" in spoil.journal.text("/proc/net/fib_trie"):
        _clear_gids(spoil, mapped_gid(master))
    line = route_line(_MANAGEMENT, master, "0.0.0.0", 5, "255.255.255.255")
    spoil.journal.write("/proc/net/route", spoil.journal.text("/proc/net/route") + line)
    return f"{master} ({little_endian(master)}) is reached by {_MANAGEMENT}"


def _clear_gids(spoil: Spoil, gid: str) -> None:
    """Empty every slot that holds this GID, as when its address went to an interface without RDMA."""
    for device in spoil.journal.names("/sys/class/infiniband"):
        port = f"/sys/class/infiniband/{device}/ports/1"
        for index in spoil.journal.names(f"{port}/gids"):
            if spoil.journal.text(f"{port}/gids/{index}").strip() == gid:
                spoil.journal.write(f"{port}/gids/{index}", NO_GID + "\n")
                spoil.journal.remove(f"{port}/gid_attrs/types/{index}")
                spoil.journal.remove(f"{port}/gid_attrs/ndevs/{index}")


def _nccl(name: str, value: str) -> str:
    return value if name == "NCCL_IB_HCA" else _MANAGEMENT


def _setting(spoil: Spoil) -> str:
    name = spoil.segments[2]
    return _set(spoil, name, _nccl(name, "rocep1s0f0,rocep1s0f1"))


def _configured(spoil: Spoil) -> str:
    """Bake a setting into the image's own configuration file, where no environment shows it."""
    path = f"{CONTAINER_ROOT}/etc/nccl.conf"
    spoil.journal.write(path, "NCCL_IB_DISABLE=1\n")
    return f"NCCL_IB_DISABLE=1 in {path}"


def _devices(spoil: Spoil) -> str:
    return _set(spoil, "NCCL_IB_HCA", "rocep1s0f1")


def _interfaces(spoil: Spoil) -> str:
    return _set(spoil, "NCCL_SOCKET_IFNAME", _MANAGEMENT)


def _set(spoil: Spoil, name: str, value: str) -> str:
    set_environment(spoil, container_process(spoil.journal, "vllm"), name, value)
    return f"{name}={value} in the engine's environment"


FABRIC: Table = {
    "devices/*": _device,
    "gids/*": _gid,
    "netdevs/*/addresses": _address,
    "netdevs/*": _netdev,
    "route/interface": _route,
    "nccl/settings/*": _setting,
    "nccl/settings": _configured,
    "nccl/devices": _devices,
    "nccl/socket_interfaces": _interfaces,
}
