"""A run as it is handed to the archive, and the record of it that `run.json` holds."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pinproof
from pinproof.archive.layout import SCHEMA
from pinproof.archive.subjects import subjects, subjects_digest
from pinproof.completeness import Completeness, completeness
from pinproof.errors import ArchiveError, ObservationError
from pinproof.manifest.model import Manifest
from pinproof.observations import HostFacts, Observation
from pinproof.outcome import Arm, Outcome

Kind = Literal["verify", "capture"]


@dataclass(frozen=True, slots=True)
class HostRecord:
    """What came back from one host: its observations as JSON data, and what is known of the program that made them."""

    host: str
    contacted: bool
    why: str = ""
    probe_program: Mapping[str, Any] = field(default_factory=dict)
    observations: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of_answer(
        cls, answer: Mapping[str, Any], contacted: bool = True, why: str = "", interpreter: str = ""
    ) -> HostRecord:
        """Make it from a host's answer (`schema`, `run`, `host`, `observations` and what else it tells of itself)."""
        program = {key: value for key, value in answer.items() if key not in ("schema", "run", "host", "observations")}
        if interpreter:
            program["interpreter"] = interpreter
        return cls(str(answer["host"]), contacted, why, program, tuple(answer["observations"]))

    def facts(self) -> HostFacts:
        """Give the observations typed. Raises ObservationError for a malformed one, or two of the same probe."""
        observations: dict[str, Observation] = {}
        for data in self.observations:
            observation = Observation.from_json(data)
            if observation.probe in observations:
                raise ObservationError(f"{self.host} has two observations of '{observation.probe}'")
            observations[observation.probe] = observation
        return HostFacts(self.host, self.contacted, self.why, observations)

    def as_json(self, run: str) -> dict[str, Any]:
        """Give the content of the host's file of facts."""
        return {
            "schema": SCHEMA,
            "run": run,
            "host": self.host,
            "contacted": self.contacted,
            "why": self.why,
            "probe_program": dict(self.probe_program),
            "observations": [dict(observation) for observation in self.observations],
        }


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A whole run to be archived.

    `manifest_text` is the manifest as resolved. A verification has an `outcome`,
    a capture has none. Times are ISO 8601 in UTC.
    """

    run: str
    kind: Kind
    manifest: Manifest
    manifest_text: str
    opened_at: str
    finished_at: str
    lane: str
    arm: Arm
    hosts: tuple[HostRecord, ...]
    outcome: Outcome | None = None

    def facts(self) -> dict[str, HostFacts]:
        """Give the observations of all hosts, typed. Raises ObservationError."""
        return {record.host: record.facts() for record in self.hosts}

    def captured(self) -> Completeness:
        """Hold what was seen against everything that the manifest looks at."""
        return completeness(self.manifest, self.facts(), self.run)

    def check(self) -> None:
        """Refuse a record whose parts are not of one run. Raises ArchiveError, ObservationError."""
        if (self.outcome is None) == (self.kind == "verify"):
            said = "without" if self.outcome is None else "with"
            raise ArchiveError(f"the archive: a run of kind {self.kind} {said} a verdict")
        if self.outcome is not None and self.outcome.run != self.run:
            raise ArchiveError(f"the archive: the verdict is of run {self.outcome.run}, not of {self.run}")
        if self.outcome is not None and self.outcome.manifest_digest != self.manifest.digest:
            raise ArchiveError("the archive: the verdict is of another manifest than the run's")
        names = Counter(record.host for record in self.hosts)
        twice = [host for host, count in names.items() if count > 1]
        if twice:
            raise ArchiveError(f"the archive: two answers of {twice[0]}")
        for moment in (self.opened_at, self.finished_at):
            if not is_moment(moment):
                raise ArchiveError(f"the archive: {moment!r} is no time in ISO 8601 with its zone")
        self.facts()

    def as_json(self, previous: Mapping[str, str] | None) -> dict[str, Any]:
        """Give the content of `run.json`; `previous` names the run before it and the digest of its sums."""
        looked_at = subjects(self.manifest)
        data: dict[str, Any] = {
            "schema": SCHEMA,
            "run": self.run,
            "kind": self.kind,
            "opened_at": self.opened_at,
            "finished_at": self.finished_at,
            "versions": versions(),
            "manifest": {"name": self.manifest.name, "digest": self.manifest.digest},
            "scope": self.manifest.scope,
            "lane": self.lane,
            "arm": {"leg": self.arm.leg, "start": self.arm.start, "label": self.arm.label},
            "baseline": self.outcome.baseline if self.outcome is not None else "",
            "hosts": {record.host: _host(record) for record in self.hosts},
            "costs": self._costs(),
            "probes": {"digest": subjects_digest(looked_at), "subjects": looked_at},
            "previous": dict(previous) if previous is not None else None,
        }
        if self.outcome is not None:
            data["decision"] = self.outcome.decision.value
        else:
            captured = self.captured()
            data["captured"] = {
                "complete": captured.complete,
                "looks": captured.looks,
                "hosts": captured.hosts,
                "missing": list(captured.missing),
                "unread": list(captured.unread),
            }
        return data

    def _costs(self) -> dict[str, Any]:
        wall = moment_of(self.finished_at) - moment_of(self.opened_at)
        took = {record.host: record.probe_program.get("took_ms", 0.0) for record in self.hosts}
        return {"wall_s": round(wall.total_seconds(), 3), "took_ms": took}


def moment_of(text: str) -> datetime.datetime:
    """Read a time in ISO 8601 with its zone. Raises ValueError."""
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return moment


def is_moment(text: str) -> bool:
    """Say whether a text is a time in ISO 8601 with its zone."""
    try:
        moment_of(text)
    except ValueError:
        return False
    return True


def versions() -> dict[str, str]:
    """Give the versions of what a verdict depends on."""
    found = {"pinproof": pinproof.__version__, "python": platform.python_version()}
    for name in ("ansible-core", "deepdiff"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _host(record: HostRecord) -> dict[str, Any]:
    statuses = Counter(str(observation.get("status")) for observation in record.observations)
    known = {key: record.probe_program[key] for key in ("interpreter", "python", "uid") if key in record.probe_program}
    return {"contacted": record.contacted, "why": record.why, **known, "looks": dict(sorted(statuses.items()))}
