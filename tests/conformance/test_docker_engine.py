"""What the collectors tell of a real engine's containers is what the engine's own client tells."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._observation import Absent, LookError, Observation
from plugins.module_utils._root import HostRoot
from plugins.modules import image_facts, process_facts

from tests.conformance.conftest import DockerEngine

# One engine is enough, where workers are given whole groups.
pytestmark = pytest.mark.xdist_group("docker")

DISCLOSE = {"plain": ["*"], "key": "00"}
LOG = {
    "markers": {"k1": r"^\[k1\] engaged pair=3$", "dspark": r"\[dspark\] engaged tokens=5$", "disarmed": "disarmed"},
    "values": {"tokens": r"tokens=([0-9]+)"},
}


def look(engine: DockerEngine, kind: str, **params: Any) -> Observation:
    request = {
        "kind": kind,
        "params": {"socket": engine.socket, **params},
        "now": time.time(),
        "disclose": DISCLOSE,
    }
    collector = process_facts if kind == "process" else image_facts
    return collector.collect(request, HostRoot())


def inspected(engine: DockerEngine, name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(engine.docker("inspect", name))[0]
    return told


def until(engine: DockerEngine, name: str, lines: int) -> None:
    """Wait until the container has written this many lines."""
    for _ in range(200):
        if engine.lines_written(name) >= lines:
            return
        time.sleep(0.05)
    raise AssertionError(f"{name} has not written {lines} lines")


@pytest.fixture(name="serve", scope="module")
def _serve(docker_engine: DockerEngine) -> Iterator[DockerEngine]:
    options = ("-e", "FOO=1", "-e", "TEXT=two\nlines", "-v", f"{docker_engine.folder}:/opt/mounted/here:ro")
    options += ("--tmpfs", "/scratch:ro", "--mount", "type=volume,src=cache,dst=/var/cache/x", "--user", "0:0")
    docker_engine.run("serve", "/bin/sleeper", "serve", "--a", "1", "--json", '{"k": 5}', "--title", options=options)
    until(docker_engine, "serve", 4)
    yield docker_engine
    docker_engine.docker("rm", "-f", "serve")


def test_container_is_told_as_the_engine_tells_it(serve: DockerEngine) -> None:
    found = look(serve, "container", name="serve")
    told = inspected(serve, "serve")
    image = json.loads(serve.docker("image", "inspect", "demo:v5"))[0]
    assert found.faults == {}
    assert found.state == {
        "id": told["Id"],
        "pid": told["State"]["Pid"],
        "started_at": told["State"]["StartedAt"],
        "restart_count": 0,
        "oom_killed": False,
    }
    identity = found.identity
    assert identity["env"] == dict(item.split("=", 1) for item in told["Config"]["Env"])
    assert identity["env"]["TEXT"] == "two\nlines"
    assert identity["command"] == ["/bin/sleeper", "serve", "--a", "1", "--json", '{"k": 5}', "--title"]
    assert (identity["running"], identity["user"], identity["network_mode"]) == (True, "0:0", "none")
    assert identity["privileged"] is False
    assert identity["image"]["layers"] == image["RootFS"]["Layers"]
    assert identity["image"]["id"] == image["Id"] == told["Image"]
    assert identity["image"]["labels"] == {"origin": "test"}
    assert (identity["image"]["tag"], identity["image"]["tag_names_running"]) == ("v5", True)
    assert (identity["image"]["store"], identity["image"]["platform"]) == (
        "graphdriver",
        f"linux/{image['Architecture']}",
    )


def test_mounts_are_told_and_what_the_engine_made_for_them_is_no_change(serve: DockerEngine) -> None:
    identity = look(serve, "container", name="serve").identity
    assert identity["mounts"] == {
        "/opt/mounted/here": {"type": "bind", "source": str(serve.folder), "writable": False},
        "/var/cache/x": {
            "type": "volume",
            "source": f"{serve.folder}/data/volumes/cache/_data",
            "writable": True,
        },
        "/scratch": {"type": "tmpfs", "writable": False},
    }
    assert "C /opt" in serve.docker("diff", "serve").splitlines()
    assert identity["changes"] == {}


def test_changes_of_the_container_itself(docker_engine: DockerEngine) -> None:
    docker_engine.run("changing", "/bin/sleeper")
    top = Path(f"/proc/{inspected(docker_engine, 'changing')['State']['Pid']}/root")
    (top / "opt/engine/sitecustomize.py").write_text("added")
    (top / "opt/engine/core.py").write_text("changed")
    (top / "bin/sleeper").unlink()
    changes = look(docker_engine, "container", name="changing").identity["changes"]
    told = dict(reversed(line.split(" ", 1)) for line in docker_engine.docker("diff", "changing").splitlines())
    docker_engine.docker("rm", "-f", "changing")
    assert changes == {path: {"A": "added", "C": "modified", "D": "deleted"}[kind] for path, kind in told.items()}
    assert changes["/opt/engine/sitecustomize.py"] == "added"
    assert changes["/opt/engine/core.py"] == "modified"
    assert changes["/bin/sleeper"] == "deleted"


def test_a_tag_that_moved_does_not_change_what_runs(docker_engine: DockerEngine) -> None:
    docker_engine.load("moving:v1", "LABEL n=1")
    docker_engine.docker("run", "-d", "--network", "none", "--name", "moved", "moving:v1", "/bin/sleeper")
    before = look(docker_engine, "container", name="moved").identity["image"]
    docker_engine.load("moving:v1", "ENV OTHER=1")
    after = look(docker_engine, "container", name="moved")
    docker_engine.docker("rmi", "moving:v1")
    gone = look(docker_engine, "container", name="moved").identity["image"]
    docker_engine.docker("rm", "-f", "moved")
    assert before["tag_names_running"] is True
    assert after.identity["image"] == {**before, "tag_names_running": False}
    assert "a restart changes what runs" in after.notes[0]
    assert gone["tag_names_running"] is False


def test_images_of_the_same_content_are_told_the_same(docker_engine: DockerEngine) -> None:
    found = {}
    for tag, changes in (
        ("same:a", ("ENV X=1",)),
        ("same:b", ("ENV X=1", "LABEL y=2")),
        ("same:c", ("ENV X=2",)),
    ):
        docker_engine.load(tag, *changes)
        docker_engine.docker("run", "-d", "--network", "none", "--name", "same", tag, "/bin/sleeper")
        found[tag] = look(docker_engine, "container", name="same").identity["image"]
        docker_engine.docker("rm", "-f", "same")
    assert len({image["id"] for image in found.values()}) == 3
    assert found["same:a"]["content"] == found["same:b"]["content"] != found["same:c"]["content"]
    assert found["same:a"]["labels"] != found["same:b"]["labels"]


def test_stopped_and_unknown_containers(docker_engine: DockerEngine) -> None:
    identity = docker_engine.run("stopped", "/bin/sleeper")
    docker_engine.docker("stop", "-t", "0", "stopped")
    found = look(docker_engine, "container", name="stopped")
    assert (found.identity["running"], found.state["pid"], found.faults) == (False, 0, {})
    failures: list[tuple[dict[str, str], str]] = [
        ({"container": "stopped"}, "container stopped does not run .exited"),
        ({"container": "nobody"}, "No such container: nobody"),
        ({"container": identity[:6]}, "no container is named"),
    ]
    for selector, why in failures:
        with pytest.raises(Absent, match=why):
            look(docker_engine, "process", **selector)
    with pytest.raises(Absent, match="does not run"):
        look(docker_engine, "engine_log", container="stopped")
    docker_engine.docker("rm", "-f", "stopped")


def test_running_containers(serve: DockerEngine) -> None:
    found = look(serve, "containers").identity["running"]
    told = serve.docker("ps", "--format", "{{.Names}} {{.Image}}").splitlines()
    assert found == dict(line.split(" ", 1) for line in told)
    assert found["serve"] == "demo:v5"


def test_no_engine(docker_engine: DockerEngine) -> None:
    with pytest.raises(LookError) as caught:
        image_facts.collect(
            {"kind": "containers", "params": {"socket": f"{docker_engine.folder}/none.sock"}, "now": 0.0}, HostRoot()
        )
    assert caught.value.status == "no_tool"


# -- logs ------------------------------------------------------------------
@pytest.mark.parametrize("terminal", [False, True])
def test_log_of_this_start(docker_engine: DockerEngine, terminal: bool) -> None:
    name = f"log-{terminal}"
    docker_engine.run(name, "/bin/sleeper", options=("-t",) if terminal else ())
    until(docker_engine, name, 4)
    found = look(docker_engine, "engine_log", container=name, **LOG)
    docker_engine.docker("rm", "-f", name)
    assert found.faults == {}
    assert found.identity == {
        "values": {"tokens": "5"},
        "markers": {"k1": True, "dspark": True},
        "nccl": {"devices": ["rocep1s0f1:1"], "network": "IB", "out_of_band": "enp1s0f1np1"},
    }
    assert found.state["lines"] == 4


def test_log_of_the_start_before_does_not_count(docker_engine: DockerEngine) -> None:
    docker_engine.run("again", "/bin/sleeper")
    until(docker_engine, "again", 4)
    docker_engine.docker("restart", "-t", "0", "again")
    until(docker_engine, "again", 8)
    found = look(docker_engine, "engine_log", container="again", **LOG)
    cut = look(docker_engine, "engine_log", container="again", tail=2, **LOG)
    docker_engine.docker("rm", "-f", "again")
    assert (found.state["lines"], found.faults) == (4, {})
    assert set(cut.faults) == {"values", "markers", "nccl"}
    assert "does not reach back to the start" in cut.faults["markers"]["why"]


# -- the process inside ----------------------------------------------------
def test_process_in_the_container(serve: DockerEngine) -> None:
    told = inspected(serve, "serve")
    found = look(serve, "process", container="serve", program="sleeper", libraries=["libc"])
    assert found.faults == {}
    assert found.state["pid"] == told["State"]["Pid"]
    assert found.state["container"] == told["Id"]
    assert abs(found.state["started_at"] - time.time()) < 600
    identity = found.identity
    assert identity["program"] == "/bin/sleeper"
    assert identity["arguments"] == ["serve"]
    assert identity["argv"] == {"a": "1", "title": True}
    assert identity["json"] == {"json": {"k": 5}}
    assert {name: identity["env"][name] for name in ("FOO", "BAKED", "TEXT")} == {
        "FOO": "1",
        "BAKED": "1",
        "TEXT": "two\nlines",
    }
    digest = hashlib.sha256((serve.folder / "sleeper").read_bytes()).hexdigest()
    assert identity["exe"] == {"path": "/bin/sleeper", "deleted": False, "sha256": digest}
    assert identity["library_counts"] == {"libc": 0}
    assert identity["cwd"] == "/"
    assert found.identity == look(serve, "process", container="serve", libraries=["libc"]).identity


def test_child_that_bears_a_title_has_its_parents_environment(serve: DockerEngine, tmp_path: Path) -> None:
    parent = inspected(serve, "serve")["State"]["Pid"]
    child = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0]
    (tmp_path / "pid").write_text(child)
    found = look(serve, "process", pid_file=str(tmp_path / "pid"))
    assert Path(f"/proc/{child}/cmdline").read_bytes().rstrip(b"\0") == b"VLLM::EngineCore"
    assert set(found.faults) == {"argv", "json", "arguments", "program", "interpreter"}
    assert found.identity["env_source"] == "ancestor"
    assert found.identity["env"]["FOO"] == "1"
    assert f"process {parent}" in found.notes[0]
