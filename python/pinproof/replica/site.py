"""The replica's site: every value that its hosts show, in one place.

These values are written down here for the replica alone. The manifest states
them again for itself, and both are checked against a third, hand-kept table of
the reference, so that no two of them can be wrong together by copying.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

OPERATOR = "operator"
HOME = "/home/operator"

CONTAINER = "dsv41"
IMAGE = "dsv41-vllm:v5"
CONTAINER_ROOT = "/containers/dsv41"
CHECKPOINT = "/srv/dsv41/legal-v2a"
PYTHON = "/opt/dsv41/venv/bin/python3.12"
SITE_PACKAGES = "/opt/dsv41/venv/lib/python3.12/site-packages"
PROXY = "/opt/dsv41/bin/dsv41-proxy"
MASTER = "10.100.16.1"
DRIVER = "580.142"

# What of the host is seen in the container, and where: (source, destination, writable).
MOUNTS = (
    ("/srv/dsv41", "/srv/dsv41", False),
    ("/srv/dsv41-k1", "/opt/dsv41/k1", False),
    ("/var/cache/dsv41", "/var/cache/dsv41", True),
    ("/var/log/dsv41", "/var/log/dsv41", True),
)

WORKER_HOME = f"{HOME}/dsv41-offload/prod/dspark-worker"
WORKER_COMMIT = "fb68c5291792ab90c0f468bd94010917967799f3"
WORKER_TREE = f"{WORKER_HOME}/{WORKER_COMMIT[:7]}"
WORKER_PROGRAM = f"{WORKER_HOME}/current/bin/dspark-worker"
WORKER_UNIT = "dspark-worker-tp2.service"
WORKER_GPUS = ("GPU-c4e7a371-d8a8-ebf0-918c-da3e38c87a93", "GPU-7744b44b-8a13-b06d-a67e-f958fd74b8fc")
WORKER_STATUS = "/var/lib/dspark-worker/status.json"
EMISSION = "/var/log/dsv41/verify_runtime.json"
ENDPOINT = "o1rdma://10.202.28.1:18620"
HELLO_CHECKPOINT = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"
HELLO_MARKOV = "0b6e71e638abd5abce2db433965bb5ff523cbbe92ed7ae54324a50ccaeffa19a"
BASE_REVISION = "1bae0e1088993b9b82de08f59de5be5a34e42170"
QUANT_REVISION = "86f852533ec94d1a537fea41fd9c01d6b0f6eb50"


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: its ids, kernel and memory (kB). `driver` is "" where there is no GPU."""

    name: str
    machine_id: str
    boot_id: str
    kernel: str
    architecture: str
    management: str
    memory_total: int
    memory_available: int
    driver: str = ""

    @property
    def host_key(self) -> str:
        """The public SSH host key, as its file holds it."""
        kind = b"ssh-ed25519"
        point = hashlib.sha256(f"host key of {self.name}".encode()).digest()
        blob = len(kind).to_bytes(4, "big") + kind + len(point).to_bytes(4, "big") + point
        return f"ssh-ed25519 {base64.b64encode(blob).decode()} root@{self.name}"


@dataclass(frozen=True, slots=True)
class Rank:
    """A serving node. `gid_hole` is the number of GID slots that interface events left empty before its IPv4 ones."""

    machine: Machine
    rank: int
    fabric: str
    twin: str
    worker_bind: str
    gpu: str
    hardware: str
    gid_hole: int

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.machine.name


@dataclass(frozen=True, slots=True)
class Arm:
    """What differs between starts of the engine: production, or a leg and start of the experiment."""

    state: str = "production"
    leg: str = ""
    start: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the engine that tell the arm."""
        experiment = self.state == "experiment"
        name = f"up2-low-{self.leg}-{self.start}" if experiment else "production"
        return {
            "DSV41_ENGRAM_REQUIRED": "1" if experiment else "0",
            "DSV41_REPLAY": "1" if self.leg == "on" else "0",
            "DSV41_AUDIT": "1" if self.start == "diagnostic" else "0",
            "DSV41_RUN_LABEL": name,
            "DSV41_RUN_ID": hashlib.sha256(name.encode()).hexdigest()[:12],
            "DSV41_CACHE_RESET": "1" if experiment else "0",
        }


PRODUCTION = Arm()
LEGS = ("off-1", "on", "off-2")
STARTS = ("diagnostic", "measured")

SPARKHEAD = Rank(
    Machine(
        name="sparkhead",
        machine_id="6f0c9d5b7a1e4c32b8d4e09a51f7c263",
        boot_id="3b8e2f61-94c7-4d0a-a5f3-7c1e90b264d8",
        kernel="6.14.0-1013-nvidia",
        architecture="aarch64",
        management="10.20.30.11",
        memory_total=125430452,
        memory_available=4446188,
        driver=DRIVER,
    ),
    rank=0,
    fabric="10.100.16.1",
    twin="10.100.17.1",
    worker_bind="10.202.28.2",
    gpu="GPU-5d1f0c7e-83ab-4e96-b2c0-19f47d6a30e5",
    hardware="4c:bb:47:2a:91",
    gid_hole=0,
)
SPARKPEER = Rank(
    Machine(
        name="sparkpeer",
        machine_id="c27b41e8f5904d6d9a03be7715d8f49e",
        boot_id="e19d7a40-5b2c-4f86-8e67-02da4c9b3f15",
        kernel="6.14.0-1013-nvidia",
        architecture="aarch64",
        management="10.20.30.12",
        memory_total=125430452,
        memory_available=4513764,
        driver=DRIVER,
    ),
    rank=1,
    fabric="10.100.16.2",
    twin="10.100.17.2",
    worker_bind="10.202.28.3",
    gpu="GPU-a83e6b92-0f4d-47c1-9d58-e62b7c15f094",
    hardware="4c:bb:47:2a:b3",
    gid_hole=2,
)
RANKS = (SPARKHEAD, SPARKPEER)
X86HOST = Machine(
    name="x86host",
    machine_id="98a3d6e14bf7420c8c5ef2d07b6931aa",
    boot_id="70c4f9b8-1e35-4a2d-b9d1-5f8a63e7c042",
    kernel="6.8.0-87-generic",
    architecture="x86_64",
    management="10.20.30.21",
    memory_total=263841208,
    memory_available=201377932,
    driver=DRIVER,
)
COORDINATOR = Machine(
    name="coordinator",
    machine_id="1d5ea7c0932b4f8fa64b8e13d9c07f52",
    boot_id="a6f2c813-d04e-4b79-9c2a-e85b17d3609f",
    kernel="6.1.0-41-amd64",
    architecture="x86_64",
    management="10.20.30.2",
    memory_total=32783116,
    memory_available=27450980,
)
MACHINES: Mapping[str, Machine] = {
    machine.name: machine for machine in (SPARKHEAD.machine, SPARKPEER.machine, X86HOST, COORDINATOR)
}
HOSTS = tuple(MACHINES)

# -- the engine's start ----------------------------------------------------
IMAGE_ENVIRONMENT = {
    "PATH": "/opt/dsv41/venv/bin:/usr/local/nvidia/bin:/usr/local/cuda/bin"
    ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LD_LIBRARY_PATH": "/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
    "CUDA_VERSION": "13.0.1",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    "VLLM_PLUGINS": "exl3",
    "TRITON_CACHE_DIR": "/var/cache/dsv41/triton",
    "FLASHINFER_WORKSPACE_BASE": "/var/cache/dsv41/flashinfer",
    "VLLM_CACHE_ROOT": "/var/cache/dsv41/vllm",
    "PYTHONDONTWRITEBYTECODE": "1",
}

_SETTINGS = {
    "CUDA_MODULE_LOADING": "LAZY",
    "NCCL_SOCKET_IFNAME": "enp1s0f1np1",
    "NCCL_IB_HCA": "rocep1s0f1,roceP2p1s0f1",
    "NCCL_DEBUG": "INFO",
    "EXL3_RING_DEVICE": "rocep1s0f1",
    "DSV41_FABRIC_INTERFACE": "enp1s0f1np1",
    "DSV41_FABRIC_DEVICE": "rocep1s0f1",
    "K1_PAIR": "3",
    "K1_DROP_MTP": "1",
    "K1_TRANSIENT": "1",
    "K1_ALIAS": "1",
    "K1_INDEXER_FACTOR": "4",
    "MAX_BATCH": "4096",
    "DSV41_THROTTLE_MIN": "5",
    "DSV41_THROTTLE_EVERY": "24",
    "DSV41_SPEC_SCHEDULE": "1-2:5,3-4:4",
    "DSV41_ADAPTIVE_MARGIN": "1",
    "DSV41_ADAPTIVE_MIN": "2",
    "DSV41_ADAPTIVE_HI": "1.6",
    "DSV41_ADAPTIVE_MAXREQ": "4",
    "DSV41_WORKER_HELLO_CHECKPOINT": HELLO_CHECKPOINT,
    "DSV41_WORKER_HELLO_MARKOV": HELLO_MARKOV,
    "DSV41_WORKER_ENDPOINT": ENDPOINT,
    "DSV41_WORKER_TIMEOUT_MS": "50",
    "DSV41_WORKER_ROUND_MS": "28.79,31.86,34.44,37.76,41.56,43.68",
    "DSV41_WORKER_DRAFT_MS": "4.4",
    "DSV41_ENGRAM_LINKS": "rocep1s0f1,roceP2p1s0f1",
    "DSV41_ENGRAM_TIMEOUT_MS": "100",
    "DSV41_ENGRAM_RETRY_MS": "5000",
    "DSV41_ENGRAM_LOG_S": "60",
    "DSV41_SPLIT": "0",
    "DSV41_VOR": "0",
    "DSV41_DUAL_RING": "0",
    "DSV41_CPU_PIN": "0",
    # Not pinned, and none of anyone's business: it must not leave the host as it is.
    "HF_TOKEN": "hf_the-replica-has-no-token",
}


def container_environment(rank: Rank, arm: Arm) -> dict[str, str]:
    """Give the environment that the container was started with."""
    own = {"VLLM_HOST_IP": rank.fabric, "DSV41_WORKER_BIND": rank.worker_bind}
    return {**IMAGE_ENVIRONMENT, **own, **_SETTINGS, **arm.environment}


def engine_arguments(rank: Rank) -> list[str]:
    """Give the engine's arguments, after the program."""
    options = {
        "tensor-parallel-size": "2",
        "nnodes": "2",
        "node-rank": str(rank.rank),
        "master-addr": MASTER,
        "max-model-len": "327680",
        "kv-cache-memory-bytes": "6442450944",
        "max-num-seqs": "4",
        "long-prefill-token-threshold": "1024",
        "scheduling-policy": "priority",
        "speculative-config": '{"method":"dspark","num_speculative_tokens":5}',
    }
    return ["serve", CHECKPOINT, *(word for name, value in options.items() for word in (f"--{name}", value))]


PROXY_ARGUMENTS = (
    ("mode", "capacity"),
    ("async", "1"),
    ("async-by", "process"),
    ("spin-us", "50"),
    ("nap-us", "20"),
    ("backoff-ms", "5000"),
    ("respawns", "3"),
    ("respawn-reset-s", "3600"),
)

WORKER_ARGUMENTS = (
    ("tensor-parallel-size", "2"),
    ("max-model-len", "1048576"),
    ("checkpoint", "/srv/dspark/original"),
    ("adapters", "/srv/dspark/adapters"),
    ("listen", ENDPOINT),
)


def words(arguments: tuple[tuple[str, str], ...]) -> list[str]:
    """Spell options as arguments."""
    return [word for name, value in arguments for word in (f"--{name}", value)]
