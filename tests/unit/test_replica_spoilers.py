"""How a spoiler chooses what to change, and into what."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pinproof.manifest import load_manifest_file
from pinproof.manifest.model import Closed, Is, PerHost, Pin
from pinproof.replica.drift import pin_named
from pinproof.replica.spoilers import choose_key, other, unlisted

MANIFEST = load_manifest_file(Path(__file__).resolve().parents[2] / "inventory/manifests/up2-low-cap.yml")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3", "4"),
        ("0", "1"),
        ("1", "0"),
        ("1.6", "1.7"),
        ("4.9", "4.0"),
        ("LAZY", "LAZY-other"),
        ("a,b", "a,b-other"),
        ("1.5,2.5", "1.5,2.6"),
        ("ab" * 32, "0b" + "ab" * 31),
        ("0" * 40, "1" + "0" * 39),
        (5, 6),
        (0, 1),
        (True, False),
        (1.5, 2.5),
        (["a"], ["a", "other"]),
    ],
)
def test_another_value_is_of_the_same_type(value: object, expected: object) -> None:
    assert repr(other(value)) == repr(expected)


@pytest.mark.parametrize(
    ("globs", "name"),
    [
        (("K1_*",), "K1_UNLISTED"),
        (("*",), "unlisted"),
        (("*FORCE_UNSAFE*",), "VLLM_FORCE_UNSAFE"),
        (("*connector*",), "connector"),
    ],
)
def test_an_unlisted_name_fits_the_glob(globs: tuple[str, ...], name: str) -> None:
    assert unlisted(Closed(globs, frozenset())) == name


def test_the_key_of_a_map_is_chosen() -> None:
    def pin(*checks: object) -> Pin:
        return dataclasses.replace(pin_named(MANIFEST, "k1/engine.env"), checks=checks)  # type: ignore[arg-type]

    closed = Closed(("K1_*",), frozenset())
    assert choose_key(pin(Is({"a": "1", "b": "2"}), closed), "sparkhead", None) == "a"
    assert choose_key(pin(PerHost({"sparkhead": {"x": "1"}, "sparkpeer": {"y": "1"}})), "sparkpeer", None) == "y"
    assert choose_key(pin(closed), "sparkhead", None) == "K1_UNLISTED"
    assert choose_key(pin(Is("text")), "sparkhead", None) == ""
    assert choose_key(pin(Is({"a": "1"})), "sparkhead", "b") == "b"
