"""What is asked of each host: the manifest's probes, processes spelled out, and only pinned names disclosed."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

import pytest

from pinproof.catalogue import KINDS
from pinproof.manifest import load_manifest_file
from pinproof.manifest.model import Manifest
from pinproof.paths import split_within
from pinproof.transport.requests import HostAccess, disclosed_names, host_payload, host_requests

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", name="manifest")
def _manifest() -> Manifest:
    return load_manifest_file(PROJECT / "inventory/manifests/up2-low-cap.yml")


def asked(manifest: Manifest, host: str) -> dict[str, dict[str, Any]]:
    return {request["probe"]: request for request in host_requests(manifest, host)}


def test_every_probe_is_asked_on_its_hosts_and_nowhere_else(manifest: Manifest) -> None:
    for host in manifest.hosts:
        assert set(asked(manifest, host)) == {name for name, probe in manifest.probes.items() if host in probe.on}


def test_processes_are_spelled_out(manifest: Manifest) -> None:
    code = asked(manifest, "sparkhead")["code"]
    engine = dict(manifest.probes["engine"].parameters)
    assert code["params"]["inside"] == engine
    assert engine["container"] == "dsv41"
    assert asked(manifest, "x86host")["since_worker"]["params"]["log_since"] == {"unit": "dspark-worker-tp2.service"}


def test_only_names_that_pins_spell_are_disclosed(manifest: Manifest) -> None:
    plain = disclosed_names(manifest)

    def is_plain(name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in plain)

    for name in ("K1_PAIR", "tensor-parallel-size", "DSV41_RUN_LABEL", "checkpoint", "arguments"):
        assert is_plain(name), name
    for name in ("HF_TOKEN", "K1_FOO", "DSV41_SECRET", "api-key", "PATH"):
        assert not is_plain(name), name
    assert "*" not in plain


def test_a_payload_carries_how_the_host_is_looked_at(manifest: Manifest) -> None:
    access = HostAccess(root="/r", recorded=True, user="operator", lane="files")
    sent = host_payload(manifest, "x86host", "run-1", access, "ab")
    assert (sent["root"], sent["recorded"], sent["user"], sent["lane"]) == ("/r", True, "operator", "files")
    assert (sent["run"], sent["host"], sent["disclose"]["key"]) == ("run-1", "x86host", "ab")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_is_wholly_described(kind: str) -> None:
    about = KINDS[kind]
    assert (PROJECT / "plugins/modules" / f"{about.collector}.py").is_file()
    assert about.subject in about.parameters
    assert about.attributes
    for pattern, attribute in about.attributes.items():
        assert split_within(pattern)
        assert attribute.about
        assert about.attribute(split_within(pattern)) is not None
    assert any(not attribute.state for attribute in about.attributes.values())
