"""`pinproof replica` on the command line, and the replica with a baseline."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from pinproof import cli_replica
from pinproof.archive import Archive
from pinproof.errors import PinproofError, UsageError
from pinproof.replica import baseline as baselines
from pinproof.replica.baseline import build_with_baseline
from pinproof.replica.build import build, read_stamp
from pinproof.replica.site import Arm
from tests.unit.archive_builder import capture

MANIFEST = Path(__file__).resolve().parents[2] / "inventory/manifests/up2-low-cap.yml"
EXPERIMENT = Arm("experiment", "off-1", "measured")


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    cli_replica.add_parser(parser.add_subparsers(required=True))
    arguments = parser.parse_args(["replica", *words])
    code: int = arguments.run(arguments)
    return code


def test_build_list_drift_and_reset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--root", str(tmp_path)]
    assert run("build", *root) == 0
    assert "built, production, started 20" in capsys.readouterr().out
    assert run("build", *root, "--state", "experiment", "--leg", "on", "--start", "diagnostic") == 0
    assert "switched, experiment, leg on, diagnostic start" in capsys.readouterr().out
    assert (
        run("drift", "k1/engine.env", *root, "--host", "sparkpeer", "--key", "K1_FOO", "--manifest", str(MANIFEST)) == 0
    )
    assert "k1/engine.env on sparkpeer: K1_FOO=1" in capsys.readouterr().out
    assert run("list", *root) == 0
    listed = capsys.readouterr().out
    assert "spoiled: k1/engine.env on sparkpeer: K1_FOO=1" in listed
    assert all(str(tmp_path / host) in listed for host in ("sparkhead", "sparkpeer", "x86host", "coordinator"))
    assert run("build", *root, "--state", "experiment", "--leg", "on", "--start", "diagnostic") == 0
    assert "left alone" in (told := capsys.readouterr().out)
    assert "still spoiled" in told
    assert run("reset", *root) == 0
    assert "built, experiment, leg on" in capsys.readouterr().out
    stamp = read_stamp(tmp_path)
    assert stamp is not None
    assert stamp.spoiled == ()
    assert all(b"K1_FOO" not in path.read_bytes() for path in (tmp_path / "sparkpeer/proc").glob("*/environ"))


def test_drift_takes_the_pins_first_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path)
    assert (
        run("drift", "resource-floor/machine.memory.available", "--root", str(tmp_path), "--manifest", str(MANIFEST))
        == 0
    )
    assert "on sparkhead: 1 GiB" in capsys.readouterr().out


def test_list_shows_the_pins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path)
    assert run("list", "--pins", "--root", str(tmp_path), "--manifest", str(MANIFEST)) == 0
    assert "  k1/engine.env on sparkhead, sparkpeer\n" in capsys.readouterr().out


def test_a_time_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", "--root", str(tmp_path), "--at", "2026-10-24T09:15:00Z") == 0
    assert "started 2026-10-24T09:15:00.000Z" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["build", "--leg", "on"],
        ["build", "--start", "diagnostic", "--state", "production"],
        ["build", "--with-baseline", "--state", "production"],
        ["build", "--with-baseline", "--fresh"],
        ["list"],
        ["reset"],
        ["drift", "k1/engine.env"],
    ],
)
def test_what_does_not_fit_is_a_usage_error(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(UsageError):
        run(*words, "--root", str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("time", ["yesterday", "2026-10-24T09:15:00", "24.10.2026"])
def test_a_time_without_zone_is_refused(tmp_path: Path, time: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("build", "--root", str(tmp_path), "--at", time)
    assert "2026-10-24T09:15:00Z" in capsys.readouterr().err


# -- with a baseline ----------------------------------------------------------------
class Captures:
    """Stands in for the playbook: notes in which state the replica was captured."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.states: list[str] = []

    def __call__(self, root: Path, _manifest: Path, archive: Path) -> None:
        stamp = read_stamp(root)
        assert stamp is not None
        self.states.append(stamp.arm.state)
        if self.names:
            run_folder = archive / self.names.pop(0)
            run_folder.mkdir(parents=True)
            (run_folder / "run.json").write_text("{}")


def test_production_is_captured_once(tmp_path: Path) -> None:
    captures, archive = Captures("first", "second"), tmp_path / "archive"
    built = build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, archive, captures)
    assert (built.done, built.stamp.arm, Path(built.stamp.baseline)) == ("switched", EXPERIMENT, archive / "first")
    again = build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, archive, captures)
    assert (again.done, captures.states) == ("left alone", ["production"])
    build(tmp_path / "replica", EXPERIMENT, fresh=True)
    assert build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, archive, captures).done == "left alone"
    assert captures.states == ["production"]


@pytest.mark.parametrize("lost", ["archive", "manifest"])
def test_a_lost_or_old_baseline_is_captured_again(tmp_path: Path, lost: str) -> None:
    captures, archive = Captures("first", "second"), tmp_path / "archive"
    manifest = tmp_path / "manifest.yml"
    manifest.write_text("one")
    build_with_baseline(tmp_path / "replica", EXPERIMENT, manifest, archive, captures)
    if lost == "archive":
        (archive / "first").rename(archive / "gone")
    else:
        manifest.write_text("two")
    built = build_with_baseline(tmp_path / "replica", EXPERIMENT, manifest, archive, captures)
    assert captures.states == ["production", "production"]
    assert Path(built.stamp.baseline) == archive / "second"


def test_a_capture_made_since_is_not_left_to_be_the_baseline(tmp_path: Path) -> None:
    """What runs are compared with is the archive's newest capture, whoever made it and of whatever state."""
    captures, archive = Captures("first", "second"), Archive(tmp_path / "archive")
    build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, archive.root, captures)
    archive.publish(capture())
    built = build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, archive.root, captures)
    assert captures.states == ["production", "production"]
    assert (built.stamp.arm, Path(built.stamp.baseline)) == (EXPERIMENT, archive.root / "second")


def test_a_baseline_of_another_archive_is_captured_again(tmp_path: Path) -> None:
    captures = Captures("first", "second")
    for archive in ("one", "two"):
        build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, tmp_path / archive, captures)
    assert captures.states == ["production", "production"]


def test_a_capture_that_leaves_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PinproofError, match="left no run"):
        build_with_baseline(tmp_path / "replica", EXPERIMENT, MANIFEST, tmp_path / "archive", Captures())


def test_a_playbook_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "bin/ansible-playbook"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "it broke: $1 $2"\nexit 4\n')
    monkeypatch.setattr(baselines.sys, "executable", str(tmp_path / "bin/python3"))
    with pytest.raises(PinproofError, match="does not start"):
        baselines.run_playbook(tmp_path, MANIFEST, tmp_path)
    tool.chmod(0o755)
    with pytest.raises(PinproofError, match=r"ended with 4:\nit broke: playbooks/capture.yml --check"):
        baselines.run_playbook(tmp_path, MANIFEST, tmp_path)
