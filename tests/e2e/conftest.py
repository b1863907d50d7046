"""Replicas of the tests' own: built once a worker, with a baseline captured from production state."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.playbooks import PROJECT, Place, pinproof
from tests.e2e.probing import Site, baseline_of, load, probe_all


@pytest.fixture(scope="session", name="place")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A replica in experiment state, its production state captured by the playbook."""
    folder = tmp_path_factory.mktemp("place")
    place = Place(folder / "replica", folder / "archive")
    ended = pinproof("replica", "build", "--state", "production", "--root", str(place.replica))
    assert ended.code == 0, ended.all
    captured = place.run("ansible-playbook", "playbooks/capture.yml", "--check")
    assert captured.code == 0, captured.all
    ended = pinproof("replica", "build", "--state", "experiment", "--root", str(place.replica))
    assert ended.code == 0, ended.all
    return place


@pytest.fixture(scope="session", name="site")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A replica in experiment state with everything that was seen of it, by the probe program alone."""
    root = tmp_path_factory.mktemp("site") / "replica"
    manifest = load()
    assert pinproof("replica", "build", "--state", "production", "--root", str(root)).code == 0
    baseline = baseline_of(probe_all(manifest, root))
    assert pinproof("replica", "build", "--state", "experiment", "--root", str(root)).code == 0
    return Site(root, manifest, baseline, probe_all(manifest, root))


@pytest.fixture(name="copied_manifests")
def _copied_manifests(tmp_path: Path) -> Path:
    """The manifests in a folder of the test's own, to be edited there."""
    return Path(shutil.copytree(PROJECT / "inventory/manifests", tmp_path / "manifests"))
