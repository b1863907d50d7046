"""`show`, `explain`, `runs` and `archive verify`: what they print, and that only RECONCILED is 0."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from pinproof import cli
from pinproof.archive import Archive
from pinproof.checkout import default_archive, find_checkout
from pinproof.errors import UsageError
from pinproof.verdicts import Verdict
from tests.unit.archive_builder import (
    CAPTURE,
    RUN,
    capture,
    outcome,
    pin_verdict,
    quick_disk,
    record,
    row_verdict,
    stopped,
)

HELD = "20261201T111500Z-00000002"
STOPPED = "20261201T121500Z-00000003"


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    quick_disk(monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")
    archive = Archive(tmp_path / "archive")
    archive.publish(capture())
    archive.publish(record())
    return archive


def later(run: str, judged: Any, hour: int) -> Any:
    moments = {"opened_at": f"2026-12-01T{hour}:15:00Z", "finished_at": f"2026-12-01T{hour}:15:02Z"}
    return record(run, dataclasses.replace(judged, run=run), **moments)


def run(archive: Archive, *words: str) -> int:
    return cli.main([*words, "--archive", str(archive.root)])


def test_show_prints_the_report_of_the_newest_verification(
    archive: Archive, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(archive, "show") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("RECONCILED: 1 of 1 row matches\n")
    assert f"archived in {archive.root / RUN}\n" in shown
    assert shown.endswith("RECONCILED: 1 of 1 row matches. This authorises no staging and no change.\n")


def test_what_shows_a_verdict_ends_with_its_exit_code(archive: Archive) -> None:
    archive.publish(later(HELD, outcome(row_verdict(pin_verdict(Verdict.NOT_RUN))), 11))
    assert run(archive, "show") == 3
    archive.publish(later(STOPPED, stopped(), 12))
    assert run(archive, "show") == 2
    assert run(archive, "show", HELD) == 3
    assert run(archive, "show", RUN) == 0


def test_a_capture_can_not_be_taken_for_a_pass(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "show", CAPTURE) == 3
    shown = capsys.readouterr().out
    assert shown.startswith("CAPTURED: 3 looks on 2 hosts\n")
    assert "captured, never a pass" in shown


def test_show_in_other_formats(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "show", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == outcome().as_json()
    assert run(archive, "show", "--format", "markdown") == 0
    assert capsys.readouterr().out == (archive.root / RUN / "report.md").read_text()
    assert run(archive, "show", CAPTURE, "--format", "json") == 3
    assert json.loads(capsys.readouterr().out)["kind"] == "capture"


def test_colour_only_when_asked(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    run(archive, "show")
    assert "\x1b" not in capsys.readouterr().out
    run(archive, "show", "--colour")
    assert "\x1b[32m" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["20261201", "20261201T101500Z-5f3a9c", "5f3a9c1e", RUN, "latest"])
def test_a_run_can_be_named_by_a_part(archive: Archive, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "show", name) == 0
    assert RUN in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("2026", "may be any of 2 runs"),
        ("20261201T101500Z-5f3a9c1f", "there is no run 20261201T101500Z-5f3a9c1f"),
        ("lastest", "there is no run 'lastest'"),
        ("../x", "there is no run '../x'"),
        ("nope", f"the newest are {RUN}, {CAPTURE}"),
    ],
)
def test_a_run_that_is_not_there_is_wrong_usage(
    archive: Archive, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(archive, "show", name) == 64
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err


def test_an_archive_without_verifications_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Archive(tmp_path / "none"), "show") == 64
    assert "there is no verification in" in capsys.readouterr().err


def test_a_damaged_run_shows_no_verdict(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    path = archive.root / RUN / "verdict.json"
    path.write_text(path.read_text().replace("v5", "v6"))
    assert run(archive, "show") == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "verdict.json was changed" in told.err


def test_an_interrupted_run_shows_no_verdict(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    archive.open(HELD, "verify", "2026-12-01T11:15:00Z")
    assert run(archive, "show", HELD) == 64
    assert "interrupted" in capsys.readouterr().err
    assert run(archive, "show") == 0


# -- explain -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "code"), [("image", 2), ("gpus", 3), ("gpus/worker_gpu.uuids", 3), ("image/same", 3)])
def test_explain_ends_with_the_verdict_it_explains(
    archive: Archive, name: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.publish(later(STOPPED, stopped(), 12))
    assert run(archive, "explain", name) == code
    shown = capsys.readouterr().out
    assert shown.startswith(f"run {STOPPED}\n\n")
    assert name.split("/", maxsplit=1)[0] in shown


def test_explain_takes_another_run(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    archive.publish(later(STOPPED, stopped(), 12))
    assert run(archive, "explain", "image", "--run", RUN) == 0
    shown = capsys.readouterr().out
    assert "image/serve.image.tag on sparkhead: MATCH, loaded evidence" in shown
    assert "  source    /run/docker.sock GET /containers/dsv41/json" in shown


def test_explain_of_an_unknown_name_tells_the_nearest(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "explain", "imgae") == 64
    told = capsys.readouterr()
    assert told.out == ""
    assert "has no row or pin 'imgae'; did you mean 'image'?" in told.err


def test_a_capture_explains_nothing(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "explain", "image", "--run", CAPTURE) == 64
    assert "is a capture; there is no verdict to explain" in capsys.readouterr().err


# -- runs ----------------------------------------------------------------------------


def test_runs_lists_everything_that_was_begun(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    archive.publish(later(HELD, outcome(row_verdict(pin_verdict(Verdict.HOLD))), 11))
    archive.open(STOPPED, "verify", "2026-12-01T12:15:00Z")
    damaged = archive.root / "20261202T000000Z-00000004"
    damaged.mkdir()
    (damaged / "run.json").write_text("{}")
    assert run(archive, "runs") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:-1]] == [
        ["run", "kind", "outcome", "manifest", "arm", "label"],
        [CAPTURE, "capture", "CAPTURED", "small", "-", "-"],
        [RUN, "verify", "RECONCILED", "small", "off-1/measured", "-"],
        [HELD, "verify", "HOLD", "small", "off-1/measured", "-"],
        [STOPPED, "verify", "interrupted", "-", "-", "-"],
        [damaged.name, "-", "damaged", "-", "-", "-"],
    ]
    assert lines[-1].startswith(f"{damaged.name}: the archive: ")


def test_no_runs_are_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Archive(tmp_path / "none"), "runs") == 0
    assert "there are no runs in" in capsys.readouterr().out


# -- archive verify --------------------------------------------------------------------


def test_an_intact_archive(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "archive", "verify") == 0
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first == "INTACT: 2 runs, files as they were written, in one chain"
    assert second.startswith(f"the newest run is {RUN}, the sha256 of its SHA256SUMS ")
    assert run(archive, "archive", "verify", "--at-least", "sums", "5f3a9c1e") == 0
    assert capsys.readouterr().out.startswith("INTACT: 1 run, files as they were written\n")
    assert run(archive, "archive", "verify", "5f3a9c1e") == 0
    assert capsys.readouterr().out.startswith("INTACT: 1 run, files as they were written, linked to the run before\n")


def test_one_file_added_to_a_run_is_told(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    (archive.root / RUN / "facts" / "z\x1b.json").write_text("")
    assert run(archive, "archive", "verify") == 1
    assert capsys.readouterr().out == f"{RUN}: facts/z\\u001b.json was added\nNOT INTACT: 1 of 2 runs\n"


def test_an_empty_archive_is_not_intact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Archive(tmp_path / "none"), "archive", "verify") == 1
    assert capsys.readouterr().out.startswith("NOT INTACT: there are no complete runs in")


def test_a_run_to_check_that_is_not_there_is_wrong_usage(archive: Archive) -> None:
    assert run(archive, "archive", "verify", "20261201T101500Z-00000000") == 64


# -- the checkout ------------------------------------------------------------------------


def test_the_archive_is_the_checkouts_own() -> None:
    assert default_archive() == find_checkout() / "archive"
    assert (find_checkout() / "playbooks" / "verify.yml").is_file()


def test_installed_elsewhere_the_checkout_is_the_one_worked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinproof import checkout

    monkeypatch.setattr(checkout, "__file__", str(tmp_path / "lib" / "site-packages" / "pinproof" / "checkout.py"))
    inside = tmp_path / "work" / "docs"
    for name in ("plugins/action", "playbooks", "docs"):
        (tmp_path / "work" / name).mkdir(parents=True)
    (tmp_path / "work" / "ansible.cfg").touch()
    monkeypatch.chdir(inside)
    with pytest.raises(UsageError, match="is in a checkout"):
        find_checkout()
    (tmp_path / "work" / "playbooks" / "verify.yml").touch()
    assert find_checkout() == tmp_path / "work"
