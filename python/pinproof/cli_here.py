"""`pinproof here`: verify the machine one sits at, with no replica and no other host."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinproof import exit_codes
from pinproof.errors import UsageError

if TYPE_CHECKING:
    from pinproof.here import Here

SOCKET = "/run/docker.sock"


def add_parser(subparsers: Any) -> None:
    """Add the command; it sets `run`, a function of the arguments to an exit code."""
    about = (
        "verify this machine: the checkout, a unit file, a running process, the machine itself, a container if named"
    )
    command = subparsers.add_parser("here", help="verify the machine one sits at", description=about)
    command.add_argument("--container", default="", help="also look at this running container")
    command.add_argument("--socket", help=f"the container engine's socket (default: {SOCKET})")
    command.add_argument("--folder", type=Path, help="where manifest, archive and process id are kept (default: .here)")
    command.add_argument("--capture", action="store_true", help="capture anew, even where a capture is there")
    command.add_argument("--end", action="store_true", help="end the process that was started to be looked at")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from pinproof.checkout import find_checkout
    from pinproof.here import Here, end_process, prepare

    checkout = find_checkout()
    here = Here(checkout, (arguments.folder or checkout / ".here").absolute())
    if arguments.end:
        _say("the process was ended" if end_process(here) else "no process of ours runs")
        return exit_codes.RECONCILED
    if arguments.socket and not arguments.container:
        raise UsageError("--socket is where to ask for a container; add --container NAME")
    prepare(here, arguments.container, arguments.socket or SOCKET)
    capture = arguments.capture or not _has_baseline(here)
    if capture:
        code = _playbook(here, "capture")
        if code != exit_codes.RECONCILED:
            return code
    code = _playbook(here, "verify")
    if code == exit_codes.HOLD and not capture:
        _say("\nWhere the baseline no longer fits what is looked at, the same command with --capture makes a new one.")
    return code


def _has_baseline(here: Here) -> bool:
    """Say whether there is a capture to compare with; one of another manifest counts, so that its trouble is told."""
    from pinproof.archive import Archive

    return bool(Archive(here.archive).newest("capture"))


def _playbook(here: Here, command: str) -> int:
    from pinproof.cli import parser

    words = [command, "--inventory", str(here.checkout / "inventory" / "this-machine")]
    words += ["--manifest", str(here.manifest), "--archive", str(here.archive)]
    arguments = parser().parse_args(words)
    code: int = arguments.run(arguments)
    return code


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
