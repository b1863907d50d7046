"""Reading runs back: whole and intact, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pinproof.archive.files import read_object, read_text
from pinproof.archive.layout import (
    FACTS_FOLDER,
    KINDS,
    MANIFEST_FILE,
    RUN_FILE,
    SCHEMA,
    VERDICT_FILE,
    check_run_id,
    facts_name,
    partial_name,
)
from pinproof.archive.record import HostRecord
from pinproof.archive.sums import check_sums
from pinproof.archive.verdict_json import read_outcome
from pinproof.completeness import Completeness
from pinproof.errors import ArchiveError, ObservationError, UsageError
from pinproof.observations import HostFacts
from pinproof.outcome import Outcome

State = Literal["complete", "interrupted", "damaged"]


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """A complete and intact run. `record` is its `run.json`; a capture has no outcome."""

    run: str
    path: Path
    kind: str
    record: Mapping[str, Any]
    outcome: Outcome | None
    facts: Mapping[str, HostFacts]
    manifest_text: str

    @property
    def finished_at(self) -> str:
        """When it was complete, ISO 8601."""
        return str(self.record["finished_at"])

    def captured(self) -> Completeness:
        """Give what a capture came to when it was made. Raises ArchiveError where its record does not say."""
        said = self.record.get("captured")
        try:
            if not isinstance(said, dict):
                raise TypeError(f"{self.run} is no capture")
            missing, unread = (tuple(str(item) for item in said[key]) for key in ("missing", "unread"))
            found = Completeness(int(said["looks"]), int(said["hosts"]), missing, unread)
        except (KeyError, TypeError, ValueError) as error:
            raise ArchiveError(f"the archive: {self.path} does not say what was captured: {error!r}") from error
        if found.complete is not said.get("complete"):
            raise ArchiveError(f"the archive: {self.path} says of itself that it is complete, and what is missing")
        return found


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of the list of runs.

    `decision` is the decision of a verification, CAPTURED or INCOMPLETE for a
    capture, "" where there is none. `problem` says what is wrong with a damaged run.
    """

    run: str
    state: State
    kind: str = ""
    decision: str = ""
    manifest: str = ""
    lane: str = ""
    leg: str = ""
    start: str = ""
    label: str = ""
    baseline: str = ""
    opened_at: str = ""
    finished_at: str = ""
    problem: str = ""


def load_run(folder: Path) -> ArchivedRun:
    """Read a run from its folder.

    Raises UsageError where there is no such complete run, ArchiveError where
    it is not intact or of another schema, ObservationError for malformed facts.
    """
    run = check_run_id(folder.name)
    if folder.is_symlink() or not folder.is_dir():
        if (folder.parent / partial_name(run)).is_dir():
            raise UsageError(f"run {run} is not complete: it was interrupted, or is still under way; it has no verdict")
        raise UsageError(f"there is no run {run} in {folder.parent}")
    problems = check_sums(folder)
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise ArchiveError(f"the archive: run {run} is not as it was written: {problems[0]}{more}")
    record = read_record(folder)
    outcome = None
    if record["kind"] == "verify":
        outcome = read_outcome(read_object(folder / VERDICT_FILE))
        if outcome.run != run or outcome.decision.value != record.get("decision"):
            raise ArchiveError(f"the archive: the verdict in {folder} is not the one of this run")
    return ArchivedRun(
        run, folder, record["kind"], record, outcome, _facts(folder, run, record), read_text(folder / MANIFEST_FILE)
    )


def read_record(folder: Path) -> dict[str, Any]:
    """Read a run's `run.json`. Raises ArchiveError that says what it is instead."""
    record = read_object(folder / RUN_FILE)
    if not record:
        raise ArchiveError(f"the archive: {folder / RUN_FILE} is an empty JSON object, not the record of a run")
    if record.get("schema") != SCHEMA:
        said = f"is of schema {record.get('schema')!r}; this program reads schema {SCHEMA}"
        raise ArchiveError(f"the archive: {folder / RUN_FILE} {said}")
    if record.get("run") != folder.name:
        raise ArchiveError(f"the archive: {folder / RUN_FILE} is the record of run {record.get('run')!r}")
    shapes: dict[str, type] = {"kind": str, "opened_at": str, "finished_at": str, "lane": str, "baseline": str}
    shapes |= {"manifest": dict, "arm": dict, "hosts": dict, "probes": dict}
    for name, shape in shapes.items():
        if not isinstance(record.get(name), shape):
            raise ArchiveError(f"the archive: '{name}' in {folder / RUN_FILE} is not as it must be")
    if record["kind"] not in KINDS:
        raise ArchiveError(f"the archive: {folder / RUN_FILE} is of an unknown kind, {record['kind']!r}")
    if record["kind"] == "capture" and not isinstance(record.get("captured"), dict):
        raise ArchiveError(f"the archive: {folder / RUN_FILE} does not say what was captured")
    return record


def summary_of(folder: Path) -> RunSummary:
    """Give the summary of a complete run; a damaged one is said to be so. Sums are not checked here."""
    try:
        record = read_record(folder)
    except ArchiveError as error:
        return RunSummary(folder.name, "damaged", problem=str(error))
    captured = record.get("captured", {})
    decision = record.get("decision", "")
    if record["kind"] == "capture":
        decision = "CAPTURED" if captured.get("complete") is True else "INCOMPLETE"
    arm = record["arm"]
    return RunSummary(
        run=folder.name,
        state="complete",
        kind=record["kind"],
        decision=str(decision),
        manifest=str(record["manifest"].get("name", "")),
        lane=record["lane"],
        leg=str(arm.get("leg", "")),
        start=str(arm.get("start", "")),
        label=str(arm.get("label", "")),
        baseline=record["baseline"],
        opened_at=record["opened_at"],
        finished_at=record["finished_at"],
    )


def _facts(folder: Path, run: str, record: Mapping[str, Any]) -> dict[str, HostFacts]:
    there = sorted(f"{FACTS_FOLDER}/{path.name}" for path in (folder / FACTS_FOLDER).glob("*"))
    if there != sorted(facts_name(host) for host in record["hosts"]):
        raise ArchiveError(f"the archive: the facts in {folder} are not of the hosts that its record names")
    return {host: _host_facts(folder / facts_name(host), host, run) for host in record["hosts"]}


def _host_facts(path: Path, host: str, run: str) -> HostFacts:
    data = read_object(path)
    if data.get("schema") != SCHEMA or data.get("run") != run or data.get("host") != host:
        raise ArchiveError(f"the archive: {path} does not hold the facts of {host} in run {run}")
    observations = data.get("observations")
    if not isinstance(observations, list) or not isinstance(data.get("contacted"), bool):
        raise ArchiveError(f"the archive: {path} holds no observations")
    try:
        return HostRecord(host, data["contacted"], str(data.get("why", "")), {}, tuple(observations)).facts()
    except ObservationError as error:
        raise ObservationError(f"{path}: {error}") from error
