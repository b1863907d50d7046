"""A machine of the replica: its ids, users, kernel log, and the system-wide entries of /proc."""

from __future__ import annotations

from pinproof.replica.clock import Start
from pinproof.replica.site import HOME, OPERATOR, Machine
from pinproof.replica.tree import Tree

_PASSWD = f"""\
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
sshd:x:104:65534::/run/sshd:/usr/sbin/nologin
{OPERATOR}:x:1000:1000:Spark Operator:{HOME}:/bin/bash
"""

_MEMINFO = """\
MemTotal:       {total:8d} kB
MemFree:        {free:8d} kB
MemAvailable:   {available:8d} kB
Buffers:          211844 kB
Cached:         {cached:8d} kB
SwapCached:            0 kB
Active:           418212 kB
Inactive:        2284900 kB
Unevictable:       40184 kB
Mlocked:           27676 kB
SwapTotal:             0 kB
SwapFree:              0 kB
Dirty:               388 kB
Writeback:             0 kB
AnonPages:        982040 kB
Mapped:           331188 kB
Shmem:             19284 kB
Slab:             604488 kB
KernelStack:       14728 kB
PageTables:        20276 kB
CommitLimit:    {limit:8d} kB
Committed_AS:    5451744 kB
VmallocTotal:   135288315904 kB
VmallocUsed:      164532 kB
VmallocChunk:          0 kB
Percpu:            22688 kB
CmaTotal:       {cma:8d} kB
CmaFree:        {cma_free:8d} kB
HugePages_Total:       0
HugePages_Free:        0
Hugepagesize:       2048 kB
"""

# (priority, microseconds since boot, text, dictionary lines)
_KERNEL_LOG = (
    (5, 0, "Linux version {kernel} (buildd@bos03-arm64-021) (gcc 13.3.0, GNU ld 2.42) #13-Ubuntu SMP", ()),
    (6, 0, "Command line: BOOT_IMAGE=/boot/vmlinuz-{kernel} root=/dev/nvme0n1p2 ro quiet", ()),
    (6, 1042, "Memory: {available}K/{total}K available", ()),
    (6, 812344, "SCSI subsystem initialized", ("SUBSYSTEM=scsi",)),
    (6, 2190417, "nvme nvme0: 20/0/0 default/read/poll queues", ("SUBSYSTEM=nvme", "DEVICE=c240:0")),
    (5, 3318005, "EXT4-fs (nvme0n1p2): mounted filesystem r/w with ordered data mode. Quota mode: none.", ()),
    (30, 4120889, "systemd[1]: Hostname set to <{name}>.", ()),
)
_DRIVER_LOG = (
    (4, 5641220, "nvidia: loading out-of-tree module taints kernel.", ()),
    (6, 5702114, "nvidia-nvlink: Nvlink Core is being initialized, major device number 508", ()),
    (
        5,
        5768830,
        "NVRM: loading NVIDIA UNIX Open Kernel Module for {architecture}  {driver}  Release Build  (dvs-builder@U22)",
        (),
    ),
)
_FABRIC_LOG = (
    (
        6,
        6840011,
        "mlx5_core 0000:01:00.1: Port module event: module 1, Cable plugged",
        ("SUBSYSTEM=pci", "DEVICE=+pci:0000:01:00.1"),
    ),
    (6, 7120563, "mlx5_core 0000:01:00.1 enp1s0f1np1: Link up", ("SUBSYSTEM=pci", "DEVICE=+pci:0000:01:00.1")),
)


def write_files(tree: Tree, machine: Machine, *, fabric: bool) -> None:
    """Write what lies in files, and what the kernel tells that no start changes."""
    tree.write("/etc/passwd", _PASSWD)
    tree.write("/etc/hostname", machine.name + "\n")
    tree.write("/etc/machine-id", machine.machine_id + "\n", 0o444)
    tree.write("/etc/ssh/ssh_host_ed25519_key.pub", machine.host_key + "\n")
    tree.folder(HOME, 0o750)
    tree.folder("/root", 0o700)
    tree.folder("/tmp", 0o1777)
    tree.write("/dev/kmsg", kernel_log(machine, fabric=fabric))
    _write_kernel(tree, machine)
    tree.write("/proc/meminfo", meminfo(machine))


def _write_kernel(tree: Tree, machine: Machine) -> None:
    kernel = "/proc/sys/kernel"
    tree.write(f"{kernel}/random/boot_id", machine.boot_id + "\n", 0o444)
    tree.write(f"{kernel}/hostname", machine.name + "\n")
    tree.write(f"{kernel}/osrelease", machine.kernel + "\n", 0o444)
    tree.write(f"{kernel}/ostype", "Linux\n", 0o444)
    tree.write(f"{kernel}/arch", machine.architecture + "\n", 0o444)
    tree.write(f"{kernel}/pid_max", "4194304\n")
    tree.write("/proc/version", f"Linux version {machine.kernel} (buildd@builder) (gcc 13.3.0) #13 SMP\n", 0o444)


def meminfo(machine: Machine) -> str:
    """Give /proc/meminfo; all numbers in kB."""
    free = machine.memory_available - 2_204_112
    return _MEMINFO.format(
        total=machine.memory_total,
        free=free,
        available=machine.memory_available,
        cached=machine.memory_available - free + 318_440,
        limit=machine.memory_total // 2,
        cma=131072 if machine.driver else 0,
        cma_free=88204 if machine.driver else 0,
    )


def kernel_log(machine: Machine, *, fabric: bool) -> str:
    """Give the records of /dev/kmsg since boot: nothing but the usual."""
    entries = [*_KERNEL_LOG, *(_DRIVER_LOG if machine.driver else ()), *(_FABRIC_LOG if fabric else ())]
    records = []
    for number, (priority, microseconds, text, details) in enumerate(entries, 211):
        filled = text.format(
            kernel=machine.kernel,
            name=machine.name,
            available=machine.memory_available,
            total=machine.memory_total,
            architecture=machine.architecture,
            driver=machine.driver,
        )
        records.append(f"{priority},{number},{microseconds},-;{filled}\n")
        records += [f" {detail}\n" for detail in details]
    return "".join(records)


def write_clock(tree: Tree, start: Start) -> None:
    """Write /proc/stat and /proc/uptime, which hold the boot's time."""
    ticks = start.ticks
    up = f"{ticks // 100}.{ticks % 100:02d}"
    tree.write(
        "/proc/stat",
        f"cpu  {ticks * 2} 114 {ticks // 9} {ticks * 17} 2298 0 1032 428 0 0\n"
        f"cpu0 {ticks // 10} 6 {ticks // 180} {ticks} 126 0 51 21 0 0\n"
        f"intr {ticks * 7} 0 0 0 12 0 0 1 0 0\nctxt {ticks * 41}\nbtime {start.boot}\n"
        f"processes {20000 + ticks // 700}\nprocs_running 3\nprocs_blocked 0\n"
        f"softirq {ticks * 3} 0 {ticks} 3 {ticks // 4} 0 0 3 {ticks // 5} 0 0\n",
        0o444,
    )
    tree.write("/proc/uptime", f"{up} {up}\n", 0o444)
