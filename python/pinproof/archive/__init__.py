"""The archive of runs: each in a folder of its own, with checksums over all of it, chained to the run before.

`Archive` is what the rest uses. A run is written under a temporary name and
renamed when it is complete: one that was cut short can be seen, and can never
be read as a verdict.
"""

from __future__ import annotations

from pinproof.archive.key import project_key
from pinproof.archive.layout import is_run_id, new_run_id
from pinproof.archive.load import ArchivedRun, RunSummary
from pinproof.archive.record import HostRecord, RunRecord
from pinproof.archive.store import Archive
from pinproof.archive.verify import Check
from pinproof.completeness import Completeness, completeness

__all__ = [
    "Archive",
    "ArchivedRun",
    "Check",
    "Completeness",
    "HostRecord",
    "RunRecord",
    "RunSummary",
    "completeness",
    "is_run_id",
    "new_run_id",
    "project_key",
]
