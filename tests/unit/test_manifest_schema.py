"""The JSON Schema admits what the loader admits, as far as a schema can tell."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
import yaml

from pinproof.catalogue import KINDS
from pinproof.manifest import ManifestErrors
from pinproof.manifest.schema import DRAFT, manifest_schema
from tests.unit.manifest_texts import EXPERIMENT, REFERENCE, ROOT, load, text_of

VALIDATOR = jsonschema.Draft202012Validator(manifest_schema())


class CoreLoader(yaml.SafeLoader):
    """Reads YAML as editors do: by the core schema of YAML 1.2, where `on` and dates are texts."""


CoreLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))

LOADERS = pytest.mark.parametrize("loader", [yaml.BaseLoader, CoreLoader], ids=["texts", "core"])
SOUND = text_of(
    "{at: serve.image.tag, is: v5, note: the tag, on: [head, peer], record: drift}",
    "{at: engine.env, is: {A: '', B: x}, closed: ['A*', 'B*']}",
    "{at: engine.json.c, is: {z: [1, 2.5, true, null], a: {b: c}}}",
    "{at: machine.memory.available, at_least: {old: 5 GiB}, at_most: 64 GiB}",
    "{at: engine.argv.node-rank, per_host: {head: '0', peer: '1'}}",
    "{at: deploy.head, prefix: 1234567}",
    "{at: serve.restart_count, one_of: [0, 1], baseline_is: 0, same_across: ranks}",
    "{at: serve.mounts, absent: true}",
    head="scope: low\nauthorities: [{id: old, about: a, date: 2026-10-24, scope: low}]\n",
    probes="  many: {on: head, deadline: 5 min, units: 'x-*'}\n  plain: {on: head, gpu: 3}\n",
    tail=EXPERIMENT,
)
MUTATIONS = [
    ("version: 1", "version: 2"),
    ("version: 1", ""),
    ("version: 1", "version: 1\nwaivers: []"),
    ("manifest: small", "name: small"),
    ("hosts: [head, peer, worker]", "hosts: []"),
    ("hosts: [head, peer, worker]", "hosts: [head, peer, worker, head]"),
    ("hosts: [head, peer, worker]", "hosts: head"),
    ("  ranks: [head, peer]", "  ranks: {head: peer}"),
    ("{id: old, about", "{name: old, about"),
    ("container: dsv41}", "contaner: dsv41}"),
    ("container: dsv41}", "container: dsv41, unit: x.service}"),
    ("container: dsv41}", "container: {nam: dsv41}}"),
    ("container: dsv41}", "container: [dsv41]}"),
    ("gpu: {samples: 3}", "gpu: {samples: many}"),
    ("repo: ~/deploy", "repo: deploy"),
    ("revision: 21bed31", "revision: main"),
    ("deadline: 5 min", "deadline: 5"),
    ("requires: file", "requires: declared"),
    ("    requires: file\n", ""),
    ("is: v5, note", "note"),
    ("is: v5, note", "is: [], note"),
    ("is: v5, note", "is: {}, note"),
    ("is: v5, note", "is: '', note"),
    ("is: v5, note", "is: {a: {b: []}}, note"),
    ("is: v5, note", "equals: v5, note"),
    ("record: drift", "record: drfit"),
    ("absent: true", "absent: false"),
    ("one_of: [0, 1]", "one_of: []"),
    ("per_host: {head: '0', peer: '1'}", "per_host: {}"),
    ("at_least: {old: 5 GiB}", "at_least: [5 GiB]"),
    ("at: serve.mounts, ", ""),
    ("id: off-1", "name: off-1"),
    ("of: [on, off-1]", "of: []"),
]


def errors_of(text: str, loader: Any) -> list[str]:
    data = yaml.load(text, Loader=loader)
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(data)]


def test_it_is_a_schema_of_its_draft() -> None:
    schema = manifest_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == DRAFT
    assert json.loads(json.dumps(schema)) == schema


def test_the_published_schema_is_current() -> None:
    published = (ROOT / "docs" / "manifest.schema.json").read_text(encoding="utf-8")
    assert published == json.dumps(manifest_schema(), indent=2) + "\n"


@LOADERS
def test_the_reference_manifest_is_valid(loader: Any) -> None:
    assert errors_of(REFERENCE.read_text(encoding="utf-8"), loader) == []


@LOADERS
def test_a_manifest_with_everything_in_it_is_valid(loader: Any) -> None:
    assert errors_of(SOUND, loader) == []
    load(SOUND)


@LOADERS
@pytest.mark.parametrize(("sound", "spoiled"), MUTATIONS)
def test_what_the_loader_refuses_for_its_shape_the_schema_refuses_too(sound: str, spoiled: str, loader: Any) -> None:
    assert sound in SOUND
    text = SOUND.replace(sound, spoiled, 1)
    assert errors_of(text, loader)
    with pytest.raises(ManifestErrors):
        load(text)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_editor_is_told_what_every_kind_and_parameter_is(kind: str) -> None:
    rule = manifest_schema()["$defs"]["probe"]["properties"][kind]
    assert rule["description"] == KINDS[kind].about
    parameters = next(part for part in [rule, *rule.get("anyOf", [])] if "properties" in part)["properties"]
    assert {name: part["description"] for name, part in parameters.items()} == {
        name: parameter.about for name, parameter in KINDS[kind].parameters.items()
    }
