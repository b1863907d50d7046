"""Expectations are typed by the attribute that they are about, and by nothing else."""

from __future__ import annotations

import pytest

from pinproof.manifest.errors import Wrong
from pinproof.manifest.model import Is, Json, OneOf, SetOf
from pinproof.manifest.scalars import UNITS, read_scalar
from tests.unit.manifest_texts import COMMIT, SHA256, load_check, load_pin, problems_of, text_of


def same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other


@pytest.mark.parametrize(
    ("type_", "text", "plain", "value"),
    [
        ("text", "0192117", True, "0192117"),
        ("text", "on", True, "on"),
        ("text", "null", True, "null"),
        ("text", "1.10", True, "1.10"),
        ("text", ".*/x", False, ".*/x"),
        ("path", "/srv/dsv41", True, "/srv/dsv41"),
        ("path", "/", True, "/"),
        ("int", "0", True, 0),
        ("int", "-5", True, -5),
        ("int", "13", False, 13),
        ("float", "5", True, 5.0),
        ("float", "1e-3", True, 0.001),
        ("bool", "true", True, True),
        ("bool", "false", False, False),
        ("bytes", "3 GiB", True, 3 * 2**30),
        ("bytes", "1.5 KiB", True, 1536),
        ("bytes", "6GB", True, 6 * 10**9),
        ("bytes", "0 B", True, 0),
        ("sha256", SHA256, True, SHA256),
        ("commit", COMMIT, True, COMMIT),
        ("commit", SHA256, True, SHA256),
        ("option", "true", True, True),
        ("option", "true", False, "true"),
        ("option", "false", False, "false"),
        ("option", "2", True, "2"),
        ("json", "true", True, True),
        ("json", "true", False, "true"),
        ("json", "null", True, None),
        ("json", "3", True, 3),
        ("json", "3.0", True, 3.0),
        ("json", "3", False, "3"),
        ("json", "1e2", True, 100.0),
        ("json", "on", True, "on"),
        ("json", "dspark", True, "dspark"),
        ("json", "0b6e71", True, "0b6e71"),
        ("json", "1.2.3", True, "1.2.3"),
    ],
)
def test_scalars_are_read_as_their_type(type_: str, text: str, plain: bool, value: Json) -> None:
    assert same(read_scalar(text, plain, type_), value)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("int", "03"),
        ("int", "+3"),
        ("int", "3.0"),
        ("int", "1_000"),
        ("int", "-0"),
        ("int", "0x10"),
        ("int", "٣"),
        ("int", "9" * 31),
        ("float", "nan"),
        ("float", ".inf"),
        ("float", "1e999"),
        ("float", "1."),
        ("bool", "yes"),
        ("bool", "True"),
        ("bool", "1"),
        ("bytes", "3"),
        ("bytes", "3 gib"),
        ("bytes", "3 Gi"),
        ("bytes", "0.5 B"),
        ("bytes", "-1 B"),
        ("bytes", "03 GiB"),
        ("sha256", SHA256[:-1]),
        ("sha256", SHA256.upper()),
        ("sha256", COMMIT),
        ("sha256", f"sha256:{SHA256}"),
        ("sha256", f"{SHA256} "),
        ("commit", "21bed31"),
        ("commit", "main"),
        ("json", "True"),
        ("json", "NULL"),
        ("json", "~"),
        ("json", "01"),
        ("json", ".5"),
        ("json", "+1"),
        ("json", "-0"),
        ("json", "1e999"),
        ("json", "0x1f"),
        ("json", ".nan"),
        ("json", "9" * 31),
        ("option", "false"),
        ("text", ".*"),
        ("text", "^.*$"),
        ("text", "v5.*"),
        ("path", "~/x"),
        ("path", "/srv/"),
    ],
)
def test_what_is_not_written_in_the_one_way_is_refused(type_: str, text: str) -> None:
    with pytest.raises(Wrong):
        read_scalar(text, True, type_)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_in_other_letters_names_the_right_one(unit: str) -> None:
    wrong = unit.swapcase()
    if wrong not in UNITS:
        with pytest.raises(Wrong) as caught:
            read_scalar(f"3 {wrong}", True, "bytes")
        assert unit in caught.value.fix


@pytest.mark.parametrize(
    ("pin", "value"),
    [
        ("{at: engine.argv, is: {enforce-eager: true, seed: 7, middleware: [a, b]}}",
         {"enforce-eager": True, "seed": "7", "middleware": ["a", "b"]}),
        ("{at: engine.env, is: {K1: 3, EMPTY: ''}}", {"K1": "3", "EMPTY": ""}),
        ("{at: engine.json.config, is: {a: 1, b: [true, null, {c: '1'}]}}", {"a": 1, "b": [True, None, {"c": "1"}]}),
        ("{at: serve.mounts, is: {/srv: {source: /srv, writable: false}}}",
         {"/srv": {"source": "/srv", "writable": False}}),
        ("{at: machine.memory, is: {total: 1 KiB}}", {"total": 1024}),
        ("{at: serve.command, is: [serve, on, 1]}", ["serve", "on", "1"]),
        ("{at: weights.files, is: {config.json: {size: 7}}}", {"config.json": {"size": 7}}),
        ("{at: provenance.value.a.b, is: null}", None),
    ],
)  # fmt: skip
def test_maps_and_lists_are_typed_by_what_stands_below(pin: str, value: Json) -> None:
    check = load_check(pin)
    assert isinstance(check, Is)
    assert repr(check.value) == repr(value)


def test_a_split_text_is_expected_as_a_list() -> None:
    pin = load_pin('{at: engine.env.LINKS, split: ",", is: ["28.79", a]}')
    assert (pin.split, pin.checks) == (",", (Is(["28.79", "a"]),))


def test_members_are_typed() -> None:
    assert load_check("{at: gpu.uuids, set_of: [b, a]}") == SetOf(("b", "a"))
    assert load_check("{at: serve.restart_count, one_of: [0, 1]}") == OneOf((0, 1))
    assert load_check('{at: provenance.value.n, one_of: [1, "1", true]}') == OneOf((1, "1", True))


@pytest.mark.parametrize("empty", ["[]", "{}", '""', "''", ""])
@pytest.mark.parametrize(
    "at", ["serve.image.tag", "serve.command", "serve.mounts", "provenance.value", "engine.argv.x"]
)
@pytest.mark.parametrize("check", ["is", "baseline_is"])
def test_no_empty_expectation_is_ever_taken(at: str, empty: str, check: str) -> None:
    assert problems_of(text_of(f"{{at: {at}, {check}: {empty}}}"))


@pytest.mark.parametrize("nested", ["{a: {}}", "{a: []}", "[[]]", "[{}]", "{a: }", '[""]'])
def test_no_empty_expectation_hides_inside_another(nested: str) -> None:
    assert problems_of(text_of(f"{{at: provenance.value, is: {nested}}}"))


@pytest.mark.parametrize(
    ("digest", "kind"),
    [("a1" * 16, "MD5"), ("a1" * 28, "SHA-224"), ("a1" * 48, "SHA-384"), ("a1" * 64, "SHA-512"), ("a1" * 20, "SHA-1")],
)
def test_the_wrong_kind_of_digest_is_called_by_its_name(digest: str, kind: str) -> None:
    (problem,) = problems_of(text_of(f"{{at: serve.image.content, is: {digest}}}"))
    assert kind in problem
    assert "can never match" in problem


def test_all_mistakes_of_an_expectation_are_told() -> None:
    found = problems_of(text_of("{at: machine.memory, is: {total: 1, free: two, avail: 3 B}}"))
    assert len(found) == 3
