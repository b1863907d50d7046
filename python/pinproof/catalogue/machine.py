"""Kinds that look at the machine: GPUs, fabric, just-in-time caches, the host itself."""

from __future__ import annotations

from collections.abc import Mapping

from pinproof.catalogue.kind import Attribute, Kind, Parameter
from pinproof.catalogue.shared import CHANGED, INSIDE

_A = Attribute
_P = Parameter

KINDS: Mapping[str, Kind] = {
    "gpu": Kind(
        "gpu_facts",
        "GPUs: identity, links, clocks",
        "samples",
        {"samples": _P("int", "clock samples to take (default 3)")},
        {
            "uuids": _A("list[text]", "UUIDs, sorted"),
            "gpus[*].name": _A("text", "by UUID: product"),
            "gpus[*].bus": _A("text", "by UUID: PCI address, normalised"),
            "gpus[*].video_bios": _A("text", "by UUID: VBIOS version"),
            "driver": _A("text", "kernel driver version"),
            "links[*]": _A("text", "by UUID+UUID (sorted): connection in the topology matrix (NV4, PHB, ...)"),
            "persistence[*]": _A("text", "by UUID: persistence mode"),
            "persistence_modes": _A("list[text]", "the different persistence modes, sorted"),
            "clocks.sm_mhz": _A("int", "highest SM clock over the samples of all GPUs"),
            "clocks.samples[*][**]": _A("json", "by UUID: the samples in MHz", state=True),
            "processes[*]": _A("int", "by program file name: compute processes"),
            "temperature_c[*]": _A("int", "by UUID", state=True),
        },
    ),
    "fabric": Kind(
        "nccl_facts",
        "RDMA devices, their netdevs and addresses, and NCCL's merged settings",
        "process",
        {
            "process": _P("process", "the process whose NCCL settings count"),
            "master": _P("text", "address whose route is looked up"),
        },
        {
            "devices[*].state": _A("text", "port state: ACTIVE, DOWN, ..."),
            "devices[*].physical_state": _A("text", "LinkUp, Disabled, ..."),
            "devices[*].link_layer": _A("text", "Ethernet or InfiniBand"),
            "devices[*].rate": _A("text", "as the kernel prints it"),
            "devices[*].netdev": _A("text", "its network interface"),
            "devices[*].pci": _A("text", "its PCI function"),
            "gids[*][*]": _A("text", "by device, by `GID TYPE`: its netdev"),
            "gid_index[*][*]": _A("int", "by device, by `GID TYPE`: index", state=True),
            "netdevs[*].mtu": _A("int", "MTU"),
            "netdevs[*].speed_mbps": _A("int", "negotiated speed"),
            "netdevs[*].operational_state": _A("text", "up, down, ..."),
            "netdevs[*].addresses": _A("list[text]", "IPv4 addresses, sorted"),
            "netdevs[*].hardware_address": _A("text", "MAC address"),
            "route.interface": _A("text", "interface of the route to the master address"),
            "nccl.settings[*].value": _A("text", "by variable: the merged value"),
            "nccl.settings[*].origin": _A("text", "process, or the configuration file"),
            "nccl.devices": _A("list[text]", "device:port that NCCL_IB_HCA selects, sorted"),
            "nccl.socket_interfaces": _A("list[text]", "interfaces that NCCL_SOCKET_IFNAME selects, sorted"),
        },
    ),
    "jit": Kind(
        "jit_facts",
        "a just-in-time cache tree, by the rules of its kind",
        "cache",
        {
            "cache": _P("text", "triton, inductor, vllm, flashinfer, deepgemm, tilelang or cuda", required=True),
            "path": _P("path", "where the cache lies"),
            "variable": _P("text", "or: the variable of the process that says where"),
            "inside": INSIDE,
        },
        {
            "variable": _A("text", "value of the variable"),
            "path": _A("path", "the tree that was hashed"),
            "mount": _A("path", "the mount point the tree lies on, as the process sees it"),
            "digest": _A("sha256", "over the entries that are identity"),
            "count": _A("int", "entries that are identity"),
            "entries[*]": _A("text", "by relative path: sha256"),
            "volatile[*]": _A("int", "by reason: files left out", state=True),
            **CHANGED,
        },
    ),
    "host": Kind(
        "host_facts",
        "the machine: ids, kernel, driver, memory, temperatures, kernel log",
        "log_since",
        {"log_since": _P("process", "count kernel log lines since this process started (default: since boot)")},
        {
            "machine_id": _A("text", "machine id"),
            "boot_id": _A("text", "id of this boot", state=True),
            "host_key": _A("text", "fingerprint of the machine's SSH host key"),
            "hostname": _A("text", "kernel's host name"),
            "kernel": _A("text", "kernel release"),
            "architecture": _A("text", "machine architecture"),
            "driver": _A("text", "NVIDIA kernel module version"),
            "cma_total": _A("bytes", "CmaTotal"),
            "memory.total": _A("bytes", "MemTotal"),
            "memory.available": _A("bytes", "MemAvailable", state=True),
            "memory.free": _A("bytes", "MemFree", state=True),
            "temperature_c[*]": _A("int", "by thermal zone", state=True),
            "kernel_log.xid[*]": _A("text", "Xid and NVRM lines, by sequence number", state=True),
            "kernel_log.oom_kills[*]": _A("text", "out-of-memory kills, by sequence number", state=True),
        },
    ),
}
