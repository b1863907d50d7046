"""Whole reports, against what they must look like: one folder a case, an outcome and its reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinproof.archive.verdict_json import read_outcome
from pinproof.outcome import Outcome
from pinproof.report import markdown, terminal
from pinproof.report.text import printable, width_of
from pinproof.report.words import headline
from pinproof.verdicts import Decision, Verdict

CASES = Path(__file__).resolve().parents[1] / "cases" / "report"
NAMES = sorted(path.name for path in CASES.iterdir())
ARCHIVED = "archive/20261201T101500Z-5f3a9c1e"


def outcome_of(name: str) -> Outcome:
    return read_outcome(json.loads((CASES / name / "outcome.json").read_text(encoding="utf-8")))


def test_there_are_cases_for_every_decision_and_verdict() -> None:
    outcomes = [outcome_of(name) for name in NAMES]
    assert {item.decision for item in outcomes} == set(Decision)
    assert {pin.verdict for item in outcomes for row in item.rows for pin in row.pins} == set(Verdict)


@pytest.mark.parametrize("name", NAMES)
def test_the_report_on_a_terminal(name: str) -> None:
    shown = terminal.render(outcome_of(name), archived=ARCHIVED, width=110)
    assert shown + "\n" == (CASES / name / "expected.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in NAMES if (CASES / name / "expected.ascii.txt").exists()])
def test_the_report_in_ascii(name: str) -> None:
    shown = terminal.render(outcome_of(name), archived=ARCHIVED, width=72, encoding="ascii")
    assert shown + "\n" == (CASES / name / "expected.ascii.txt").read_text(encoding="ascii")


@pytest.mark.parametrize("name", NAMES)
def test_the_report_as_a_document(name: str) -> None:
    shown = markdown.render(outcome_of(name))
    assert shown == (CASES / name / "expected.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoding", ["utf-8", "ANSI_X3.4-1968"])
@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_what_every_report_keeps_to(name: str, encoding: str, width: int) -> None:
    outcome = outcome_of(name)
    shown = terminal.render(outcome, archived=ARCHIVED, width=width, encoding=encoding)
    lines = shown.split("\n")
    word = outcome.decision.value
    assert lines[0] == printable(headline(outcome))
    assert lines[0].startswith(f"{word}: ")
    assert lines[-1] == f"{lines[0].partition(' (')[0]}. This authorises no staging and no change."
    assert all(line.isprintable() for line in lines)
    assert all(width_of(line) <= width for line in lines[1:-1])
    assert encoding == "utf-8" or shown.isascii()
    assert f"archived in {ARCHIVED}" in lines


@pytest.mark.parametrize("name", NAMES)
def test_colour_adds_nothing_but_colour(name: str) -> None:
    import re

    outcome = outcome_of(name)
    coloured = terminal.render(outcome, width=110, colour=True)
    plain = terminal.render(outcome, width=110)
    assert coloured != plain
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in without.split("\n")] == plain.split("\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_matching_row_is_one_line_and_rows_keep_their_order(name: str) -> None:
    outcome = outcome_of(name)
    lines = terminal.render(outcome, width=200).split("\n")
    matching = [row.setting for row in outcome.rows if row.verdict is Verdict.MATCH]
    found = [line.split("  ")[0] for line in lines if "  MATCH     " in line]
    assert found == matching


def test_hosts_cannot_write_a_line_of_the_report() -> None:
    shown = terminal.render(outcome_of("hostile"), width=110)
    assert not any(line.startswith("RECONCILED") for line in shown.split("\n"))
    document = markdown.render(outcome_of("hostile"))
    assert not any(line.lstrip("#*| ").startswith("RECONCILED") for line in document.split("\n"))
    tables = [line for line in document.split("\n") if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") in (3, 5) for line in tables)
