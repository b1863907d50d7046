"""What to ask of each host, from the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinproof.catalogue import KINDS
from pinproof.manifest.model import BaselineIs, Is, Manifest, PerHost, Probe
from pinproof.paths import AttributePath

HOST_DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True)
class HostAccess:
    """How a host is reached: the root of its tree ("" for the machine's own), whose home `~` is, and the lane."""

    root: str = ""
    recorded: bool = False
    user: str = ""
    lane: str = "full"


def host_payload(manifest: Manifest, host: str, run: str, access: HostAccess, key: str) -> dict[str, Any]:
    """Give the payload for one host; `key` is the project's disclosure key in hex."""
    return payload(host, run, access, host_requests(manifest, host), disclosed_names(manifest), key)


def payload(
    host: str, run: str, access: HostAccess, probes: list[dict[str, Any]], plain: list[str], key: str
) -> dict[str, Any]:
    """Put requests into the form that the probe program takes."""
    return {
        "run": run,
        "host": host,
        "root": access.root,
        "recorded": access.recorded,
        "user": access.user,
        "lane": access.lane,
        "deadline_s": HOST_DEADLINE_S,
        "disclose": {"plain": plain, "key": key},
        "probes": probes,
    }


def host_requests(manifest: Manifest, host: str) -> list[dict[str, Any]]:
    """List the requests for one host, in the manifest's order."""
    return [
        {
            "probe": probe.name,
            "collector": probe.collector,
            "kind": probe.kind,
            "params": _parameters(manifest, probe),
            "deadline_s": probe.deadline_s,
        }
        for probe in manifest.probes.values()
        if host in probe.on
    ]


def _parameters(manifest: Manifest, probe: Probe) -> dict[str, Any]:
    """Give a probe's parameters, with processes that it names spelled out."""
    declared = KINDS[probe.kind].parameters
    given = dict(probe.parameters)
    for name, value in given.items():
        if declared[name].type == "process":
            given[name] = dict(manifest.probes[str(value)].parameters)
    return given


def disclosed_names(manifest: Manifest) -> list[str]:
    """List the names whose values may leave a host as they are: those that pins name."""
    names: set[str] = set()
    for _, pin in manifest.pins():
        names.update(pin.at.segments)
        for check in pin.checks:
            if isinstance(check, Is | BaselineIs):
                names.update(_keys(check.value))
            elif isinstance(check, PerHost):
                for value in check.values.values():
                    names.update(_keys(value))
    names.update(_last(path) for path in (manifest.experiment.may_differ if manifest.experiment else ()))
    # Names are matched as patterns on the host; what a manifest spells is meant literally.
    return sorted(name.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") for name in names)


def _keys(value: Any) -> set[str]:
    if not isinstance(value, Mapping):
        return set()
    return set(value).union(*(_keys(item) for item in value.values())) if value else set()


def _last(path: AttributePath) -> str:
    return path.segments[-1] if path.segments else path.probe
