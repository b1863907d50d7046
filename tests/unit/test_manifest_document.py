"""docs/manifest.md: its tables are those of the code, and its examples load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pinproof.catalogue import KINDS
from pinproof.manifest import load_manifest
from pinproof.manifest.fields import CHECKS, MANIFEST, PIN, PROBE, ROW
from pinproof.manifest.reference import BEGIN, END, main, reference, renew
from tests.unit.manifest_texts import ROOT, no_list

DOCUMENT = ROOT / "docs" / "manifest.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_generated_part_is_current() -> None:
    assert renew(TEXT) == TEXT, "run: python -m pinproof.manifest.reference docs/manifest.md"


@pytest.mark.parametrize("record", [MANIFEST, ROW, PIN, PROBE], ids=lambda record: record.title)
def test_every_key_is_in_it(record: object) -> None:
    assert all(f"`{name}`" in reference() for name in record.fields)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_section_with_all_attributes(kind: str) -> None:
    section = reference().split(f"\n### {kind}\n")[1].split("\n### ")[0]
    assert all(f"| `{pattern}` |" in section for pattern in KINDS[kind].attributes)
    assert all(f"| `{parameter}` |" in section for parameter in KINDS[kind].parameters)


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_the_prose_explains_every_check(check: str) -> None:
    assert f"`{check}" in TEXT.split(BEGIN)[0]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_its_whole_examples_load(number: int) -> None:
    if EXAMPLES[number].startswith("manifest:"):
        assert load_manifest(EXAMPLES[number], "example", no_list).rows


def test_there_is_a_whole_example() -> None:
    assert any(example.startswith("manifest:") for example in EXAMPLES)


def test_a_document_is_renewed_between_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "d.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    assert main([str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n\n## Keys")
    assert text.endswith(f"{END}\nafter\n")
    assert "old\n" not in text


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}"])
def test_a_document_without_marks_is_left_alone(text: str) -> None:
    with pytest.raises(ValueError, match="no place"):
        renew(text)
