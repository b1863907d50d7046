"""The coordinator's records of a run's requests, with the material that their digests are of.

The corpus, the order, the header and the salt prefix lie beside the records as
they were sent; every digest in a record is that of real bytes. A prompt is
salt, header and corpus; its text is not kept, its digest is.
"""

from __future__ import annotations

import json

from pinproof.replica.content import noise, sha256
from pinproof.replica.site import HOME
from pinproof.replica.tree import Tree

FOLDER = f"{HOME}/up2"
RECORDS = f"{FOLDER}/requests.jsonl"
SIZES = (150000, 300000)
REPETITIONS = (1, 2, 3)
SALT_PREFIX = "up2-low-window-20261024-"
HEADER = "You are given a long record. Read it whole, then answer the question at its end.\n"

_WORDS = (
    "ledger",
    "signal",
    "harbor",
    "copper",
    "meadow",
    "lantern",
    "orbit",
    "thicket",
    "granite",
    "ferry",
    "mosaic",
    "ember",
)
_SETTINGS = {
    "endpoint": "/v1/chat/completions",
    "complete": True,
    "max_tokens": 1500,
    "thinking": True,
    "effort": "high",
    "effort_percent": 75,
    "temperature": 1,
    "top_p": 1,
    "seed": 42,
    "priority": 10,
}


def corpus() -> str:
    """Give the text that every prompt is cut from."""
    picks = noise("corpus", 6000)
    sentences = []
    for at in range(0, len(picks), 12):
        words = [_WORDS[byte % len(_WORDS)] for byte in picks[at : at + 12]]
        sentences.append(" ".join(words).capitalize() + ".")
    return "\n".join(sentences) + "\n"


def order() -> list[str]:
    """Give the order in which the points are asked, as SIZE/REPETITION."""
    return [f"{size}/{repetition}" for repetition in REPETITIONS for size in SIZES]


def salt(point: str) -> str:
    """Give a point's salt: the fresh window's prefix, then the point."""
    return SALT_PREFIX + point


def material() -> dict[str, str]:
    """Give the texts that the run's digests are of, by the name of the digest."""
    return {
        "corpus": corpus(),
        "order": "\n".join(order()) + "\n",
        "header": HEADER,
        "salt_prefix": SALT_PREFIX,
    }


def record(point: str) -> dict[str, object]:
    """Give the record of one request and its answer."""
    size, _, repetition = point.partition("/")
    prompt = f"{salt(point)}\n{HEADER}{corpus()}\nHow many tokens: {size}?\n"
    return {
        "request": {**_SETTINGS, "prompt_tokens": int(size)},
        "repetition": int(repetition),
        **{f"{name}_sha256": sha256(text) for name, text in material().items()},
        "prompt_sha256": sha256(prompt),
        "salt_sha256": sha256(salt(point)),
        "answer": {
            "prompt_tokens": int(size),
            "cached_tokens": 0,
            "completion_tokens": 1500,
            "finish_reason": "length",
        },
    }


def write_requests(tree: Tree) -> None:
    """Write the records and the material beside them."""
    for name, text in material().items():
        tree.write(f"{FOLDER}/{name}.txt", text)
    lines = [json.dumps(record(point), separators=(",", ":")) + "\n" for point in order()]
    tree.write(RECORDS, "".join(lines))
