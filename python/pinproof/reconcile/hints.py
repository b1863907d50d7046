"""Telling that an observed digest is what another pin expects: the fields are swapped, not merely wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pinproof.manifest.model import BaselineIs, Check, Is, Manifest, OneOf, PerHost, Prefix, SetOf
from pinproof.reconcile.canonical import hex_digits, is_identity
from pinproof.reconcile.compare import Difference, kind
from pinproof.reconcile.explain import spell_path
from pinproof.reconcile.scene import Case, Expectation

_SHOWN = 3


def expectations(manifest: Manifest) -> tuple[Expectation, ...]:
    """List every digest and unique id that the manifest expects, and where."""
    found: dict[tuple[str, str], Expectation] = {}
    for row, pin in manifest.pins():
        for check in pin.checks:
            for path, text, whole in _texts(check):
                place = str(pin.at) + path
                found.setdefault((text, place), Expectation(text, place, row.setting, whole))
    return tuple(found.values())


def hints(case: Case, base: str, differences: list[Difference]) -> tuple[str, ...]:
    """Say of each observed digest that other fields of the manifest pin it, where they do."""
    said = (_hint(case, base + spell_path(_names(item)), item.observed) for item in differences)
    return tuple(dict.fromkeys(text for text in said if text))


def _names(item: Difference) -> tuple[str, ...]:
    """Give the path without places in lists: members of a list are one field."""
    return tuple(part for part in item.path if isinstance(part, str))


def _hint(case: Case, place: str, observed: Any) -> str:
    if not isinstance(observed, str) or not is_identity(observed):
        return ""
    text = observed.strip().lower()
    others = [item for item in case.expectations if item.place != place and _is_it(item, text)]
    if not others or any(item.place == place and _is_it(item, text) for item in case.expectations):
        return ""
    named = " and ".join(f"`{item.place}` ({item.setting})" for item in others[:_SHOWN])
    return f"what {place} shows is what {named} pins: another field"


def _is_it(expectation: Expectation, text: str) -> bool:
    if expectation.whole:
        return expectation.text == text
    return hex_digits(text).startswith(expectation.text)


def _texts(check: Check) -> Iterator[tuple[str, str, bool]]:
    """Give (path below the pin, text in lower case, whether it is whole) of every digest that a check expects."""
    if isinstance(check, Prefix):
        if digits := hex_digits(check.text):
            yield "", digits, False
        return
    values: list[Any] = []
    if isinstance(check, Is | BaselineIs):
        values = [check.value]
    elif isinstance(check, PerHost):
        values = list(check.values.values())
    elif isinstance(check, OneOf | SetOf):
        values = list(check.values)
    for value in values:
        for path, text in _leaves(value, ""):
            if is_identity(text):
                yield path, text.strip().lower(), True


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if kind(value) == "map":
        for key, item in value.items():
            yield from _leaves(item, path + spell_path((key,)))
    elif kind(value) == "list":
        for item in value:
            yield from _leaves(item, path)
    elif isinstance(value, str):
        yield path, value
