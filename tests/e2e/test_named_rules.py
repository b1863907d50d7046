"""The rules of the reference case that are behaviours, each on the replica's real bytes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinproof.observations import Fault, HostFacts, Observation
from pinproof.outcome import Outcome, PinVerdict, RowVerdict
from pinproof.verdicts import Decision, Evidence, Verdict
from tests.e2e.probing import Site, probe, probe_all
from tests.e2e.spoiled_sources import subject

WORKER_REVISION = "fb68c5291792ab90c0f468bd94010917967799f3"
HELLO_CHECKPOINT = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"
HELLO_MARKOV = "0b6e71e638abd5abce2db433965bb5ff523cbbe92ed7ae54324a50ccaeffa19a"


def row_of(outcome: Outcome, row_id: str) -> RowVerdict:
    return next(item for item in outcome.rows if item.id == row_id)


def pin_of(outcome: Outcome, pin_id: str, host: str) -> PinVerdict:
    return next(pin for item in outcome.rows for pin in item.pins if (pin.id, pin.on) == (pin_id, host))


@contextlib.contextmanager
def environment(site: Site, host: str, **changes: str | None) -> Iterator[None]:
    """Let the engine's process have other variables: a value, or None to take one away."""
    path = subject(site.manifest.probes["engine"], site.root / host).with_name("environ")
    before = path.read_bytes()
    variables = dict(item.split(b"=", 1) for item in before.split(b"\0") if item)
    for name, value in changes.items():
        variables.pop(name.encode(), None)
        if value is not None:
            variables[name.encode()] = value.encode()
    path.write_bytes(b"".join(key + b"=" + value + b"\0" for key, value in variables.items()))
    try:
        yield
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("K1_PAIR", "03", Verdict.REFUSED),
        ("K1_PAIR", " 3", Verdict.REFUSED),
        ("K1_PAIR", "3.0", Verdict.REFUSED),
        ("K1_PAIR", "+3", Verdict.REFUSED),
        ("K1_PAIR", "0x3", Verdict.REFUSED),
        ("K1_PAIR", "3\r", Verdict.REFUSED),
        ("K1_ALIAS", "true", Verdict.REFUSED),
        ("K1_FOO", "1", Verdict.REFUSED),
        ("K1_PAIR", "04", Verdict.MISMATCH),
        ("K1_PAIR", "true", Verdict.MISMATCH),
        ("K1_PAIR", "", Verdict.MISMATCH),
        ("K1_PAIR", None, Verdict.MISMATCH),
    ],
)
def test_k1_is_pinned_in_its_canonical_spelling(site: Site, name: str, value: str | None, verdict: Verdict) -> None:
    with environment(site, "sparkpeer", **{name: value}):
        outcome = site.judge({"sparkpeer": probe(site.manifest, site.root, "sparkpeer")})
    assert pin_of(outcome, "k1/engine.env", "sparkpeer").verdict is verdict
    assert outcome.decision is Decision.STOP
    assert [item.id for item in outcome.rows if item.verdict > Verdict.DRIFT] == ["k1"]


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PYTHONPATH", "VLLM_USE_V1", "CUDA_LAUNCH_BLOCKING", "NCCL_IB_DISABLE"])
def test_what_steers_loader_interpreter_or_engine_is_refused_unless_listed(site: Site, name: str) -> None:
    with environment(site, "sparkhead", **{name: "1"}):
        outcome = site.judge({"sparkhead": probe(site.manifest, site.root, "sparkhead")})
    assert outcome.decision is Decision.STOP
    assert pin_of(outcome, "env-closed", "sparkhead").verdict is Verdict.REFUSED
    assert name in pin_of(outcome, "env-closed", "sparkhead").why


def status(site: Site, change: Any) -> dict[str, HostFacts]:
    """Let the worker's status file say something else, and look again."""
    path = subject(site.manifest.probes["worker_status"], site.root / "x86host")
    before = path.read_bytes()
    data = json.loads(before)
    change(data)
    path.write_text(json.dumps(data))
    try:
        return {"x86host": probe(site.manifest, site.root, "x86host")}
    finally:
        path.write_bytes(before)


def test_the_worker_revision_in_the_hello_field_is_told_as_another_field(site: Site) -> None:
    facts = status(site, lambda data: data["hello"].update(checkpoint=WORKER_REVISION))
    outcome = site.judge(facts)
    pin = pin_of(outcome, "hello-identities/worker_status.value.hello.checkpoint", "x86host")
    assert pin.verdict is Verdict.MISMATCH
    assert "source_commit.text" in " ".join([pin.why, *pin.diff, *pin.notes])


def test_swapped_hello_fields_are_told_as_each_other(site: Site) -> None:
    facts = status(site, lambda data: data["hello"].update(checkpoint=HELLO_MARKOV, markov=HELLO_CHECKPOINT))
    outcome = site.judge(facts)
    for field, other in (("checkpoint", "markov"), ("markov", "checkpoint")):
        pin = pin_of(outcome, f"hello-identities/worker_status.value.hello.{field}", "x86host")
        assert pin.verdict is Verdict.MISMATCH
        assert f"hello.{other}" in " ".join([pin.why, *pin.diff, *pin.notes])


def test_the_tag_alone_leaves_the_image_row_on_hold(site: Site) -> None:
    """What else the row needs could not be read; the tag agrees, and is not enough."""
    row = next(item for item in site.manifest.rows if item.id == "image-engine-kernels")
    facts = {}
    for host in ("sparkhead", "sparkpeer"):
        seen = dict(site.clean[host].observations)
        for name in {pin.at.probe for pin in row.pins} - {"serve"}:
            seen[name] = replace(seen[name], status="denied", why="permission denied", identity={}, state={})
        only_tag = {"image": {"tag": "v5"}, "running": True}
        faults = {("image", part): Fault("denied", "permission denied") for part in ("content", "tag_names_running")}
        seen["serve"] = replace(seen["serve"], identity=only_tag, faults=faults)
        facts[host] = HostFacts(host, contacted=True, why="", observations=seen)
    outcome = site.judge(facts)
    assert pin_of(outcome, "image-engine-kernels/serve.image.tag", "sparkhead").verdict is Verdict.MATCH
    assert row_of(outcome, "image-engine-kernels").verdict is Verdict.HOLD


def test_what_the_engine_says_of_the_image_is_no_proof_of_the_process(site: Site) -> None:
    """Even where every pin that was seen agrees, the engine's word is below what the row requires."""
    row = next(item for item in site.manifest.rows if item.id == "image-engine-kernels")
    kept = tuple(pin for pin in row.pins if pin.at.probe == "serve")
    manifest = replace(site.manifest, rows=(replace(row, pins=kept),))
    outcome = site.judge(manifest=manifest)
    assert {pin.verdict for pin in outcome.rows[0].pins} == {Verdict.MATCH}
    assert outcome.rows[0].verdict is Verdict.HOLD
    assert outcome.rows[0].evidence is Evidence.LOADED
    assert "loaded" in outcome.rows[0].why


def lane_facts(site: Site) -> dict[str, HostFacts]:
    """The reference lane: no access to the ranks, files only on the worker's host."""
    why = "this lane has no access to this host: no connection was opened"
    ranks = {host: HostFacts(host, contacted=False, why=why, observations={}) for host in ("sparkhead", "sparkpeer")}
    return {**ranks, "x86host": probe(site.manifest, site.root, "x86host", lane="files")}


def test_the_reference_lane_gives_the_verdict_of_the_reference(site: Site) -> None:
    outcome = site.judge(lane_facts(site), lane="reference")
    assert outcome.decision is Decision.HOLD
    pins = [(pin, item.id) for item in outcome.rows for pin in item.pins]
    ranks = [pin for pin, _ in pins if pin.on in ("sparkhead", "sparkpeer")]
    assert {pin.verdict for pin in ranks} == {Verdict.NOT_RUN}
    assert all("no access" in pin.why for pin in ranks)
    worker = {pin.id: pin for pin, _ in pins if pin.on == "x86host"}
    for pin_id in (
        "remote-worker/current.resolved",
        "remote-worker/source_commit.text",
        "remote-worker/worker.file.exec.program",
        "remote-worker/worker.file.exec.argv",
        "remote-worker/worker_tree.entries",
        "remote-worker/worker_checkpoint.files",
        "remote-worker/worker_status.value.tensor_parallel",
        "hello-identities/worker_status.value.hello.checkpoint",
    ):
        assert worker[pin_id].verdict is Verdict.MATCH, worker[pin_id]
    for pin_id in ("remote-worker/worker.loaded.active_state", "remote-worker/worker_process.exe.path"):
        assert worker[pin_id].verdict is Verdict.NOT_RUN
    for row_id in ("remote-worker", "worker-gpus"):
        assert row_of(outcome, row_id).verdict is Verdict.HOLD
        assert "file" in row_of(outcome, row_id).why
    assert row_of(outcome, "hello-identities").verdict is Verdict.NOT_RUN


def test_source_evidence_tells_that_the_launch_environment_may_override_it(site: Site) -> None:
    pin = pin_of(site.judge(), "k1/clone.settings.K1_PAIR.value", "coordinator")
    assert pin.verdict is Verdict.MATCH
    assert pin.evidence is Evidence.SOURCE
    assert any("override" in note for note in pin.notes)


def test_live_gates_that_nobody_ran_are_not_run(site: Site) -> None:
    """Native apparatus that is missing is named and never passes."""
    path = subject(site.manifest.probes["composed"], site.root / "sparkhead")
    data = path.read_bytes()
    path.unlink()
    try:
        outcome = site.judge({"sparkhead": probe(site.manifest, site.root, "sparkhead")})
    finally:
        path.write_bytes(data)
    row = row_of(outcome, "composed-bytes")
    assert row.verdict is Verdict.HOLD
    assert any("verify_runtime.json" in pin.why for pin in row.pins if pin.on == "sparkhead")


def test_the_newer_floor_is_in_force_in_this_scope_only(site: Site) -> None:
    outcome = site.judge()
    assert [(item.in_force, item.superseded, item.scope) for item in outcome.supersessions] == [
        ("lane-brief: at least 3221225472", "recipe: at least 5368709120", "low-cap")
    ]
    manifest_text = Path(site.manifest.file).read_text()
    from pinproof.manifest import load_manifest

    folder = Path(site.manifest.file).parent
    text = manifest_text.replace("\nscope: low-cap\n", "\nscope: high-cap\n")
    other = load_manifest(text, "other.yml", lambda name: (folder / name).read_text())
    pin = next(pin for item in other.rows if item.id == "resource-floor" for pin in item.pins)
    assert pin.checks[0].limit == 5 << 30  # type: ignore[union-attr]


def test_file_evidence_of_a_running_process_is_no_proof(site: Site) -> None:
    """With the same bytes on disk and no look at the process, a row that requires the process holds."""
    facts = probe_all(site.manifest, site.root)
    seen = dict(facts["x86host"].observations)
    seen["worker_process"] = Observation(
        "worker_process", "x86host", seen["worker_process"].run, "not_attempted", "the lane reads files only",
        Evidence.SOURCE, "none", (), "2026-12-01T00:00:00.000000Z", 0.0,
    )  # fmt: skip
    outcome = site.judge({"x86host": replace(facts["x86host"], observations=seen)})
    row = row_of(outcome, "remote-worker")
    assert row.verdict is Verdict.HOLD
    assert "evidence" in row.why


def test_every_report_says_that_it_authorises_nothing(site: Site) -> None:
    from pinproof.report import terminal

    for outcome in (site.judge(), site.judge(baseline=None), site.judge(lane_facts(site))):
        assert "authorises no staging and no change" in terminal.render(outcome).splitlines()[-1]
