"""The reference manifest: it loads, and every row of the identity table is in it as it was meant."""

from __future__ import annotations

import dataclasses

import pytest

from pinproof.manifest import load_manifest, load_manifest_file
from pinproof.manifest.load import read_list_beside
from pinproof.manifest.model import (
    AcrossExperiment,
    BaselineIs,
    Bound,
    Check,
    Closed,
    DistinctAcross,
    Is,
    IsAbsent,
    Manifest,
    PerHost,
    Pin,
    Prefix,
    Prescribed,
    SameAcross,
    SameAsBaseline,
)
from pinproof.verdicts import Evidence
from tests.unit.manifest_texts import REFERENCE

TABLE = [
    "production-rollback",
    "target-checkpoint",
    "base-quant-revision",
    "image-engine-kernels",
    "target-tp-fabric",
    "context-kv-pool",
    "k1",
    "admission-batching",
    "speculation",
    "remote-worker",
    "worker-gpus",
    "hello-identities",
    "worker-transport-cost",
    "proxy",
    "engram",
    "engram-production-difference",
    "other-experiments",
    "clocks-thermal-loading",
    "timing-requests",
    "cache-repetitions",
    "allowed-differences",
]
RULES = ["derived", "composed-bytes", "resource-floor"]
BY_HAND = [
    "hosts-distinct",
    "company",
    "continuity",
    "levers-engaged",
    "overlay-closed",
    "cache-location",
    "overrides-absent",
]


@pytest.fixture(name="manifest", scope="module")
def _manifest() -> Manifest:
    return load_manifest_file(REFERENCE)


def pin_at(manifest: Manifest, name: str) -> Pin:
    (pin,) = [pin for _, pin in manifest.pins() if pin.id == name]
    return pin


def check_of(pin: Pin, kind: type[Check]) -> Check:
    (check,) = [check for check in pin.checks if isinstance(check, kind)]
    return check


def test_no_row_of_table_rules_or_custom_is_missing(manifest: Manifest) -> None:
    assert [row.id for row in manifest.rows] == [*TABLE, *RULES, *BY_HAND]


def test_every_row_has_a_pin_that_a_single_run_judges(manifest: Manifest) -> None:
    assert all(any(not pin.of_experiment for pin in row.pins) for row in manifest.rows)


def test_ids_are_unique(manifest: Manifest) -> None:
    ids = [pin.id for _, pin in manifest.pins()]
    assert len(ids) == len(set(ids)) > 150


@pytest.mark.parametrize(
    ("pin", "check"),
    [
        ("production-rollback/deploy.head", Prefix("21bed31")),
        ("production-rollback/deploy.modified", IsAbsent()),
        ("production-rollback/baseline.usable", Is(True)),
        ("k1/k1_files.count", Is(13)),
        ("context-kv-pool/engine.argv.max-model-len", Is("327680")),
        ("target-tp-fabric/engine.argv.node-rank", PerHost({"sparkhead": "0", "sparkpeer": "1"})),
        ("image-engine-kernels/serve.image.content", SameAsBaseline()),
        ("image-engine-kernels/serve.image.content", SameAcross("ranks", ("sparkhead", "sparkpeer"))),
        ("engram-production-difference/engine.env.DSV41_ENGRAM_REQUIRED", BaselineIs("0")),
        ("engram-production-difference/engine.env.DSV41_ENGRAM_REQUIRED", Is("1")),
        ("clocks-thermal-loading/gpu.clocks.sm_mhz", Bound(False, (("", 2150),), "")),
        ("hosts-distinct/machine.boot_id",
         DistinctAcross("all", ("sparkhead", "sparkpeer", "x86host", "coordinator"))),
        ("allowed-differences/engine.env.DSV41_REPLAY",
         Prescribed("leg", "replay", {"off-1": "0", "on": "1", "off-2": "0"})),
        ("allowed-differences/engine.env.DSV41_AUDIT",
         Prescribed("start", "audit", {"diagnostic": "1", "measured": "0"})),
        ("continuity/serve.id", AcrossExperiment("bracket")),
        ("timing-requests/requests.prompts", AcrossExperiment("legs")),
        ("remote-worker/worker_status.value.tensor_parallel", Is(2)),
    ],
)  # fmt: skip
def test_pins_are_typed_and_resolved(manifest: Manifest, pin: str, check: Check) -> None:
    assert check in pin_at(manifest, pin).checks


def test_the_newer_brief_sets_the_floor_in_its_scope_only(manifest: Manifest) -> None:
    name = "resource-floor/machine.memory.available"
    floor = check_of(pin_at(manifest, name), Bound)
    limits = (("recipe", 5 * 2**30), ("lane-brief", 3 * 2**30))
    assert floor == Bound(True, limits, "lane-brief")
    text = REFERENCE.read_text(encoding="utf-8").replace("scope: low-cap\n\nhosts", "scope: other\n\nhosts")
    elsewhere = load_manifest(text, "m.yml", read_list_beside(REFERENCE.parent))
    assert check_of(pin_at(elsewhere, name), Bound) == Bound(True, limits, "recipe")


def test_closed_maps_allow_what_the_whole_manifest_lists(manifest: Manifest) -> None:
    closed = check_of(pin_at(manifest, "k1/engine.env"), Closed)
    assert isinstance(closed, Closed)
    assert closed.globs == ("K1_*",)
    pair = {"K1_PAIR", "K1_DROP_MTP", "K1_TRANSIENT", "K1_ALIAS", "K1_INDEXER_FACTOR"}
    assert {key for key in closed.allowed if key.startswith("K1_")} == pair
    everywhere = {"DSV41_REPLAY", "DSV41_RUN_LABEL", "DSV41_SO1", "EXL3_RING_DEVICE", "DSV41_WORKER_BIND"}
    assert everywhere <= closed.allowed
    assert "tensor-parallel-size" not in closed.allowed


def test_the_baseline_is_a_probe_of_its_own_on_the_coordinator(manifest: Manifest) -> None:
    assert "baseline" not in manifest.probes
    assert pin_at(manifest, "production-rollback/baseline.usable").on == ("coordinator",)


def test_the_composed_files_are_forty_two(manifest: Manifest) -> None:
    files = check_of(pin_at(manifest, "composed-bytes/composed.files"), Is)
    assert isinstance(files, Is)
    assert isinstance(files.value, dict)
    assert len(files.value) == 42


def test_rows_keep_the_evidence_that_they_require(manifest: Manifest) -> None:
    requires = {row.id: row.requires for row in manifest.rows}
    assert requires["k1"] is Evidence.PROCESS
    assert requires["context-kv-pool"] is Evidence.NATIVE
    assert requires["worker-gpus"] is Evidence.LOADED
    assert requires["hello-identities"] is Evidence.FILE


def test_recorded_drift_and_notes_are_kept(manifest: Manifest) -> None:
    assert pin_at(manifest, "production-rollback/deploy.untracked").drift
    assert not pin_at(manifest, "production-rollback/deploy.modified").drift
    assert "before opening" in pin_at(manifest, "production-rollback/baseline.usable").note


def test_probes_hold_typed_parameters(manifest: Manifest) -> None:
    assert manifest.probes["gpu"].parameters == {"samples": 3}
    assert manifest.probes["serve"].parameters == {"name": "dsv41"}
    assert manifest.probes["code"].parameters == {"path": "/opt/dsv41/engine", "inside": "engine"}
    assert manifest.probes["code"].loaded_by == "engine"
    assert manifest.probes["clone"].parameters["env_files"] == {"dsv41.env": "shell"}
    assert manifest.probes["machine"].on == manifest.hosts


@pytest.mark.parametrize("row", [*TABLE, *RULES, *BY_HAND])
def test_marks_lead_to_the_row(manifest: Manifest, row: str) -> None:
    (found,) = [each for each in manifest.rows if each.id == row]
    line = REFERENCE.read_text(encoding="utf-8").split("\n")[found.mark.line - 1]
    assert line == f"  - id: {row}"


def test_a_manifest_can_be_compared_and_replaced(manifest: Manifest) -> None:
    again = load_manifest_file(REFERENCE)
    assert again == manifest
    assert dataclasses.replace(again, digest="") != manifest
