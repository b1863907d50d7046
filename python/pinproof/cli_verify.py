"""`pinproof verify` and `pinproof capture`: run the playbook, and end as the archived run says.

The exit code is read from the archive, from the run with this run's own id, and
from nowhere else. Without one there is no verdict, whatever Ansible returned.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinproof import exit_codes

if TYPE_CHECKING:
    from pinproof.archive import Archive
    from pinproof.playbook_run import Heard, Request

_TEMPLATE = re.compile(r"\{[{%#]")
_OF_ARCHIVE = "the archive: "
_NO_HOSTS = ("Could not match supplied host pattern", "no hosts to target", "does not match any host")
_BAD_INVENTORY = ("Completely failed to parse inventory source", "No inventory was parsed", "hosts list is empty")


def add_parser(subparsers: Any) -> None:
    """Add the commands; each sets `run`, a function of the arguments to an exit code."""
    verify = _command(
        subparsers, "verify", "verify.yml", "verify all hosts against the manifest, and archive the verdict"
    )
    verify.add_argument("--leg", default="", help="the leg of the experiment that this is, such as off-1")
    verify.add_argument("--start", default="", help="the start of the leg that this is, such as measured")
    verify.add_argument(
        "--baseline", metavar="RUN", default="", help="the capture to compare with (default: the newest)"
    )
    _command(subparsers, "capture", "capture.yml", "save what runs now as a baseline; never a pass")


def _command(subparsers: Any, name: str, playbook: str, about: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = subparsers.add_parser(name, help=about, description=about)
    command.add_argument("--inventory", "-i", default="", help="inventory file or folder (default: the replica)")
    command.add_argument("--manifest", type=Path, help="the manifest (default: the inventory's)")
    command.add_argument("--archive", type=Path, help="the archive's folder (default: the inventory's)")
    command.add_argument("--limit", "-l", default="", help="look at these hosts only; the others are NOT_RUN")
    command.add_argument("--tags", "-t", default="", help="run these parts only; what is left out is NOT_RUN")
    command.add_argument("--label", default="", help="a label to keep with the run")
    command.set_defaults(run=_run, playbook=playbook, kind=name)
    return command


def _run(arguments: argparse.Namespace) -> int:
    from pinproof.playbook_run import run_playbook

    request = request_of(arguments)
    heard = run_playbook(request, _say)
    return ended(arguments, request, heard)


def request_of(arguments: argparse.Namespace) -> Request:
    """Check everything that can be checked before anything is started. Raises UsageError, ConfigurationError."""
    from pinproof.archive import Archive, new_run_id
    from pinproof.checkout import find_checkout
    from pinproof.playbook_run import Request

    checkout = find_checkout()
    run = new_run_id()
    variables = {"pinproof_run": run}
    if arguments.manifest is not None:
        _check_manifest(arguments)
        variables["pinproof_manifest"] = str(arguments.manifest.resolve())
    if arguments.archive is not None:
        archive = Archive(arguments.archive)
        archive.prepare()
        variables["pinproof_archive"] = str(archive.root)
    for name in ("leg", "start", "label", "baseline"):
        if getattr(arguments, name, ""):
            variables[f"pinproof_{name}"] = getattr(arguments, name)
    for name, value in variables.items():
        _check_text(name.removeprefix("pinproof_"), value)
    for name in ("limit", "tags"):
        _check_text(name, getattr(arguments, name))
    return Request(
        checkout=checkout,
        playbook=arguments.playbook,
        run=run,
        variables=variables,
        inventory=_inventory(arguments.inventory),
        limit=arguments.limit,
        tags=arguments.tags,
    )


def _check_manifest(arguments: argparse.Namespace) -> None:
    """Load the manifest, and hold leg and start against it."""
    from pinproof.manifest import load_manifest_file
    from pinproof.manifest.arms import check_arm

    manifest = load_manifest_file(arguments.manifest)
    check_arm(manifest, getattr(arguments, "leg", ""), getattr(arguments, "start", ""))


def _check_text(name: str, value: str) -> None:
    """Refuse what Ansible would take for something else than a text."""
    from pinproof.errors import UsageError

    if _TEMPLATE.search(value):
        raise UsageError(f"--{name} holds the beginning of a template, which Ansible would fill in: {value}")
    if not value.isprintable() or value.startswith("-"):
        raise UsageError(f"--{name} begins with a dash, or is not printable: {value!r}")


def _inventory(given: str) -> str:
    from pinproof.errors import ConfigurationError

    if not given or "," in given:  # a list of host names
        return given
    path = Path(given)
    if not path.exists():
        raise ConfigurationError(f"there is no inventory {path}")
    return str(path.resolve())


def ended(arguments: argparse.Namespace, request: Request, heard: Heard) -> int:
    """Give the exit code of the archived run, or say why there is none. Raises PinproofError."""
    from pinproof.archive.layout import run_folders
    from pinproof.complain import complain

    archive = _archive(arguments, request, heard)
    if request.run not in run_folders(archive.root):
        return _without_verdict(request, heard)
    run = archive.load(request.run)
    if run.kind != arguments.kind:
        complain(f"no verdict: run {run.run} is a {run.kind}, where a {arguments.kind} was asked for")
        return exit_codes.HOLD
    if run.outcome is None:
        return exit_codes.RECONCILED if run.captured().complete else exit_codes.HOLD
    from pinproof.cli_archive import exit_code_of

    return exit_code_of(run.outcome.decision)


def _archive(arguments: argparse.Namespace, request: Request, heard: Heard) -> Archive:
    from pinproof.archive import Archive

    if arguments.archive is None and heard.archived:
        return Archive(Path(heard.archived).parent)
    return Archive(arguments.archive or request.checkout / "archive")


def _without_verdict(request: Request, heard: Heard) -> int:
    """Say what became of a run that is not archived, and give the exit code: never 0."""
    from pinproof.complain import complain

    for task, words, code in heard.failures:
        known = code if code != exit_codes.RECONCILED else None
        if known is None and words.startswith(_OF_ARCHIVE):
            known = exit_codes.INTERNAL
        if known is None and task == "open_run":
            known = exit_codes.CONFIGURATION
        if known is not None:
            complain(f"no verdict: {_first_line(words)}")
            return known
    said = " ".join(heard.last)
    if not heard.started and any(words in said for words in _BAD_INVENTORY):
        complain("no verdict: the inventory can't be read, or has no hosts; what is wrong is said above")
        return exit_codes.CONFIGURATION
    if not heard.started and any(words in said for words in _NO_HOSTS):
        complain(f"no verdict: no host of the inventory fits --limit {request.limit}")
        return exit_codes.USAGE
    failed = dict.fromkeys(_first_line(words) for _, words, _ in heard.failures if words)
    why = "; ".join(failed) or f"ansible-playbook ended with {heard.code}"
    complain(f"no verdict: run {request.run} was not archived: {why}")
    return exit_codes.HOLD


def _first_line(words: str) -> str:
    """Give the beginning of what the run's output has in full."""
    first, _, more = words.partition("\n")
    return f"{first} (and {more.count(chr(10)) + 1} more, above)" if more else first


def _say(text: str) -> None:
    """Pass output on; a run goes on even where nobody reads it any more."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(text)
        sys.stdout.flush()
