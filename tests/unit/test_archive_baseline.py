"""The baseline: a complete, intact, earlier capture of the same subjects, or a reason why there is none."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from pinproof.archive import Archive, HostRecord
from pinproof.archive.layout import partial_name
from pinproof.archive.subjects import changed_subjects, subjects, subjects_digest
from pinproof.completeness import completeness
from pinproof.manifest.model import Manifest
from pinproof.observations import Baseline
from tests.unit.archive_builder import (
    CAPTURE,
    HOSTS,
    OPENED,
    RUN,
    capture,
    hosts,
    manifest,
    observation,
    probe,
    quick_disk,
    record,
)
from tests.unit.test_archive_verify import reseal

NEWER = "20261130T090000Z-00000002"
AFTER = "20261201T120000Z-00000003"


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    quick_disk(monkeypatch)
    return Archive(tmp_path / "archive")


def newer(**more: Any) -> Any:
    return capture(NEWER, finished_at="2026-11-30T09:00:03.000000Z", **more)


def after(**more: Any) -> Any:
    moments = {"opened_at": "2026-12-01T12:00:00.000000Z", "finished_at": "2026-12-01T12:00:03.000000Z"}
    return capture(AFTER, **moments, **more)


def chosen(archive: Archive, run: str = "", what: Manifest | None = None) -> Baseline:
    found = archive.baseline(run, what or manifest(), OPENED)
    assert found is not None
    return found


def problem(archive: Archive, run: str = "", what: Manifest | None = None) -> str:
    found = chosen(archive, run, what)
    assert found.problem
    assert found.hosts == {}, "an unusable baseline must not be compared with"
    return found.problem


# -- the choice -----------------------------------------------------------------


def test_without_a_capture_there_is_no_baseline(archive: Archive) -> None:
    assert archive.baseline("", manifest(), OPENED) is None
    archive.publish(record())
    assert archive.baseline("", manifest(), OPENED) is None


def test_a_good_capture_is_the_baseline_with_its_facts(archive: Archive) -> None:
    archive.publish(capture())
    found = chosen(archive)
    assert (found.run, found.captured_at, found.problem) == (CAPTURE, "2026-11-30T08:00:03.000000Z", "")
    assert found.hosts == {item.host: item.facts() for item in hosts(CAPTURE)}
    assert chosen(archive, CAPTURE) == found


def test_the_newest_earlier_capture_is_taken_and_an_older_one_can_be_named(archive: Archive) -> None:
    for one in (newer(), capture(), after()):
        archive.publish(one)
    assert chosen(archive).run == NEWER
    assert chosen(archive, CAPTURE).run == CAPTURE


def test_the_newest_capture_is_not_passed_over_for_an_older_complete_one(archive: Archive) -> None:
    archive.publish(capture())
    archive.publish(newer(hosts=()))
    assert chosen(archive).run == NEWER
    assert "is not complete" in problem(archive)


def test_an_interrupted_capture_is_no_candidate(archive: Archive) -> None:
    archive.publish(capture())
    archive.open(NEWER, "capture", OPENED)
    assert chosen(archive).run == CAPTURE
    assert "it was interrupted" in problem(archive, NEWER)


def test_a_damaged_newer_run_may_be_the_capture_that_was_meant(archive: Archive) -> None:
    archive.publish(capture())
    archive.publish(newer())
    (archive.root / NEWER / "run.json").write_text("{}")
    assert "may be the newest capture; name the capture" in problem(archive)
    assert chosen(archive, CAPTURE).problem == ""


def test_an_older_damaged_run_does_not_matter(archive: Archive) -> None:
    archive.publish(capture())
    archive.publish(newer())
    (archive.root / CAPTURE / "run.json").unlink()
    assert chosen(archive).run == NEWER
    assert chosen(archive).problem == ""


# -- what is not a baseline --------------------------------------------------------


def test_a_capture_that_ended_after_the_run_opened_is_none(archive: Archive) -> None:
    archive.publish(after())
    assert "it was finished after this run opened" in problem(archive)
    named = problem(archive, AFTER)
    assert "2026-12-01T12:00:03.000000Z, after this run opened at 2026-12-01T10:15:00.000000Z" in named


def test_a_capture_that_ended_in_the_moment_the_run_opened_is_one(archive: Archive) -> None:
    archive.publish(capture(finished_at=OPENED))
    assert chosen(archive).problem == ""


def test_times_are_compared_as_times_and_not_as_text(archive: Archive) -> None:
    archive.publish(capture(opened_at="2026-12-01T11:00:00+02:00", finished_at="2026-12-01T11:30:00+02:00"))
    assert chosen(archive).problem == ""


def test_a_verification_is_none(archive: Archive) -> None:
    archive.publish(record(opened_at="2026-11-01T00:00:00Z", finished_at="2026-11-01T00:00:01Z"))
    assert "it is a verification, not a capture" in problem(archive, RUN)


def test_another_site_is_none(archive: Archive) -> None:
    archive.publish(capture(manifest=manifest("berlin")))
    said = problem(archive)
    assert "captured for manifest 'berlin', and this is 'small'" in said
    assert "capture again, in a state known to be good" in said


def test_other_subjects_are_none_and_are_named(archive: Archive) -> None:
    archive.publish(capture())
    renamed = manifest(serve=probe("serve", "container", ("sparkhead",), {"name": "dsv42"}))
    assert 'serve was container {"name": "dsv41"} and is container {"name": "dsv42"}' in problem(archive, what=renamed)
    more = manifest(gpu=probe("gpu", "gpu", ("x86host",), {"samples": 3}))
    assert "gpu is new" in problem(archive, what=more)


def test_a_capture_with_one_byte_flipped_is_none(archive: Archive) -> None:
    archive.publish(capture())
    path = archive.root / CAPTURE / "facts" / "x86host.json"
    path.write_text(path.read_text().replace("v5", "v6"))
    assert f"run {CAPTURE} is not as it was written: facts/x86host.json was changed" in problem(archive)


@pytest.mark.parametrize(
    ("record_text", "said"),
    [
        ("{}", "is an empty JSON object, not the record of a run"),
        ('{"schema": 2}', "is of schema 2"),
        ("manifest: small\n", "is not JSON"),
        ("[]", "holds no JSON object"),
    ],
)
def test_a_run_whose_record_is_something_else_is_none(archive: Archive, record_text: str, said: str) -> None:
    archive.publish(capture())
    (archive.root / CAPTURE / "run.json").write_text(record_text)
    reseal(archive.root / CAPTURE)
    assert said in problem(archive, CAPTURE)
    assert "its record cannot be read" in problem(archive)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("manifest: small\nrows: []\n", "it is a manifest, not a captured run"),
        ("# comment\nmanifest: small\n", "it is a manifest, not a captured run"),
        ("{}", "it is empty JSON, not a captured run"),
        ("null", "it is empty JSON, not a captured run"),
        ('{"schema": 9}', "it is a JSON file of schema 9, not a captured run"),
        ('{"facts": []}', "it is a JSON file, not a captured run"),
        ("hello", "it is a file, not a captured run"),
        ("\0" * 10, "it is a file, not a captured run"),
    ],
)
def test_a_file_in_place_of_a_run_is_named_as_what_it_is(
    archive: Archive, tmp_path: Path, content: str, said: str
) -> None:
    archive.publish(capture())
    path = tmp_path / "given"
    path.write_text(content)
    found = problem(archive, str(path))
    assert said in found
    assert f"the newest captures are {CAPTURE}" in found


def test_other_names_are_told_for_what_they_are(archive: Archive, tmp_path: Path) -> None:
    assert "it is a folder" in problem(archive, str(tmp_path))
    assert "it is no run id; there is no capture yet" in problem(archive, "production")
    assert "it is no run id" in problem(archive, "x" * 5000)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    assert "cannot be read as text" in problem(archive, str(tmp_path / "bytes"))
    assert "there is no such run" in problem(archive, "20200101T000000Z-00000000")
    assert not (archive.root / partial_name(CAPTURE)).exists()


def test_a_capture_that_does_not_say_what_it_looked_at_is_none(archive: Archive) -> None:
    archive.publish(capture())
    path = archive.root / CAPTURE / "run.json"
    data = json.loads(path.read_text())
    data["probes"] = {}
    path.write_text(json.dumps(data))
    reseal(archive.root / CAPTURE)
    assert "its record does not say what" in problem(archive)


# -- completeness ------------------------------------------------------------------


def answers(**serve: Any) -> tuple[HostRecord, ...]:
    return hosts(CAPTURE, **serve)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answers(status="denied", why="socket"), "serve on sparkhead: denied: socket"),
        (answers(status="unreachable", why="no route"), "serve on sparkhead: unreachable: no route"),
        (answers(status="timeout"), "serve on sparkhead: timeout"),
        (answers(status="unparsable"), "serve on sparkhead: unparsable"),
        (answers(status="unstable"), "serve on sparkhead: unstable"),
        (answers(status="incomparable"), "serve on sparkhead: incomparable"),
        (answers(status="not_attempted"), "serve on sparkhead: not_attempted"),
        (answers(status="no_tool"), "serve on sparkhead: no_tool"),
        (answers(run="20200101T000000Z-00000000"), "the observation is of run 20200101T000000Z-00000000"),
        (answers(host="x86host"), "the observation is of host x86host"),
        (answers(probe="other"), "serve on sparkhead: not looked at"),
        (answers()[:1], "machine on x86host: the host was not contacted"),
        ((answers()[0], HostRecord("x86host", False, "lane")), "machine on x86host: the host was not contacted: lane"),
        ((answers()[0], HostRecord("x86host", True, "died")), "machine on x86host: not looked at: died"),
    ],
)
def test_a_capture_that_misses_a_look_is_no_baseline(
    archive: Archive, given: tuple[HostRecord, ...], said: str
) -> None:
    archive.publish(capture(hosts=given))
    found = problem(archive)
    assert found.startswith("it is not complete: ")
    assert said in found
    (summary,) = archive.runs()
    assert summary.decision == "INCOMPLETE"
    assert not archive.load(CAPTURE).captured().complete


def test_absent_is_an_answer(archive: Archive) -> None:
    archive.publish(capture(hosts=answers(status="absent", why="no such container")))
    assert chosen(archive).problem == ""


def test_parts_that_could_not_be_read_are_told_and_leave_the_capture_complete() -> None:
    faults = {"env": {"status": "denied", "why": "root only"}, "labels": {"status": "absent", "why": ""}}
    one = capture(hosts=answers(faults=faults)).captured()
    assert one.complete
    assert one.unread == ("serve on sparkhead: env: denied: root only",)


def test_many_missing_looks_are_told_by_the_first_and_their_number(archive: Archive) -> None:
    more = {f"p{number}": probe(f"p{number}", "host", HOSTS, {}) for number in range(4)}
    what = manifest(**more)
    archive.publish(capture(manifest=what))
    assert "and 5 more" in problem(archive, what=what)


def test_a_manifest_that_looks_at_nothing_is_never_complete() -> None:
    found = completeness(dataclasses.replace(manifest(), probes={}), {}, RUN)
    assert not found.complete
    assert found.headline == "NOT CAPTURED: the manifest looks at nothing"


def test_headlines_of_captures() -> None:
    assert capture().captured().headline == "CAPTURED: 3 looks on 2 hosts"
    assert capture(hosts=()).captured().headline == "NOT CAPTURED in full: 3 of 3 looks without an answer"


# -- subjects ------------------------------------------------------------------------


def test_subjects_are_what_is_looked_at_and_not_where_or_how_long() -> None:
    first = manifest()
    moved = {name: dataclasses.replace(item, on=("other",), deadline_s=1.0) for name, item in first.probes.items()}
    same = dataclasses.replace(first, probes=dict(reversed(moved.items())))
    assert subjects_digest(subjects(first)) == subjects_digest(subjects(same))
    renamed = manifest(serve=probe("serve", "container", ("sparkhead",), {"name": "b"}))
    assert subjects_digest(subjects(renamed)) != subjects_digest(subjects(first))


def test_changed_subjects_are_all_named() -> None:
    assert changed_subjects({"a": 1, "b": 2}, {"b": 3, "c": 4}) == ["a is new", "b was 3 and is 2", "c is gone"]
    assert changed_subjects({"a": 1}, {"a": 1}) == []


def test_observations_of_another_kind_of_probe_are_not_taken_for_it() -> None:
    head = (observation("machine", "sparkhead", CAPTURE),)
    one = capture(hosts=(HostRecord("sparkhead", True, "", {}, head), answers()[1])).captured()
    assert one.missing == ("serve on sparkhead: not looked at",)
