"""Building the replica: the same bytes twice, in the right order, and only what is needed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from pinproof.errors import UsageError
from pinproof.replica import build as building
from pinproof.replica import site
from pinproof.replica.build import build, read_stamp
from pinproof.replica.site import Arm
from tests.unit.replica_snapshots import contents, differing

AT = 1792834200.0
EXPERIMENT = Arm("experiment", "off-1", "measured")
LOADED = (
    "srv/dsv41/legal-v2a/config.json",
    "srv/dsv41-k1/K1.sha256",
    "containers/dsv41/opt/dsv41/engine/VERSION",
    "containers/dsv41/opt/dsv41/engram/libo1shim.so",
    "containers/dsv41/usr/bin/python3.12",
)


@pytest.fixture(scope="module", name="built")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("build") / "replica"
    build(root, EXPERIMENT)
    return root


def start_of(tree: Path, program: str) -> float:
    """Give the start of a process from its stat and the boot time, in seconds since the epoch."""
    boot = next(line for line in (tree / "proc/stat").read_text().splitlines() if line.startswith("btime"))
    for entry in (tree / "proc").glob("[0-9]*"):
        words = (entry / "cmdline").read_bytes().split(b"\0")[:2]
        if any(word.rpartition(b"/")[2] == program.encode() for word in words):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            return int(boot.split()[1]) + int(fields[19]) / 100
    raise LookupError(program)


def changed(path: Path) -> float:
    info = path.lstat()
    return max(info.st_ctime_ns, info.st_mtime_ns) / 1e9


def test_two_builds_at_one_time_hold_the_same(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        build(tmp_path / "one", EXPERIMENT, AT)
        os.umask(0o002)
        build(tmp_path / "two", EXPERIMENT, AT)
    finally:
        os.umask(old)
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    trees = {path for path in differing(one, two) if "/" in path or path in site.HOSTS}
    assert trees == set()
    assert len(one) > 1000
    assert {name.split("/")[0] for name in one if "/" in name} == set(site.HOSTS)


def test_another_time_moves_nothing_but_starts(tmp_path: Path) -> None:
    build(tmp_path / "one", EXPERIMENT, AT)
    build(tmp_path / "two", EXPERIMENT, AT + 4000)
    starts = ("proc/", "docker.sock/", "recorded-tools/", "verify_runtime.json", "replica.json")
    other = differing(contents(tmp_path / "one"), contents(tmp_path / "two"))
    assert other
    assert [path for path in other if not any(part in path for part in starts)] == []


def test_processes_start_after_the_files_and_before_what_they_write(built: Path) -> None:
    for rank in site.RANKS:
        tree = built / rank.name
        start = start_of(tree, "vllm")
        assert all(changed(tree / path) < start for path in LOADED)
        assert changed(tree / "var/log/dsv41/verify_runtime.json") >= start
        assert start_of(tree, "dsv41-proxy") == start
    tree = built / "x86host"
    start = start_of(tree, "dspark-worker")
    assert changed(tree / "home/operator/dsv41-offload/prod/dspark-worker/fb68c52/bin/dspark-worker") < start
    assert changed(tree / "var/lib/dspark-worker/status.json") >= start
    assert start <= time.time()


def test_every_change_below_the_loaded_trees_is_older_than_the_start(built: Path) -> None:
    for rank in site.RANKS:
        tree = built / rank.name
        start = start_of(tree, "vllm")
        for folder in ("containers/dsv41/opt", "srv", "var/cache"):
            paths = [tree / folder, *(tree / folder).rglob("*")]
            assert max(changed(path) for path in paths) < start


def test_a_mount_shows_the_same_file(built: Path) -> None:
    tree = built / "sparkpeer"
    for source, destination, _ in site.MOUNTS:
        host = tree / source.lstrip("/")
        files = [path for path in host.rglob("*") if path.is_file()]
        assert files
        inside = tree / site.CONTAINER_ROOT.lstrip("/") / destination.lstrip("/")
        assert all(path.samefile(inside / path.relative_to(host)) for path in files)


def test_a_current_replica_is_left_alone(tmp_path: Path) -> None:
    assert build(tmp_path, EXPERIMENT).done == "built"
    before = {path: path.lstat().st_ctime_ns for path in tmp_path.rglob("*")}
    assert build(tmp_path, EXPERIMENT).done == "left alone"
    assert {path: path.lstat().st_ctime_ns for path in tmp_path.rglob("*")} == before


def test_another_arm_is_another_start_on_the_same_boot(tmp_path: Path) -> None:
    first = build(tmp_path)
    before = contents(tmp_path)
    second = build(tmp_path, Arm("experiment", "on", "diagnostic"))
    assert second.done == "switched"
    assert second.stamp.boot == first.stamp.boot
    assert second.stamp.hundredths > first.stamp.hundredths
    moved = differing(before, contents(tmp_path))
    assert {path.split("/")[0] for path in moved} == {"sparkhead", "sparkpeer", "replica.json"}
    assert all("/proc/" in path or "/run/" in path or "verify_runtime" in path for path in moved if "/" in path)
    for rank in site.RANKS:
        assert len(list((tmp_path / rank.name / "run/docker.sock").glob("*logs*"))) == 1
        engines = [path for path in (tmp_path / rank.name / "proc").glob("[0-9]*/comm") if path.read_text() == "vllm\n"]
        assert len(engines) == 1


@pytest.mark.parametrize(
    ("arm", "required", "replay", "audit"),
    [
        (site.PRODUCTION, "0", "0", "0"),
        (Arm("experiment", "off-1", "diagnostic"), "1", "0", "1"),
        (Arm("experiment", "off-1", "measured"), "1", "0", "0"),
        (Arm("experiment", "on", "diagnostic"), "1", "1", "1"),
        (Arm("experiment", "on", "measured"), "1", "1", "0"),
        (Arm("experiment", "off-2", "measured"), "1", "0", "0"),
    ],
)
def test_an_arm_differs_in_what_it_prescribes(arm: Arm, required: str, replay: str, audit: str) -> None:
    environment = site.container_environment(site.SPARKHEAD, arm)
    production = site.container_environment(site.SPARKHEAD, site.PRODUCTION)
    told = {name: environment[f"DSV41_{name}"] for name in ("ENGRAM_REQUIRED", "REPLAY", "AUDIT")}
    assert told == {"ENGRAM_REQUIRED": required, "REPLAY": replay, "AUDIT": audit}
    assert environment.keys() == production.keys()
    free = {"ENGRAM_REQUIRED", "REPLAY", "AUDIT", "RUN_LABEL", "RUN_ID", "CACHE_RESET"}
    assert {name for name in environment if environment[name] != production[name]} <= {f"DSV41_{name}" for name in free}


@pytest.mark.parametrize("spoil", ["fresh", "no stamp", "half a stamp", "other builder", "a time of its own"])
def test_what_is_not_current_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str) -> None:
    build(tmp_path)
    (tmp_path / "sparkhead/leftover").write_text("of an interrupted build")
    at = AT if spoil == "a time of its own" else None
    if spoil == "no stamp":
        (tmp_path / "replica.json").unlink()
    elif spoil == "half a stamp":
        (tmp_path / "replica.json").write_text('{"builder": ')
    elif spoil == "other builder":
        monkeypatch.setattr(building, "builder_version", lambda: "another")
    assert build(tmp_path, at=at, fresh=spoil == "fresh").done == "built"
    assert not (tmp_path / "sparkhead/leftover").exists()
    stamp = read_stamp(tmp_path)
    assert stamp is not None
    assert stamp.hundredths == AT * 100 if at else abs(stamp.hundredths / 100 - time.time()) < 60


def test_a_spoiled_replica_is_left_for_its_own_arm_and_built_for_another(tmp_path: Path) -> None:
    built = build(tmp_path)
    data = json.loads((tmp_path / "replica.json").read_text())
    (tmp_path / "replica.json").write_text(json.dumps({**data, "spoiled": ["k1"]}))
    again = build(tmp_path, built.stamp.arm)
    assert (again.done, again.stamp.spoiled) == ("left alone", ("k1",))
    other = build(tmp_path, EXPERIMENT)
    assert (other.done, other.stamp.spoiled) == ("built", ())


def test_a_folder_of_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "sparkhead").mkdir()
    (tmp_path / "sparkhead/thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something that is no replica"):
        build(tmp_path)
    assert (tmp_path / "sparkhead/thesis.txt").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError):
        build(tmp_path / "file")


def test_the_builder_version_follows_the_code() -> None:
    assert len(building.builder_version()) == 16
    assert building.builder_version() == building.builder_version()
