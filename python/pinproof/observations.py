"""Observations as the controller holds them: what one probe saw on one host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinproof.errors import ObservationError
from pinproof.paths import MISSING, lookup, split_within
from pinproof.verdicts import Evidence

STATUSES = (
    "ok",
    "absent",
    "denied",
    "unreachable",
    "timeout",
    "unparsable",
    "unstable",
    "incomparable",
    "not_attempted",
    "no_tool",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a subtree of an observation could not be read."""

    status: str
    why: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What one probe saw on one host; `observed_at` is ISO 8601 in UTC."""

    probe: str
    host: str
    run: str
    status: str
    why: str
    evidence: Evidence
    method: str
    source: tuple[str, ...]
    observed_at: str
    took_ms: float
    identity: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[tuple[str, ...], Evidence] = field(default_factory=dict)
    faults: Mapping[tuple[str, ...], Fault] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    scope: Mapping[str, Any] = field(default_factory=dict)

    def value(self, segments: tuple[str, ...]) -> object:
        """Give what stands at these segments, in identity or else in state; MISSING where nothing does."""
        found = lookup(self.identity, segments)
        return lookup(self.state, segments) if found is MISSING else found

    def evidence_at(self, segments: tuple[str, ...]) -> Evidence:
        """Give the evidence class of the subtree at these segments (the longest level that leads to it)."""
        fitting = [prefix for prefix in self.levels if segments[: len(prefix)] == prefix]
        return self.levels[max(fitting, key=len)] if fitting else self.evidence

    def faults_at(self, segments: tuple[str, ...]) -> list[tuple[tuple[str, ...], Fault]]:
        """List the faults that concern these segments: above them, at them, or below them.

        A fault at `*` says that a map may not be complete: it concerns every name that is not in it.
        """
        return [(path, fault) for path, fault in sorted(self.faults.items()) if self._concerns(path, segments)]

    def _concerns(self, path: tuple[str, ...], segments: tuple[str, ...]) -> bool:
        return all(
            here == there or (here == "*" and self.value(segments[: depth + 1]) is MISSING)
            for depth, (here, there) in enumerate(zip(path, segments, strict=False))
        )

    @classmethod
    def from_json(cls, data: object) -> Observation:
        """Read one from JSON data. Raises ObservationError naming the field that is not as it must be."""
        if not isinstance(data, Mapping):
            raise ObservationError("an observation is not a JSON object")
        try:
            status = data["status"]
            if status not in STATUSES:
                raise ObservationError(f"observation of '{data['probe']}': unknown status {status!r}")
            return cls(
                probe=_text(data, "probe"),
                host=_text(data, "host"),
                run=_text(data, "run"),
                status=status,
                why=_text(data, "why"),
                evidence=Evidence[_text(data, "evidence").upper()],
                method=_text(data, "method"),
                source=tuple(str(item) for item in data["source"]),
                observed_at=_text(data, "observed_at"),
                took_ms=float(data["took_ms"]),
                identity=_map(data, "identity"),
                state=_map(data, "state"),
                levels={split_within(key): Evidence[value.upper()] for key, value in data["levels"].items()},
                faults={
                    split_within(key): Fault(str(value["status"]), str(value["why"]))
                    for key, value in data["faults"].items()
                },
                notes=tuple(str(item) for item in data["notes"]),
                scope=_map(data, "scope"),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ObservationError(f"an observation is malformed: {error!r}") from error


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise ObservationError(f"an observation's '{key}' is not text")
    return value


def _map(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data[key]
    if not isinstance(value, Mapping):
        raise ObservationError(f"an observation's '{key}' is not a map")
    return value


@dataclass(frozen=True, slots=True)
class HostFacts:
    """All observations of one host in one run. `why` says why there are none, when there are none.

    `contacted` is false where nobody asked: outside the limit, or by the lane.
    """

    host: str
    contacted: bool
    why: str
    observations: Mapping[str, Observation]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A capture that pins refer to. `problem` is empty for one that may be used, else says why it may not."""

    run: str
    captured_at: str
    problem: str
    hosts: Mapping[str, HostFacts]
