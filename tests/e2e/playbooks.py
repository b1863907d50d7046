"""Running the project's playbooks as a user does, on a replica and an archive of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Ended:
    """What a command ended with."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Place:
    """A replica and an archive of the test's own."""

    replica: Path
    archive: Path

    def run(self, command: str, *arguments: str, variables: dict[str, Any] | None = None, timeout: int = 120) -> Ended:
        """Run one of Ansible's commands in the checkout."""
        extra = {"pinproof_replica": str(self.replica), "pinproof_archive": str(self.archive), **(variables or {})}
        done = subprocess.run(
            [str(BIN / command), *arguments, "-e", json.dumps(extra)],
            cwd=PROJECT,
            env={**os.environ, "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"), "COLUMNS": "160"},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def verify(self, *arguments: str, **options: Any) -> Ended:
        """Run `ansible-playbook verify.yml --check`."""
        return self.run("ansible-playbook", "verify.yml", "--check", *arguments, **options)

    def verdict(self) -> dict[str, Any]:
        """Read the verdict of the newest complete run."""
        data: dict[str, Any] = json.loads((self.archive / "latest" / "verdict.json").read_text())
        return data


def pinproof(*arguments: str, timeout: int = 120, cwd: Path = PROJECT, **environment: str) -> Ended:
    """Run the `pinproof` command."""
    done = subprocess.run(
        [str(BIN / "pinproof"), *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "160", **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def row(verdict: dict[str, Any], row_id: str) -> dict[str, Any]:
    """Find a row in a verdict."""
    found: dict[str, Any] = next(item for item in verdict["rows"] if item["id"] == row_id)
    return found


def verdicts_of(verdict: dict[str, Any]) -> dict[str, str]:
    """Give each row's verdict by its id."""
    return {item["id"]: item["verdict"] for item in verdict["rows"]}
