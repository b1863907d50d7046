"""What a manifest looks at, so that a capture made for something else is never compared with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pinproof.manifest.model import Manifest, Probe


def subjects(manifest: Manifest) -> dict[str, Any]:
    """Give by probe what is looked at: kind and parameters. Where and how long do not matter to it."""
    return {name: _subject(probe) for name, probe in sorted(manifest.probes.items())}


def subjects_digest(found: Mapping[str, Any]) -> str:
    """Give the sha256 of subjects in canonical form."""
    return hashlib.sha256(json.dumps(found, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def changed_subjects(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """Say which probes look at something else now than they did then, each in one line."""
    changed = []
    for name in sorted(now.keys() | then.keys()):
        if name not in then:
            changed.append(f"{name} is new")
        elif name not in now:
            changed.append(f"{name} is gone")
        elif now[name] != then[name]:
            changed.append(f"{name} was {_spell(then[name])} and is {_spell(now[name])}")
    return changed


def _subject(probe: Probe) -> dict[str, Any]:
    return {"kind": probe.kind, "parameters": {key: probe.parameters[key] for key in sorted(probe.parameters)}}


def _spell(subject: Any) -> str:
    if not isinstance(subject, Mapping) or not isinstance(subject.get("parameters"), Mapping):
        return json.dumps(subject)
    return f"{subject.get('kind')} {json.dumps(subject['parameters'])}"
