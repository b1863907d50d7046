"""A process' entries in /proc, in the kernel's formats."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass, field

from pinproof.replica.site import CONTAINER_ROOT, MOUNTS
from pinproof.replica.tree import Tree

# Everything of stat(5) after the start time: sizes and addresses that nobody compares.
_STAT_TAIL = (
    "{vsize} {rss} 18446744073709551615 187650000000000 187650000004000 281474000000000 0 0 0 0 16781312 16386 "
    "0 0 0 17 3 0 0 0 0 0 187650000100000 187650000100800 187650200000000 281474000000100 281474000000200 "
    "281474000000200 281474000000400 0"
)

_STATUS = """\
Name:\t{comm}
Umask:\t0022
State:\tS (sleeping)
Tgid:\t{pid}
Ngid:\t0
Pid:\t{pid}
PPid:\t{parent}
TracerPid:\t0
Uid:\t{uid}\t{uid}\t{uid}\t{uid}
Gid:\t{uid}\t{uid}\t{uid}\t{uid}
FDSize:\t256
Groups:\t{uid}\x20
NStgid:\t{inner}
NSpid:\t{inner}
NSpgid:\t{inner}
NSsid:\t{inner}
Kthread:\t{kthread}
"""

_STATUS_TAIL = """\
Threads:\t{threads}
SigQ:\t0/96365
SigPnd:\t0000000000000000
ShdPnd:\t0000000000000000
SigBlk:\t0000000000000000
SigIgn:\t0000000001001000
SigCgt:\t0000000100004002
CapInh:\t0000000000000000
CapPrm:\t{capabilities}
CapEff:\t{capabilities}
CapBnd:\t{capabilities}
CapAmb:\t0000000000000000
NoNewPrivs:\t0
Seccomp:\t0
Seccomp_filters:\t0
Cpus_allowed:\tfffff
Cpus_allowed_list:\t0-19
Mems_allowed:\t00000001
Mems_allowed_list:\t0
voluntary_ctxt_switches:\t4118
nonvoluntary_ctxt_switches:\t63
"""


@dataclass(frozen=True, slots=True)
class Process:
    """A process as it was started. `inner` is its id in its own namespace, 0 where that is the host's.

    `exe`, `cwd` and `mapped` are paths as its own root shows them; `root` is that root on the host.
    """

    pid: int
    parent: int
    ticks: int
    argv: tuple[str, ...]
    environment: dict[str, str]
    exe: str
    cgroup: str
    mapped: tuple[str, ...] = ()
    mountinfo: str = ""
    root: str = "/"
    cwd: str = "/"
    uid: int = 0
    inner: int = 0
    threads: int = 1
    comm: str = ""
    mount_namespace: int = field(default=4026531841)

    @property
    def name(self) -> str:
        """What the kernel calls it: the program's file name, cut to 15 characters."""
        return (self.comm or self.exe.rpartition("/")[2])[:15]


def write_process(tree: Tree, process: Process) -> None:
    """Write /proc/PID."""
    folder = f"/proc/{process.pid}"
    tree.write(f"{folder}/cmdline", cmdline(process.argv), 0o444)
    tree.write(f"{folder}/environ", environ(process.environment), 0o400)
    tree.write(f"{folder}/comm", process.name + "\n")
    tree.write(f"{folder}/stat", stat(process), 0o444)
    tree.write(f"{folder}/status", status(process), 0o444)
    tree.write(f"{folder}/maps", maps(process), 0o444)
    tree.write(f"{folder}/cgroup", f"0::{process.cgroup}\n", 0o444)
    tree.write(f"{folder}/mountinfo", process.mountinfo, 0o444)
    if process.exe:
        tree.link(f"{folder}/exe", process.exe)
        tree.link(f"{folder}/cwd", process.cwd)
        tree.link(f"{folder}/root", process.root)
    tree.link(f"{folder}/ns/mnt", f"mnt:[{process.mount_namespace}]")


def remove_process(tree: Tree, pid: int) -> None:
    """Remove /proc/PID, as when the process ended."""
    shutil.rmtree(tree.real(f"/proc/{pid}"))


def cmdline(argv: tuple[str, ...]) -> bytes:
    """Give /proc/PID/cmdline: every argument ended by a NUL."""
    return b"".join(word.encode() + b"\0" for word in argv)


def environ(environment: dict[str, str]) -> bytes:
    """Give /proc/PID/environ: every assignment ended by a NUL."""
    return b"".join(f"{name}={value}".encode() + b"\0" for name, value in environment.items())


def stat(process: Process) -> str:
    """Give /proc/PID/stat; its 22nd field is the start in hundredths of a second since boot."""
    tail = _STAT_TAIL.format(vsize=90_112_000_000 if process.mapped else 21_000_000, rss=420_000)
    return (
        f"{process.pid} ({process.name}) S {process.parent} {process.pid} {process.pid} 0 -1 4194560 "
        f"939 0 12 0 4411 802 0 0 20 0 {process.threads} 0 {process.ticks} {tail}\n"
    )


def status(process: Process) -> str:
    """Give /proc/PID/status. A kernel thread (no executable) has no memory lines."""
    inner = f"{process.pid}\t{process.inner}" if process.inner else str(process.pid)
    kthread = int(not process.exe)
    head = _STATUS.format(
        comm=process.name, pid=process.pid, parent=process.parent, uid=process.uid, inner=inner, kthread=kthread
    )
    memory = (
        "" if kthread else "VmPeak:\t 2411520 kB\nVmSize:\t 2411520 kB\nVmRSS:\t 1680000 kB\nVmSwap:\t       0 kB\n"
    )
    capabilities = "00000000a80465fb" if process.inner else "000001ffffffffff"
    return head + memory + _STATUS_TAIL.format(threads=process.threads, capabilities=capabilities)


def maps(process: Process) -> str:
    """Give /proc/PID/maps: the executable, the libraries, and the kernel's own areas."""
    if not process.exe:
        return ""
    lines = [*_mapping(0xAAAAC1200000, process.exe, 1_200_000)]
    lines.append("aaaadc000000-aaaadc400000 rw-p 00000000 00:00 0                          [heap]")
    base = 0xFFFF60000000
    for path in process.mapped:
        lines += _mapping(base, path, 1_200_000 + int(path.encode().hex(), 16) % 90_000)
        base += 0x1000000
    lines += [
        "ffffff7fd000-ffffff7ff000 r--p 00000000 00:00 0                          [vvar]",
        "ffffff7ff000-ffffff800000 r-xp 00000000 00:00 0                          [vdso]",
        "fffffff00000-fffffff21000 rw-p 00000000 00:00 0                          [stack]",
    ]
    return "\n".join(lines) + "\n"


def _mapping(base: int, path: str, inode: int) -> list[str]:
    areas = (("r-xp", 0, 0x400000), ("r--p", 0x400000, 0x10000), ("rw-p", 0x410000, 0x4000))
    return [
        f"{base + offset:012x}-{base + offset + size:012x} {mode} {offset:08x} 103:02 {inode}".ljust(73) + path
        for mode, offset, size in areas
    ]


def host_mountinfo() -> str:
    """Give the mounts of a process of the host itself."""
    return (
        "26 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
        "22 26 0:21 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
        "23 26 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw\n"
        "24 26 0:5 / /dev rw,nosuid,relatime shared:2 - devtmpfs udev rw,size=131920604k,mode=755\n"
        "27 26 0:24 / /run rw,nosuid,nodev,noexec,relatime shared:5 - tmpfs tmpfs rw,mode=755\n"
        "31 22 0:27 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 cgroup2 rw\n"
    )


def container_mountinfo(container_id: str) -> str:
    """Give the mounts of a process in the container: its root, the kernel's, the engine's, the binds."""
    folder = f"/var/lib/docker/containers/{container_id}"
    ids = itertools.count(1701)
    lines = [
        "1700 1466 0:61 / / rw,relatime master:412 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A:"
        "/var/lib/docker/overlay2/l/B,upperdir=/var/lib/docker/overlay2/c/diff,workdir=/var/lib/docker/overlay2/c/work",
    ]
    fixed = (
        ("0:64 / /proc rw,nosuid,nodev,noexec,relatime", "proc proc rw"),
        ("0:65 / /dev rw,nosuid", "tmpfs tmpfs rw,size=65536k,mode=755"),
        ("0:66 / /dev/pts rw,nosuid,noexec,relatime", "devpts devpts rw,gid=5,mode=620,ptmxmode=666"),
        ("0:67 / /sys ro,nosuid,nodev,noexec,relatime", "sysfs sysfs ro"),
        ("0:27 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime", "cgroup2 cgroup rw"),
        ("0:20 / /dev/mqueue rw,nosuid,nodev,noexec,relatime", "mqueue mqueue rw"),
        ("0:26 / /dev/shm rw,nosuid,nodev", "tmpfs tmpfs rw"),
        (f"259:2 {folder}/resolv.conf /etc/resolv.conf rw,relatime", "ext4 /dev/nvme0n1p2 rw"),
        (f"259:2 {folder}/hostname /etc/hostname rw,relatime", "ext4 /dev/nvme0n1p2 rw"),
        (f"259:2 {folder}/hosts /etc/hosts rw,relatime", "ext4 /dev/nvme0n1p2 rw"),
    )
    lines += [f"{next(ids)} 1700 {head} - {tail}" for head, tail in fixed]
    body = "\n".join(lines) + "\n"
    return body + "".join(
        mount_line(next(ids), source, destination, writable=writable) for source, destination, writable in MOUNTS
    )


def mount_line(number: int, source: str, destination: str, *, writable: bool) -> str:
    """Give the line of a bind mount in the container."""
    mode = "rw" if writable else "ro"
    return f"{number} 1700 259:2 {source} {destination} {mode},relatime - ext4 /dev/nvme0n1p2 rw\n"


def host_processes(ticks: int, driver: bool) -> list[Process]:
    """Give the few processes of the host itself that a look comes across; `ticks` bounds their start."""
    path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"}
    mounts = host_mountinfo()
    found = [
        Process(
            1,
            0,
            38,
            ("/sbin/init",),
            {"HOME": "/", "TERM": "linux"},
            "/usr/lib/systemd/systemd",
            "/init.scope",
            mountinfo=mounts,
        ),
        Process(2, 0, 38, (), {}, "", "/", comm="kthreadd"),
        Process(
            612,
            1,
            902,
            ("sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups",),
            path,
            "/usr/sbin/sshd",
            "/system.slice/ssh.service",
            mountinfo=mounts,
        ),
    ]
    if driver:
        argv = ("/usr/bin/nvidia-persistenced", "--user", "nvpd")
        cgroup = "/system.slice/nvidia-persistenced.service"
        found.append(Process(688, 1, 940, argv, path, argv[0], cgroup, mountinfo=mounts))
    return [process for process in found if process.ticks <= ticks]


__all__ = [
    "CONTAINER_ROOT",
    "Process",
    "container_mountinfo",
    "host_mountinfo",
    "host_processes",
    "remove_process",
    "write_process",
]
