"""A manifest as a plain document: groups expanded, ids written out, lists in place, values typed.

It has the keys of a manifest, so that written as YAML it loads again. Its
canonical JSON is what the digest is taken of: marks, file names, spelling and
the order of keys are no part of it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pinproof.manifest.fields import VERSION
from pinproof.manifest.model import (
    AcrossExperiment,
    Authority,
    BaselineIs,
    Bound,
    Check,
    Closed,
    DistinctAcross,
    Experiment,
    Is,
    IsAbsent,
    Manifest,
    OneOf,
    PerHost,
    Pin,
    Prefix,
    Prescribed,
    Probe,
    Row,
    SameAcross,
    SameAsBaseline,
    SetOf,
)

Document = dict[str, Any]


def as_document(manifest: Manifest) -> Document:
    """Give the resolved manifest as JSON data with the keys of a manifest."""
    document: Document = {"manifest": manifest.name, "version": VERSION, "scope": manifest.scope}
    document["hosts"] = list(manifest.hosts)
    document["groups"] = {name: list(hosts) for name, hosts in manifest.groups.items()}
    document["authorities"] = [_authority(authority) for authority in manifest.authorities]
    document["probes"] = {name: _probe(probe) for name, probe in manifest.probes.items()}
    document["rows"] = [_row(row) for row in manifest.rows]
    document["experiment"] = _experiment(manifest.experiment) if manifest.experiment else {}
    return _without_empty(document)


def digest_of(document: Document) -> str:
    """Give the sha256 of a document's canonical JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _without_empty(document: Document) -> Document:
    return {key: value for key, value in document.items() if value not in ("", [], {})}


def _authority(authority: Authority) -> Document:
    return _without_empty(
        {
            "id": authority.id,
            "about": authority.about,
            "date": authority.date,
            "supersedes": authority.supersedes,
            "scope": authority.scope,
        }
    )


def _probe(probe: Probe) -> Document:
    head: Document = {"on": list(probe.on), "loaded_by": probe.loaded_by, "written_since": probe.written_since}
    return _without_empty(head) | {"deadline": probe.deadline_s, probe.kind: dict(probe.parameters)}


def _row(row: Row) -> Document:
    return {
        "id": row.id,
        "setting": row.setting,
        "requires": row.requires.word,
        "pins": [_pin(pin) for pin in row.pins],
    }


def _pin(pin: Pin) -> Document:
    document: Document = {"at": str(pin.at), "id": pin.id, "on": list(pin.on), "split": pin.split}
    document["record"] = "drift" if pin.drift else ""
    document["note"] = pin.note
    return _without_empty(document) | dict(_check(check) for check in pin.checks)


def _check(check: Check) -> tuple[str, Any]:
    match check:
        case Is(value=value):
            return "is", value
        case IsAbsent():
            return "absent", True
        case Bound(least=least, limits=limits):
            name = "at_least" if least else "at_most"
            return name, (limits[0][1] if limits[0][0] == "" else dict(limits))
        case OneOf(values=values):
            return "one_of", list(values)
        case SetOf(values=values):
            return "set_of", list(values)
        case Prefix(text=text):
            return "prefix", text
        case SameAsBaseline():
            return "same_as", "baseline"
        case BaselineIs(value=value):
            return "baseline_is", value
        case PerHost(values=values):
            return "per_host", dict(values)
        case Prescribed(of=of, setting=setting):
            return "prescribed_by", f"{of}.{setting}"
        case Closed(globs=globs):
            return "closed", list(globs)
        case SameAcross(group=group):
            return "same_across", group
        case DistinctAcross(group=group):
            return "distinct_across", group
        case AcrossExperiment(over=over):
            return "same_across", over


def _experiment(experiment: Experiment) -> Document:
    return _without_empty(
        {
            "legs": [{"id": leg.id} | dict(leg.settings) for leg in experiment.legs],
            "starts": {start.name: {"of": list(start.of)} | dict(start.settings) for start in experiment.starts},
            "may_differ": [str(path) for path in experiment.may_differ],
        }
    )
