"""Reading runs back: what was written is what is read, and nothing else is read at all."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinproof.archive import Archive, HostRecord
from pinproof.archive.sums import sums_of
from pinproof.archive.verdict_json import read_outcome
from pinproof.errors import ArchiveError, ObservationError, PinproofError, UsageError
from pinproof.outcome import Arm, Cause, ExperimentPin, Outcome, PinVerdict, RowVerdict, Supersession
from pinproof.verdicts import Evidence, Verdict, decide
from tests.unit.archive_builder import (
    CAPTURE,
    RUN,
    capture,
    hosts,
    outcome,
    quick_disk,
    record,
    stopped,
)


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    quick_disk(monkeypatch)
    archive = Archive(tmp_path / "archive")
    archive.publish(capture())
    archive.publish(record(judged=stopped()))
    return archive


def rewrite(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    """Change a file of a run, and its checksums with it: what is wrong then is what the file says."""
    path = folder / name
    data = json.loads(path.read_text())
    changed = change(data)
    path.write_text(changed if isinstance(changed, str) else json.dumps(data))
    (folder / "SHA256SUMS").unlink()
    (folder / "SHA256SUMS").write_text(sums_of(folder))


def test_a_run_reads_back_as_it_was_published(archive: Archive) -> None:
    run = archive.load(RUN)
    assert run.outcome == stopped()
    assert run.facts == {item.host: item.facts() for item in hosts()}
    assert run.manifest_text == "manifest: small\n"
    assert (run.run, run.kind, run.path.name) == (RUN, "verify", RUN)


def test_a_capture_reads_back_without_a_verdict(archive: Archive) -> None:
    run = archive.load(CAPTURE)
    assert (run.kind, run.outcome) == ("capture", None)
    assert run.captured() == capture().captured()
    assert run.captured().complete


def test_a_verification_was_not_captured(archive: Archive) -> None:
    with pytest.raises(ArchiveError, match="does not say what was captured"):
        archive.load(RUN).captured()


def test_hosts_that_were_not_contacted_read_back_with_the_reason(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    left = HostRecord("sparkpeer", False, "the lane has no access")
    archive.publish(record(hosts=(*hosts(), left)))
    facts = archive.load(RUN).facts["sparkpeer"]
    assert (facts.contacted, facts.why, dict(facts.observations)) == (False, "the lane has no access", {})


def test_a_run_that_is_not_there_is_wrong_usage(archive: Archive) -> None:
    with pytest.raises(UsageError, match="there is no run 20261201T101500Z-00000000"):
        archive.load("20261201T101500Z-00000000")


def test_an_archive_that_is_not_there_has_no_runs(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "none")
    assert archive.runs() == []
    assert archive.newest() == ""
    assert not archive.root.exists()


@pytest.mark.parametrize("name", ["run.json", "verdict.json", "report.md", "manifest.yml", "facts/x86host.json"])
def test_one_flipped_bit_in_any_file_keeps_a_run_from_being_read(archive: Archive, name: str) -> None:
    path = archive.root / RUN / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=f"run {RUN} is not as it was written: {name} was changed") as told:
        archive.load(RUN)
    assert told.value.exit_code == 1


def test_a_run_in_place_of_another_is_not_read(archive: Archive) -> None:
    other = archive.root / "20261201T101501Z-5f3a9c1e"
    (archive.root / RUN).rename(other)
    with pytest.raises(ArchiveError, match="is the record of run"):
        archive.load(other.name)


def test_a_link_to_a_run_is_not_read(archive: Archive) -> None:
    link = archive.root / "20261201T101501Z-5f3a9c1e"
    link.symlink_to(RUN)
    with pytest.raises(UsageError, match="there is no run"):
        archive.load(link.name)
    assert [item.run for item in archive.runs()] == [CAPTURE, RUN]


def clear(data: dict[str, Any]) -> None:
    data.clear()


def put(*path_and_value: Any) -> Callable[[Any], None]:
    *path, last, value = path_and_value

    def change(data: Any) -> None:
        for key in path:
            data = data[key]
        data[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("run.json", clear, "is an empty JSON object"),
        ("run.json", lambda _: "[]", "holds no JSON object"),
        ("run.json", lambda _: "{", "is not JSON"),
        ("run.json", lambda _: "[" * 100_000, "is not JSON"),
        ("run.json", put("schema", 2), "is of schema 2; this program reads schema 1"),
        ("run.json", put("schema", "1"), "is of schema '1'"),
        ("run.json", put("kind", "rehearsal"), "unknown kind, 'rehearsal'"),
        ("run.json", put("kind", "capture"), "does not say what was captured"),
        ("run.json", put("hosts", []), "'hosts' in .* is not as it must be"),
        ("run.json", put("hosts", {}), "not of the hosts that its record names"),
        ("run.json", put("decision", "RECONCILED"), "is not the one of this run"),
        ("verdict.json", put("decision", "RECONCILED"), "says RECONCILED, which its rows do not come to"),
        ("verdict.json", put("schema", 2), "a verdict of schema 2"),
        ("verdict.json", put("run", CAPTURE), "is not the one of this run"),
        ("verdict.json", put("counts", "MATCH", 7), "counts are not those of its pins"),
        ("verdict.json", put("rows", 0, "pins", 0, "verdict", "FINE"), "a verdict is malformed"),
        ("verdict.json", put("rows", 0, "pins", 0, "diff", "text"), "a verdict is malformed"),
        ("verdict.json", put("rows", 0, "verdict", "MATCH"), "decision|says STOP|row image is MATCH"),
        ("verdict.json", put("rows", []), "says STOP"),
        ("verdict.json", put("causes", 0, "pins", True), "a verdict is malformed"),
        ("facts/x86host.json", put("host", "sparkhead"), "does not hold the facts of x86host"),
        ("facts/x86host.json", put("run", CAPTURE), "does not hold the facts of x86host"),
        ("facts/x86host.json", put("schema", 0), "does not hold the facts of x86host"),
        ("facts/x86host.json", put("observations", {}), "holds no observations"),
        ("facts/x86host.json", put("contacted", 1), "holds no observations"),
    ],
)
def test_a_run_that_says_something_else_than_it_may_is_not_read(
    archive: Archive, name: str, change: Callable[[Any], object], said: str
) -> None:
    rewrite(archive.root / RUN, name, change)
    with pytest.raises(ArchiveError, match=said):
        archive.load(RUN)


def test_malformed_observations_are_told_with_their_file(archive: Archive) -> None:
    rewrite(archive.root / RUN, "facts/x86host.json", put("observations", 0, "status", "fine"))
    with pytest.raises(ObservationError, match=r"facts/x86host\.json: .*unknown status 'fine'"):
        archive.load(RUN)


@pytest.mark.parametrize("said", [{"complete": True, "looks": 3, "hosts": 2, "missing": ["a"], "unread": []}, {}, None])
def test_a_capture_that_contradicts_itself_is_not_believed(archive: Archive, said: Any) -> None:
    rewrite(archive.root / CAPTURE, "run.json", put("captured", said))
    with pytest.raises(ArchiveError):
        archive.load(CAPTURE).captured()


# -- the list of runs -------------------------------------------------------------


def test_the_list_of_runs(archive: Archive) -> None:
    archive.publish(capture("20261203T000000Z-00000001", hosts=()))
    archive.open("20261202T000000Z-00000001", "capture", "2026-12-02T00:00:00Z")
    (archive.root / "20261204T000000Z-00000001").mkdir()
    (archive.root / "notes.txt").write_text("mine")
    rows = [(item.run, item.state, item.kind, item.decision) for item in archive.runs()]
    assert rows == [
        (CAPTURE, "complete", "capture", "CAPTURED"),
        (RUN, "complete", "verify", "STOP"),
        ("20261202T000000Z-00000001", "interrupted", "capture", ""),
        ("20261203T000000Z-00000001", "complete", "capture", "INCOMPLETE"),
        ("20261204T000000Z-00000001", "damaged", "", ""),
    ]
    assert archive.newest() == RUN


# -- verdict.json ---------------------------------------------------------------


TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
EVIDENCE = st.none() | st.sampled_from(Evidence)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
PINS = st.builds(
    PinVerdict,
    id=TEXT,
    at=TEXT,
    on=TEXT,
    verdict=st.sampled_from(Verdict),
    evidence=EVIDENCE,
    expected=JSON,
    observed=JSON,
    diff=TEXTS,
    why=TEXT,
    cause=TEXT,
    notes=TEXTS,
)


def row_of(row: RowVerdict) -> RowVerdict:
    worst = max((pin.verdict for pin in row.pins), default=Verdict.HOLD)
    return dataclasses.replace(row, verdict=max(row.verdict, worst))


ROWS = st.builds(
    RowVerdict,
    id=TEXT,
    setting=TEXT,
    verdict=st.sampled_from(Verdict),
    evidence=EVIDENCE,
    requires=st.sampled_from(Evidence),
    why=TEXT,
    pins=st.lists(PINS, max_size=3).map(tuple),
).map(row_of)


@given(
    rows=st.lists(ROWS, max_size=3).map(tuple),
    arm=st.builds(Arm, TEXT, TEXT, TEXT),
    causes=st.lists(st.builds(Cause, TEXT, TEXT, TEXT, TEXTS, st.integers()), max_size=2).map(tuple),
    experiment=st.lists(st.builds(ExperimentPin, TEXT, TEXT, TEXT, TEXT), max_size=2).map(tuple),
    supersessions=st.lists(st.builds(Supersession, TEXT, TEXT, TEXT, TEXT), max_size=2).map(tuple),
)
def test_every_outcome_reads_back_from_its_json(rows: tuple[RowVerdict, ...], **parts: Any) -> None:
    counts = {verdict.name: sum(pin.verdict is verdict for row in rows for pin in row.pins) for verdict in Verdict}
    written = dataclasses.replace(
        outcome(), rows=rows, counts=counts, decision=decide(r.verdict for r in rows), **parts
    )
    assert read_outcome(json.loads(json.dumps(written.as_json()))) == written


@given(data=st.dictionaries(st.sampled_from(list(stopped().as_json())), JSON))
def test_a_verdict_with_anything_else_in_it_is_read_or_refused(data: dict[str, Any]) -> None:
    given_: dict[str, Any] = {**stopped().as_json(), **data}
    try:
        found: Outcome = read_outcome(given_)
    except PinproofError:
        return
    assert found.decision is decide(row.verdict for row in found.rows)
