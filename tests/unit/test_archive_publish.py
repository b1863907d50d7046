"""Putting runs into the archive: whole or not at all, one after the other, readable by their owner alone."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import errno
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pinproof.archive import Archive, HostRecord, is_run_id, new_run_id
from pinproof.archive import publish as publish_module
from pinproof.archive.layout import facts_name, partial_name
from pinproof.archive.lock import locked
from pinproof.errors import ArchiveError, ObservationError, UsageError
from tests.unit.archive_builder import (
    CAPTURE,
    FINISHED,
    HOSTS,
    OPENED,
    RUN,
    capture,
    files_of,
    hosts,
    observation,
    outcome,
    quick_disk,
    record,
    stopped,
)

OTHER = "20261201T101500Z-ffffffff"
PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    quick_disk(monkeypatch)
    return Archive(tmp_path / "archive")


def run_json(archive: Archive, run: str = RUN) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((archive.root / run / "run.json").read_text())
    return data


# -- ids -------------------------------------------------------------------


def test_a_run_id_is_the_second_in_utc_and_random_digits() -> None:
    east = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2026, 12, 1, 12, 15, 0, 999999, tzinfo=east)
    assert new_run_id(moment, lambda count: "ab" * count) == "20261201T101500Z-abababab"


def test_run_ids_of_one_second_differ() -> None:
    moment = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)
    ids = {new_run_id(moment) for _ in range(200)}
    assert len(ids) == 200
    assert all(is_run_id(run) for run in ids)


@pytest.mark.parametrize(
    "run", ["", "latest", "..", "../20261201T101500Z-5f3a9c1e", "20261201T101500Z-5F3A9C1E", f"{RUN}\n", "a/b"]
)
def test_what_is_no_run_id_is_never_a_folder(archive: Archive, run: str) -> None:
    with pytest.raises(UsageError, match="is no run id"):
        archive.publish(record(run))
    with pytest.raises(UsageError, match="is no run id"):
        archive.load(run)
    with pytest.raises(UsageError, match="is no run id"):
        archive.open(run, "verify", OPENED)


@pytest.mark.parametrize("host", ["sparkhead", "..", ".hidden", "a/b", "a b\n", "ü", "%2e"])
def test_any_host_name_makes_a_plain_file_name(host: str) -> None:
    name = facts_name(host).removeprefix("facts/")
    assert not set(name) & set("/\n\\ ")
    assert not name.startswith(".")


# -- content ----------------------------------------------------------------


def test_a_verification_has_all_its_files_for_its_owner_alone(archive: Archive) -> None:
    previous_mask = os.umask(0)
    try:
        folder = archive.publish(record())
    finally:
        os.umask(previous_mask)
    assert files_of(folder) == [
        "SHA256SUMS",
        "facts/sparkhead.json",
        "facts/x86host.json",
        "manifest.yml",
        "report.md",
        "run.json",
        "verdict.json",
    ]
    for path in [archive.root, folder, *folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_capture_has_no_verdict_and_says_that_it_is_no_pass(archive: Archive) -> None:
    folder = archive.publish(capture())
    assert "verdict.json" not in files_of(folder)
    assert "captured, never a pass" in (folder / "report.md").read_text()
    assert run_json(archive, CAPTURE)["captured"] == {
        "complete": True,
        "looks": 3,
        "hosts": 2,
        "missing": [],
        "unread": [],
    }


def test_sha256sum_checks_a_run(archive: Archive) -> None:
    folder = archive.publish(record())
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK\n") == 6


def test_the_record_of_a_run(archive: Archive) -> None:
    archive.publish(capture())
    archive.publish(record(judged=stopped()))
    data = run_json(archive)
    assert data["kind"] == "verify"
    assert data["decision"] == "STOP"
    assert data["baseline"] == CAPTURE
    assert data["arm"] == {"leg": "off-1", "start": "measured", "label": ""}
    assert data["costs"] == {"wall_s": 2.5, "took_ms": {"sparkhead": 12.5, "x86host": 12.5}}
    assert data["hosts"]["sparkhead"] == {
        "contacted": True,
        "why": "",
        "interpreter": "/usr/bin/python3",
        "python": "3.11.2",
        "uid": 1000,
        "looks": {"ok": 2},
    }
    assert data["versions"].keys() == {"pinproof", "python", "ansible-core", "deepdiff"}
    assert data["probes"]["subjects"]["serve"] == {"kind": "container", "parameters": {"name": "dsv41"}}
    assert data["previous"]["run"] == CAPTURE


def test_facts_are_archived_as_they_came(archive: Archive) -> None:
    given = observation("serve", "sparkhead", kept={"of": ["another", 1, 1.5, None]})
    answer = {"schema": 1, "run": RUN, "host": "sparkhead", "python": "3.8.1", "observations": [given]}
    folder = archive.publish(record(hosts=(HostRecord.of_answer(answer, interpreter="/usr/bin/python3"),)))
    data = json.loads((folder / "facts" / "sparkhead.json").read_text())
    assert data == {
        "schema": 1,
        "run": RUN,
        "host": "sparkhead",
        "contacted": True,
        "why": "",
        "probe_program": {"python": "3.8.1", "interpreter": "/usr/bin/python3"},
        "observations": [given],
    }


def test_a_run_without_any_host_is_archived_too(archive: Archive) -> None:
    folder = archive.publish(record(hosts=()))
    assert "facts" not in {path.name for path in folder.iterdir()}
    assert archive.load(RUN).facts == {}


def test_text_that_is_no_utf_8_is_kept_as_its_escape(archive: Archive) -> None:
    folder = archive.publish(record(manifest_text="name: \udc80\n"))
    assert (folder / "manifest.yml").read_bytes() == b"name: \\udc80\n"


# -- what is refused -----------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": None}, "of kind verify without a verdict"),
        ({"kind": "capture"}, "of kind capture with a verdict"),
        ({"outcome": outcome(run=OTHER)}, f"verdict is of run {OTHER}"),
        ({"outcome": outcome(manifest_digest="0" * 64)}, "verdict is of another manifest"),
        ({"hosts": (*hosts(), hosts()[0])}, "two answers of sparkhead"),
        ({"opened_at": "yesterday"}, "'yesterday' is no time"),
        ({"finished_at": "2026-12-01T10:15:00"}, "is no time in ISO 8601 with its zone"),
        ({"hosts": (HostRecord("sparkhead", True, "", {"took": float("nan")}),)}, "not JSON"),
        ({"hosts": (HostRecord("sparkhead", True, "", {"took": b"1"}),)}, "not JSON"),
    ],
)
def test_a_record_whose_parts_do_not_fit_is_refused_and_nothing_is_written(
    archive: Archive, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArchiveError, match=said):
        archive.publish(dataclasses.replace(record(), **change))
    assert archive.runs() == []


@pytest.mark.parametrize("broken", [{"status": "fine"}, {"evidence": "rumour"}, {"identity": []}, {"took_ms": None}])
def test_malformed_observations_are_never_archived(archive: Archive, broken: dict[str, Any]) -> None:
    bad = HostRecord("sparkhead", True, "", {}, (observation("serve", "sparkhead", **broken),))
    with pytest.raises(ObservationError):
        archive.publish(record(hosts=(bad,)))
    assert archive.runs() == []


def test_two_observations_of_one_probe_are_refused(archive: Archive) -> None:
    twice = (observation("serve", "sparkhead"), observation("serve", "sparkhead"))
    with pytest.raises(ObservationError, match="two observations of 'serve'"):
        archive.publish(record(hosts=(HostRecord("sparkhead", True, "", {}, twice),)))


def test_a_run_id_is_used_once(archive: Archive) -> None:
    before = (archive.publish(record()) / "run.json").read_bytes()
    with pytest.raises(ArchiveError, match="is there already; a run id is used once"):
        archive.publish(record(judged=stopped()))
    with pytest.raises(ArchiveError, match="a run id is used once"):
        archive.open(RUN, "verify", OPENED)
    assert (archive.root / RUN / "run.json").read_bytes() == before


def test_a_leftover_in_a_runs_folder_is_never_packed(archive: Archive) -> None:
    leftover = archive.root / RUN / "facts" / "sparkhead.json"
    leftover.parent.mkdir(parents=True)
    leftover.write_text("{}")
    with pytest.raises(ArchiveError, match="is there already"):
        archive.publish(record())
    assert leftover.read_text() == "{}"


def test_a_leftover_in_a_partial_folder_is_never_packed(archive: Archive) -> None:
    partial = archive.root / partial_name(RUN)
    partial.mkdir(parents=True)
    (partial / "report.md").write_text("RECONCILED")
    with pytest.raises(ArchiveError, match=r"holds report\.md of an earlier attempt"):
        archive.publish(record())
    assert not (archive.root / RUN).exists()


def test_a_link_in_place_of_a_runs_folder_is_refused(archive: Archive, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    archive.root.mkdir()
    (archive.root / RUN).symlink_to(elsewhere)
    with pytest.raises(ArchiveError, match="is no folder"):
        archive.publish(record())
    (archive.root / RUN).unlink()
    (archive.root / partial_name(RUN)).symlink_to(elsewhere)
    with pytest.raises(ArchiveError, match="is no folder"):
        archive.publish(record())
    assert list(elsewhere.iterdir()) == []


def test_an_empty_folder_of_the_runs_name_is_taken(archive: Archive) -> None:
    (archive.root / RUN).mkdir(parents=True)
    archive.publish(record())
    assert archive.verify().intact


# -- open, then publish -----------------------------------------------------------


def test_an_opened_run_is_interrupted_until_it_is_published(archive: Archive) -> None:
    archive.open(RUN, "verify", OPENED)
    (only,) = archive.runs()
    assert (only.run, only.state, only.kind, only.opened_at, only.decision) == (
        RUN,
        "interrupted",
        "verify",
        OPENED,
        "",
    )
    with pytest.raises(UsageError, match="interrupted"):
        archive.load(RUN)
    archive.publish(record())
    assert [item.state for item in archive.runs()] == ["complete"]
    assert "opened.json" not in files_of(archive.root / RUN)
    assert archive.verify().intact


def test_a_partial_folder_without_its_note_is_interrupted_too(archive: Archive) -> None:
    (archive.root / partial_name(RUN)).mkdir(parents=True)
    assert [(item.run, item.state, item.kind) for item in archive.runs()] == [(RUN, "interrupted", "")]


def test_opening_the_same_run_twice_is_refused(archive: Archive) -> None:
    archive.open(RUN, "verify", OPENED)
    with pytest.raises(ArchiveError, match="a run id is used once"):
        archive.open(RUN, "verify", OPENED)


# -- latest and the order of runs ---------------------------------------------------


def test_latest_leads_to_the_newest_complete_verification_only(archive: Archive) -> None:
    archive.publish(capture())
    assert not (archive.root / "latest").is_symlink()
    archive.publish(record())
    assert (archive.root / "latest").readlink() == Path(RUN)
    archive.open(OTHER, "verify", OPENED)
    archive.publish(capture("20261202T000000Z-00000001"))
    assert (archive.root / "latest").readlink() == Path(RUN)
    archive.publish(record(OTHER))
    assert (archive.root / "latest").readlink() == Path(OTHER)
    assert archive.newest() == OTHER
    assert archive.newest("capture") == "20261202T000000Z-00000001"


def test_two_runs_of_one_second_are_both_kept_and_chained_in_the_order_they_ended(archive: Archive) -> None:
    later, earlier = "20261201T101500Z-00000001", "20261201T101500Z-ffffffff"
    archive.publish(record(earlier))
    archive.publish(record(later))
    assert run_json(archive, later)["previous"]["run"] == earlier
    assert archive.verify().intact
    archive.publish(record(RUN))
    assert run_json(archive)["previous"]["run"] == later
    assert archive.verify().intact


PUBLISH = """
import sys
from pinproof.archive import Archive
from tests.unit.archive_builder import record
for run in sys.argv[2:]:
    Archive(sys.argv[1]).publish(record(run))
"""


def publisher(archive: Archive, *runs: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PUBLISH, str(archive.root), *runs],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": f"{PROJECT / 'python'}{os.pathsep}{PROJECT}"},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_publish_at_once_make_one_chain(archive: Archive) -> None:
    mine = [f"20261201T101500Z-0000000{digit}" for digit in range(8)]
    workers = [publisher(archive, *mine[::2]), publisher(archive, *mine[1::2])]
    for worker in workers:
        _, said = worker.communicate(timeout=30)
        assert worker.returncode == 0, said
    check = archive.verify()
    assert check.intact, check.problems
    assert list(check.runs) == mine


def test_of_two_processes_with_one_run_id_one_is_refused(archive: Archive) -> None:
    workers = [publisher(archive, RUN), publisher(archive, RUN)]
    said = [worker.communicate(timeout=30)[1] for worker in workers]
    assert sorted(worker.returncode for worker in workers) == [0, 1]
    assert "a run id is used once" in "".join(said)
    assert archive.verify().intact


def test_a_lock_that_another_holds_is_told(archive: Archive) -> None:
    archive.root.mkdir()
    told = pytest.raises(ArchiveError, match=r"another process has held .*\.lock")
    with locked(archive.root), told, locked(archive.root, patience_s=0.05):
        pytest.fail("two hold the lock")


# -- crashes ----------------------------------------------------------------------


class Killed(BaseException):
    """The process ends here; nothing below may clean up after it."""


@contextlib.contextmanager
def killed_at(number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """End at the given one of all steps that reach the disk; gives the names of the steps that were begun."""
    begun: list[str] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            begun.append(name)
            if len(begun) > number:
                raise Killed
            return real(*arguments, **options)

        return step

    with monkeypatch.context() as patch:
        for owner, name in ((os, "fsync"), (Path, "rename"), (Path, "replace"), (Path, "symlink_to"), (Path, "unlink")):
            patch.setattr(owner, name, counted(name, getattr(owner, name)))
        with contextlib.suppress(Killed):
            yield begun


def steps_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    archive = Archive(tmp_path / "counted")
    archive.open(RUN, "verify", OPENED)
    with killed_at(10_000, monkeypatch) as begun:
        archive.publish(record())
    return begun


def test_a_run_killed_anywhere_is_complete_or_interrupted_and_never_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_disk(monkeypatch)
    steps = steps_of_a_run(tmp_path, monkeypatch)
    assert steps.index("rename") == len(steps) - 5  # then: folder, symlink_to, replace, folder
    for number in range(len(steps)):
        archive = Archive(tmp_path / str(number))
        archive.publish(capture())
        archive.open(RUN, "verify", OPENED)
        with killed_at(number, monkeypatch):
            archive.publish(record())
        states = {item.run: item.state for item in archive.runs()}
        assert states == {CAPTURE: "complete", RUN: "complete" if number > steps.index("rename") else "interrupted"}
        if states[RUN] == "interrupted":
            with pytest.raises(UsageError, match="interrupted"):
                archive.load(RUN)
            assert not (archive.root / "latest").is_symlink()
        else:
            assert archive.load(RUN).outcome is not None
            assert archive.newest() == RUN
        archive.publish(record(OTHER))
        check = archive.verify()
        assert check.intact, (number, check.problems)
        assert archive.newest() == OTHER


def test_a_process_that_is_killed_before_the_rename_leaves_an_interrupted_run(archive: Archive) -> None:
    die = "import os, pathlib\npathlib.Path.rename = lambda *a: os.kill(os.getpid(), 9)\n"
    done = subprocess.run(
        [sys.executable, "-c", die + PUBLISH, str(archive.root), RUN],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": f"{PROJECT / 'python'}{os.pathsep}{PROJECT}"},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert [(item.run, item.state) for item in archive.runs()] == [(RUN, "interrupted")]
    archive.publish(record(OTHER))  # the lock went with its holder
    assert archive.verify().intact


# -- no room, no right --------------------------------------------------------------


@pytest.fixture(name="small_disk")
def _small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no right to mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_an_error_and_never_a_verdict(small_disk: Path) -> None:
    archive = Archive(small_disk / "archive")
    archive.prepare()
    (small_disk / "ballast").write_bytes(b"-" * (236 << 10))
    with pytest.raises(ArchiveError, match=r"No space left on device; make room there") as told:
        archive.publish(record(manifest_text="#" * (64 << 10)))
    assert told.value.exit_code == 1
    assert [(item.run, item.state) for item in archive.runs()] == [(RUN, "interrupted")]
    with pytest.raises(ArchiveError, match=r"cannot write to .*make room there"):
        archive.prepare()


def test_a_read_only_file_system_is_told(small_disk: Path) -> None:
    archive = Archive(small_disk / "archive")
    archive.prepare()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(ArchiveError, match="read-only; name another archive"):
        archive.prepare()
    with pytest.raises(ArchiveError, match="read-only"):
        archive.publish(record())


def test_an_archive_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    archive = Archive(tmp_path / "file" / "archive")
    for attempt in (archive.prepare, lambda: archive.publish(record()), lambda: archive.open(RUN, "verify", OPENED)):
        with pytest.raises(ArchiveError, match="a part of this path is no folder"):
            attempt()


def test_an_error_in_the_middle_of_writing_is_told_and_leaves_no_run(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), str(path))

    monkeypatch.setattr(publish_module, "write_new", full)
    with pytest.raises(ArchiveError, match="quota exceeded; make room there"):
        archive.publish(record())
    assert [item.state for item in archive.runs()] == ["interrupted"]


def test_prepare_leaves_nothing_behind(archive: Archive) -> None:
    archive.prepare()
    assert list(archive.root.iterdir()) == []


def test_finished_is_not_before_opened_in_what_a_run_cost(archive: Archive) -> None:
    archive.publish(record(opened_at=FINISHED, finished_at=FINISHED))
    assert run_json(archive)["costs"]["wall_s"] == 0.0
    assert set(run_json(archive)["hosts"]) == set(HOSTS)
