"""The fabric of a serving node in /sys: PCI functions with their RDMA device and network interface.

The layout is the kernel's: `/sys/class/...` holds links into `/sys/devices`,
and a device's folder leads back to its PCI function. A GID slot that is not
used reads as zeros and has no type: the kernel answers its `types` and `ndevs`
files with EINVAL, so that they are left out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pinproof.replica.site import Machine, Rank
from pinproof.replica.tree import Tree

GID_SLOTS = 16
NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"
VERSIONS = ("IB/RoCE v1", "RoCE v2")


@dataclass(frozen=True, slots=True)
class Function:
    """One PCI function of the network card. `address` is "" where no cable is plugged."""

    pci: str
    device: str
    netdev: str
    address: str
    hardware: str
    port: str

    @property
    def up(self) -> bool:
        """Whether it has a link."""
        return bool(self.address)

    @property
    def folder(self) -> str:
        """Its folder in /sys/devices."""
        bus = self.pci[:4]
        return f"/sys/devices/pci{bus}:00/{bus}:00:00.0/{self.pci}"


def functions(rank: Rank) -> tuple[Function, ...]:
    """Give the four functions of a node: cage 1 leads to the worker by one half, cage 2 to the other rank by both."""
    mac = rank.hardware
    return (
        Function("0000:01:00.0", "rocep1s0f0", "enp1s0f0np0", rank.worker_bind, f"{mac}:c0", "p0"),
        Function("0000:01:00.1", "rocep1s0f1", "enp1s0f1np1", rank.fabric, f"{mac}:c1", "p1"),
        Function("0002:01:00.0", "roceP2p1s0f0", "enP2p1s0f0np0", "", f"{mac}:c4", "p0"),
        Function("0002:01:00.1", "roceP2p1s0f1", "enP2p1s0f1np1", rank.twin, f"{mac}:c5", "p1"),
    )


def mapped_gid(address: str) -> str:
    """Spell an IPv4 address as the GID that maps it."""
    a, b, c, d = (int(part) for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


def link_local_gid(hardware: str) -> str:
    """Spell the link-local address of a hardware address as a GID."""
    a, b, c, d, e, f = (int(part, 16) for part in hardware.split(":"))
    return f"fe80:0000:0000:0000:{a ^ 2:02x}{b:02x}:{c:02x}ff:fe{d:02x}:{e:02x}{f:02x}"


def gid_table(function: Function, hole: int) -> Iterator[tuple[int, str, str]]:
    """Give (index, GID, type) of every slot; the type is "" where the slot is not used."""
    used = {}
    for number, version in enumerate(VERSIONS):
        used[number] = (link_local_gid(function.hardware), version)
        if function.up:
            used[2 + hole + number] = (mapped_gid(function.address), version)
    for index in range(GID_SLOTS):
        yield (index, *used.get(index, (NO_GID, "")))


def write_fabric(tree: Tree, rank: Rank) -> None:
    """Write every function with its two class entries."""
    for function in functions(rank):
        _write_device(tree, function, rank.gid_hole)
        _write_netdev(tree, function)


def _write_device(tree: Tree, function: Function, hole: int) -> None:
    device = f"{function.folder}/infiniband/{function.device}"
    port = f"{device}/ports/1"
    facts = {
        "state": "4: ACTIVE" if function.up else "1: DOWN",
        "phys_state": "5: LinkUp" if function.up else "3: Disabled",
        "rate": "200 Gb/sec (4X HDR)" if function.up else "40 Gb/sec (4X QDR)",
        "link_layer": "Ethernet",
        "lid": "0x0",
    }
    for name, value in facts.items():
        tree.write(f"{port}/{name}", value + "\n", 0o444)
    for index, gid, version in gid_table(function, hole):
        tree.write(f"{port}/gids/{index}", gid + "\n", 0o444)
        if version:
            tree.write(f"{port}/gid_attrs/types/{index}", version + "\n", 0o444)
            tree.write(f"{port}/gid_attrs/ndevs/{index}", function.netdev + "\n", 0o444)
    tree.write(f"{device}/fw_ver", "28.45.4028\n", 0o444)
    tree.write(f"{device}/node_type", "1: CA\n", 0o444)
    tree.link(f"{device}/device", f"../../../{function.pci}")
    tree.link(f"/sys/class/infiniband/{function.device}", f"../..{device.removeprefix('/sys')}")


def _write_netdev(tree: Tree, function: Function) -> None:
    netdev = f"{function.folder}/net/{function.netdev}"
    _write_interface(
        tree,
        netdev,
        {
            "operstate": "up" if function.up else "down",
            "mtu": "9000",
            "speed": "200000" if function.up else "-1",
            "address": function.hardware,
            "phys_port_name": function.port,
            "phys_switch_id": function.hardware.replace(":", ""),
            "type": "1",
        },
    )
    tree.link(f"{netdev}/device", f"../../../{function.pci}")
    tree.link(f"/sys/class/net/{function.netdev}", f"../..{netdev.removeprefix('/sys')}")


def _write_interface(tree: Tree, folder: str, facts: dict[str, str]) -> None:
    for name, value in facts.items():
        tree.write(f"{folder}/{name}", value + "\n", 0o444)


def write_management(tree: Tree, machine: Machine) -> None:
    """Write the interfaces that every machine has: the loopback (no speed) and the management one."""
    loopback = "/sys/devices/virtual/net/lo"
    _write_interface(tree, loopback, {"operstate": "unknown", "mtu": "65536", "address": "00:00:00:00:00:00"})
    tree.link("/sys/class/net/lo", "../../devices/virtual/net/lo")
    last = int(machine.management.rpartition(".")[2])
    facts = {"operstate": "up", "mtu": "1500", "speed": "10000", "address": f"4c:bb:47:00:00:{last:02x}", "type": "1"}
    folder = "/sys/devices/pci0007:00/0007:00:00.0/0007:01:00.0"
    _write_interface(tree, f"{folder}/net/enP7s7", facts)
    tree.link(f"{folder}/net/enP7s7/device", "../../../0007:01:00.0")
    tree.link("/sys/class/net/enP7s7", f"../..{folder.removeprefix('/sys')}/net/enP7s7")


def write_thermal(tree: Tree, zones: dict[str, int]) -> None:
    """Write thermal zones, by type, in thousandths of a degree Celsius."""
    for number, (kind, value) in enumerate(zones.items()):
        folder = f"/sys/devices/virtual/thermal/thermal_zone{number}"
        tree.write(f"{folder}/type", kind + "\n", 0o444)
        tree.write(f"{folder}/temp", f"{value}\n", 0o444)
        tree.link(f"/sys/class/thermal/thermal_zone{number}", f"../../devices/virtual/thermal/thermal_zone{number}")


def write_driver_module(tree: Tree, version: str) -> None:
    """Write what /sys tells about the GPU driver's module."""
    tree.write("/sys/module/nvidia/version", version + "\n", 0o444)
