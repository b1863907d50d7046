"""The remote drafter's host: the worker's release, checkpoint, adapters, unit, process and status file."""

from __future__ import annotations

import json

from pinproof.replica import nvidia, site, systemd
from pinproof.replica.checkpoint import safetensors
from pinproof.replica.clock import Start
from pinproof.replica.content import program, sha256, shared_object
from pinproof.replica.proc import Process, host_mountinfo, write_process
from pinproof.replica.tree import Tree

_X86 = 62
_README = "# dspark-worker\n\nRemote drafter over O1 RDMA. One release a folder; `current` leads to the one in use.\n"
_LIBRARIES = (
    f"{site.WORKER_TREE}/lib/libdspark.so",
    f"{site.WORKER_TREE}/lib/libo1rdma.so",
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
)


def write_release(tree: Tree) -> None:
    """Write the release in use, an older one, and the link between them."""
    for commit, label in ((site.WORKER_COMMIT, "current"), (sha256("older release")[:40], "older")):
        folder = f"{site.WORKER_HOME}/{commit[:7]}"
        tree.write(f"{folder}/bin/dspark-worker", program(f"dspark-worker {label}", _X86, 32768), 0o755)
        tree.write(f"{folder}/SOURCE_COMMIT", commit + "\n")
        tree.write(f"{folder}/README.md", _README)
        tree.write(f"{folder}/lib/libdspark.so", shared_object(f"libdspark {label}", 16384))
        tree.write(f"{folder}/lib/libo1rdma.so", shared_object(f"libo1rdma {label}", 8192))
        tree.write(f"{folder}/share/protocol.json", json.dumps({"protocol": 4, "hello": ["checkpoint", "markov"]}))
    tree.link(f"{site.WORKER_HOME}/current", site.WORKER_COMMIT[:7])


def write_models(tree: Tree) -> None:
    """Write the original checkpoint's metadata and the adapters."""
    config = {"architectures": ["DeepseekV41ForCausalLM"], "n_mtp_layers": 1, "max_position_embeddings": 1048576}
    tree.write("/srv/dspark/original/config.json", json.dumps(config, indent=2) + "\n")
    weights = {"mtp.0.weight": "model-00001-of-00048.safetensors"}
    index = {"metadata": {"total_size": 510313353565}, "weight_map": weights}
    tree.write("/srv/dspark/original/model.safetensors.index.json", json.dumps(index, indent=2) + "\n")
    for name in ("confidence-head", "markov-head"):
        tree.write(f"/srv/dspark/adapters/{name}/adapter_config.json", json.dumps({"rank": 256, "target": name}) + "\n")
        tree.write(f"/srv/dspark/adapters/{name}/adapter.safetensors", safetensors(f"model-{name}"))


def write_files(tree: Tree) -> None:
    """Write everything of the worker that no start changes."""
    write_release(tree)
    write_models(tree)
    systemd.write_worker_unit(tree)
    tree.folder("/var/lib/dspark-worker")
    for path in _LIBRARIES:
        if not tree.real(path).exists():
            tree.write(path, shared_object(path))


def process(start: Start) -> Process:
    """Give the worker's process of this start."""
    return Process(
        pid=_pid(start),
        parent=1,
        ticks=start.ticks,
        argv=(site.WORKER_PROGRAM, *site.words(site.WORKER_ARGUMENTS)),
        environment={
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
            "USER": site.OPERATOR,
            "HOME": site.HOME,
            "INVOCATION_ID": _invocation(start),
            "CUDA_MODULE_LOADING": "LAZY",
            "DSPARK_LOG": "info",
            "CUDA_VISIBLE_DEVICES": ",".join(site.WORKER_GPUS),
        },
        exe=f"{site.WORKER_TREE}/bin/dspark-worker",
        cgroup=f"/system.slice/{site.WORKER_UNIT}",
        mapped=_LIBRARIES,
        mountinfo=host_mountinfo(),
        cwd="/var/lib/dspark-worker",
        uid=1000,
        threads=41,
    )


def _invocation(start: Start) -> str:
    return sha256(f"{site.WORKER_UNIT} {start.hundredths}")[:32]


def _pid(start: Start) -> int:
    return 3000 + int(_invocation(start)[:8], 16) % 20000


def write_start(tree: Tree, start: Start) -> None:
    """Write what a start of the worker brings: its process, and what systemctl and the driver tell of it."""
    found = process(start)
    write_process(tree, found)
    systemd.record_worker(tree, found.pid, _invocation(start), systemd.spelled_time(start))
    nvidia.record_processes(tree, [(uuid, found.pid, found.exe) for uuid in site.WORKER_GPUS])


def status() -> str:
    """Give the status that the running worker writes."""
    value = {
        "protocol": 4,
        "source_commit": site.WORKER_COMMIT,
        "tensor_parallel": 2,
        "max_model_len": 1048576,
        "listening": site.ENDPOINT,
        "peers": ["10.202.28.2", "10.202.28.3"],
        "communication_errors": 0,
        "hello": {"checkpoint": site.HELLO_CHECKPOINT, "markov": site.HELLO_MARKOV},
    }
    return json.dumps(value, indent=2) + "\n"


def write_status(tree: Tree) -> None:
    """Write the status file; it must come after the start."""
    tree.write(site.WORKER_STATUS, status())
