"""`pinproof manifest`: what it prints, where, and with which exit code."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path

import pytest

from pinproof import cli_manifest, exit_codes
from pinproof.manifest import ManifestErrors, load_manifest_file
from pinproof.manifest.schema import manifest_schema
from tests.unit.manifest_texts import EXPERIMENT, REFERENCE, SHA256, text_of


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="pinproof")
    cli_manifest.add_parser(parser.add_subparsers(required=True))
    parsed = parser.parse_args(["manifest", *arguments])
    code: int = parsed.run(parsed)
    return code


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_check_tells_in_one_line_what_the_manifest_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.yml"
    pins = "{at: serve.user, is: root}", "{at: serve.id, same_across: bracket}"
    path.write_text(text_of(*pins, tail=EXPERIMENT), encoding="utf-8")
    assert run("check", str(path)) == exit_codes.RECONCILED
    digest = load_manifest_file(path).digest
    told = capsys.readouterr()
    assert told.out == f"small: 1 rows, 2 pins (1 judged by compare), 8 probes, 3 hosts, sha256 {digest}\n"
    assert told.err == ""


def test_check_of_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", str(REFERENCE)) == 0
    assert capsys.readouterr().out.startswith("up2-low-cap: 31 rows, ")


def test_check_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(REFERENCE.parent)
    piped(monkeypatch, REFERENCE.read_bytes())
    assert run("check", "-") == 0
    assert load_manifest_file(REFERENCE).digest in capsys.readouterr().out


def test_lists_of_standard_input_are_looked_for_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = text_of("{at: emitted.files, is_listed_in: l.sha256}").encode()
    piped(monkeypatch, text)
    with pytest.raises(ManifestErrors, match=r"<stdin>:\d+:\d+: .*there is no list 'l.sha256'"):
        run("check", "-")
    (tmp_path / "l.sha256").write_text(f"{SHA256}  a.py\n", encoding="utf-8")
    piped(monkeypatch, text)
    assert run("check", "-") == 0
    assert capsys.readouterr().err == ""


def test_mistakes_leave_as_errors_of_their_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "m.yml"
    path.write_text("manifest: x\n", encoding="utf-8")
    with pytest.raises(ManifestErrors) as caught:
        run("check", str(path))
    assert caught.value.exit_code == exit_codes.CONFIGURATION
    assert str(caught.value).startswith(f"{path}:1:1: ")


def test_what_is_rendered_checks_to_the_same_digest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("render", str(REFERENCE)) == 0
    rendered = capsys.readouterr().out
    piped(monkeypatch, rendered.encode())
    assert run("check", "-") == 0
    digest = load_manifest_file(REFERENCE).digest
    assert digest in capsys.readouterr().out
    assert digest in rendered.split("\n", 1)[0]


def test_rendered_groups_ids_and_lists_are_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    run("render", str(REFERENCE))
    rendered = capsys.readouterr().out
    assert "on: [sparkhead, sparkpeer]" in rendered
    assert "on: ranks" not in rendered
    assert "is_listed_in" not in rendered
    assert "id: k1/engine.env\n" in rendered


def test_schema_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schema") == 0
    assert json.loads(capsys.readouterr().out) == manifest_schema()


def test_reference_is_printed_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reference") == 0
    assert capsys.readouterr().out.startswith("## Keys (version 1)\n")


@pytest.mark.parametrize("arguments", [[], ["check"], ["check", "a", "b"], ["lint", "x"]])
def test_wrong_usage_is_left_to_the_parser(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(*arguments)
    assert "usage: pinproof" in capsys.readouterr().err
