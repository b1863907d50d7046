"""Repositories as operators leave them: every case is a history, what was done since, and what is observed.

`input.yml`: `commits` (each with `files` by name, null for one that goes away,
and `tags` with their sort), `then` (the same `files`, `git` commands to run, and
times to `touch`), `kind`, `params`, `plain`. The repository lies at /r.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from plugins.module_utils._git import Repository
from plugins.module_utils._observation import Absent, LookError, NotAttempted, Unparsable, Unstable
from plugins.module_utils._root import HostRoot
from plugins.modules import source_facts

from pinproof.catalogue import KINDS
from pinproof.observations import Observation as Judged
from tests.unit.collector_cases import cases, expected
from tests.unit.git_repositories import Work, look


def change(work: Work, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is None:
            (work.path / name).unlink()
        else:
            work.write(name, text)


def build(tree: Path, given: dict[str, Any]) -> Work:
    work = Work(tree / "r")
    for commit in given["commits"]:
        change(work, commit.get("files", {}))
        work.commit("commit")
        for name, sort in commit.get("tags", {}).items():
            work.git("tag", name, *(["-a", "-m", "x"] if sort == "annotated" else []))
    then = given.get("then", {})
    change(work, then.get("files", {}))
    for command in then.get("git", []):
        work.git(*command)
    for name in then.get("touch", []):
        os.utime(work.path / name, (1_000_000_000, 1_000_000_000))
    return work


@pytest.mark.parametrize("folder", cases("source_facts"))
def test_case(folder: Path, tmp_path: Path) -> None:
    given = yaml.safe_load((folder / "input.yml").read_text(encoding="utf-8"))
    build(tmp_path, given)
    assert observe(tmp_path, given) == expected(folder)


def observe(tree: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Give what is seen of a case, without times of this very run."""
    try:
        seen = look(tree, given["kind"], plain=tuple(given.get("plain", ["*"])), **given["params"]).as_dict()
    except LookError as error:
        return {"status": error.status, "why": error.why}
    seen["state"].pop("changed_at", None)
    seen["faults"] = {path: f"{fault['status']}: {fault['why']}" for path, fault in seen["faults"].items()}
    return {name: value for name, value in seen.items() if value and name not in ("method", "scope")}


@pytest.mark.parametrize("folder", cases("source_facts"))
def test_every_attribute_is_one_of_the_catalogues(folder: Path) -> None:
    given = yaml.safe_load((folder / "input.yml").read_text(encoding="utf-8"))
    seen = expected(folder)
    kind = KINDS[given["kind"]]
    assert set(given["params"]) <= set(kind.parameters)
    for area in ("identity", "state"):
        for path in _leaves(seen.get(area, {})):
            attribute = kind.attribute(path)
            assert attribute is not None, path
            assert attribute.state == (area == "state"), path


def _leaves(data: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(data, dict):
        return [path]
    return [leaf for key, value in data.items() for leaf in _leaves(value, (*path, key))]


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "r")
    work.commit(a="1\n", b_env="A=1\n")
    return work


def collect(tree: Path, kind: str, root: HostRoot | None = None, **params: Any) -> Any:
    request = {"kind": kind, "params": {"repo": "/r", **params}}
    return source_facts.collect(request, root or HostRoot(str(tree)))


@pytest.mark.parametrize("kind", ["source", "clone"])
def test_without_a_repository(tmp_path: Path, kind: str) -> None:
    with pytest.raises(Absent, match="/r"):
        collect(tmp_path, kind, revision="1234567")
    (tmp_path / "r").mkdir()
    with pytest.raises(Unparsable, match="is not a git repository"):
        collect(tmp_path, kind, revision="1234567")


def test_other_kinds_and_lanes(tmp_path: Path, work: Work) -> None:
    with pytest.raises(Unparsable, match="no look of kind 'tree'"):
        collect(tmp_path, "tree")
    with pytest.raises(NotAttempted):
        collect(tmp_path, "source", HostRoot(str(tmp_path), lane="files"))


@pytest.mark.parametrize("moving", ["commit", "stage", "switch"])
def test_a_repository_that_moves_while_it_is_read_is_unstable(
    tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch, moving: str
) -> None:
    work.git("branch", "other")
    moves = {
        "commit": lambda: work.commit(c="2\n"),
        "stage": lambda: (work.write("a", "2\n"), work.git("add", "a")),
        "switch": lambda: work.git("checkout", "-q", "other"),
    }
    tag = Repository.tag

    def tag_and_move(self: Repository, name: str) -> str:
        moves[moving]()
        return tag(self, name)

    monkeypatch.setattr(Repository, "tag", tag_and_move)
    with pytest.raises(Unstable, match="HEAD or the index moved"):
        collect(tmp_path, "source", tags=["t"])


def test_changed_at_is_of_the_latest_file_or_link(tmp_path: Path, work: Work) -> None:
    before = collect(tmp_path, "source", files=["a", "b.env"]).state["changed_at"]
    assert before == pytest.approx(max((work.path / name).stat().st_ctime for name in ("a", "b.env")))
    (work.path / "a").rename(work.path / "real")
    (work.path / "a").symlink_to("real")
    after = collect(tmp_path, "source", files=["a"]).state["changed_at"]
    assert after == pytest.approx((work.path / "a").lstat().st_ctime)
    assert "changed_at" not in collect(tmp_path, "source").state


def test_a_file_on_disk_that_cannot_be_read_takes_nothing_else_with_it(tmp_path: Path, work: Work) -> None:
    (work.path / "a").unlink()
    (work.path / "a").mkdir()
    observation = collect(tmp_path, "source", files=["a", "b.env"])
    assert set(observation.faults) == {"files.a.sha256", "same_as_revision.a"}
    assert observation.identity["same_as_revision"] == {"b.env": True}


def test_faults_can_be_read_by_the_controller(tmp_path: Path, work: Work) -> None:
    """Also for names that no path of the controller can hold."""
    work.commit(**{"x[1]": "1\n"})
    work.git("update-index", "--assume-unchanged", "x[1]")
    data = collect(tmp_path, "source", files=["/etc/passwd", "../x[2]"], tags=["a..b"]).as_dict()
    about = {"probe": "p", "host": "h", "run": "r", "source": [], "observed_at": "", "took_ms": 1}
    judged = Judged.from_json({**data, **about})
    assert judged.faults_at(("modified",))
    assert judged.faults_at(("files", "/etc/passwd", "sha256"))
    assert judged.faults_at(("same_as_revision", "../x[2]"))
    assert judged.faults_at(("tags", "a..b"))


def test_several_environment_files(tmp_path: Path, work: Work) -> None:
    head = work.commit(x_env="A=1\nB=1\nC = 1\n", y_env="A=1\nB=2\nC = 1\nD=1\n")
    observation = collect(
        tmp_path, "clone", revision=head, env_files={"x.env": "shell", "y.env": "shell", "b.env": "systemd"}
    )
    found = observation.identity["settings"]
    assert {name: setting["kind"] for name, setting in found.items()} == {
        "A": "literal", "B": "undecidable", "C": "malformed", "D": "literal",
    }  # fmt: skip
    assert set(observation.identity["malformed"]) == {"x.env:3", "y.env:3"}
    assert "more than one of the environment files" in observation.faults["settings.B.value"]["why"]


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [("gone.env", "", "absent"), ("b.env", "# nothing\n", "unparsable"), ("b.env", "\0", "unparsable")],
)
def test_an_environment_file_that_tells_nothing(tmp_path: Path, work: Work, name: str, text: str, status: str) -> None:
    head = work.commit(b_env=text)
    observation = collect(tmp_path, "clone", revision=head, files=["a"], env_files={name: "shell"})
    assert {path: fault["status"] for path, fault in observation.faults.items()} == {
        "settings": status,
        "malformed": status,
    }
    assert "settings" not in observation.identity
    assert set(observation.identity["files"]) == {"a"}


def test_secrets_of_a_clone_stay(tmp_path: Path, work: Work) -> None:
    head = work.commit(b_env="TOKEN=geheim\nA=1\n")
    observation = look(tmp_path, "clone", "/r", plain=("A",), revision=head, env_files={"b.env": "shell"})
    assert observation.identity["settings"]["A"]["value"] == "1"
    assert "geheim" not in str(observation.as_dict())


def test_documentation_names_every_parameter_of_its_kinds() -> None:
    documented = yaml.safe_load(source_facts.DOCUMENTATION)["options"]
    declared = {**KINDS["source"].parameters, **KINDS["clone"].parameters}
    assert set(documented) == {"kind", *declared}
    for example in yaml.safe_load(source_facts.EXAMPLES):
        assert set(example["source_facts"]) <= set(documented)
    assert yaml.safe_load(source_facts.RETURN)
