"""`pinproof`: the command line. Every error that reaches a user is one message and one exit code.

The modules of the commands declare their options here and import what they
need when they run, so that `pinproof --help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from pinproof import __version__, cli_archive, cli_here, cli_manifest, cli_replica, cli_verify, exit_codes
from pinproof.complain import complain
from pinproof.errors import PinproofError, UsageError

DEBUG_VARIABLE = "PINPROOF_DEBUG"
INTERRUPTED = 130

_EPILOG = """\
exit codes:  0 RECONCILED   1 internal error, or the archive is not writable or not intact   2 STOP   3 HOLD
             64 wrong usage   78 bad manifest or inventory
"""


class Parser(argparse.ArgumentParser):
    """Ends wrong usage with 64 and the nearest name: argparse's own 2 means STOP here."""

    def __init__(self, *arguments: object, **options: object) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(*arguments, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}{_nearest(message)}; see {self.prog} --help")


def _nearest(message: str) -> str:
    """Name what was probably meant by an invalid choice, where argparse reports one."""
    given, found, choices = message.partition(" (choose from ")
    wrong = given.rpartition("invalid choice: ")[2].strip("'")
    if not found or not wrong:
        return ""
    import difflib

    names = [name.strip("' ") for name in choices.rstrip(")").split(",")]
    close = difflib.get_close_matches(wrong, names, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    top = Parser(
        prog="pinproof",
        description="Tells whether what runs on LLM-serving hosts is exactly what was pinned. Changes nothing there.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"pinproof {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (cli_verify, cli_here, cli_archive, cli_manifest, cli_replica):
        module.add_parser(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; no traceback reaches the user."""
    _print_anything()
    try:
        arguments = parser().parse_args(argv)
        run: Callable[[argparse.Namespace], int] = arguments.run
        code = run(arguments)
        sys.stdout.flush()
    except SystemExit as ended:  # --help and --version
        return ended.code if isinstance(ended.code, int) else exit_codes.RECONCILED
    except PinproofError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_output()
        return exit_codes.INTERNAL
    except Exception as error:
        _tell_internal(error)
        return exit_codes.INTERNAL
    return code


def _print_anything() -> None:
    """Let output that the terminal's encoding cannot hold be escaped, instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _tell_internal(error: Exception) -> None:
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())
    where = f"{Path(place.filename).name}:{place.lineno}"
    complain(f"internal error: {type(error).__name__}: {said} ({where}); {DEBUG_VARIABLE}=1 shows the trace")


def _let_go_of_output() -> None:
    """Nobody reads any more: keep the interpreter from complaining about it when it ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
