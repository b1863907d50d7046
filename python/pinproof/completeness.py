"""Whether a capture holds everything that its manifest looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pinproof.manifest.model import Manifest
from pinproof.observations import HostFacts, Observation
from pinproof.paths import within

ANSWERS = ("ok", "absent")


@dataclass(frozen=True, slots=True)
class Completeness:
    """How much of a manifest's looks was answered.

    `missing` names each look without an answer, with the reason. `unread` names
    parts that could not be read inside looks that were answered: these do not make
    a capture incomplete, but pins on them cannot use it.
    """

    looks: int
    hosts: int
    missing: tuple[str, ...]
    unread: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every look was answered, and there was one at all."""
        return self.looks > 0 and not self.missing

    @property
    def headline(self) -> str:
        """The outcome of a capture in one line."""
        looks = f"{self.looks} look{'' if self.looks == 1 else 's'}"
        if self.complete:
            return f"CAPTURED: {looks} on {self.hosts} host{'' if self.hosts == 1 else 's'}"
        if not self.looks:
            return "NOT CAPTURED: the manifest looks at nothing"
        return f"NOT CAPTURED in full: {len(self.missing)} of {looks} without an answer"


def completeness(manifest: Manifest, hosts: Mapping[str, HostFacts], run: str) -> Completeness:
    """Hold the observations of one run against everything that the manifest looks at."""
    wanted = [(name, host) for name, probe in manifest.probes.items() for host in probe.on]
    missing: list[str] = []
    unread: list[str] = []
    for name, host in wanted:
        facts = hosts.get(host)
        observation = facts.observations.get(name) if facts is not None else None
        why = _why_missing(facts, observation, run)
        if why:
            missing.append(f"{name} on {host}: {why}")
        elif observation is not None:
            unread.extend(f"{name} on {host}: {said}" for said in _unread(observation))
    return Completeness(len(wanted), len({host for _, host in wanted}), tuple(missing), tuple(unread))


def _why_missing(facts: HostFacts | None, observation: Observation | None, run: str) -> str:
    if facts is None or (observation is None and not facts.contacted):
        return f"the host was not contacted{': ' + facts.why if facts is not None and facts.why else ''}"
    if observation is None:
        return f"not looked at{': ' + facts.why if facts.why else ''}"
    if observation.run != run:
        return f"the observation is of run {observation.run or '(none)'}"
    if observation.host != facts.host:
        return f"the observation is of host {observation.host or '(none)'}"
    if observation.status not in ANSWERS:
        return f"{observation.status}{': ' + observation.why if observation.why else ''}"
    return ""


def _unread(observation: Observation) -> Iterator[str]:
    for path, fault in sorted(observation.faults.items()):
        if fault.status != "absent":
            yield f"{within(path)}: {fault.status}: {fault.why}"
