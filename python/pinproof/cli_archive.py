"""`pinproof show`, `explain`, `runs` and `archive verify`: reading the archive. Nothing here contacts a host.

What shows a verdict ends with the exit code of that verdict: 0 is for RECONCILED alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinproof import exit_codes

if TYPE_CHECKING:
    from pinproof.archive import Archive, ArchivedRun, RunSummary
    from pinproof.verdicts import Decision, Verdict

_TOLD = 3
_LEVELS = ("sums", "chained")
_FORMATS = ("text", "markdown", "json")
_RUN_HELP = "the run's id, or so much of its beginning or end that it is told apart (default: the newest verification)"


def add_parser(subparsers: Any) -> None:
    """Add the commands; each sets `run`, a function of the arguments to an exit code."""
    show = _command(subparsers, "show", "show the report of an archived run again", _show)
    show.add_argument("name", metavar="RUN", nargs="?", default="", help=_RUN_HELP)
    show.add_argument("--format", choices=_FORMATS, default="text", help="(default: text)")
    show.add_argument("--colour", action="store_true", help="colour verdicts")
    explain = _command(subparsers, "explain", "tell a row or pin in full: expected, observed, source, why", _explain)
    explain.add_argument("name", metavar="ROW|PIN", help="its id, as reports show it")
    explain.add_argument("--run", dest="of_run", metavar="RUN", default="", help=_RUN_HELP)
    _command(subparsers, "runs", "list all runs, the interrupted and damaged ones included", _runs)
    about = "check the archive itself"
    archive = subparsers.add_parser("archive", help=about, description=about)
    commands = archive.add_subparsers(dest="archive_command", metavar="COMMAND", required=True)
    about = "check that no file of a run was changed, removed or added, and that the runs form one chain"
    verify = _command(commands, "verify", about, _verify)
    verify.add_argument("runs", metavar="RUN", nargs="*", help="the runs to check (default: all, and their chain)")
    verify.add_argument("--at-least", choices=_LEVELS, default="chained", help="how much (default: chained)")


def _command(commands: Any, name: str, about: str, run: Any) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    command.add_argument("--archive", type=Path, help="the archive's folder (default: archive/ in the checkout)")
    command.set_defaults(run=run)
    return command


def exit_code_of(decision: Decision) -> int:
    """Give the exit code of a decision."""
    from pinproof.verdicts import Decision

    codes = {Decision.RECONCILED: exit_codes.RECONCILED, Decision.HOLD: exit_codes.HOLD, Decision.STOP: exit_codes.STOP}
    return codes[decision]


def open_archive(path: Path | None) -> Archive:
    """Give the archive that the command line names. Raises UsageError where there is no checkout to take it from."""
    from pinproof.archive import Archive
    from pinproof.checkout import default_archive

    return Archive(path or default_archive())


def resolve(archive: Archive, named: str) -> str:
    """Give the id of the run that a name stands for. Raises UsageError with those that there are."""
    from pinproof.archive import is_run_id
    from pinproof.archive.layout import LATEST_LINK
    from pinproof.errors import UsageError

    if named in ("", LATEST_LINK):
        newest = archive.newest()
        if not newest:
            raise UsageError(f"there is no verification in {archive.root} yet; make one with `pinproof verify`")
        return newest
    if is_run_id(named):
        return named
    known = [item.run for item in archive.runs()]
    fitting = [run for run in known if run.startswith(named) or run.endswith(named)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(f"'{named}' may be any of {len(fitting)} runs, such as {fitting[-1]}")
    newest = f"the newest are {', '.join(reversed(known[-_TOLD:]))}" if known else "there are none yet"
    raise UsageError(f"there is no run '{named}' in {archive.root}; {newest}")


def _show(arguments: argparse.Namespace) -> int:
    archive = open_archive(arguments.archive)
    run = archive.load(resolve(archive, arguments.name))
    if arguments.format == "text":
        _print(_report(run, arguments.colour))
    else:
        _print(_file(run, arguments.format).rstrip("\n"))
    # A capture is no verdict, and so can't be taken for a pass either.
    return exit_code_of(run.outcome.decision) if run.outcome is not None else exit_codes.HOLD


def _report(run: ArchivedRun, colour: bool) -> str:
    from pinproof.report import capture, terminal

    encoding = sys.stdout.encoding or "ascii"
    if run.outcome is not None:
        return terminal.render(run.outcome, archived=str(run.path), encoding=encoding, colour=colour)
    name = str(run.record["manifest"].get("name", ""))
    return capture.terminal(run.captured(), run.run, name, str(run.path), encoding=encoding, colour=colour)


def _file(run: ArchivedRun, form: str) -> str:
    from pinproof.archive.files import read_text
    from pinproof.archive.layout import REPORT_FILE, RUN_FILE, VERDICT_FILE

    if form == "markdown":
        return read_text(run.path / REPORT_FILE)
    return read_text(run.path / (VERDICT_FILE if run.outcome is not None else RUN_FILE))


def _explain(arguments: argparse.Namespace) -> int:
    from pinproof.errors import UsageError
    from pinproof.manifest.errors import nearest
    from pinproof.report import explain
    from pinproof.verdicts import Verdict, worst

    archive = open_archive(arguments.archive)
    run = archive.load(resolve(archive, arguments.of_run))
    if run.outcome is None:
        raise UsageError(f"run {run.run} is a capture; there is no verdict to explain")
    text = explain.render(run.outcome, run.facts, arguments.name, encoding=sys.stdout.encoding or "ascii")
    if not text:
        known = nearest(arguments.name, explain.names(run.outcome))
        raise UsageError(f"run {run.run} has no row or pin '{arguments.name}'; {known}")
    _print(f"run {run.run}\n\n{text}")
    pins, rows = explain.chosen(run.outcome, arguments.name)
    verdicts: list[Verdict] = [row.verdict for row in rows] + [pin.verdict for _, pin in pins]
    worst_one = worst(verdicts)
    if worst_one >= Verdict.REFUSED:
        return exit_codes.STOP
    return exit_codes.HOLD if worst_one >= Verdict.NOT_RUN else exit_codes.RECONCILED


def _runs(arguments: argparse.Namespace) -> int:
    archive = open_archive(arguments.archive)
    summaries = archive.runs()
    if not summaries:
        _print(f"there are no runs in {archive.root} yet")
        return exit_codes.RECONCILED
    headings = ("run", "kind", "outcome", "manifest", "arm", "label")
    table = [headings, *(_cells(item) for item in summaries)]
    widths = [max(len(line[column]) for line in table) for column in range(len(headings))]
    for line in table:
        _print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
    for item in summaries:
        if item.problem:
            _print(f"{item.run}: {_safe(item.problem)}")
    return exit_codes.RECONCILED


def _cells(item: RunSummary) -> tuple[str, ...]:
    outcome = item.decision if item.state == "complete" else item.state
    arm = "/".join(filter(None, (item.leg, item.start)))
    return tuple(_safe(cell) or "-" for cell in (item.run, item.kind, outcome, item.manifest, arm, item.label))


def _verify(arguments: argparse.Namespace) -> int:
    archive = open_archive(arguments.archive)
    check = archive.verify(arguments.at_least, [resolve(archive, name) for name in arguments.runs])
    for run, problem in check.problems:
        _print(f"{run}: {_safe(problem)}")
    count = f"{len(check.runs)} run{'' if len(check.runs) == 1 else 's'}"
    if not check.runs:
        _print(f"NOT INTACT: there are no complete runs in {archive.root}")
    elif check.problems:
        broken = len({run for run, _ in check.problems})
        _print(f"NOT INTACT: {broken} of {count}")
    else:
        chained = ", linked to the run before" if arguments.runs else ", in one chain"
        level = "files as they were written" + (chained if arguments.at_least == "chained" else "")
        _print(f"INTACT: {count}, {level}")
        _print(f"the newest run is {check.head[0]}, the sha256 of its SHA256SUMS {check.head[1]}:")
        _print("noted elsewhere, it also tells later that no run was removed from the end")
    return exit_codes.RECONCILED if check.intact else exit_codes.INTERNAL


def _safe(text: str) -> str:
    from pinproof.report.text import printable

    return printable(text)


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
