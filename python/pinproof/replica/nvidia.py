"""GPUs of a machine: the driver's entries in /proc, and the recorded answers of nvidia-smi.

A recorded answer is a file named by the command's arguments; what asks builds
the same name (`recorded_name`), and a test holds the two together.
"""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass

from pinproof.replica.site import DRIVER, WORKER_GPUS, Rank
from pinproof.replica.tree import Tree

QUERY = "--query-gpu=index,uuid,pci.bus_id,name,persistence_mode,clocks.sm,temperature.gpu --format=csv"
PROCESSES = "--query-compute-apps=gpu_uuid,pid,process_name --format=csv"
TOPOLOGY = "topo -m"
LIST = "-L"

_QUERY_HEAD = "index, uuid, pci.bus_id, name, persistence_mode, clocks.current.sm [MHz], temperature.gpu"
_PROCESS_HEAD = "gpu_uuid, pid, process_name"
_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU. `bus` as /proc spells it (0000:41:00.0); clock in MHz, temperature in degrees Celsius."""

    uuid: str
    name: str
    bus: str
    bios: str
    bus_type: str
    persistence: str
    clock: int
    temperature: int


def gpus_of_rank(rank: Rank) -> tuple[Gpu, ...]:
    """Give a serving node's one GPU."""
    clock, temperature = ((2138, 61), (2132, 63))[rank.rank]
    return (
        Gpu(rank.gpu, "NVIDIA GB10", "000f:01:00.0", "9a.0b.21.00.11", "Integrated", "Enabled", clock, temperature),
    )


def gpus_of_worker() -> tuple[Gpu, ...]:
    """Give the worker host's pair."""
    buses = ("0000:41:00.0", "0000:61:00.0")
    return tuple(
        Gpu(uuid, "NVIDIA RTX A6000", bus, "94.02.5c.00.02", "PCIe", "Enabled", clock, temperature)
        for uuid, bus, clock, temperature in zip(WORKER_GPUS, buses, (1800, 1785), (54, 57), strict=True)
    )


def recorded_name(command: str) -> str:
    """Give the name of the file that holds the answer to these arguments."""
    return urllib.parse.quote(command, safe=" =,.-_:+@")


def answer_path(command: str, tool: str = "nvidia-smi") -> str:
    """Give the path of a recorded answer."""
    return f"/run/recorded-tools/{tool}/{recorded_name(command)}"


def write_driver(tree: Tree, gpus: tuple[Gpu, ...], architecture: str) -> None:
    """Write /proc/driver/nvidia."""
    tree.write(
        "/proc/driver/nvidia/version",
        f"NVRM version: NVIDIA UNIX Open Kernel Module for {architecture}  {DRIVER}  Release Build  "
        "(dvs-builder@U22-I3-AE18-23-3)  Tue Jun 23 05:11:26 UTC 2026\n"
        "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n",
        0o444,
    )
    for minor, gpu in enumerate(gpus):
        tree.write(f"/proc/driver/nvidia/gpus/{gpu.bus}/information", information(gpu, minor), 0o444)


def information(gpu: Gpu, minor: int) -> str:
    """Give a GPU's information file."""
    facts = {
        "Model": gpu.name,
        "IRQ": str(312 + minor),
        "GPU UUID": gpu.uuid,
        "Video BIOS": gpu.bios,
        "Bus Type": gpu.bus_type,
        "DMA Size": "47 bits",
        "DMA Mask": "0x7fffffffffff",
        "Bus Location": gpu.bus,
        "Device Minor": str(minor),
        "GPU Firmware": DRIVER,
        "GPU Excluded": "No",
    }
    return "".join(f"{name + ':':<16} {value}\n" for name, value in facts.items())


def smi_bus(bus: str) -> str:
    """Spell a PCI address as nvidia-smi does: eight digits of domain, upper case."""
    domain, _, rest = bus.partition(":")
    return f"{int(domain, 16):08X}:{rest.upper()}"


def query(gpus: tuple[Gpu, ...]) -> str:
    """Give the answer to the query for GPUs."""
    lines = [_QUERY_HEAD]
    for index, gpu in enumerate(gpus):
        lines.append(
            f"{index}, {gpu.uuid}, {smi_bus(gpu.bus)}, {gpu.name}, {gpu.persistence}, "
            f"{gpu.clock} MHz, {gpu.temperature}"
        )
    return "\n".join(lines) + "\n"


def processes(found: list[tuple[str, int, str]]) -> str:
    """Give the answer to the query for compute processes: (GPU, process id, program)."""
    return "\n".join([_PROCESS_HEAD, *(f"{uuid}, {pid}, {program}" for uuid, pid, program in found)]) + "\n"


def topology(gpus: tuple[Gpu, ...], nics: tuple[str, ...], link: str) -> str:
    """Give the matrix; `link` joins the GPUs with each other. The head is underlined, as it is in a pipe too."""
    names = [f"GPU{number}" for number in range(len(gpus))] + [f"NIC{number}" for number in range(len(nics))]
    head = "\t".join(["", *names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])
    rows = [f"\x1b[4m{head}\x1b[0m"]
    for own in names:
        cells = [" X " if own == other else _cell(own, other, link) for other in names]
        tail = ["0-19", "0", "", "N/A"] if own.startswith("GPU") else ["", "", "", ""]
        rows.append("\t".join([own, *cells, *tail]))
    text = "\n".join(rows) + "\n" + _LEGEND
    if nics:
        text += "\nNIC Legend:\n\n" + "".join(f"  NIC{number}: {name}\n" for number, name in enumerate(nics))
    return text


def _cell(own: str, other: str, link: str) -> str:
    if own.startswith("GPU") and other.startswith("GPU"):
        return link
    if own.startswith("NIC") and other.startswith("NIC") and int(own[3:]) // 2 == int(other[3:]) // 2:
        return "PIX"
    return "NODE"


def listing(gpus: tuple[Gpu, ...]) -> str:
    """Give the answer of `nvidia-smi -L`."""
    return "".join(f"GPU {index}: {gpu.name} (UUID: {gpu.uuid})\n" for index, gpu in enumerate(gpus))


def record(tree: Tree, gpus: tuple[Gpu, ...], nics: tuple[str, ...]) -> None:
    """Record every answer that no process is part of."""
    tree.write(answer_path(QUERY), query(gpus))
    tree.write(answer_path(TOPOLOGY), topology(gpus, nics, "NV4"))
    tree.write(answer_path(LIST), listing(gpus))


def record_processes(tree: Tree, found: list[tuple[str, int, str]]) -> None:
    """Record which processes compute on which GPU."""
    tree.write(answer_path(PROCESSES), processes(found))
