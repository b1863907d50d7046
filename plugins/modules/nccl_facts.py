#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of the fabric: RDMA devices, their interfaces and addresses, and what NCCL's settings select of them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_facts
short_description: Look at RDMA devices and at what NCCL's merged settings select
version_added: "0.1.0"
description:
  - Reads devices, ports, GIDs and network interfaces from C(/sys), addresses and routes from C(/proc/net); nothing is
    sent, and no socket is opened.
  - A device's first port is told under the device's name, any other under C(DEVICE:PORT).
  - GIDs are told by content and type, C(GID TYPE), with their network interface. Their index may move and is state.
  - An interface's IPv4 addresses are told from GIDs and from the routes of its own networks; one that could be another
    interface's as well is C(incomparable). Only routes of the main table show in C(/proc/net/route).
  - NCCL's settings are the process' environment, then C(NCCL_CONF_FILE) or C(~/.nccl.conf), then C(/etc/nccl.conf), as
    that process sees these files; an earlier source is never replaced by a later one. A file that changed after the
    process started can not speak for it.
  - Selectors follow NCCL's grammar, in which C(^) and C(=) are about the whole list, names are prefixes unless exact,
    and nothing is trimmed. A selector that fits nothing selects nothing, and that is an answer. Of the interfaces that
    C(NCCL_SOCKET_IFNAME) selects, NCCL uses those that have an address.
author:
  - the pinproof authors
attributes:
  check_mode:
    support: full
    description: This action does not modify state.
  diff_mode:
    support: none
    description: There is nothing to show a difference of.
options:
  kind:
    description: The kind of look.
    type: str
    choices: [fabric]
    default: fabric
    version_added: "0.1.0"
  process:
    description:
      - The process whose NCCL settings count, by the parameters of its process look.
      - Without it, only devices, interfaces and the route are looked at.
    type: dict
    version_added: "0.1.0"
  master:
    description: An IPv4 address whose route is looked up; for an address of the machine's own, the interface it is on.
    type: str
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: The fabric of the engine
  nccl_facts:
    process: {container: dsv41, program: vllm}
    master: 10.100.16.1
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    nccl_facts:
      description: The observation; its identity and state hold the attributes of the kind.
      returned: success
      type: dict
      contains:
        status:
          description: C(ok), or in which way the look failed.
          returned: always
          type: str
          sample: ok
        identity:
          description: What must stay equal.
          returned: success
          type: dict
          sample:
            devices: {rocep1s0f1: {state: ACTIVE, link_layer: Ethernet, netdev: enp1s0f1np1}}
            nccl: {devices: ["rocep1s0f1:1"], socket_interfaces: [enp1s0f1np1]}
        state:
          description: What may move, such as the indexes of GIDs.
          returned: success
          type: dict
          sample: {gid_index: {rocep1s0f1: {"0000:0000:0000:0000:0000:ffff:0a64:1001 RoCE v2": 3}}}
        faults:
          description: By attribute path, the status and reason of what could not be read.
          returned: success
          type: dict
          sample: {nccl: {status: denied, why: "/proc/4242/environ: permission denied (EACCES)"}}
"""

import typing as t

from ..module_utils._fabric_looks import interfaces_of, tell_interface, tell_nccl, tell_port, tell_route
from ..module_utils._ip import Network
from ..module_utils._nccl_settings import settings_of
from ..module_utils._observation import Absent, Incomparable, LookError, NoTool, Observation
from ..module_utils._rdma import Gid, Port, ports
from ..module_utils._root import HostRoot


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at the fabric. Raises a LookError where there is nothing of it to look at."""
    process, master = request["params"].get("process"), request["params"].get("master")
    root.need_full_lane("/sys/class/infiniband")
    observation = Observation("loaded", "sysfs and /proc/net")
    observation.level("nccl", "process")
    observation.identity.update(devices={}, gids={}, netdevs={})
    observation.state["gid_index"] = {}
    found = _ports(root)
    addresses: list[Gid] = []
    if not isinstance(found, LookError):
        for port in found:
            addresses += tell_port(observation, root, port)
    elif process or master:
        for path in ("devices", "gids", "gid_index"):
            observation.fault(path, found)
    else:
        raise found
    if process:
        _nccl(observation, root, process, request["now"], found)
    network = _network(root, addresses)
    for name in interfaces_of(observation, root):
        tell_interface(observation, root, name, network)
    if master:
        tell_route(observation, master, network)
    return observation


def _ports(root: HostRoot) -> t.Union[list[Port], LookError]:
    try:
        return ports(root)
    except LookError as error:
        return error


def _nccl(
    observation: Observation,
    root: HostRoot,
    process: dict[str, t.Any],
    now: float,
    devices: t.Union[list[Port], LookError],
) -> None:
    """Fill NCCL's settings and selections."""
    try:
        merged = settings_of(root, process, now)
    except Absent as error:
        # That it does not run is no evidence about what it would be set to.
        observation.fault("nccl", Incomparable("no settings to merge: %s" % error.why))
        return
    except LookError as error:
        observation.fault("nccl", error)
        return
    tell_nccl(observation, root, merged, devices)


def _network(root: HostRoot, addresses: list[Gid]) -> t.Union[Network, LookError]:
    """Read addresses and routes; GIDs tell the interfaces of some. A failure is given, for each leaf that needs it."""
    known = {address.ipv4: address.netdev for address in addresses if address.ipv4 and address.netdev}
    try:
        return Network(root, known)
    except Absent as error:
        # No file is no evidence that there is no address.
        return NoTool(error.why)
    except LookError as error:
        return error
