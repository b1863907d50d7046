"""Builds runs for the tests of archive, reports and command line: one manifest of two hosts, with whole records."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pinproof.archive import HostRecord, RunRecord
from pinproof.manifest.model import Is, Manifest, Mark, Pin, Probe, Row
from pinproof.outcome import Arm, Cause, ExperimentPin, Outcome, PinVerdict, RowVerdict, Supersession
from pinproof.paths import AttributePath
from pinproof.verdicts import Evidence, Verdict, decide

RUN = "20261201T101500Z-5f3a9c1e"
CAPTURE = "20261130T080000Z-00c0ffee"
OPENED = "2026-12-01T10:15:00.000000Z"
FINISHED = "2026-12-01T10:15:02.500000Z"
DIGEST = "429086a4730d0c8eede98167d2b29bf39f5b29ff7471aafa9fb069ccac5a0bc8"
HOSTS = ("sparkhead", "x86host")
MARK = Mark("manifest.yml", 1, 1)


def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for the disk is most of what a run in the archive costs; only the tests of crashes count it."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def probe(name: str, kind: str, on: tuple[str, ...], parameters: Mapping[str, Any]) -> Probe:
    return Probe(name, kind, f"{kind}_facts", on, dict(parameters), "", "", 20.0, MARK)


def manifest(name: str = "small", **probes: Probe) -> Manifest:
    known = {
        "serve": probe("serve", "container", ("sparkhead",), {"name": "dsv41"}),
        "machine": probe("machine", "host", HOSTS, {}),
        **probes,
    }
    pin = Pin(
        "image/serve.image.tag",
        AttributePath.parse("serve.image.tag"),
        ("sparkhead",),
        (Is("v5"),),
        "",
        False,
        "",
        MARK,
    )
    rows = (Row("image", "Image", Evidence.LOADED, (pin,), MARK),)
    return Manifest(name, "low-cap", "manifest.yml", HOSTS, {}, (), known, rows, None, DIGEST)


def observation(name: str, where: str, of_run: str = RUN, /, **more: Any) -> dict[str, Any]:
    return {
        "probe": name,
        "host": where,
        "run": of_run,
        "kind": "container",
        "status": "ok",
        "why": "",
        "evidence": "loaded",
        "method": "engine",
        "source": ["/run/docker.sock GET /containers/dsv41/json"],
        "observed_at": "2026-12-01T10:15:01.000000Z",
        "took_ms": 3.5,
        "identity": {"image": {"tag": "v5"}},
        "state": {},
        "levels": {},
        "faults": {},
        "notes": [],
        "scope": {},
        **more,
    }


def hosts(run: str = RUN, /, **serve: Any) -> tuple[HostRecord, ...]:
    """The answers of both hosts; `serve` changes the observation of the container."""
    head = (observation("serve", "sparkhead", run, **serve), observation("machine", "sparkhead", run))
    program = {"python": "3.11.2", "uid": 1000, "took_ms": 12.5}
    return (
        HostRecord("sparkhead", True, "", {**program, "interpreter": "/usr/bin/python3"}, head),
        HostRecord("x86host", True, "", program, (observation("machine", "x86host", run),)),
    )


def pin_verdict(verdict: Verdict = Verdict.MATCH, **more: Any) -> PinVerdict:
    given = PinVerdict(
        id="image/serve.image.tag",
        at="serve.image.tag",
        on="sparkhead",
        verdict=verdict,
        evidence=Evidence.LOADED,
        expected="v5",
        observed="v5",
        diff=(),
        why="",
        cause="",
    )
    return dataclasses.replace(given, **more)


def row_verdict(*pins: PinVerdict, **more: Any) -> RowVerdict:
    worst = max((pin.verdict for pin in pins), default=Verdict.HOLD)
    given = RowVerdict("image", "Image", worst, Evidence.LOADED, Evidence.LOADED, "", pins)
    return dataclasses.replace(given, **more)


def outcome(*rows: RowVerdict, run: str = RUN, **more: Any) -> Outcome:
    judged = rows or (row_verdict(pin_verdict()),)
    counts = {verdict.name: 0 for verdict in Verdict}
    for row in judged:
        for pin in row.pins:
            counts[pin.verdict.name] += 1
    given = Outcome(
        run=run,
        manifest="small",
        manifest_digest=DIGEST,
        scope="low-cap",
        lane="full",
        arm=Arm("off-1", "measured", ""),
        decision=decide(row.verdict for row in judged),
        counts=counts,
        causes=(),
        rows=judged,
        experiment=(),
        supersessions=(),
        baseline=CAPTURE,
    )
    return dataclasses.replace(given, **more)


def stopped(run: str = RUN) -> Outcome:
    """An outcome with everything that an outcome can hold."""
    bad = pin_verdict(
        Verdict.MISMATCH,
        observed="v6",
        diff=('serve.image.tag: expected "v5", observed "v6"',),
        why="serve.image.tag on sparkhead is not what is pinned. To settle: find out which of them is right",
        notes=("the tag was moved",),
    )
    held = pin_verdict(
        Verdict.HOLD,
        id="gpus/worker_gpu.uuids",
        at="worker_gpu.uuids",
        on="x86host",
        evidence=None,
        expected=["GPU-1"],
        observed=None,
        why="x86host can't be reached. To settle: make x86host reachable, then verify again",
        cause="host:x86host",
    )
    rows = (row_verdict(bad, why="1 of 1 MISMATCH"), row_verdict(held, id="gpus", setting="Worker GPUs", evidence=None))
    return outcome(
        *rows,
        run=run,
        causes=(Cause("host:x86host", "x86host can't be reached", "make x86host reachable", ("gpus",), 1),),
        experiment=(ExperimentPin("image/same", "serve.image.content", "image", "legs"),),
        supersessions=(Supersession("floor", "brief: at least 3221225472", "recipe: at least 5368709120", "low-cap"),),
    )


def record(run: str = RUN, judged: Outcome | None = None, **more: Any) -> RunRecord:
    """A verification, RECONCILED unless another outcome is given."""
    given = RunRecord(
        run=run,
        kind="verify",
        manifest=manifest(),
        manifest_text="manifest: small\n",
        opened_at=OPENED,
        finished_at=FINISHED,
        lane="full",
        arm=Arm("off-1", "measured", ""),
        hosts=hosts(run),
        outcome=judged or outcome(run=run),
    )
    return dataclasses.replace(given, **more)


def capture(run: str = CAPTURE, **more: Any) -> RunRecord:
    """A complete capture, finished a day before the verification opens."""
    return record(
        run,
        **{
            "kind": "capture",
            "outcome": None,
            "arm": Arm(),
            "opened_at": "2026-11-30T08:00:00.000000Z",
            "finished_at": "2026-11-30T08:00:03.000000Z",
            "hosts": hosts(run),
            **more,
        },
    )


def files_of(folder: Path) -> list[str]:
    """All files below a folder, by relative path."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
