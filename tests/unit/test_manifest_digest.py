"""One manifest has one digest, however it came in; another manifest has another."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinproof.manifest import (
    load_manifest,
    load_manifest_bytes,
    load_manifest_file,
    render_manifest,
)
from pinproof.manifest.load import read_list_beside
from pinproof.manifest.model import Manifest, Mark
from pinproof.manifest.resolved import as_document, digest_of
from tests.unit.manifest_texts import EXPERIMENT, REFERENCE, attempt, load, text_of

READ = read_list_beside(REFERENCE.parent)
RICH = text_of(
    "{at: serve.image.tag, is: v5, same_as: baseline, note: the tag}",
    "{at: engine.env, is: {A: '1', B: ''}, closed: 'A*'}",
    "{at: engine.json.c, is: {z: [1, 2.5, true, null, '1'], a: x}}",
    "{at: machine.memory.available, on: ranks, at_least: {old: 5 GiB, new: 3 GiB}, at_most: {old: 64 GiB}}",
    "{at: machine.memory.total, id: total, per_host: {worker: 1 GiB, head: 2 GiB, peer: 3 GB}}",
    "{at: engine.argv.node-rank, per_host: {head: '0', peer: '1'}}",
    "{at: engine.env.LINKS, split: ',', set_of: [b, a], record: drift}",
    "{at: deploy.head, prefix: 21bed31}",
    "{at: engine.env.R, prescribed_by: leg.replay}",
    "{at: machine.machine_id, distinct_across: hosts}",
    "{at: serve.restart_count, one_of: [0, 1], baseline_is: 0, same_across: ranks}",
    "{at: serve.id, same_across: bracket}",
    "{at: baseline.usable, is: true}",
    head="authorities: [{id: old}, {id: new, supersedes: old, about: newer}]\n",
    tail=EXPERIMENT,
)


def without_marks(manifest: Manifest) -> Manifest:
    """Give the manifest as it is without places and file name."""
    nowhere = Mark("", 0, 0)
    rows = tuple(
        dataclasses.replace(row, mark=nowhere, pins=tuple(dataclasses.replace(pin, mark=nowhere) for pin in row.pins))
        for row in manifest.rows
    )
    probes = {name: dataclasses.replace(probe, mark=nowhere) for name, probe in manifest.probes.items()}
    return dataclasses.replace(manifest, file="", rows=rows, probes=probes)


def shuffled(value: Any, turn: int) -> Any:
    """Give the same data with the keys of every map in another order."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key[::-1] if turn == 2 else key, reverse=turn == 1)
        return {key: shuffled(value[key], turn) for key in keys}
    return [shuffled(item, turn) for item in value] if isinstance(value, list) else value


def test_file_and_standard_input_have_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    data = REFERENCE.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    piped = load_manifest_bytes(sys.stdin.buffer.read(), "<stdin>", READ)
    assert piped.digest == load_manifest_file(REFERENCE).digest


@pytest.mark.parametrize("text", [REFERENCE.read_text(encoding="utf-8"), RICH], ids=["reference", "rich"])
def test_a_rendered_manifest_is_the_same_manifest(text: str) -> None:
    manifest = load_manifest(text, "m.yml", READ)
    rendered = render_manifest(manifest)
    again = load_manifest(rendered, "other.yml", no_lists)
    assert again.digest == manifest.digest
    assert without_marks(again) == without_marks(manifest)
    assert render_manifest(again) == rendered


def no_lists(name: str) -> str:
    raise AssertionError(f"a rendered manifest names the list {name}")


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_the_order_of_keys_is_no_part_of_it(turn: int) -> None:
    plain = yaml.load(RICH, Loader=yaml.BaseLoader)
    # JSON is YAML; texts that were quoted stay quoted, so the plain JSON scalars are put back as they were
    text = json.dumps(shuffled(plain, turn)).replace('["1", "2.5", "true", "null", "1"]', '[1, 2.5, true, null, "1"]')
    assert load(text).digest == load(RICH).digest


def test_comments_quotes_and_layout_are_no_part_of_it() -> None:
    one = text_of("{at: serve.image.tag, is: v5}")
    other = text_of('{is: "v5", on: [peer, head], id: row/serve.image.tag, at: "serve.image[tag]"}') + "# the end\n"
    assert load(one).digest == load(other).digest


def test_the_order_of_rows_and_pins_counts() -> None:
    one, other = "{at: serve.image.tag, is: v5}", "{at: serve.user, is: root}"
    assert load(text_of(one, other)).digest != load(text_of(other, one)).digest


def test_the_digest_is_that_of_the_canonical_document() -> None:
    manifest = load(RICH)
    document = as_document(manifest)
    assert digest_of(json.loads(json.dumps(document))) == manifest.digest
    assert "m.yml" not in json.dumps(document)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{at: provenance.value.n, is: 1}", '{at: provenance.value.n, is: "1"}'),
        ("{at: provenance.value.n, is: 1}", "{at: provenance.value.n, is: 1.0}"),
        ("{at: provenance.value.n, is: 1}", "{at: provenance.value.n, is: true}"),
        ("{at: engine.argv.eager, is: true}", '{at: engine.argv.eager, is: "true"}'),
        ("{at: serve.image.tag, is: v5}", "{at: serve.image.tag, on: head, is: v5}"),
        ("{at: serve.image.tag, is: v5}", "{at: serve.image.tag, is: v5, record: drift}"),
        ("{at: serve.command, is: [a, b]}", "{at: serve.command, set_of: [a, b]}"),
        ("{at: serve.mounts, absent: true}", '{at: serve.mounts, closed: "*"}'),
    ],
)
def test_another_demand_is_another_digest(one: str, other: str) -> None:
    assert load(text_of(one)).digest != load(text_of(other)).digest


LETTERS = [
    (number, column)
    for number, line in enumerate(RICH.split("\n"))
    for column, letter in enumerate(line)
    if letter.isalnum()
]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.sampled_from(LETTERS), letter=st.sampled_from("az09"))
def test_a_changed_letter_is_a_mistake_or_another_digest(place: tuple[int, int], letter: str) -> None:
    number, column = place
    lines = RICH.split("\n")
    if lines[number][column] == letter:
        return
    lines[number] = lines[number][:column] + letter + lines[number][column + 1 :]
    changed = attempt("\n".join(lines))
    assert changed != ()
    assert not isinstance(changed, Manifest) or changed.digest != load(RICH).digest


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**29), 10**29) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" \n:#-'\""), min_size=1),
    lambda inner: st.lists(inner, min_size=1, max_size=3)
    | st.dictionaries(st.text("abcXYZ09_- :#'\"", min_size=1, max_size=6), inner, min_size=1, max_size=3),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=VALUES)
def test_any_json_value_survives_rendering(value: Any) -> None:
    manifest = _with_value(value)
    if manifest is None:
        return
    again = load(render_manifest(manifest))
    assert again.digest == manifest.digest
    assert repr(again.rows[0].pins[0].checks) == repr(manifest.rows[0].pins[0].checks)


def _with_value(value: Any) -> Manifest | None:
    """Load a manifest that expects this JSON value; None where it is one that no manifest may expect."""
    result = attempt(text_of(f"{{at: provenance.value.x, is: {json.dumps(value)}}}"))
    return result if isinstance(result, Manifest) else None


def test_most_json_values_can_be_expected() -> None:
    for value in (
        None,
        True,
        0,
        1.5,
        "x",
        "true",
        "1",
        "a b",
        "a: b",
        "# c",
        "- d",
        "'",
        '"',
        "on",
        "~",
        "x\ny",
        {"a": [1]},
    ):
        assert _with_value(value) is not None, value


def test_a_rendered_file_can_stand_alone(tmp_path: Path) -> None:
    manifest = load_manifest_file(REFERENCE)
    (tmp_path / "rendered.yml").write_text(render_manifest(manifest), encoding="utf-8")
    assert load_manifest_file(tmp_path / "rendered.yml").digest == manifest.digest
