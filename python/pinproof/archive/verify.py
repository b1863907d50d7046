"""Checking an archive: every file of a run is as it was written, none was added, and the runs form one chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinproof.archive.chain import check_chain, check_link, head_of
from pinproof.archive.layout import check_run_id, run_folders
from pinproof.archive.load import load_run
from pinproof.archive.sums import check_sums
from pinproof.errors import PinproofError, UsageError

Level = Literal["sums", "chained"]
LEVELS: tuple[Level, ...] = ("sums", "chained")


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked and what is wrong: (run, problem). `head` is the chain's end, with the digest of its sums."""

    runs: tuple[str, ...]
    problems: tuple[tuple[str, str], ...]
    head: tuple[str, str]

    @property
    def intact(self) -> bool:
        """Whether nothing is wrong, and something was checked."""
        return bool(self.runs) and not self.problems


def check_archive(root: Path, level: Level, runs: Sequence[str]) -> Check:
    """Check the named runs, or all of them and their chain as a whole where none is named. Raises UsageError."""
    known = run_folders(root)
    for run in runs:
        if check_run_id(run) not in known:
            raise UsageError(f"there is no complete run {run} in {root}")
    chosen = list(dict.fromkeys(runs)) or known
    problems = [(run, said) for run in chosen for said in _check_run(root, run)]
    if level == "chained":
        problems += [(run, said) for run in runs for said in check_link(root, run)] if runs else check_chain(root)
    head = head_of(root)
    return Check(tuple(chosen), tuple(dict.fromkeys(problems)), (head["run"], head["digest"]) if head else ("", ""))


def _check_run(root: Path, run: str) -> list[str]:
    problems = check_sums(root / run)
    if problems:
        return problems
    try:
        load_run(root / run)
    except PinproofError as error:
        return [str(error)]
    return []
