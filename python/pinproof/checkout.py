"""Where the checkout lies that holds playbooks, roles and plugins."""

from __future__ import annotations

from pathlib import Path

from pinproof.errors import UsageError

_MARKS = ("ansible.cfg", "playbooks/verify.yml", "plugins/action")


def find_checkout() -> Path:
    """Give the checkout that this code is of, or else the one that holds the working folder. Raises UsageError."""
    own = Path(__file__).resolve().parents[2]
    here = Path.cwd()
    for folder in (own, here, *here.parents):
        if is_checkout(folder):
            return folder
    raise UsageError(f"neither {own} nor {here} is in a checkout of pinproof; change to one")


def is_checkout(folder: Path) -> bool:
    """Say whether a folder is the root of a checkout."""
    return all((folder / mark).exists() for mark in _MARKS)


def default_archive() -> Path:
    """Give the archive of the checkout. Raises UsageError."""
    return find_checkout() / "archive"
