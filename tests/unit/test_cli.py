"""The command line as a whole: usage, errors, exit codes, and nothing that looks like a traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinproof import __version__, cli, cli_archive, errors

PROJECT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PROJECT / "python")}


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(arguments: object) -> int:
        raise error

    monkeypatch.setattr(cli_archive, "_runs", run)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["verfy"], "did you mean 'verify'?"),
        (["archive"], "the following arguments are required: COMMAND"),
        (["archive", "verfiy"], "did you mean 'verify'?"),
        (["archive", "verify", "--at-least", "chaned"], "did you mean 'chained'?"),
        (["verify", "--manfest", "x"], "unrecognized arguments: --manfest"),
        (["verify", "--mani", "x"], "unrecognized arguments: --mani"),
        (["show", "a", "b"], "unrecognized arguments: b"),
        (["explain"], "the following arguments are required: ROW|PIN"),
        (["verify", "--leg"], "expected one argument"),
        (["manifest", "chek", "x"], "did you mean 'check'?"),
        (["zzz"], "invalid choice: 'zzz'"),
    ],
)
def test_wrong_usage_is_64_with_the_nearest_name(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 64
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("pinproof: ")
    assert said in told.err
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    "words", [["--help"], ["verify", "--help"], ["archive", "verify", "--help"], ["explain", "-h"]]
)
def test_help_is_no_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 0
    assert capsys.readouterr().out.startswith("usage: pinproof")


def test_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--help"])
    shown = capsys.readouterr().out
    for word in ("verify", "capture", "show", "explain", "runs", "archive", "manifest", "replica"):
        assert f"\n    {word} " in shown
    for code in ("0 RECONCILED", "2 STOP", "3 HOLD", "64 wrong usage", "78 bad manifest"):
        assert code in shown


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"pinproof {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("no such thing"), 64),
        (errors.ConfigurationError("m.yml:1:2: wrong"), 78),
        (errors.ArchiveError("the archive: full"), 1),
        (errors.ObservationError("odd"), 1),
        (errors.PinproofError("other"), 1),
    ],
)
def test_known_errors_are_one_message_and_their_exit_code(
    error: errors.PinproofError, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(monkeypatch, error)
    assert cli.main(["runs"]) == code
    assert capsys.readouterr().err == f"pinproof: {error}\n"


def test_every_line_of_a_message_is_made_safe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(monkeypatch, errors.ConfigurationError("m.yml:1:1: \x1b[2J\nm.yml:2:1: b\u202e"))
    cli.main(["runs"])
    assert capsys.readouterr().err == "pinproof: m.yml:1:1: \\u001b[2J\nm.yml:2:1: b\\u202e\n"


def test_an_unexpected_error_is_one_line_with_the_way_to_a_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(cli.DEBUG_VARIABLE, raising=False)
    fail_with(monkeypatch, KeyError("two\nlines"))
    assert cli.main(["runs"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("pinproof: internal error: KeyError: 'two\\nlines' (test_cli.py:")
    assert line.endswith("; PINPROOF_DEBUG=1 shows the trace")


def test_the_trace_can_be_had(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(cli.DEBUG_VARIABLE, "1")
    fail_with(monkeypatch, ValueError("odd"))
    assert cli.main(["runs"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fail_with(monkeypatch, KeyboardInterrupt())
    assert cli.main(["runs"]) == 130
    assert capsys.readouterr().err == "pinproof: interrupted\n"


def test_output_that_the_terminal_cannot_hold_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))

    def run(arguments: object) -> int:
        sys.stdout.write("é\n")
        return 0

    monkeypatch.setattr(cli_archive, "_runs", run)
    assert cli.main(["runs"]) == 0
    assert raw.getvalue() == b"\\xe9\n"


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pinproof.cli", "manifest", "reference"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=30)
    assert said == b""
    assert process.returncode == 1


def test_help_imports_little_and_answers_at_once() -> None:
    heavy = "import sys; from pinproof import cli; cli.main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    begin = time.process_time()
    done = subprocess.run([sys.executable, "-c", heavy], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    loaded = done.stderr
    for module in ("ansible", "ansible_runner", "deepdiff", "jinja2", "yaml", "pinproof.archive", "pinproof.reconcile"):
        assert f"'{module}'" not in loaded, module
    assert time.process_time() - begin < 5
