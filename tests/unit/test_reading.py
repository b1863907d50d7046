"""Reading one file in one generation, with everything on the way to it."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest
from plugins.module_utils._observation import Absent, Unparsable, Unstable
from plugins.module_utils._reading import hash_whole, read_whole, way
from plugins.module_utils._root import HostRoot

from tests.unit.file_roots import MovingRoot, write_tree

TICK = 0.03  # more than the kernel's clock of inodes moves by


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {"srv/v1/a": "one", "srv/v2/a": "two", "srv/current": "-> v1", "srv/empty": "", "deep": "-> /srv/current/a"},
    )


def test_a_file_is_read_with_where_it_lies(tree: Path) -> None:
    (tree / "srv/v1/a").chmod(0o640)
    reading = read_whole(HostRoot(str(tree)), "/deep")
    assert reading.data == b"one"
    assert reading.sha256 == hashlib.sha256(b"one").hexdigest()
    assert (reading.size, reading.mode, reading.resolved) == (3, 0o640, "/srv/v1/a")
    assert hash_whole(HostRoot(str(tree)), "/deep").sha256 == reading.sha256


def test_the_way_names_its_links_in_order(tree: Path) -> None:
    taken = way(HostRoot(str(tree)), "/deep")
    assert taken.resolved == "/srv/v1/a"
    assert [link[0] for link in taken.links] == ["/deep", "/srv/current"]


def test_a_turned_link_is_a_change_though_the_file_is_old(tree: Path) -> None:
    root = HostRoot(str(tree))
    before = time.time()
    time.sleep(TICK)
    (tree / "srv/current").unlink()
    (tree / "srv/current").symlink_to("v2")
    reading = read_whole(root, "/srv/current/a")
    assert reading.data == b"two"
    assert reading.changed_at > before > reading.written_at


def test_a_folder_renamed_into_place_is_a_change(tree: Path) -> None:
    root = HostRoot(str(tree))
    before = time.time()
    assert read_whole(root, "/srv/v1/a").changed_at < before
    time.sleep(TICK)
    (tree / "srv/v1").rename(tree / "srv/old")
    (tree / "srv/v2").rename(tree / "srv/v1")
    reading = read_whole(root, "/srv/v1/a")
    assert reading.data == b"two"
    assert reading.changed_at > before > reading.written_at


def test_a_file_that_comes_beside_it_is_no_change(tree: Path) -> None:
    before = time.time()
    time.sleep(TICK)
    (tree / "srv/v1/beside").write_text("x")
    assert read_whole(HostRoot(str(tree)), "/srv/v1/a").changed_at < before


def test_a_touched_mode_does_not_make_the_content_younger(tree: Path) -> None:
    time.sleep(TICK)
    before = time.time()
    time.sleep(TICK)
    (tree / "srv/v1/a").chmod(0o600)
    reading = read_whole(HostRoot(str(tree)), "/srv/v1/a")
    assert reading.written_at < before < reading.changed_at


def test_a_time_set_into_the_future_is_bounded(tree: Path) -> None:
    os.utime(tree / "srv/v1/a", (4e9, 4e9))
    assert read_whole(HostRoot(str(tree)), "/srv/v1/a").written_at <= time.time() + 1


@pytest.mark.parametrize("read", [read_whole, hash_whole])
def test_an_empty_file_is_no_reading(tree: Path, read: object) -> None:
    with pytest.raises(Unparsable, match=r"^/srv/empty: is empty$"):
        read(HostRoot(str(tree)), "/srv/empty")  # type: ignore[operator]


def test_what_is_not_there_is_absent(tree: Path) -> None:
    with pytest.raises(Absent, match=r"^/srv/v1/b: not there"):
        read_whole(HostRoot(str(tree)), "/srv/v1/b")


def test_a_link_turned_while_it_is_read_is_unstable(tree: Path) -> None:
    def turn() -> None:
        (tree / "srv/current").unlink()
        (tree / "srv/current").symlink_to("v2")

    with pytest.raises(Unstable, match="/srv/current/a: led elsewhere"):
        read_whole(MovingRoot(tree, "read", turn), "/srv/current/a")


@pytest.mark.parametrize(
    "move",
    [
        lambda path: path.write_text("other"),
        lambda path: path.chmod(0o600),
        lambda path: os.utime(path, (1, 1)),
    ],
)
def test_a_file_that_moves_is_unstable(tree: Path, move: object) -> None:
    path = tree / "srv/v1/a"
    with pytest.raises(Unstable, match="/srv/v1/a: changed"):
        read_whole(MovingRoot(tree, "read", lambda: move(path)), "/srv/v1/a")  # type: ignore[operator]


def test_a_file_that_goes_away_is_unstable_not_absent(tree: Path) -> None:
    with pytest.raises(Unstable, match="went away"):
        read_whole(MovingRoot(tree, "read", (tree / "srv/v1/a").unlink), "/srv/v1/a")


@pytest.mark.parametrize("limit", [2])
def test_a_file_over_the_limit_is_not_read(tree: Path, limit: int) -> None:
    with pytest.raises(Unparsable, match="3 bytes, more than the 2"):
        read_whole(HostRoot(str(tree)), "/srv/v1/a", limit)
    with pytest.raises(Unparsable, match="3 bytes, more than the 2"):
        hash_whole(HostRoot(str(tree)), "/srv/v1/a", limit)
