"""The disclosure key: made once, the same for everyone who asks, and for nobody else's eyes."""

from __future__ import annotations

import concurrent.futures
import os
import stat
from pathlib import Path

import pytest

from pinproof.archive import project_key
from pinproof.archive.layout import KEY_FILE
from pinproof.errors import ArchiveError


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    key = project_key(tmp_path / "archive")
    assert len(bytes.fromhex(key)) == 32
    assert project_key(tmp_path / "archive") == key
    path = tmp_path / "archive" / KEY_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [KEY_FILE]


def test_projects_have_different_keys(tmp_path: Path) -> None:
    assert project_key(tmp_path / "a") != project_key(tmp_path / "b")


def test_all_who_ask_at_once_get_the_same_key(tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(project_key, [tmp_path / "archive"] * 32))
    assert len(keys) == 1
    assert [entry.name for entry in (tmp_path / "archive").iterdir()] == [KEY_FILE]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    project_key(tmp_path)
    (tmp_path / KEY_FILE).chmod(mode)
    with pytest.raises(ArchiveError, match="can be read by others; make it a file of mode 600"):
        project_key(tmp_path)


@pytest.mark.parametrize("text", ["", "ab" * 31, "AB" * 32, "x" * 64, "ab" * 33])
def test_a_key_that_is_none_is_refused_and_never_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / KEY_FILE
    path.touch(mode=0o600)
    path.write_text(text)
    with pytest.raises(ArchiveError, match="holds no key of 64 hex digits"):
        project_key(tmp_path)
    assert path.read_text() == text


def test_a_link_in_place_of_the_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("ab" * 32)
    (tmp_path / KEY_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArchiveError, match="make it a file of mode 600"):
        project_key(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="cannot make"):
        project_key(tmp_path / "file" / "archive")


def test_umask_does_not_open_the_key(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        project_key(tmp_path / "archive")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "archive").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "archive" / KEY_FILE).stat().st_mode) == 0o600
