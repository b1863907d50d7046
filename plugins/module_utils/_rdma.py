# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""RDMA devices as the kernel shows them: ports, GIDs, network interfaces.

This module util is private to the collectors. A slot of the GID table that is
not in use reads as all zero, or its attributes as EINVAL: it is empty, not
unreadable. In a replica an unused slot is an empty file or none.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Absent, Incomparable, LookError, Unparsable
from ._root import HostRoot

CLASS = "/sys/class/infiniband"
_STATE = re.compile(r"\d+: (\S.*)")
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_GID = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){7}")
_NO_GID = ":".join(["0000"] * 8)
_MAPPED = "0000:0000:0000:0000:0000:ffff:"


@dataclasses.dataclass(frozen=True)
class Gid:
    """One address of a port: its content, its type (`RoCE v2`), its network interface, and its place in the table."""

    gid: str
    type: str
    netdev: str
    index: int

    @property
    def ipv4(self) -> str:
        """The IPv4 address that it stands for, or ""."""
        if not self.gid.startswith(_MAPPED):
            return ""
        digits = self.gid[len(_MAPPED) :].replace(":", "")
        return ".".join(str(int(digits[place : place + 2], 16)) for place in range(0, 8, 2))


@dataclasses.dataclass(frozen=True)
class Port:
    """One port of a device."""

    device: str
    number: int

    @property
    def key(self) -> str:
        """Its name in observations: the device's for its first port, with the number for any other."""
        return self.device if self.number == 1 else "%s:%d" % (self.device, self.number)

    @property
    def folder(self) -> str:
        """Its folder in sysfs."""
        return "%s/%s/ports/%d" % (CLASS, self.device, self.number)


def ports(root: HostRoot) -> list[Port]:
    """List the ports of all devices. Raises Absent where there is no RDMA device, or another LookError."""
    found = []
    for device in root.listdir(CLASS):
        numbers = sorted(int(name) for name in root.listdir("%s/%s/ports" % (CLASS, device)) if name.isdecimal())
        found += [Port(device, number) for number in numbers]
    if not found:
        raise Absent("%s: no RDMA device" % CLASS)
    return found


def attribute(root: HostRoot, path: str) -> str:
    """Read an attribute of one line. Raises a LookError; an unused or invalid one is Absent."""
    try:
        text = root.read(path).decode("utf-8", "replace").strip()
    except Unparsable as error:
        if error.why.endswith("(EINVAL)"):
            raise Absent("%s: has no value (EINVAL)" % path) from None
        raise
    if not text:
        raise Absent("%s: has no value" % path)
    return text


def port_state(root: HostRoot, port: Port, name: str) -> str:
    """Give `state` or `phys_state` by its word. Raises a LookError: a port always has one, no text is no answer."""
    path = "%s/%s" % (port.folder, name)
    match = _STATE.fullmatch(root.text(path).rstrip("\n"))
    if match is None:
        raise Unparsable("%s: is not in the form of NUMBER: WORD" % path)
    return match.group(1)


def gids(root: HostRoot, port: Port) -> list[Gid]:
    """List the addresses of a port that are in use, link-local ones too. Raises a LookError."""
    found = []
    for name in sorted((name for name in root.listdir(port.folder + "/gids") if name.isdecimal()), key=int):
        gid = _or_empty(root, "%s/gids/%s" % (port.folder, name)).lower()
        if gid in ("", _NO_GID):
            continue
        if not _GID.fullmatch(gid):
            raise Unparsable("%s/gids/%s: is not a GID" % (port.folder, name))
        kind = _or_empty(root, "%s/gid_attrs/types/%s" % (port.folder, name))
        if kind:
            netdev = _or_empty(root, "%s/gid_attrs/ndevs/%s" % (port.folder, name))
            found.append(Gid(gid, kind, netdev, int(name)))
    return found


def _or_empty(root: HostRoot, path: str) -> str:
    try:
        return attribute(root, path)
    except Absent:
        return ""


def netdev(root: HostRoot, port: Port, addresses: t.Union[t.Sequence[Gid], LookError]) -> str:
    """Give the network interface of a port. Raises Absent for none, Incomparable for no single one.

    `addresses` are its GIDs, or why they are not known; then only the device itself can tell.
    """
    if isinstance(addresses, LookError):
        try:
            return netdev(root, port, [])
        except Absent:
            raise addresses from None
    of_gids = sorted({gid.netdev for gid in addresses if gid.netdev})
    if len(of_gids) == 1:
        return of_gids[0]
    folder = "%s/%s/device/net" % (CLASS, port.device)
    try:
        of_device = root.listdir(folder)
    except Absent:
        of_device = []
    of_port = [name for name in of_device if _is_of_port(root, name, port)] if len(of_device) > 1 else of_device
    # VLANs have addresses of the port as well; the interface itself is the device's own.
    both = [name for name in of_port if name in of_gids] if of_gids else of_port
    if len(both) == 1:
        return both[0]
    if not of_gids and not of_device:
        raise Absent("%s: no network interface belongs to it" % port.key)
    raise Incomparable("%s: no single network interface: %s" % (port.key, ", ".join(of_gids or of_device)))


def _is_of_port(root: HostRoot, name: str, port: Port) -> bool:
    return _or_empty(root, "/sys/class/net/%s/dev_port" % name) == str(port.number - 1)


def pci_function(root: HostRoot, device: str) -> str:
    """Give the PCI function of a device. Raises Absent for one without (software RDMA)."""
    folder = "%s/%s/device" % (CLASS, device)
    name = root.resolve(folder).rpartition("/")[2]
    if _PCI.fullmatch(name):
        return name
    for line in root.read(folder + "/uevent").decode("utf-8", "replace").splitlines():
        label, _, address = line.partition("=")
        if label == "PCI_SLOT_NAME" and _PCI.fullmatch(address):
            return address
    raise Absent("%s: is not a PCI function" % folder)
