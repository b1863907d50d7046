"""Small manifests to load in tests: sound ones, to which a test adds what it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pinproof.manifest import ManifestErrors, Problem, load_manifest
from pinproof.manifest.model import Check, Manifest, Pin

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "inventory" / "manifests" / "up2-low-cap.yml"
SHA256 = "5d41402abc4b2a76b9719d911017c592ae3f1b8e6c7d904f1a2b3c4d5e6f7081"
COMMIT = "1bae0e1088993b9b82de08f59de5be5a34e42170"

PROBES = """
  serve: {on: ranks, container: dsv41}
  engine: {on: ranks, process: {container: dsv41, program: vllm, libraries: [libnccl]}}
  weights: {on: ranks, loaded_by: engine, files: {under: /srv/model, names: [config.json, __init__.py]}}
  deploy: {on: head, source: {repo: ~/deploy, revision: 21bed31, files: [serve.sh]}}
  provenance: {on: ranks, json: /srv/model/provenance.json}
  emitted: {on: ranks, emission: /var/log/emitted.json}
  gpu: {on: worker, gpu: {samples: 3}}
  machine: {on: [head, peer, worker], host: {}}
"""
EXPERIMENT = """
experiment:
  legs:
    - {id: off-1, replay: "0"}
    - {id: on, replay: "1"}
  starts:
    diagnostic: {of: [on, off-1], audit: "1"}
    measured: {of: [off-1, on], audit: "0"}
  may_differ: [engine.env.RUN_LABEL]
"""


def text_of(*pins: str, head: str = "", probes: str = "", requires: str = "file", tail: str = "") -> str:
    """Give the text of a sound manifest with these pins on its one row."""
    rows = "".join(f"      - {pin}\n" for pin in pins)
    return (
        f"manifest: small\nversion: 1\nhosts: [head, peer, worker]\ngroups:\n  ranks: [head, peer]\n{head}"
        f"probes:{PROBES}{probes}rows:\n  - id: row\n    requires: {requires}\n    pins:\n{rows}{tail}"
    )


def no_list(name: str) -> str:
    """Read no list."""
    raise FileNotFoundError(name)


def load(text: str) -> Manifest:
    """Load a manifest that names no list."""
    return load_manifest(text, "m.yml", no_list)


def load_pin(pin: str, **parts: str) -> Pin:
    """Load a manifest with one pin and give that pin."""
    return load(text_of(pin, **parts)).rows[0].pins[0]


def load_check(pin: str, **parts: str) -> Check:
    """Load a manifest with one pin of one check and give that check."""
    (check,) = load_pin(pin, **parts).checks
    return check


def attempt(text: str, read_list: Callable[[str], str] = no_list) -> Manifest | tuple[Problem, ...]:
    """Load a manifest, or give its mistakes; any other error is a failure of the test."""
    try:
        return load_manifest(text, "m.yml", read_list)
    except ManifestErrors as errors:
        return errors.problems


def problems_of(text: str) -> list[str]:
    """Give what is wrong with a manifest, without places; nothing for a sound one."""
    result = attempt(text)
    return [] if isinstance(result, Manifest) else [f"{problem.what}; {problem.fix}" for problem in result]
