"""Telling a user on standard error what went wrong: each line safe to print, the first one with our name."""

from __future__ import annotations

import sys

from pinproof.report.text import printable


def complain(message: str) -> None:
    """Print a message on standard error."""
    lines = [printable(line) for line in message.splitlines()] or [""]
    print("\n".join([f"pinproof: {lines[0]}", *lines[1:]]), file=sys.stderr)
