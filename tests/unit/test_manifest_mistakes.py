"""Every mistake that a manifest can have: one folder a mistake, with the words that a user reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pinproof import exit_codes
from pinproof.errors import ConfigurationError
from pinproof.manifest import ManifestErrors, load_manifest_bytes, load_manifest_file
from pinproof.manifest.load import read_list_beside
from pinproof.manifest.nodes import MAX_BYTES
from tests.unit.manifest_texts import ROOT, no_list, text_of

CASES = sorted(path for path in (ROOT / "tests" / "cases" / "manifest_errors").iterdir() if path.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_mistakes_are_told_with_place_and_fix(case: Path) -> None:
    with pytest.raises(ManifestErrors) as caught:
        load_manifest_bytes((case / "manifest.yml").read_bytes(), "manifest.yml", read_list_beside(case))
    assert f"{caught.value}\n" == (case / "expected.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_place_is_in_the_file(case: Path) -> None:
    lines = (case / "manifest.yml").read_bytes().decode("utf-8", "replace").split("\n")
    with pytest.raises(ManifestErrors) as caught:
        load_manifest_bytes((case / "manifest.yml").read_bytes(), "manifest.yml", read_list_beside(case))
    for problem in caught.value.problems:
        assert 1 <= problem.mark.line <= len(lines)
        assert 1 <= problem.mark.column <= len(lines[problem.mark.line - 1]) + 1
        assert re.match(r"manifest\.yml:\d+:\d+: \S", str(problem))


def test_there_are_many_cases() -> None:
    assert len(CASES) >= 30


def test_mistakes_end_in_the_exit_code_of_a_bad_configuration() -> None:
    assert issubclass(ManifestErrors, ConfigurationError)
    assert ManifestErrors.exit_code == exit_codes.CONFIGURATION == 78


def test_a_file_that_is_too_large_is_refused_unread() -> None:
    data = b"#" * (MAX_BYTES + 1)
    with pytest.raises(ManifestErrors, match="larger than 1048576 bytes"):
        load_manifest_bytes(data, "m.yml", no_list)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "m.yml"
    with path.open("wb") as file:
        file.truncate(10 * MAX_BYTES)
    with pytest.raises(ManifestErrors, match="larger than"):
        load_manifest_file(path)


@pytest.mark.parametrize(("name", "why"), [("missing.yml", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_a_mistake_too(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ManifestErrors, match=why):
        load_manifest_file(tmp_path / name)


def test_windows_line_ends_are_fine() -> None:
    text = text_of("{at: serve.image.tag, is: v5}").replace("\n", "\r\n")
    assert load_manifest_bytes(text.encode(), "m.yml", no_list).name == "small"


def test_the_message_names_the_file_as_it_was_given() -> None:
    with pytest.raises(ManifestErrors, match=r"^<stdin>:1:1: the manifest is empty"):
        load_manifest_bytes(b"", "<stdin>", no_list)


def test_a_list_beside_the_manifest_is_read_bounded(tmp_path: Path) -> None:
    text = text_of("{at: emitted.files, is_listed_in: large.sha256}")
    (tmp_path / "m.yml").write_text(text, encoding="utf-8")
    with (tmp_path / "large.sha256").open("wb") as file:
        file.truncate(10 * MAX_BYTES)
    with pytest.raises(ManifestErrors, match=r"the list 'large\.sha256' is larger than"):
        load_manifest_file(tmp_path / "m.yml")
