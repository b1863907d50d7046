"""`verify` and `capture`: the exit code is the archived verdict's, whatever the playbook returned."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinproof import checkout, cli, playbook_run
from pinproof.archive import Archive
from pinproof.outcome import Outcome
from pinproof.playbook_run import Heard, Request
from pinproof.verdicts import Verdict
from tests.unit.archive_builder import (
    HOSTS,
    RUN,
    capture,
    hosts,
    outcome,
    pin_verdict,
    quick_disk,
    record,
    row_verdict,
    stopped,
)
from tests.unit.manifest_texts import EXPERIMENT, text_of

TESTS = Path(__file__).resolve().parents[1]
PROJECT = TESTS.parent
OPENED = "2026-12-01T10:15:00Z"


@pytest.fixture(name="project")
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in miniature, with the real callback."""
    project = tmp_path / "project"
    shutil.copytree(TESTS / "cases" / "cli" / "project", project)
    (project / "plugins" / "callback").mkdir(exist_ok=True)
    shutil.copy(PROJECT / "plugins" / "callback" / "pinproof.py", project / "plugins" / "callback")
    (project / "plugins" / "action" / "tests.json").write_text(json.dumps(str(PROJECT)))
    monkeypatch.setattr(checkout, "find_checkout", lambda: project)
    return project


@pytest.fixture(name="manifest")
def _manifest(tmp_path: Path) -> Path:
    path = tmp_path / "m.yml"
    path.write_text(text_of("{at: serve.user, is: root}", tail=EXPERIMENT), encoding="utf-8")
    return path


Play = Callable[[Request, Archive], Heard]


@pytest.fixture(name="play")
def _play(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Play], list[Request]]:
    """Put something in the place of the playbook."""
    quick_disk(monkeypatch)

    def put(what: Play) -> list[Request]:
        asked: list[Request] = []

        def run(request: Request, say: Callable[[str], None]) -> Heard:
            asked.append(request)
            say("looking ...\n")
            archive = request.variables.get("pinproof_archive", str(request.checkout / "archive"))
            return what(request, Archive(archive))

        monkeypatch.setattr(playbook_run, "run_playbook", run)
        return asked

    return put


def said_nothing(request: Request, archive: Archive) -> Heard:
    return Heard(code=0)


def comes_to(judged: Outcome) -> Play:
    def play(request: Request, archive: Archive) -> Heard:
        archive.publish(record(request.run, dataclasses.replace(judged, run=request.run)))
        return Heard(code=0)

    return play


# -- exit codes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judged", "code"),
    [
        (outcome(), 0),
        (outcome(row_verdict(pin_verdict(Verdict.DRIFT))), 0),
        (outcome(row_verdict(pin_verdict(Verdict.HOLD))), 3),
        (outcome(row_verdict(pin_verdict(Verdict.NOT_RUN))), 3),
        (outcome(row_verdict(pin_verdict(Verdict.REFUSED))), 2),
        (stopped(), 2),
    ],
)
def test_verify_ends_as_the_archived_verdict_says(play: Any, judged: Outcome, code: int) -> None:
    play(comes_to(judged))
    assert cli.main(["verify"]) == code


@pytest.mark.parametrize(("given", "code"), [(HOSTS, 0), ((), 3)])
def test_capture_ends_well_when_it_is_complete(play: Any, given: tuple[str, ...], code: int) -> None:
    def captures(request: Request, archive: Archive) -> Heard:
        archive.publish(capture(request.run, hosts=hosts(request.run) if given else ()))
        return Heard(code=0)

    asked = play(captures)
    assert cli.main(["capture"]) == code
    assert asked[0].playbook == "capture.yml"


@pytest.mark.parametrize("code", [0, 2, 4, 250, None])
def test_without_an_archived_run_there_is_no_verdict(
    play: Any, code: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = play(lambda request, archive: Heard(code=code, started=True))
    assert cli.main(["verify"]) == 3
    said = capsys.readouterr().err
    assert said == (f"pinproof: no verdict: run {asked[0].run} was not archived: ansible-playbook ended with {code}\n")


def test_the_verdict_of_another_run_does_not_count(play: Any, project: Path) -> None:
    Archive(project / "archive").publish(record())
    play(said_nothing)
    assert cli.main(["verify"]) == 3


def test_an_interrupted_run_does_not_count(play: Any) -> None:
    def opens(request: Request, archive: Archive) -> Heard:
        archive.open(request.run, "verify", OPENED)
        return Heard(code=0)

    play(opens)
    assert cli.main(["verify"]) == 3


def test_a_capture_in_the_place_of_a_verdict_does_not_count(play: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def captures(request: Request, archive: Archive) -> Heard:
        archive.publish(capture(request.run, hosts=hosts(request.run)))
        return Heard(code=0)

    play(captures)
    assert cli.main(["verify"]) == 3
    assert "is a capture, where a verify was asked for" in capsys.readouterr().err


def test_a_run_that_was_changed_after_it_was_archived_is_no_verdict(play: Any) -> None:
    def spoils(request: Request, archive: Archive) -> Heard:
        folder = archive.publish(record(request.run))
        (folder / "added").write_text("")
        return Heard(code=0)

    play(spoils)
    assert cli.main(["verify"]) == 1


@pytest.mark.parametrize(
    ("failures", "code", "said"),
    [
        ([("open_run", "m.yml:1:2: wrong\nm.yml:3:4: wrong", None)], 78, "m.yml:1:2: wrong (and 1 more, above)"),
        ([("open_run", "the archive: cannot write to /x: No space left", None)], 1, "No space left"),
        ([("reconcile", "the archive: cannot write to /x: No space left", None)], 1, "No space left"),
        ([("reconcile", "no such leg", 64)], 64, "no such leg"),
        ([("reconcile", "odd", 0)], 3, "was not archived: odd"),
        ([("gather", "odd", None), ("gather", "odd", None)], 3, "was not archived: odd\n"),
    ],
)
def test_what_failed_on_the_way_decides_which_error_it_is(
    play: Any,
    failures: list[tuple[str, str, int | None]],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    play(lambda request, archive: Heard(failures=failures, started=True, code=2))
    assert cli.main(["verify"]) == code
    told = capsys.readouterr().err
    assert told.startswith("pinproof: no verdict: ")
    assert said in told


def test_a_limit_that_fits_no_host_is_wrong_usage(play: Any, capsys: pytest.CaptureFixture[str]) -> None:
    play(lambda request, archive: Heard(last=["[ERROR]: Could not match supplied host pattern, ignoring: x"], code=1))
    assert cli.main(["verify", "--limit", "x"]) == 64
    assert "no host of the inventory fits --limit x" in capsys.readouterr().err


def test_the_archive_is_where_the_inventory_put_it(play: Any, tmp_path: Path) -> None:
    def elsewhere(request: Request, archive: Archive) -> Heard:
        folder = Archive(tmp_path / "elsewhere").publish(record(request.run, stopped(request.run)))
        return Heard(archived=str(folder), code=0)

    play(elsewhere)
    assert cli.main(["verify"]) == 2


# -- before anything is started ----------------------------------------------------------


def test_a_bad_manifest_is_found_before_anything_is_started(
    play: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = play(said_nothing)
    bad = tmp_path / "bad.yml"
    bad.write_text("manifest: x\nrows: []\nodd: 1\n")
    assert cli.main(["verify", "--manifest", str(bad)]) == 78
    assert cli.main(["capture", "--manifest", str(tmp_path / "none.yml")]) == 78
    assert asked == []
    assert "bad.yml:3:1: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--leg", "of-1"], 64, "has no leg 'of-1'; did you mean 'off-1'?"),
        (["--start", "mesured"], 64, "has no start 'mesured'; did you mean 'measured'?"),
        (["--inventory", "/none/such"], 78, "there is no inventory /none/such"),
        (["--label", "{{ lookup('pipe', 'id') }}"], 64, "--label holds the beginning of a template"),
        (["--limit", "a{% b"], 64, "--limit holds the beginning of a template"),
        (["--label", "a\nb"], 64, "is not printable"),
        (["--limit=-x"], 64, "--limit begins with a dash"),
        (["--tags=--check"], 64, "--tags begins with a dash"),
        (["--archive", "/proc/none"], 1, "the archive: cannot make /proc/none"),
    ],
)
def test_what_does_not_fit_is_found_before_anything_is_started(
    play: Any, manifest: Path, words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = play(said_nothing)
    assert cli.main(["verify", "--manifest", str(manifest), *words]) == code
    assert said in capsys.readouterr().err
    assert asked == []


def test_options_become_what_the_playbook_is_told(play: Any, manifest: Path, tmp_path: Path) -> None:
    asked = play(comes_to(outcome()))
    inventory = tmp_path / "hosts.yml"
    inventory.touch()
    words = ["--leg", "off-1", "--start", "measured", "--label", "a label", "--baseline", RUN, "-l", "ranks", "-t", "x"]
    words += ["--manifest", str(manifest), "--inventory", str(inventory), "--archive", str(tmp_path / "runs")]
    assert cli.main(["verify", *words]) == 0
    (request,) = asked
    assert dict(request.variables) == {
        "pinproof_run": request.run,
        "pinproof_manifest": str(manifest),
        "pinproof_archive": str(tmp_path / "runs"),
        "pinproof_leg": "off-1",
        "pinproof_start": "measured",
        "pinproof_label": "a label",
        "pinproof_baseline": RUN,
    }
    assert (request.playbook, request.inventory, request.limit, request.tags) == (
        "verify.yml",
        str(inventory),
        "ranks",
        "x",
    )


def test_without_options_everything_is_the_inventorys(play: Any) -> None:
    asked = play(comes_to(outcome()))
    assert cli.main(["verify"]) == 0
    assert set(asked[0].variables) == {"pinproof_run"}
    assert cli.main(["verify", "-i", "one,two,"]) == 0
    assert asked[1].inventory == "one,two,"
    assert asked[0].run != asked[1].run


def test_a_reader_that_goes_away_does_not_end_the_run(
    play: Any, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    class Gone:
        encoding = "utf-8"

        def write(self, text: str) -> None:
            raise BrokenPipeError

        def flush(self) -> None:
            """Nothing was written."""

    play(comes_to(stopped()))
    monkeypatch.setattr(sys, "stdout", Gone())
    assert cli.main(["verify"]) == 2


# -- what is heard ----------------------------------------------------------------------


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"event": kind, "stdout": "", "event_data": data}


def test_failures_of_our_own_tasks_are_heard_and_verdicts_are_no_failures() -> None:
    heard = Heard()
    heard.note(event("playbook_on_start"))
    assert not heard.started
    heard.note(event("playbook_on_task_start"))
    heard.note(event("runner_on_failed", task_action="shell", res={"msg": "other"}))
    heard.note(event("runner_on_failed", task_action="open_run", res={"msg": "bad", "exit_code": 78}))
    heard.note(event("runner_on_failed", task_action="gather", res={"msg": "odd", "exit_code": True}))
    heard.note(event("runner_on_failed", task_action="reconcile", res={"report": "STOP", "archived": "/a/b"}))
    heard.note({"event": "verbose", "stdout": "one\r\ntwo"})
    heard.note({"event": "runner_on_ok", "stdout": "", "event_data": None})
    assert heard.started
    assert heard.failures == [("open_run", "bad", 78), ("gather", "odd", None)]
    assert heard.archived == "/a/b"
    assert heard.last == ["one", "two"]


def test_the_environment_of_the_playbook_is_clean(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANSIBLE_LIBRARY", "ANSIBLE_HOST_KEY_CHECKING", "SECRET_TOKEN", "PYTHONPATH", "LD_PRELOAD"):
        monkeypatch.setenv(name, "caller")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    found = playbook_run.clean_environment(project)
    assert "caller" not in found.values()
    assert found["ANSIBLE_HOST_KEY_CHECKING"] == "True"
    assert found["ANSIBLE_CONFIG"] == str(project / "ansible.cfg")
    assert found["LC_ALL"] == "C.UTF-8"
    assert found["SSH_AUTH_SOCK"] == "/agent"
    assert found["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_a_missing_ansible_is_told(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["verify"]) == 1


# -- through ansible-runner ------------------------------------------------------------------


def runner_folders() -> set[Path]:
    return {path for path in Path(tempfile.gettempdir()).glob("pinproof-*") if (path / "artifacts").exists()}


def test_a_real_run_streams_its_output_and_ends_as_archived(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", "minimal")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))  # other runs have folders of their own
    before = runner_folders()
    archive = tmp_path / "archive"
    assert cli.main(["verify", "--archive", str(archive), "--label", "stop"]) == 2
    told = capsys.readouterr()
    assert told.out.endswith("reported stop\nin two lines\n")
    assert told.err == ""
    (summary,) = Archive(archive).runs()
    assert (summary.state, summary.decision) == ("complete", "STOP")
    environment = json.loads((tmp_path / "environment.json").read_text())
    assert "SECRET_TOKEN" not in environment
    assert environment["ANSIBLE_HOST_KEY_CHECKING"] == "True"
    assert runner_folders() <= before
    assert os.environ["SECRET_TOKEN"] == "hunter2"


def test_a_real_run_that_only_says_that_it_matches_is_no_verdict(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["verify", "--archive", str(tmp_path / "archive"), "--label", "nothing"]) == 3
    told = capsys.readouterr()
    assert "RECONCILED: 34 of 34 rows match" in told.out
    assert "no verdict: run " in told.err
    assert "ansible-playbook ended with 0" in told.err


def test_an_interrupt_ends_the_playbook_and_leaves_the_run_interrupted(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sleeping = tmp_path / "sleeping"

    def interrupt() -> None:
        end = time.monotonic() + 30
        while not sleeping.exists() and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        assert cli.main(["verify", "--archive", str(tmp_path / "archive"), "--label", "sleep"]) == 130
    finally:
        thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert capsys.readouterr().err == "pinproof: interrupted\n"
    assert [item.state for item in Archive(tmp_path / "archive").runs()] == ["interrupted"]
    worker = int(sleeping.read_text())
    gone = subprocess.run(["ps", "-o", "stat=", "-p", str(worker)], capture_output=True, text=True, check=False)
    assert gone.stdout.strip()[:1] in ("", "Z")
