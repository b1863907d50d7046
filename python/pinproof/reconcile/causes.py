"""What holds many pins at once, told once: hosts, engines, lanes, processes, the baseline, equal machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pinproof.catalogue import KINDS
from pinproof.manifest.model import Manifest, Probe
from pinproof.observations import Baseline, HostFacts, Observation
from pinproof.outcome import Cause, RowVerdict
from pinproof.reconcile.scene import Case, Scene, Seed
from pinproof.reconcile.statuses import settle

DEFAULT_SOCKET = "/run/docker.sock"
_OF_ENGINE = ("container", "containers", "engine_log")
_ENGINE_FAILS = ("no_tool", "denied", "timeout")


def missing_host(scene: Scene, host: str) -> Seed:
    """Give the cause of a host that has no observations at all."""
    facts = scene.hosts.get(host)
    reasons = {facts.why or next(iter(_reasons(facts)), "")} if facts is not None else set()
    said = "".join(f": {why}" for why in reasons if why)
    if scene.of_baseline:
        return Seed(f"baseline:{host}", f"the baseline has nothing of {host}{said}", "capture all hosts, in full")
    if facts is not None and facts.contacted:
        return Seed(f"host:{host}", f"{host} answered with no observations{said}", "verify again")
    settle = f"verify {host} too, from a lane that has access to it"
    return Seed(f"host:{host}", f"{host} was not contacted{said}", settle)


def cause_of(case: Case, scene: Scene, host: str, observation: Observation) -> Seed | None:
    """Give what a failed look of this run follows from; None for one of the baseline."""
    if scene.of_baseline:
        return None
    facts = scene.hosts[host]
    if observation.status == "unreachable" or _all_alike(facts):
        return _whole_host(host, observation)
    if observation.status == "not_attempted":
        return cause_of_host(case, host)
    root = _root(case.manifest, facts, observation)
    engine = _engine(case.manifest, facts, root)
    if engine is not None:
        return engine
    probe = root.probe
    text = f"{probe} on {host}: {root.status}: {root.why}"
    return Seed(f"probe:{host}/{probe}", text, settle(root.status))


def cause_of_host(case: Case, host: str) -> Seed:
    """Give the cause of a look that the lane does not allow on this host."""
    text = f"lane {case.lane or '(unnamed)'} does not allow some looks on {host}"
    return Seed(f"lane:{host}", text, f"verify from a lane with full access to {host}")


def cause_of_baseline(baseline: Baseline | None) -> Seed | None:
    """Give the cause of a baseline that is missing or unusable; None for one that can be used."""
    settle = "capture all hosts in a state known to be good, before the run opens"
    if baseline is None:
        return Seed("baseline", "there is no baseline to compare with", settle)
    if baseline.problem:
        return Seed("baseline", f"the baseline {baseline.run} can't be used: {baseline.problem}", settle)
    return None


def collect(rows: Iterable[RowVerdict], seeds: Mapping[str, Seed]) -> tuple[Cause, ...]:
    """Count the pins that follow from each cause; what holds most comes first."""
    rows_of: dict[str, dict[str, int]] = {}
    for row in rows:
        for pin in row.pins:
            if pin.cause:
                counts = rows_of.setdefault(pin.cause, {})
                counts[row.id] = counts.get(row.id, 0) + 1
    causes = [
        Cause(name, seeds[name].text, seeds[name].settle, tuple(counts), sum(counts.values()))
        for name, counts in rows_of.items()
    ]
    return tuple(sorted(causes, key=lambda cause: (-cause.pins, cause.id)))


def _reasons(facts: HostFacts) -> list[str]:
    return sorted({item.why for item in facts.observations.values()})


def _all_alike(facts: HostFacts) -> bool:
    """Say whether every look at a host failed in the same way, so that the host is the cause and not the looks."""
    ways = {(item.status, item.why) for item in facts.observations.values()}
    return len(facts.observations) > 1 and len(ways) == 1 and not any(status in ("ok", "absent") for status, _ in ways)


def _whole_host(host: str, observation: Observation) -> Seed:
    if observation.status == "not_attempted":
        settle = f"verify from a lane that has access to {host}"
        return Seed(f"host:{host}", f"{host} was not looked at: {observation.why}", settle)
    if observation.status == "unreachable":
        settle = f"make {host} reachable, then verify again"
        return Seed(f"host:{host}", f"{host} can't be reached: {observation.why}", settle)
    text = f"no look at {host} came back: {observation.status}: {observation.why}"
    return Seed(f"host:{host}", text, "find out what the host answers instead, then verify again")


def _root(manifest: Manifest, facts: HostFacts, observation: Observation) -> Observation:
    """Follow a look to the process that it goes through, while that failed in the same way."""
    probe = manifest.probes.get(observation.probe)
    process = _process_of(manifest, probe) if probe is not None else None
    through = facts.observations.get(process.name) if process is not None else None
    if through is None or (through.status, through.why) != (observation.status, observation.why):
        return observation
    return through


def _process_of(manifest: Manifest, probe: Probe) -> Probe | None:
    declared = KINDS[probe.kind].parameters if probe.kind in KINDS else {}
    for name, value in probe.parameters.items():
        if name in declared and declared[name].type == "process":
            return manifest.probes.get(str(value))
    return None


def _engine(manifest: Manifest, facts: HostFacts, observation: Observation) -> Seed | None:
    """Give the engine as the cause where a look that goes through its socket failed at the socket."""
    probe = manifest.probes.get(observation.probe)
    if probe is None:
        return None
    asks = probe.kind in _OF_ENGINE
    through = probe if asks or probe.kind == "process" else _process_of(manifest, probe)
    if through is None or not (asks or "container" in through.parameters):
        return None
    socket = str(through.parameters.get("socket") or DEFAULT_SOCKET)
    if socket not in observation.why and not (asks and observation.status in _ENGINE_FAILS):
        return None
    text = f"the container engine on {facts.host} could not be asked: {observation.status}: {observation.why}"
    if observation.status == "denied":
        return Seed(f"engine:{facts.host}", text, "give the operator the right to ask the engine, then verify again")
    return Seed(f"engine:{facts.host}", text, "let the engine answer at its socket, then verify again")
