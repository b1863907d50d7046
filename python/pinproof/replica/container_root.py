"""What the serving container sees: the image's files, the engine's code, and the mounts."""

from __future__ import annotations

import json

from pinproof.replica import site
from pinproof.replica.clock import Start, iso
from pinproof.replica.content import module, program, sha256, shared_object
from pinproof.replica.site import CONTAINER_ROOT, EMISSION, SITE_PACKAGES, Rank
from pinproof.replica.tree import Tree

ENGINE = "/opt/dsv41/engine"
ENGRAM = "/opt/dsv41/engram"
BASE_PYTHON = "/usr/bin/python3.12"

# The composed parts by package: forty-two files in all, with the two libraries.
_COMPOSED = {
    "attention": ("__init__", "alias_map", "k1_indexer", "k1_pair", "k1_transient", "mla_sparse"),
    "batching": ("__init__", "admission", "scheduler_priority", "throttle"),
    "engram": ("__init__", "links", "remote_table", "watchdog"),
    "exl3": ("__init__", "mcg", "ring", "trellis"),
    "kv": ("__init__", "pages", "pool"),
    "remote": ("__init__", "endpoint", "hello", "o1rdma", "proxy_ring", "round_cost"),
    "replay": ("__init__", "audit", "player", "recorder"),
    "runtime": ("__init__", "levers", "log", "verify_runtime"),
    "speculation": ("__init__", "adaptive", "dspark_client", "markov", "schedule"),
}
_COMPOSED_LIBRARIES = ("libdsv41_ops.so", "libo1ring.so")

LIBNCCL = f"{SITE_PACKAGES}/nvidia/nccl/lib/libnccl.so.2"
LIBEXL3 = f"{SITE_PACKAGES}/exl3/libexl3.so"
_SYSTEM_LIBRARIES = (
    "/usr/lib/aarch64-linux-gnu/libc.so.6",
    "/usr/lib/aarch64-linux-gnu/libm.so.6",
    "/usr/lib/aarch64-linux-gnu/libibverbs.so.1.14.50.0",
    "/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1",
)
_ENGINE_LIBRARIES = (
    f"{SITE_PACKAGES}/torch/lib/libtorch.so",
    f"{SITE_PACKAGES}/torch/lib/libtorch_cuda.so",
    LIBNCCL,
    LIBEXL3,
    f"{ENGINE}/native/libdsv41_ops.so",
    f"{ENGINE}/native/libo1ring.so",
    f"{ENGRAM}/libo1shim.so",
    f"/usr/lib/aarch64-linux-gnu/libcuda.so.{site.DRIVER}",
)
ENGINE_MAPPED = (*_ENGINE_LIBRARIES, *_SYSTEM_LIBRARIES)
PROXY_MAPPED = (f"{ENGINE}/native/libo1ring.so", *_SYSTEM_LIBRARIES)

_VLLM_SCRIPT = f"""\
#!{site.PYTHON}
import sys
from vllm.entrypoints.cli.main import main
if __name__ == "__main__":
    sys.exit(main())
"""

_O1_SHIM = '''\
"""Loads the O1 shim and hands it the engram tables."""

from __future__ import annotations

import ctypes
import pathlib


def load() -> ctypes.CDLL:
    """Load the library that lies beside this file."""
    return ctypes.CDLL(str(pathlib.Path(__file__).with_name("libo1shim.so")))
'''


def composed() -> dict[str, bytes]:
    """Give the composed engine files by path: what the engine's own verifier covers."""
    files = {}
    for package, names in sorted(_COMPOSED.items()):
        for name in names:
            about = f"The {package} part of the composed engine: {name.strip('_').replace('_', ' ')}."
            files[f"{ENGINE}/{package}/{name}.py"] = module(f"{package}.{name}", about).encode()
    for name in _COMPOSED_LIBRARIES:
        files[f"{ENGINE}/native/{name}"] = shared_object(name, 24576)
    return files


def composed_list() -> str:
    """Give the composed files in the format of sha256sum."""
    return "".join(f"{sha256(data)}  {path}\n" for path, data in sorted(composed().items()))


def write_image(tree: Tree) -> None:
    """Write the image's files into the container's root."""
    root = CONTAINER_ROOT
    for path, data in composed().items():
        tree.write(root + path, data)
    tree.write(f"{root}{ENGINE}/__init__.py", module("engine", "The composed engine."))
    tree.write(f"{root}{ENGINE}/VERSION", "v5\n")
    tree.write(f"{root}{ENGINE}/entry.py", module("entry", "Where the engine is entered."))
    _write_engram(tree)
    _write_python(tree)
    for path in (*ENGINE_MAPPED, *PROXY_MAPPED):
        if not tree.real(root + path).exists():
            tree.write(root + path, shared_object(path), 0o755)
    tree.write(root + site.PROXY, program("dsv41-proxy"), 0o755)
    tree.write(f"{root}/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n")
    tree.write(f"{root}/etc/os-release", 'NAME="Ubuntu"\nVERSION_ID="24.04"\n')
    for folder in ("proc", "sys", "dev", "root", "run"):
        tree.folder(f"{root}/{folder}")
    tree.folder(f"{root}/tmp", 0o1777)


def _write_engram(tree: Tree) -> None:
    folder = CONTAINER_ROOT + ENGRAM
    tree.write(f"{folder}/libo1shim.so", shared_object("libo1shim", 12288), 0o755)
    tree.write(f"{folder}/o1_shim.py", _O1_SHIM)
    for name in ("o1_gather_sm121.cubin", "o1_gather_sm121.ptx", "o1_scatter_sm121.cubin"):
        tree.write(f"{folder}/jit/{name}", shared_object(f"engram {name}", 4096))
    tree.write(f"{folder}/jit/index.json", json.dumps({"arch": "sm_121", "kernels": ["o1_gather", "o1_scatter"]}))


def _write_python(tree: Tree) -> None:
    root = CONTAINER_ROOT
    tree.write(root + BASE_PYTHON, program("python3.12", size=65536), 0o755)
    tree.link(f"{root}/opt/dsv41/venv/bin/python3", BASE_PYTHON)
    tree.link(root + site.PYTHON, "python3")
    tree.write(f"{root}/opt/dsv41/venv/bin/vllm", _VLLM_SCRIPT, 0o755)
    tree.write(f"{root}/opt/dsv41/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n")
    for name in ("vllm", "exl3", "torch"):
        tree.write(f"{root}{SITE_PACKAGES}/{name}/__init__.py", module(name, f"The package {name}."))


def write_mounts(tree: Tree) -> None:
    """Let the container see what is mounted into it."""
    for source, destination, _ in site.MOUNTS:
        tree.folder(source)
        tree.mount(source, CONTAINER_ROOT + destination)


def emission(rank: Rank, start: Start) -> str:
    """Give what the engine's verifier emits about the composed files, right after the start."""
    files = [{"path": path, "sha256": sha256(data), "ok": True} for path, data in sorted(composed().items())]
    value = {"tool": "verify_runtime", "emitted_at": iso(start.seconds + 0.008), "rank": rank.rank, "files": files}
    return json.dumps(value, indent=1) + "\n"


def write_emission(tree: Tree, rank: Rank, start: Start) -> None:
    """Write the emission into the log folder; the container sees the same file."""
    tree.write(EMISSION, emission(rank, start))
    inside = tree.real(CONTAINER_ROOT + EMISSION)
    if not inside.exists():
        inside.hardlink_to(tree.real(EMISSION))
