"""Whatever text comes in, what comes out is a manifest or ManifestErrors; never another error, never a hang."""

from __future__ import annotations

import string
import subprocess
import sys

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pinproof.manifest import ManifestErrors, load_manifest, load_manifest_bytes, render_manifest
from pinproof.manifest.errors import Wrong, nearest, short
from pinproof.manifest.fields import PIN
from pinproof.manifest.lists import read_digests
from pinproof.manifest.load import read_list_beside
from pinproof.manifest.model import Manifest
from tests.unit.manifest_texts import EXPERIMENT, REFERENCE, ROOT, attempt, no_list, problems_of, text_of

LINES = REFERENCE.read_text(encoding="utf-8").split("\n")
READ = read_list_beside(REFERENCE.parent)
TOKENS = ["[", "]", "{", "}", ":", "- ", ", ", "\n", "  ", "'", '"', "&a ", "*a", "!!str ", "<<: ", "|", ">", "#", "~",
          "null", "true", "1", "0.5", "{}", "[]", "on", "is", "absent", "\t", "ä", "\u200b", "%YAML 1.1"]  # fmt: skip
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def survives(text: str) -> None:
    """Load a text: it must give a manifest that renders to itself, or mistakes with places."""
    result = attempt(text, READ)
    assert result != ()
    if isinstance(result, Manifest):
        assert load_manifest(render_manifest(result), "r.yml", READ).digest == result.digest
    else:
        assert all(problem.mark.line >= 1 and problem.mark.column >= 1 for problem in result)
        assert all("\n" not in str(problem) for problem in result)


@QUICK
@given(text=st.text())
@example(text="%")
@example(text="? ")
@example(text="manifest: small\nversion: " + "9" * 5000)
@example(text="manifest: {a: b}\nversion: [1]\nhosts: {}\nprobes: []\nrows: x\nexperiment: -\ngroups: ''\n")
def test_any_text(text: str) -> None:
    survives(text)


@QUICK
@given(data=st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(ManifestErrors):
        load_manifest_bytes(data, "m.yml", no_list)


@QUICK
@given(parts=st.lists(st.sampled_from(TOKENS) | st.sampled_from(LINES), max_size=30))
def test_any_heap_of_pieces_of_manifests(parts: list[str]) -> None:
    survives("".join(parts))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    line=st.integers(0, len(LINES) - 1),
    column=st.integers(0, 120),
    token=st.sampled_from(TOKENS),
    cut=st.integers(0, 9),
)
def test_the_reference_with_something_else_in_one_place(line: int, column: int, token: str, cut: int) -> None:
    changed = list(LINES)
    changed[line] = changed[line][:column] + token + changed[line][column + cut :]
    survives("\n".join(changed))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=st.integers(0, len(LINES) - 1), count=st.integers(1, 40))
def test_the_reference_without_some_lines(first: int, count: int) -> None:
    survives("\n".join(LINES[:first] + LINES[first + count :]))


PLACES = ["scope: %s", "groups: %s", "authorities: %s", "experiment: %s"]
ODD = ["[]", "{}", "''", "~", "x", "[x]", "{x: y}", "[[]]", "[{}]", "{x: {}}", "{x: []}", "[{id: []}]", "{legs: {}}",
       "{legs: [x], starts: [x], may_differ: {}}", "{legs: [{id: a, s: []}], starts: {a: {of: {}}}}"]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_any_shape_in_the_place_of_another(place: str) -> None:
    lines = text_of("{at: serve.user, is: root}").split("\n")
    if place.startswith("groups"):
        lines = [line for line in lines if not line.startswith(("groups", "  ranks: ["))]
    for odd in ODD:
        survives("\n".join([place % odd, *lines]))


@pytest.mark.parametrize("key", [*PIN.fields])
@pytest.mark.parametrize("at", ["serve.user", "engine.env", "engine.json.c", "serve.command", "serve.restart_count"])
def test_any_shape_under_any_key_of_a_pin(at: str, key: str) -> None:
    for odd in (*ODD, "[1, 1]", "{head: 1}", "true", "1", "legs", "leg.replay", "serve.user", "'*'"):
        pin = f"{{at: {odd}, is: x}}" if key == "at" else f"{{at: {at}, {key}: {odd}}}"
        survives(text_of(pin, "{at: serve.user, id: other, is: root}", tail=EXPERIMENT))


def test_long_texts_take_no_long_time() -> None:
    long = "a" * 200_000
    pins = [f"{{at: serve.user, is: {long}}}", f"{{at: {long}, is: x}}", f"{{{long}: x}}"]
    pins += [f"{{at: provenance.value{'.a' * 50_000}, is: x}}", f"{{at: serve.env.A, is: {'[a-' * 50_000}}}"]
    for pin in pins:
        survives(text_of(pin))


def test_many_mistakes_are_all_told() -> None:
    assert len(problems_of(text_of(*["{at: nowhere.x, is: y}"] * 500))) >= 500


@QUICK
@given(text=st.text(alphabet=string.hexdigits + " *\n/\\.é\0", max_size=200))
def test_any_list(text: str) -> None:
    try:
        digests = read_digests("l.sha256", lambda _: text)
    except Wrong:
        return
    listed = "".join(f"{digest}  {path}\n" for path, digest in digests.items())
    assert listed.split() == text.replace("*", " ").split()


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), IsADirectoryError(21, "Is a directory")])
def test_a_list_that_cannot_be_read_is_a_mistake(error: OSError) -> None:
    def read(_: str) -> str:
        raise error

    with pytest.raises(ManifestErrors, match=f"cannot be read: {error.strerror}"):
        load_manifest(text_of("{at: emitted.files, is_listed_in: l.sha256}"), "m.yml", read)


def test_names_that_are_near_are_found() -> None:
    assert nearest("requries", ["requires", "setting"]) == "did you mean 'requires'?"
    assert nearest("RANKS", ["ranks", "served"]) == "did you mean 'ranks'?"
    assert nearest("zzz", ["a", "b"], "declared") == "declared: a, b"
    assert nearest("zzz", [], "declared") == "there is nothing declared"


def test_quoted_texts_show_what_does_not_print() -> None:
    assert short("a\nb\u200b") == "'a\\u000ab\\u200b'"
    assert len(short("x" * 1000)) == 62


def test_importing_the_manifest_imports_nothing_heavy() -> None:
    code = (
        "import sys, pinproof.manifest as m; from pathlib import Path; early = set(sys.modules);"
        f"m.load_manifest_file(Path({str(REFERENCE)!r}));"
        "heavy = {'difflib', 'jsonschema', 'ansible', 'deepdiff', 'jinja2'};"
        "print('yaml' in early, sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "False []"


def test_without_the_parser_in_c_the_manifest_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from pinproof.manifest import nodes

    quick = load_manifest("\n".join(LINES), "m.yml", READ)
    monkeypatch.setattr(nodes, "_LOADER", yaml.SafeLoader)
    assert load_manifest("\n".join(LINES), "m.yml", READ) == quick
