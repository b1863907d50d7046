"""Checking the archive: whatever is changed, removed or added is found, and named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pinproof.archive import Archive
from pinproof.archive.sums import check_sums, sums_digest, sums_of
from pinproof.errors import ArchiveError, UsageError
from tests.unit.archive_builder import (
    CAPTURE,
    RUN,
    capture,
    quick_disk,
    record,
)

THIRD = "20261201T110000Z-00000003"


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    quick_disk(monkeypatch)
    archive = Archive(tmp_path / "archive")
    archive.publish(capture())
    archive.publish(record())
    archive.publish(record(THIRD))
    return archive


def said(archive: Archive, *runs: str) -> list[str]:
    check = archive.verify("chained", runs)
    assert not check.intact
    return [f"{run}: {problem}" for run, problem in check.problems]


def reseal(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()
    (folder / "SHA256SUMS").write_text(sums_of(folder))


def test_an_untouched_archive_is_intact(archive: Archive) -> None:
    check = archive.verify()
    assert check.intact
    assert check.runs == (CAPTURE, RUN, THIRD)
    assert check.head == (THIRD, sums_digest(archive.root / THIRD))


def test_an_empty_archive_is_not_intact(tmp_path: Path) -> None:
    assert not Archive(tmp_path).verify().intact
    assert not Archive(tmp_path / "none").verify().intact


@pytest.mark.parametrize(
    "name", ["run.json", "verdict.json", "report.md", "manifest.yml", "facts/sparkhead.json", "facts/x86host.json"]
)
@pytest.mark.parametrize("where", [0, 0.5, 1])
def test_one_byte_flipped_in_any_file_is_found(archive: Archive, name: str, where: float) -> None:
    path = archive.root / RUN / name
    data = bytearray(path.read_bytes())
    data[int(where * (len(data) - 1))] ^= 0x20
    path.write_bytes(data)
    assert said(archive)[0] == f"{RUN}: {name} was changed"


def test_any_byte_flipped_in_the_checksums_is_found(archive: Archive) -> None:
    path = archive.root / RUN / "SHA256SUMS"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert not archive.verify("sums", [RUN]).intact, place


@pytest.mark.parametrize("name", ["extra.txt", "facts/third.json", ".hidden", "new/file", "facts/sub/file"])
def test_one_file_added_is_found(archive: Archive, name: str) -> None:
    path = archive.root / RUN / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert said(archive) == [f"{RUN}: {name} was added"]


def test_an_added_folder_is_found_even_when_it_is_empty(archive: Archive) -> None:
    (archive.root / RUN / "facts" / "empty").mkdir()
    assert said(archive) == [f"{RUN}: facts/empty was added"]


def test_a_removed_file_is_found(archive: Archive) -> None:
    (archive.root / RUN / "report.md").unlink()
    assert said(archive) == [f"{RUN}: report.md is missing"]


def test_removed_checksums_are_found_by_the_run_and_by_the_one_after_it(archive: Archive) -> None:
    (archive.root / RUN / "SHA256SUMS").unlink()
    first, second = said(archive)
    assert first.startswith(f"{RUN}: the archive: cannot read")
    assert second.startswith(f"{THIRD}: follows {RUN}: the archive: cannot read")


def test_a_link_in_place_of_a_file_is_found(archive: Archive, tmp_path: Path) -> None:
    path = archive.root / RUN / "report.md"
    path.rename(tmp_path / "elsewhere.md")
    path.symlink_to(tmp_path / "elsewhere.md")
    assert said(archive) == [f"{RUN}: report.md is no regular file any more"]


def test_every_problem_of_a_run_is_told(archive: Archive) -> None:
    folder = archive.root / RUN
    (folder / "report.md").unlink()
    (folder / "manifest.yml").write_text("other: true\n")
    (folder / "added").write_text("")
    assert said(archive) == [
        f"{RUN}: report.md is missing",
        f"{RUN}: added was added",
        f"{RUN}: manifest.yml was changed",
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "", "SHA256SUMS is empty"),
        (lambda text: text + "\n", "no checksum in line 7"),
        (lambda text: text + text.splitlines()[0] + "\n", "lists facts/sparkhead.json twice"),
        (lambda text: text.replace("  ", " *"), "no checksum in line 1"),
        (lambda text: text.replace("a", "A", 1), "no checksum|was changed|is missing"),
    ],
)
def test_checksums_of_another_form_are_refused(archive: Archive, change: Callable[[str], str], problem: str) -> None:
    path = archive.root / RUN / "SHA256SUMS"
    path.write_text(change(path.read_text()))
    with pytest.raises(AssertionError, match=problem):
        assert check_sums(archive.root / RUN) == []


# -- the chain -----------------------------------------------------------------


def test_a_changed_run_with_new_checksums_is_found_by_the_run_after_it(archive: Archive) -> None:
    (archive.root / RUN / "report.md").write_text("RECONCILED\n")
    reseal(archive.root / RUN)
    assert archive.verify("sums").intact
    assert said(archive) == [f"{THIRD}: follows {RUN}, whose SHA256SUMS was changed since"]


def test_a_run_removed_from_the_middle_is_found(archive: Archive) -> None:
    shutil.rmtree(archive.root / RUN)
    assert said(archive) == [f"{THIRD}: follows {RUN}, which is not there any more"]


def test_a_removed_first_run_is_found(archive: Archive) -> None:
    shutil.rmtree(archive.root / CAPTURE)
    assert f"{RUN}: follows {CAPTURE}, which is not there any more" in said(archive)


def test_a_run_put_beside_the_chain_is_found(archive: Archive, tmp_path: Path) -> None:
    other = Archive(tmp_path / "other")
    stray = "20261201T120000Z-00000009"
    other.publish(record(stray))
    shutil.copytree(other.root / stray, archive.root / stray)
    assert said(archive) == [f"{stray}: is the first of the archive, and so says {CAPTURE}"]


def test_a_fork_of_the_chain_is_found(archive: Archive, tmp_path: Path) -> None:
    other = Archive(tmp_path / "other")
    shutil.copytree(archive.root, other.root, symlinks=True)
    shutil.rmtree(other.root / THIRD)
    stray = "20261201T120000Z-00000009"
    other.publish(record(stray))
    shutil.copytree(other.root / stray, archive.root / stray)
    assert said(archive) == [f"{stray}: follows {RUN}, and so says {THIRD}"]


def test_a_chain_without_its_beginning_is_found(archive: Archive) -> None:
    record_file = archive.root / CAPTURE / "run.json"
    data = json.loads(record_file.read_text())
    data["previous"] = {"run": THIRD, "digest": sums_digest(archive.root / THIRD)}
    record_file.write_text(json.dumps(data))
    reseal(archive.root / CAPTURE)
    assert f"{CAPTURE}: every run follows another one: the first run is missing" in said(archive)


@pytest.mark.parametrize("previous", ["text", {"run": 1, "digest": ""}, {"run": RUN}, []])
def test_a_run_that_does_not_say_what_it_follows_is_found(archive: Archive, previous: object) -> None:
    record_file = archive.root / THIRD / "run.json"
    data = json.loads(record_file.read_text())
    data["previous"] = previous
    record_file.write_text(json.dumps(data))
    reseal(archive.root / THIRD)
    assert said(archive, THIRD) == [f"{THIRD}: run.json does not say which run was before it"]
    assert said(archive) == [f"{THIRD}: run.json does not say which run was before it"]


def test_a_damaged_run_does_not_keep_later_ones_from_being_archived(archive: Archive) -> None:
    (archive.root / THIRD / "SHA256SUMS").unlink()
    fourth = "20261201T130000Z-00000004"
    archive.publish(record(fourth))
    assert archive.load(fourth).run == fourth
    assert [line.split(":")[0] for line in said(archive)] == [THIRD, fourth]


def test_an_interrupted_run_is_no_link_of_the_chain(archive: Archive) -> None:
    archive.open("20261201T130000Z-00000004", "verify", "2026-12-01T13:00:00Z")
    assert archive.verify().intact


# -- named runs ------------------------------------------------------------------


def test_named_runs_are_checked_with_what_they_follow(archive: Archive) -> None:
    (archive.root / CAPTURE / "report.md").unlink()
    assert archive.verify("chained", [THIRD]).intact
    assert archive.verify("chained", [RUN]).runs == (RUN,)
    assert said(archive, CAPTURE) == [f"{CAPTURE}: report.md is missing"]


def test_a_run_that_is_not_there_cannot_be_checked(archive: Archive) -> None:
    with pytest.raises(UsageError, match="there is no complete run"):
        archive.verify("sums", ["20261201T130000Z-00000004"])
    with pytest.raises(UsageError, match="is no run id"):
        archive.verify("sums", ["latest"])


def test_intact_checksums_over_a_run_that_cannot_be_read_are_not_enough(archive: Archive) -> None:
    (archive.root / THIRD / "verdict.json").write_text("{}")
    reseal(archive.root / THIRD)
    (problem,) = said(archive)
    assert "a verdict of schema None" in problem


def test_odd_entries_are_never_given_a_checksum(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(ArchiveError, match="neither a regular file"):
        sums_of(tmp_path)
