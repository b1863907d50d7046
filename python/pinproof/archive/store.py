"""The archive as one object: what the command line and the action plugins use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pinproof.archive.baseline import find_baseline
from pinproof.archive.files import read_object
from pinproof.archive.layout import (
    OPENED_FILE,
    check_run_id,
    partial_folders,
    partial_name,
    run_folders,
)
from pinproof.archive.load import ArchivedRun, RunSummary, load_run, summary_of
from pinproof.archive.publish import open_run, prepare, publish
from pinproof.archive.record import Kind, RunRecord, moment_of
from pinproof.archive.verify import Check, Level, check_archive
from pinproof.errors import ArchiveError
from pinproof.manifest.model import Manifest
from pinproof.observations import Baseline


class Archive:
    """An archive of runs in one folder; the folder is made by the first run."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.root = Path(path).absolute()

    def prepare(self) -> None:
        """See that runs can be archived. Raises ArchiveError."""
        prepare(self.root)

    def open(self, run: str, kind: Kind, opened_at: str) -> Path:
        """Begin a run, so that one that is cut short is seen as interrupted. Raises ArchiveError, UsageError."""
        return open_run(self.root, run, kind, opened_at)

    def publish(self, record: RunRecord) -> Path:
        """Archive a run, whole or not at all, and give its folder. Raises ArchiveError, ObservationError."""
        return publish(self.root, record)

    def load(self, run: str) -> ArchivedRun:
        """Read a complete and intact run. Raises UsageError, ArchiveError, ObservationError."""
        return load_run(self.root / check_run_id(run))

    def runs(self) -> list[RunSummary]:
        """List all runs, oldest first, those included that were interrupted or are damaged."""
        complete = run_folders(self.root)
        interrupted = [run for run in partial_folders(self.root) if run not in complete]
        summaries = [summary_of(self.root / run) for run in complete]
        summaries += [self._interrupted(run) for run in interrupted]
        return sorted(summaries, key=lambda item: item.run)

    def newest(self, kind: Kind = "verify") -> str:
        """Give the id of the run of a kind that was completed last; "" where there is none."""
        ended = [item for item in self.runs() if item.state == "complete" and item.kind == kind]
        return max(ended, key=lambda item: (moment_of(item.finished_at), item.run)).run if ended else ""

    def baseline(self, run: str, manifest: Manifest, before: str) -> Baseline | None:
        """Give the named capture, or the newest one finished before `before`; see `find_baseline`."""
        return find_baseline(self.root, run, manifest, before)

    def verify(self, level: Level = "chained", runs: Sequence[str] = ()) -> Check:
        """Check the named runs, or all runs and their chain. Raises UsageError for a run that is not there."""
        return check_archive(self.root, level, runs)

    def _interrupted(self, run: str) -> RunSummary:
        try:
            opened = read_object(self.root / partial_name(run) / OPENED_FILE)
        except ArchiveError:
            opened = {}
        return RunSummary(
            run, "interrupted", kind=str(opened.get("kind", "")), opened_at=str(opened.get("opened_at", ""))
        )
