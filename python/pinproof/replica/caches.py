"""The just-in-time caches of a serving node, with what changes from one compilation to the next in them.

Two ranks may hold different bytes under one key: theirs depend on the rank.
"""

from __future__ import annotations

import hashlib
import json

from pinproof.replica.content import module, noise, sha256, shared_object
from pinproof.replica.site import Rank
from pinproof.replica.tree import Tree

CACHE = "/var/cache/dsv41"
TRITON = f"{CACHE}/triton"
FLASHINFER = f"{CACHE}/flashinfer"
VLLM = f"{CACHE}/vllm"
_KERNELS = ("k1_pair_gather", "mla_sparse_decode", "exl3_trellis_mm")
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def write_caches(tree: Tree, rank: Rank) -> None:
    """Write all three caches."""
    for kernel in _KERNELS:
        _write_triton(tree, f"{TRITON}/{triton_key(kernel)}", kernel, rank)
    _write_flashinfer(tree, rank)
    _write_vllm(tree, rank)


def triton_key(kernel: str) -> str:
    """Give the name of a kernel's folder: a digest in base 32 without padding."""
    digest = hashlib.sha256(kernel.encode()).digest()
    number = int.from_bytes(digest, "big") << 4
    return "".join(_BASE32[number >> shift & 31] for shift in range(255, -1, -5))


def _write_triton(tree: Tree, folder: str, kernel: str, rank: Rank) -> None:
    label = f"triton {kernel} {rank.rank}"
    names = [f"{kernel}.{kind}" for kind in ("cubin", "ptx", "ttir", "ttgir", "llir", "json")]
    tree.write(f"{folder}/{names[0]}", shared_object(label, 5120))
    for name in names[1:5]:
        tree.write(f"{folder}/{name}", f"// {kernel}, {name.rpartition('.')[2]}\n{noise(label + name, 96).hex()}\n")
    tree.write(f"{folder}/{names[5]}", json.dumps({"name": kernel, "num_warps": 8, "shared": 49152}))
    # Volatile: absolute paths, a lock, a folder that a compilation left behind.
    group = {"child_paths": {name: f"{folder}/{name}" for name in names}}
    tree.write(f"{folder}/__grp__{kernel}.json", json.dumps(group))
    if kernel == _KERNELS[0]:
        tree.write(f"{folder}/lock", f"{4000 + rank.rank}\n")
        tree.write(f"{folder}/tmp.pid_412{rank.rank}_6d1f/{kernel}.ttir", "// unfinished\n")


def _write_flashinfer(tree: Tree, rank: Rank) -> None:
    base = f"{FLASHINFER}/.cache/flashinfer/0.6.18/121a"
    operation = f"{base}/cached_ops/sparse_mla_sm121"
    tree.write(f"{operation}/sparse_mla_sm121.so", shared_object(f"sparse_mla {rank.rank}", 9216), 0o755)
    source = "// generated\n" + noise("sparse_mla.cu", 160).hex() + "\n"
    tree.write(f"{base}/generated/sparse_mla_sm121/sparse_mla.cu", source)
    tree.write(f"{base}/generated/sparse_mla_sm121/config.inc", "#define HEAD_DIM 576\n#define PAGE 64\n")
    # Volatile: build files with paths and times, objects, the lock and the log.
    tree.write(f"{operation}/build.ninja", f"cuda_home = /usr/local/cuda\nout = {operation}\n")
    tree.write(f"{operation}/.ninja_log", f"# ninja log v5\n0\t4181{rank.rank}\t1792001{rank.rank}\tsparse_mla.o\n")
    tree.write(f"{operation}/.ninja_deps", b"# ninjadeps\n" + noise(f"deps {rank.rank}", 64))
    tree.write(f"{operation}/sparse_mla.cuda.o", shared_object(f"object {rank.rank}", 1024))
    tree.write(f"{operation}/sparse_mla_sm121.lock", f"{5000 + rank.rank}\n")
    tree.write(f"{base}/flashinfer_jit.log", f"built sparse_mla_sm121 in {418 + rank.rank} s\n")


def _write_vllm(tree: Tree, rank: Rank) -> None:
    folder = f"{VLLM}/torch_compile_cache/{sha256('dsv41 v5')[:10]}/rank_{rank.rank}_0/backbone"
    tree.write(f"{folder}/cache_key_factors.json", json.dumps({"env": sha256("env")[:16], "config": "dsv41"}))
    tree.write(f"{folder}/computation_graph.py", module("computation_graph", "The traced graph."))
    tree.write(f"{folder}/vllm_compile_cache.py", module("vllm_compile_cache", f"Handles of rank {rank.rank}."))
    inductor = f"{folder}/inductor_cache"
    tree.write(f"{inductor}/3k/c3kq{rank.rank}.py", module("kernel", f"A generated kernel of rank {rank.rank}."))
    tree.write(f"{inductor}/fxgraph/3k/fn{rank.rank}/entry", noise(f"fxgraph {rank.rank}", 512))
    # Volatile: tuning results and locks.
    tree.write(f"{inductor}/3k/c3kq{rank.rank}.best_config", json.dumps({"ms": 0.41 + rank.rank / 100}))
    tree.write(f"{inductor}/locks/c3kq.lock", f"{6000 + rank.rank}\n")
