"""YAML as marked texts: nothing is guessed, every node knows its place, and what is not plain is refused."""

from __future__ import annotations

import pytest
import yaml

from pinproof.manifest import nodes
from pinproof.manifest.errors import ManifestErrors, Problems
from pinproof.manifest.nodes import Mapping, Scalar, Sequence, read_tree, walk


def tree(text: str) -> nodes.Node:
    problems = Problems("m.yml")
    root = read_tree(text, problems)
    problems.raise_if_any()
    return root


def value(text: str) -> Scalar:
    root = tree(f"key: {text}\n")
    assert isinstance(root, Mapping)
    node = root.get("key")
    assert isinstance(node, Scalar)
    return node


@pytest.mark.parametrize(
    "text",
    ["0192117", "0123456", "12:30:45", "1.10", "on", "off", "yes", "NO", "null", "~", "7e12", "0x1F", "2026-10-24"],
)
def test_plain_texts_stay_what_was_written(text: str) -> None:
    node = value(text)
    assert (node.text, node.plain) == (text, True)


@pytest.mark.parametrize("text", ["'3'", '"3"', "|\n  3", ">\n  3"])
def test_quoted_texts_are_known_as_such(text: str) -> None:
    node = value(text)
    assert (node.text.strip(), node.plain) == ("3", False)


def test_a_key_without_value_is_missing_and_an_empty_quoted_text_is_not() -> None:
    assert value("").missing
    assert not value('""').missing


def test_every_node_knows_its_place() -> None:
    root = tree("a: 1\nb:\n  - x\n  - {c: y}\n")
    assert isinstance(root, Mapping)
    items = root.get("b")
    assert isinstance(items, Sequence)
    assert (root.line, root.column) == (1, 1)
    assert [(item.line, item.column) for item in items.items] == [(3, 5), (4, 5)]
    assert (root.entries["b"][0].line, root.entries["b"][0].column) == (2, 1)


def test_columns_count_characters_not_bytes() -> None:
    root = tree("äöü: {ß: x}\n")
    assert isinstance(root, Mapping)
    inner = root.get("äöü")
    assert inner is not None
    assert (inner.line, inner.column) == (1, 6)


def test_walk_gives_all_texts_with_the_key_they_stand_under() -> None:
    found = sorted((key, scalar.text) for key, scalar in walk(tree("a: 1\nb: [2, {c: 3}]\n")))
    assert found == [("", "a"), ("", "b"), ("", "c"), ("a", "1"), ("b", "2"), ("c", "3")]


def test_of_duplicate_keys_none_is_chosen_in_silence() -> None:
    with pytest.raises(ManifestErrors, match=r"m\.yml:2:1: 'a' stands here twice, first in line 1"):
        tree("a: 1\na: 2\n")


def test_duplicates_are_found_at_any_depth_and_all_of_them() -> None:
    with pytest.raises(ManifestErrors) as caught:
        tree("a: {x: 1, x: 2}\nb: [{y: 1, y: 1}]\na: 3\n")
    assert [problem.mark.line for problem in caught.value.problems] == [1, 2, 3]


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x0b", "\x1b", "\x7f", "\x85", "\u2028", "\ufffe", "\ud800"])
def test_control_characters_are_refused_wherever_they_stand(character: str) -> None:
    with pytest.raises(ManifestErrors, match=r"m\.yml:2:3: a control character"):
        tree(f"a: 1\n# {character}\n")


@pytest.mark.parametrize("escape", [r"\0", r"\e", r"\u200b", r"\u202e", r"\u00a0", r"\ufeff"])
def test_characters_that_do_not_show_are_refused_when_escaped_too(escape: str) -> None:
    with pytest.raises(ManifestErrors, match="a character that does not show"):
        tree(f'a: "x{escape}"\n')


def test_a_newline_in_a_text_is_a_text() -> None:
    assert value("|\n  one\n  two").text == "one\ntwo\n"


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_nesting_is_bounded(opening: str) -> None:
    with pytest.raises(ManifestErrors, match=r"nested deeper than 32 levels|maximum nesting depth"):
        tree(opening * 2000)


def test_the_parser_in_python_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: [1, 'two', {b: on}]\nc: |\n  text\n"
    quick = tree(text)
    monkeypatch.setattr(nodes, "_LOADER", yaml.SafeLoader)
    assert tree(text) == quick


@pytest.mark.parametrize("text", ["a: [1\n", "a: b: c\n", "a: 'x\n", "\tb: 1\n", "a: @x\n", "- 1\nb: 2\n"])
def test_the_parser_in_python_refuses_the_same(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    places = []
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        monkeypatch.setattr(nodes, "_LOADER", loader)
        with pytest.raises(ManifestErrors) as caught:
            tree(text)
        places.append([(problem.mark.line, problem.mark.column) for problem in caught.value.problems])
    assert places[0] == places[1]
