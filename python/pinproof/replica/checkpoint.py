"""The target's checkpoint and the K1 files, as they lie on a serving node."""

from __future__ import annotations

import json

from pinproof.replica.content import noise, sha256
from pinproof.replica.site import BASE_REVISION, CHECKPOINT, QUANT_REVISION
from pinproof.replica.tree import Tree

K1_FOLDER = "/srv/dsv41-k1"
K1_LIST = "K1.sha256"
K1_FILES = (
    "alias.map",
    "drop_mtp.json",
    "indexer.factor4.bin",
    "pair.000.bin",
    "pair.001.bin",
    "pair.002.bin",
    "pair.plan.json",
    "router.alias.bin",
    "scales.fp8.bin",
    "transient.index",
    "transient.l01.bin",
    "transient.l14.bin",
    "window.json",
)
SHARDS = 4


def write_checkpoint(tree: Tree) -> None:
    """Write the checkpoint: its own metadata, its configuration and tokenizer, and short stand-ins of its shards."""
    shards = [f"model-{number:05d}-of-{SHARDS:05d}.safetensors" for number in range(1, SHARDS + 1)]
    for name, value in _metadata(shards).items():
        tree.write(f"{CHECKPOINT}/{name}", json.dumps(value, indent=2) + "\n")
    for name in shards:
        tree.write(f"{CHECKPOINT}/{name}", safetensors(name))


def safetensors(label: str) -> bytes:
    """Give a small file in the format: the header's length, the header, the tensor's bytes."""
    header = json.dumps({f"{label[6:11]}.weight": {"dtype": "U8", "shape": [2048], "data_offsets": [0, 2048]}})
    return len(header).to_bytes(8, "little") + header.encode() + noise(label, 2048)


def _metadata(shards: list[str]) -> dict[str, object]:
    weights = {f"{name[6:11]}.weight": name for name in shards}
    return {
        "provenance.json": {
            "base_repository": "deepseek-ai/DeepSeek-V4.1-Flash",
            "base_revision": BASE_REVISION,
            "quant_tool": "exl3-convert 0.4.2",
            "quant_revision": QUANT_REVISION,
            "quantised_at": "2026-10-11T07:42:18Z",
        },
        "candidate-manifest.json": {
            "candidate": "legal-v2a",
            "files": {name: {"size": len(safetensors(name)), "sha256": sha256(safetensors(name))} for name in shards},
        },
        "quant-plan.json": {
            "format": "exl3",
            "bits": 2.0,
            "codebook": "mcg",
            "layers": {f"layer.{number}": {"experts": 2.0, "attention": 4.0, "head": 6.0} for number in range(8)},
        },
        "config.json": {
            "architectures": ["DeepseekV41ForCausalLM"],
            "model_type": "deepseek_v41",
            "hidden_size": 4096,
            "num_hidden_layers": 43,
            "max_position_embeddings": 1048576,
            "dspark_block_size": 5,
            "dspark_markov_rank": 256,
            "quantization_config": {"quant_method": "exl3", "bits": 2.0},
            "torch_dtype": "bfloat16",
        },
        "tokenizer.json": {
            "version": "1.0",
            "model": {"type": "BPE", "vocab": {f"token{number}": number for number in range(64)}, "merges": []},
        },
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1048576},
        "generation_config.json": {"temperature": 1.0, "top_p": 1.0},
        "model.safetensors.index.json": {"metadata": {"total_size": 2048 * len(shards)}, "weight_map": weights},
    }


def write_k1(tree: Tree) -> None:
    """Write the thirteen K1 files and the list of their digests."""
    lines = []
    for name in K1_FILES:
        data = k1_bytes(name)
        tree.write(f"{K1_FOLDER}/{name}", data)
        lines.append(f"{sha256(data)}  {name}\n")
    tree.write(f"{K1_FOLDER}/{K1_LIST}", "".join(lines))


def k1_bytes(name: str) -> bytes:
    """Give the bytes of one K1 file."""
    if name.endswith(".json"):
        return (json.dumps({"part": name.removesuffix(".json"), "pair": 3, "indexer_factor": 4}) + "\n").encode()
    return noise(f"k1 {name}", 3072)
