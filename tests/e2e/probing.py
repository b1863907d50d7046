"""Running the real probe program on a replica's trees, without Ansible around it."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pinproof.manifest import load_manifest_file
from pinproof.manifest.model import Manifest
from pinproof.observations import Baseline, HostFacts, Observation
from pinproof.outcome import Arm, Outcome
from pinproof.reconcile import reconcile
from pinproof.transport.answer import read_answer
from pinproof.transport.program import host_program
from pinproof.transport.requests import HostAccess, host_payload

PROJECT = Path(__file__).resolve().parents[2]
PLUGINS = PROJECT / "plugins"
MANIFEST = PROJECT / "inventory/manifests/up2-low-cap.yml"
RUN = "20261201T000000Z-00c0ffee"
KEY = "5a" * 32
ARM = Arm("off-1", "measured", "")
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@dataclass
class Site:
    """A replica with its manifest, and what was seen of it when it was as it should be."""

    root: Path
    manifest: Manifest
    baseline: Baseline
    clean: dict[str, HostFacts]

    @functools.cached_property
    def clean_outcome(self) -> Outcome:
        """What the clean facts come to."""
        return self.judge()

    def judge(self, facts: dict[str, HostFacts] | None = None, **changes: Any) -> Outcome:
        """Judge the clean facts with some hosts' replaced."""
        arguments: dict[str, Any] = {"run": RUN, "lane": "full", "arm": ARM, **changes}
        baseline = arguments.pop("baseline", self.baseline)
        manifest = arguments.pop("manifest", self.manifest)
        return reconcile(manifest, {**self.clean, **(facts or {})}, baseline, **arguments)


def load() -> Manifest:
    """Load the reference manifest."""
    return load_manifest_file(MANIFEST)


def probe(
    manifest: Manifest,
    root: Path,
    host: str,
    *,
    run: str = RUN,
    lane: str = "full",
    deadlines: Mapping[str, float] | None = None,
    only: Collection[str] | None = None,
    prefix: list[str] | None = None,
) -> HostFacts:
    """Look at one host's tree by the real program in a process of its own.

    `deadlines` are seconds for some probes, `only` leaves out the others.
    """
    access = HostAccess(root=str(root / host), recorded=True, user="operator", lane=lane)
    payload = host_payload(manifest, host, run, access, KEY)
    payload["probes"] = [request for request in payload["probes"] if only is None or request["probe"] in only]
    for request in payload["probes"]:
        request["deadline_s"] = (deadlines or {}).get(request["probe"], request["deadline_s"])
    done = subprocess.run(
        [*(prefix or []), sys.executable, "-I", "-S", "-B", "-"],
        input=host_program(payload, PLUGINS),
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.stderr == b"", done.stderr.decode(errors="replace")
    answer = read_answer(done.stdout.decode("ascii"), run)
    seen = [Observation.from_json(item) for item in answer["observations"]]
    return HostFacts(host, contacted=True, why="", observations={item.probe: item for item in seen})


def probe_all(manifest: Manifest, root: Path, **options: Any) -> dict[str, HostFacts]:
    """Look at every host of the manifest."""
    return {host: probe(manifest, root, host, **options) for host in manifest.hosts}


def baseline_of(facts: dict[str, HostFacts]) -> Baseline:
    """Make a baseline of what was seen."""
    run = "20261130T000000Z-0000ba5e"
    hosts = {
        name: replace(host, observations={key: replace(item, run=run) for key, item in host.observations.items()})
        for name, host in facts.items()
    }
    return Baseline(run, "2026-11-30T00:00:00.000000Z", "", hosts)
