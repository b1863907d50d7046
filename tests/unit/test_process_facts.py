"""Processes: one folder a case, with the kernel's files and what must come of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._observation import Denied, LookError, Unstable
from plugins.module_utils._root import HostRoot
from plugins.modules import process_facts

from pinproof.catalogue import KINDS
from pinproof.observations import Observation
from pinproof.paths import split_within
from tests.unit.process_tree import NOW, Tree

CASES = Path(__file__).parents[1] / "cases" / "process_facts"


def look(case: Path) -> dict[str, Any]:
    """Give the observation of a case, or the failure of its look."""
    request = json.loads((case / "request.json").read_text())
    try:
        return process_facts.collect(request, HostRoot(str(case / "tree"), recorded=True)).as_dict()
    except LookError as error:
        return {"status": error.status, "why": error.why}


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    assert look(case) == json.loads((case / "expected.json").read_text())


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_every_key_is_in_the_catalogue(case: Path) -> None:
    found = look(case)
    kind = KINDS["process"]
    for part, moves in (("identity", False), ("state", True)):
        for name in found.get(part, {}):
            attribute = kind.attribute((name,))
            assert attribute is not None, name
            assert attribute.type == "map" or attribute.state is moves, name
    for path in found.get("faults", {}):
        assert kind.attribute(split_within(path)) is not None, path
    if "evidence" in found:
        told = {"probe": "x", "host": "h", "run": "r", "source": [], "observed_at": "", "took_ms": 1.0}
        Observation.from_json({**told, **found})


def test_no_secret_leaves_the_host() -> None:
    text = json.dumps(look(CASES / "engine_in_container"))
    assert "secret" not in text
    assert '"api-key": "keyed:' in text
    assert '"compilation-config": "keyed:' in text


def test_equal_values_that_are_not_told_are_told_equal_whatever_their_spelling(tmp_path: Path) -> None:
    found = []
    for index, text in enumerate(('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', '{"b":[2],"a":1.0}')):
        tree = Tree(tmp_path / str(index))
        tree.process(200, ["/bin/w", "--config", text])
        request = {"params": {"program": "w"}, "now": NOW, "disclose": {"key": "aa"}}
        found.append(process_facts.collect(request, tree.root).identity["json"]["config"])
    assert found[0] == found[1] != found[2]


class Spoiling(HostRoot):
    """Does something to the tree when a file is read."""

    def __init__(self, prefix: str, entry: str, spoil: Any) -> None:
        super().__init__(prefix, recorded=True)
        self._entry, self._spoil = entry, spoil

    def read(self, path: str, limit: int = 4 << 20) -> bytes:
        if path.endswith(self._entry):
            self._spoil()
        return super().read(path, limit)


def test_a_process_that_is_replaced_during_the_look_is_unstable(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.process(200, ["/bin/w"], ticks=1000)
    root = Spoiling(str(tmp_path), "/maps", lambda: tree.process(200, ["/bin/w"], ticks=2000))
    with pytest.raises(Unstable, match="its id was used again"):
        process_facts.collect({"params": {"program": "w"}, "now": NOW}, root)


def test_a_process_that_ends_during_the_look_is_unstable(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.process(200, ["/bin/w"])

    def end() -> None:
        for name in ("stat", "environ", "cmdline", "maps"):
            (tmp_path / "proc/200" / name).unlink(missing_ok=True)

    with pytest.raises(Unstable, match="process 200 ended"):
        process_facts.collect({"params": {"program": "w"}, "now": NOW}, Spoiling(str(tmp_path), "/environ", end))


@pytest.mark.parametrize(
    ("entry", "faults"),
    [
        ("/environ", {"env", "env_source"}),
        ("/maps", {"libraries", "library_counts", "deleted_libraries"}),
        ("/status", {"user"}),
    ],
)
def test_what_may_not_be_read_is_denied_and_the_rest_is_told(tmp_path: Path, entry: str, faults: set[str]) -> None:
    tree = Tree(tmp_path)
    tree.process(200, ["/bin/w", "--a", "1"])

    def refuse() -> None:
        raise Denied(f"/proc/200{entry}: permission denied (EACCES)")

    found = process_facts.collect({"params": {"program": "w"}, "now": NOW}, Spoiling(str(tmp_path), entry, refuse))
    assert set(found.faults) == faults
    for fault in found.faults.values():
        assert fault["status"] == "denied"
        assert fault["why"].endswith("it needs the same user or become")
    assert found.identity["program"] == "/bin/w"
    assert found.identity["exe"]["path"] == "/bin/program"


def test_documentation_names_every_parameter() -> None:
    for name in KINDS["process"].parameters:
        assert f"\n  {name}:\n" in process_facts.DOCUMENTATION
