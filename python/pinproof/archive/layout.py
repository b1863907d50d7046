"""Where everything lies in an archive, and what runs are called.

`archive/<run id>/` is a complete run, `archive/.<run id>.partial/` one that was
cut short or is still under way.
"""

from __future__ import annotations

import datetime
import re
import secrets
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from pinproof.errors import UsageError

SCHEMA = 1
RUN_FILE = "run.json"
VERDICT_FILE = "verdict.json"
REPORT_FILE = "report.md"
MANIFEST_FILE = "manifest.yml"
SUMS_FILE = "SHA256SUMS"
FACTS_FOLDER = "facts"
LOCK_FILE = ".lock"
KEY_FILE = ".disclosure-key"
LATEST_LINK = "latest"
OPENED_FILE = "opened.json"
PARTIAL_SUFFIX = ".partial"

KINDS = ("verify", "capture")

_RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}")
_STAMP = "%Y%m%dT%H%M%SZ"


def new_run_id(now: datetime.datetime | None = None, random: Callable[[int], str] = secrets.token_hex) -> str:
    """Make a run's id: the second it opens in, in UTC, and eight random hex digits that tell runs of a second apart.

    `now` must know its time zone; `random` gives that many random bytes in hex.
    """
    moment = now or datetime.datetime.now(datetime.UTC)
    return f"{moment.astimezone(datetime.UTC).strftime(_STAMP)}-{random(4)}"


def is_run_id(text: str) -> bool:
    """Say whether a text has the form of a run's id."""
    return _RUN_ID.fullmatch(text) is not None


def check_run_id(text: str) -> str:
    """Give the run id back. Raises UsageError where it has not the form of one."""
    if not is_run_id(text):
        raise UsageError(f"'{text}' is no run id; one looks like 20261201T101500Z-5f3a9c1e")
    return text


def partial_name(run: str) -> str:
    """Name the folder of a run that is not complete."""
    return f".{run}{PARTIAL_SUFFIX}"


def run_of_partial(name: str) -> str:
    """Give the id of the run that a folder of this name is the beginning of; "" for other names."""
    run = name.removeprefix(".").removesuffix(PARTIAL_SUFFIX)
    return run if is_run_id(run) and name == partial_name(run) else ""


def facts_name(host: str) -> str:
    """Name the file of a host's facts, relative to the run's folder; any host name gives a plain file name."""
    quoted = urllib.parse.quote(host, safe="")
    if quoted.startswith("."):
        quoted = "%2E" + quoted[1:]
    return f"{FACTS_FOLDER}/{quoted}.json"


def run_folders(root: Path) -> list[str]:
    """List the ids of the complete runs of an archive, oldest first; an archive that is not there has none."""
    try:
        return sorted(
            entry.name
            for entry in root.iterdir()
            if is_run_id(entry.name) and entry.is_dir() and not entry.is_symlink()
        )
    except FileNotFoundError:
        return []


def partial_folders(root: Path) -> list[str]:
    """List the ids of the runs that are not complete, oldest first."""
    try:
        return sorted(filter(None, (run_of_partial(entry.name) for entry in root.iterdir())))
    except FileNotFoundError:
        return []
