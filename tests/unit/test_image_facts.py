"""Containers, images and logs: one folder a case, with the engine's recorded answers and what must come of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._container import find_container
from plugins.module_utils._engine import Engine, recorded_name
from plugins.module_utils._observation import LookError, Unstable
from plugins.module_utils._root import HostRoot
from plugins.modules import image_facts

from pinproof.catalogue import KINDS
from pinproof.observations import Observation
from pinproof.paths import split_within

CASES = Path(__file__).parents[1] / "cases" / "image_facts"


def look(case: Path) -> dict[str, Any]:
    """Give the observation of a case, or the failure of its look."""
    request = json.loads((case / "request.json").read_text())
    try:
        return image_facts.collect(request, HostRoot(str(case / "tree"), recorded=True)).as_dict()
    except LookError as error:
        return {"status": error.status, "why": error.why}


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    assert look(case) == json.loads((case / "expected.json").read_text())


def leaves(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    return [path]


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_every_leaf_is_in_the_catalogue(case: Path) -> None:
    found = look(case)
    kind = KINDS[json.loads((case / "request.json").read_text())["kind"]]
    for part, moves in (("identity", False), ("state", True)):
        for path in leaves(found.get(part, {})):
            attribute = kind.attribute(path)
            assert attribute is not None, path
            assert attribute.type == "map" or attribute.state is moves, path
    for path in found.get("faults", {}):
        assert kind.attribute(split_within(path)) is not None, path


def test_observations_are_read_by_the_controller() -> None:
    told = {"probe": "x", "host": "h", "run": "r", "source": [], "observed_at": "", "took_ms": 1.0}
    for case in sorted(CASES.iterdir()):
        found = look(case)
        if "evidence" in found:
            Observation.from_json({**told, **found})


def test_the_same_image_has_the_same_content_in_both_stores() -> None:
    one, two = (look(CASES / name)["identity"]["image"] for name in ("running", "same_image_in_containerd_store"))
    assert (one["store"], two["store"]) == ("graphdriver", "containerd")
    assert one["id"] != two["id"]
    assert one["labels"] != two["labels"]
    for name in ("content", "config", "layers", "platform", "tag", "tag_names_running"):
        assert one[name] == two[name]


def test_a_restart_during_the_look_is_unstable(tmp_path: Path) -> None:
    answers = tmp_path / "run/docker.sock"
    answers.mkdir(parents=True)
    told = json.loads((CASES / "running/tree/run/docker.sock" / recorded_name("/containers/demo/json")).read_text())
    name = answers / recorded_name("/containers/demo/json")
    name.write_text(json.dumps(told))

    class Restarting(HostRoot):
        """Answers the look at the image's store, and then the container is another."""

        def read(self, path: str, limit: int = 1 << 20) -> bytes:
            if path.endswith(recorded_name("/info")):
                told["State"]["StartedAt"] = "2026-12-01T04:00:00Z"
                name.write_text(json.dumps(told))
            return super().read(path, limit)

    request = {"kind": "container", "params": {"name": "demo"}, "now": 0.0, "disclose": {}}
    with pytest.raises(Unstable, match="container demo was restarted during the look"):
        image_facts.collect(request, Restarting(str(tmp_path), recorded=True))


def test_a_container_that_goes_during_the_look_is_unstable(tmp_path: Path) -> None:
    answers = tmp_path / "run/docker.sock"
    answers.mkdir(parents=True)
    (answers / recorded_name("/containers/json")).write_text("[]")

    class Changing(HostRoot):
        """A container starts between two lists."""

        def read(self, path: str, limit: int = 1 << 20) -> bytes:
            data = super().read(path, limit)
            item = {"Id": "a" * 64, "Names": ["/x"], "Image": "i"}
            (answers / recorded_name("/containers/json")).write_text(json.dumps([item]))
            return data

    request = {"kind": "containers", "params": {}, "now": 0.0, "disclose": {}}
    with pytest.raises(Unstable, match="started or ended"):
        image_facts.collect(request, Changing(str(tmp_path), recorded=True))


def test_secrets_stay_on_the_host() -> None:
    text = json.dumps(look(CASES / "mounts_changes_environment"))
    assert "secret" not in text
    assert '"K1_PAIR": "4"' in text


def test_documentation_names_every_parameter() -> None:
    documented = image_facts.DOCUMENTATION
    for kind, declared in KINDS.items():
        if declared.collector == "image_facts":
            assert kind in documented
            for name in declared.parameters:
                assert f"\n  {name}:\n" in documented


def test_a_full_id_is_as_good_as_a_name() -> None:
    root = HostRoot(str(CASES / "running/tree"), recorded=True)
    container = find_container(Engine(root), "demo")
    assert container.generation == (container.id, container.started_at, container.pid)
