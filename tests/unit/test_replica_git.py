"""The deploy repository: real to git, pinned by its abbreviation, the same bytes whoever builds it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pinproof.replica import deploy_files, git_repository, hosts, site
from pinproof.replica.tree import Tree

GIT = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "--no-optional-locks"]


@pytest.fixture(scope="module", name="work_tree")
def _work_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("git")
    git_repository.write_work_tree(Tree(root), "/deploy")
    git_repository.write_clone(Tree(root), "/clone")
    return root / "deploy"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*GIT, "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_git_finds_the_work_tree_whole_and_clean(work_tree: Path) -> None:
    assert git(work_tree, "fsck", "--strict") == ""
    status = git(work_tree, "status", "--porcelain=v2", "--branch")
    assert re.fullmatch(r"# branch\.oid 21bed31[0-9a-f]{33}\n# branch\.head main\n", status)
    assert git(work_tree, "cat-file", "-t", git_repository.TAG) == "tag\n"
    assert git(work_tree, "rev-parse", f"{git_repository.TAG}^{{commit}}") == git(work_tree, "rev-parse", "HEAD")
    assert git(work_tree, "rev-list", "--count", "HEAD") == "2\n"


def test_git_reads_the_bare_clone(work_tree: Path) -> None:
    clone = work_tree.parent / "clone"
    assert git(clone, "rev-parse", "--is-bare-repository") == "true\n"
    assert git(clone, "rev-parse", "21bed31") == git(work_tree, "rev-parse", "HEAD")
    for name in ("dsv41.env", "serve.sh", "start.sh"):
        assert git(clone, "show", f"21bed31:{name}") == (work_tree / name).read_text()


def test_scripts_are_executable_and_read_by_bash(work_tree: Path) -> None:
    for name in ("serve.sh", "start.sh"):
        assert (work_tree / name).stat().st_mode & 0o111
    for name in ("serve.sh", "start.sh", "dsv41.env"):
        subprocess.run(["bash", "-n", str(work_tree / name)], check=True)


def test_a_status_writes_nothing(work_tree: Path) -> None:
    before = (work_tree / ".git/index").read_bytes()
    git(work_tree, "status")
    assert (work_tree / ".git/index").read_bytes() == before


@pytest.mark.parametrize("variant", ["", *git_repository.VARIANTS])
def test_every_nonce_gives_the_abbreviation(variant: str) -> None:
    made = git_repository.repository(variant)
    assert made.commit.startswith(git_repository.ABBREVIATION)
    production = git_repository.repository()
    assert (made.commit == production.commit) is (variant == "")
    ours, theirs = (item.entries["dsv41.env"].data.decode().splitlines() for item in (made, production))
    lines = [line for line, other in zip(ours, theirs, strict=True) if line != other]
    assert [line.partition("=")[0] for line in lines] == ([variant] if variant else [])


def test_the_variants_are_of_settings_that_have_a_nonce() -> None:
    assert set(git_repository.NONCES) == {"", *git_repository.VARIANTS}


def test_a_nonce_can_be_searched() -> None:
    nonce = git_repository.search_nonce("", "21")
    assert git_repository.repository("", nonce).commit.startswith("21")
    with pytest.raises(LookupError):
        git_repository.search_nonce("", "21bed31", limit=3)


def test_defaults_are_what_production_runs_with() -> None:
    defaults = dict(re.findall(r"^(\w+)=\$\{\1:-([^}]*)\}", deploy_files.DSV41_ENV, re.MULTILINE))
    running = site.container_environment(site.SPARKHEAD, site.PRODUCTION)
    common = {name for name in defaults if name in running}
    assert len(common) > 25
    assert {name: defaults[name] for name in common} == {name: running[name] for name in common}


def test_the_derived_wrapper_differs_as_it_says() -> None:
    base, derived = (
        dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))
        for text in (deploy_files.UP2_ENV, deploy_files.UP2_LOW_K1_ENV)
    )
    assert {name for name in base if base[name] != derived[name]} == {"K1_INDEXER_FACTOR"}
    assert derived.keys() - base.keys() == {"UP2_LOW_CAP"}
    assert (hosts.DEPLOY, hosts.CLONE) == ("/home/operator/dsv41-deploy", "/home/operator/clones/dsv41-deploy")
