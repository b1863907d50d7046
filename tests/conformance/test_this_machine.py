"""`pinproof here`: the machine one sits at, its own files, processes and container engine, with no replica."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.conftest import DockerEngine
from tests.e2e.playbooks import Ended, pinproof, verdicts_of

pytestmark = pytest.mark.xdist_group("docker")


def here(folder: Path, *arguments: str) -> Ended:
    return pinproof("here", "--folder", str(folder), *arguments)


def verdict(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "archive/latest/verdict.json").read_text())
    return data


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "here"
    here(tmp_path / "here", "--end")


def process_of(folder: Path) -> int:
    return int((folder / "process.pid").read_text())


def test_this_machine_reconciles_and_a_spoiled_file_stops_it(folder: Path) -> None:
    ended = here(folder)
    assert ended.code == 0, ended.all
    assert "RECONCILED" in ended.out.splitlines()[-1]
    assert set(verdicts_of(verdict(folder))) == {"checkout", "unit", "process", "machine"}
    with (folder / "settings.env").open("a") as out:
        out.write("PAIR=4\n")
    ended = here(folder)
    assert ended.code == 2, ended.all
    assert verdict(folder)["decision"] == "STOP"
    assert verdicts_of(verdict(folder))["checkout"] == "MISMATCH"
    assert verdicts_of(verdict(folder))["process"] == "MATCH"


def test_a_process_that_ended_is_started_again_and_one_with_another_environment_is_refused(folder: Path) -> None:
    assert here(folder).code == 0
    first = process_of(folder)
    os.kill(first, signal.SIGKILL)
    assert here(folder).code == 0
    assert process_of(folder) != first
    assert here(folder, "--end").code == 0
    spoiled = os.fork()
    if spoiled == 0:
        os.setsid()
        os.execve("/usr/bin/sleep", ["sleep", "86400"], {"PATH": "/usr/bin:/bin", "PINPROOF_PAIR": "03"})
    try:
        (folder / "process.pid").write_text(f"{spoiled}\n")
        ended = here(folder)
        assert ended.code == 2, ended.all
        assert verdicts_of(verdict(folder))["process"] == "REFUSED"
    finally:
        os.kill(spoiled, signal.SIGKILL)
        os.waitpid(spoiled, 0)


def test_a_container_of_a_real_engine(folder: Path, docker_engine: DockerEngine) -> None:
    docker_engine.run("here", "/bin/sleeper", "serve")
    arguments = ("--container", "here", "--socket", docker_engine.socket)
    try:
        ended = here(folder, *arguments)
        assert ended.code == 0, ended.all
        assert verdicts_of(verdict(folder))["container"] == "MATCH"
        docker_engine.load("demo:v6", "ENV BAKED=2")
        docker_engine.docker("rm", "-f", "here")
        docker_engine.docker("tag", "demo:v6", "demo:v5")
        docker_engine.run("here", "/bin/sleeper", "serve")
        ended = here(folder, *arguments)
        assert ended.code == 2, ended.all
        container = next(item for item in verdict(folder)["rows"] if item["id"] == "container")
        told = {pin["at"]: pin["verdict"] for pin in container["pins"]}
        assert told["serve.image.content"] == "MISMATCH"
        assert told["serve.image.tag_names_running"] == "MATCH"
        docker_engine.docker("rm", "-f", "here")
        ended = here(folder, *arguments)
        assert ended.code == 2, ended.all
    finally:
        docker_engine.load("demo:v5", "ENV BAKED=1", "LABEL origin=test")


def test_an_engine_that_does_not_answer_holds(folder: Path) -> None:
    ended = here(folder, "--container", "here", "--socket", str(folder / "no.sock"))
    assert ended.code == 3, ended.all
    assert "no container engine listens there" in ended.all
    assert "Traceback" not in ended.all
