"""Spoiling what the machine itself tells: GPUs, units, ids, memory, the kernel's log."""

from __future__ import annotations

import re
import time

from pinproof.replica import nvidia, site, systemd
from pinproof.replica.journal import Journal
from pinproof.replica.restart import boot_time
from pinproof.replica.spoilers import CannotSpoil, Spoil, Table
from pinproof.replica.tree import Tree

_QUERY = nvidia.answer_path(nvidia.QUERY)
_OTHER_GPU = "GPU-11c0ffee-5a1b-4c2d-9e3f-0a1b2c3d4e5f"


# -- GPUs ----------------------------------------------------------------------------
def _uuid(spoil: Spoil) -> str:
    """Put another card in the place of the first, wherever its UUID is told."""
    old = _first_row(spoil.journal)[1]
    gpus = "/proc/driver/nvidia/gpus"
    paths = [_QUERY, nvidia.answer_path(nvidia.LIST), nvidia.answer_path(nvidia.PROCESSES)]
    paths += [f"{gpus}/{bus}/information" for bus in spoil.journal.names(gpus)]
    for path in paths:
        text = spoil.journal.text(path)
        if old in text:
            spoil.journal.write(path, text.replace(old, _OTHER_GPU))
    return f"{_OTHER_GPU} in place of {old}"


def _first_row(journal: Journal) -> list[str]:
    return journal.text(_QUERY).splitlines()[1].split(", ")


def _cell(spoil: Spoil, column: int, value: str) -> None:
    row = _first_row(spoil.journal)
    old = ", ".join(row)
    row[column] = value
    spoil.journal.write(_QUERY, spoil.journal.text(_QUERY).replace(old, ", ".join(row), 1))


def _persistence(spoil: Spoil) -> str:
    _cell(spoil, 4, "Disabled")
    return "persistence mode is off"


def _clock(spoil: Spoil) -> str:
    _cell(spoil, 5, "2418 MHz")
    return "a GPU runs at 2418 MHz"


def _links(spoil: Spoil) -> str:
    path = nvidia.answer_path(nvidia.TOPOLOGY)
    matrix, legend, rest = spoil.journal.text(path).partition("\nLegend:")
    spoil.journal.write(path, matrix.replace("NV4", "PHB") + legend + rest)
    return "the pair is joined by the PCIe host bridge"


def _gpu_process(spoil: Spoil) -> str:
    """Start one more compute process: of the pinned program, or of another."""
    path = nvidia.answer_path(nvidia.PROCESSES)
    program = f"/opt/other/{spoil.key}"
    uuid = _first_row(spoil.journal)[1]
    spoil.journal.write(path, spoil.journal.text(path) + f"{uuid}, 4321, {program}\n")
    return f"{program} computes too"


# -- units -----------------------------------------------------------------------------
def _unit(spoil: Spoil) -> str:
    return str(spoil.probe.parameters["name"])


def _fragment_path(spoil: Spoil) -> str:
    return f"{systemd.UNITS}/{_unit(spoil)}"


def _fragment(spoil: Spoil) -> str:
    new = f"/usr/lib/systemd/system/{_unit(spoil)}"
    spoil.journal.rename(_fragment_path(spoil), new)
    return f"the unit file is {new}"


def _masked(spoil: Spoil) -> str:
    spoil.journal.rename(_fragment_path(spoil), f"/root/{_unit(spoil)}.kept")
    spoil.journal.link(_fragment_path(spoil), "/dev/null")
    return "the unit is masked"


def _dropin(spoil: Spoil) -> str:
    path = f"{_fragment_path(spoil)}.d/20-extra.conf"
    spoil.journal.write(path, "[Unit]\nDescription=One more\n")
    return f"one more drop-in {path}"


def _program(spoil: Spoil) -> str:
    spoil.journal.substitute(_fragment_path(spoil), r"(?<=^ExecStart=)\S+", "/usr/local/bin/other-program")
    return "ExecStart= names /usr/local/bin/other-program"


def _option(spoil: Spoil) -> str:
    name = spoil.key or spoil.segments[3]
    path = _fragment_path(spoil)
    if f"--{name}" not in spoil.journal.text(path):
        spoil.journal.substitute(path, r"(?<=^ExecStart=)(\S+)", rf"{_executed(spoil)} --{name}=other")
    else:
        spoil.journal.substitute(path, rf"(?<=--{re.escape(name)}[ =])[^\s\\]+", "other")
    return f"ExecStart= has another --{name}"


def _executed(spoil: Spoil) -> str:
    match = re.search(r"^ExecStart=(\S+)", spoil.journal.text(_fragment_path(spoil)), re.MULTILINE)
    if match is None:
        raise CannotSpoil(f"{_fragment_path(spoil)}: starts nothing")
    return match.group(1)


def _comment(spoil: Spoil) -> str:
    spoil.journal.append(_fragment_path(spoil), b"# a comment\n")
    return "the unit file has a comment more"


def _environment(spoil: Spoil) -> str:
    name = spoil.segments[2]
    folder = f"{_fragment_path(spoil)}.d"
    for path in [f"{folder}/{entry}" for entry in spoil.journal.names(folder)]:
        if f"{name}=" in spoil.journal.text(path):
            spoil.journal.substitute(path, rf"(?<={name}=)[^\"\s]*", f"{site.WORKER_GPUS[0]},{_OTHER_GPU}")
            return f"{path} gives the unit another {name}"
    raise CannotSpoil(f"no drop-in of {_unit(spoil)} sets {name}")


_PROPERTIES = {
    "load_state": ("LoadState", "bad-setting"),
    "active_state": ("ActiveState", "failed"),
    "sub_state": ("SubState", "failed"),
    "unit_file_state": ("UnitFileState", "disabled"),
    "needs_reload": ("NeedDaemonReload", "yes"),
    "restarts": ("NRestarts", "1"),
}


def _loaded(spoil: Spoil) -> str:
    name, value = _PROPERTIES[spoil.segments[1]]
    path = systemd.show_path(_unit(spoil))
    spoil.journal.substitute(path, rf"^{name}=.*$", f"{name}={value}")
    return f"systemctl tells {name}={value}"


def _loaded_environment(spoil: Spoil) -> str:
    name = spoil.segments[2]
    path = systemd.show_path(_unit(spoil))
    spoil.journal.substitute(path, rf"(?<={name}=)\S*", f"{site.WORKER_GPUS[0]},{_OTHER_GPU}")
    return f"systemd has loaded another {name}"


def _active(spoil: Spoil) -> str:
    """Give a listed unit another state, or list one more."""
    path = systemd.list_path(str(spoil.probe.parameters["pattern"]))
    text = spoil.journal.text(path)
    if spoil.key in text:
        spoil.journal.write(path, text.replace(" active running ", " active exited ", 1))
        return f"{spoil.key} is active and has exited"
    name = spoil.key if "." in spoil.key else f"dspark-{spoil.key}.service"
    spoil.journal.write(path, text + f"{name} loaded active running One more\n")
    return f"{name} is active too"


# -- the machine -------------------------------------------------------------------------
_IDS = {
    "machine_id": "/etc/machine-id",
    "boot_id": "/proc/sys/kernel/random/boot_id",
    "host_key": "/etc/ssh/ssh_host_ed25519_key.pub",
}


def _same_id(spoil: Spoil) -> str:
    """Let the machine be one that the manifest calls by another name."""
    path = _IDS[spoil.segments[0]]
    name = next(name for name in spoil.pin.on if name != spoil.host)
    other_tree = Tree(spoil.journal.tree.root.parent / name)
    spoil.journal.write(path, other_tree.real(path).read_bytes())
    return f"{path} is that of {name}"


def _memory(spoil: Spoil) -> str:
    spoil.journal.substitute("/proc/meminfo", r"^MemAvailable: .*$", "MemAvailable:    1048576 kB")
    return "1 GiB of memory is available"


def _kernel_log(spoil: Spoil, text: str) -> str:
    microseconds = int((time.time() - boot_time(spoil.journal)) * 1_000_000)
    spoil.journal.append("/dev/kmsg", f"3,9001,{microseconds},-;{text}\n".encode())
    return f"the kernel logged: {text}"


def _xid(spoil: Spoil) -> str:
    return _kernel_log(spoil, "NVRM: Xid (PCI:000f:01:00): 31, pid=4321, name=python3.12, MMU Fault")


def _out_of_memory(spoil: Spoil) -> str:
    return _kernel_log(spoil, "Out of memory: Killed process 4321 (python3.12) total-vm:90112000kB, anon-rss:512kB")


GPU: Table = {
    "uuids": _uuid,
    "persistence_modes": _persistence,
    "persistence/*": _persistence,
    "clocks/sm_mhz": _clock,
    "links": _links,
    "processes": _gpu_process,
}
UNIT: Table = {
    "file/fragment": _fragment,
    "file/masked": _masked,
    "file/dropins": _dropin,
    "file/exec/program": _program,
    "file/exec/argv": _option,
    "file/digests": _comment,
    "file/environment/*": _environment,
    "loaded/environment/*": _loaded_environment,
    "loaded": _loaded,
}
UNITS: Table = {"active": _active}
HOST: Table = {
    "machine_id": _same_id,
    "boot_id": _same_id,
    "host_key": _same_id,
    "memory/available": _memory,
    "kernel_log/xid": _xid,
    "kernel_log/oom_kills": _out_of_memory,
}
