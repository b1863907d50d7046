"""A resolved manifest as YAML text that loads again to the same digest."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import yaml

from pinproof.catalogue import KINDS
from pinproof.manifest.model import Bound, Check, Manifest, Pin, Probe
from pinproof.manifest.resolved import Document, as_document
from pinproof.manifest.targets import attribute_of

_PLAIN = re.compile(r"(?:~/)?[A-Za-z_/][A-Za-z0-9_./@=-]*(?: [A-Za-z0-9_/(][A-Za-z0-9_./@=()-]*)*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"})
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_DUMPER):  # type: ignore[misc, valid-type, unused-ignore]
    """Writes a text in quotes where it could be taken for something else, and short lists in one line.

    It knows no other types than texts to YAML: what stands without quotes is decided here.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def ignore_aliases(self, _data: Any) -> bool:
        """Write values out wherever they stand."""
        return True


_TEXT = "tag:yaml.org,2002:str"


def _represent_text(dumper: Any, text: str) -> Any:
    plain = text == "on" or (_PLAIN.fullmatch(text) is not None and text.lower() not in _RESERVED)
    return dumper.represent_scalar(_TEXT, text, style=None if plain else '"' if not text.isprintable() else "'")


def _represent_json(dumper: Any, value: Any) -> Any:
    return dumper.represent_scalar(_TEXT, json.dumps(value), style=None)


def _represent_list(dumper: Any, items: list[Any]) -> Any:
    flat = all(isinstance(item, str | int | float) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flat)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)
for _type in (bool, int, float, type(None)):
    _Dumper.add_representer(_type, _represent_json)


def render_manifest(manifest: Manifest) -> str:
    """Give the manifest resolved, as YAML."""
    document = as_document(manifest)
    for name, probe in manifest.probes.items():
        document["probes"][name] = _write_probe(document["probes"][name], probe)
    for row, rendered in zip(manifest.rows, document["rows"], strict=True):
        rendered["pins"] = [
            _write_pin(written, pin, manifest) for written, pin in zip(rendered["pins"], row.pins, strict=True)
        ]
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000, default_flow_style=False
    )
    return f"# {manifest.name}, resolved; sha256 {manifest.digest}\n{text}"


def _duration(seconds: float) -> str:
    return f"{int(seconds) if seconds.is_integer() else seconds!r} s"


def _write_probe(document: Document, probe: Probe) -> Document:
    durations = {
        name: _duration(document[probe.kind][name])
        for name, parameter in KINDS[probe.kind].parameters.items()
        if parameter.type == "duration" and name in document[probe.kind]
    }
    timed = {"deadline": _duration(probe.deadline_s), probe.kind: document[probe.kind] | durations}
    return document | timed


def _write_pin(document: Document, pin: Pin, manifest: Manifest) -> Document:
    """Write numbers of bytes with their unit; everything else is written as it is."""
    probe = manifest.probes.get(pin.at.probe)
    if probe is None or pin.split:
        return document
    written = dict(document)
    for key in ("is", "baseline_is"):
        if key in written:
            written[key] = _with_units(written[key], probe.kind, pin.at.segments)
    if "per_host" in written:
        written["per_host"] = {
            host: _with_units(value, probe.kind, pin.at.segments) for host, value in written["per_host"].items()
        }
    if "one_of" in written:
        written["one_of"] = [_with_units(value, probe.kind, pin.at.segments) for value in written["one_of"]]
    for check in pin.checks:
        written |= _write_bound(check, probe.kind, pin.at.segments)
    return written


def _write_bound(check: Check, kind: str, segments: tuple[str, ...]) -> Document:
    if not isinstance(check, Bound):
        return {}
    limits = {name: _with_units(number, kind, segments) for name, number in check.limits}
    return {"at_least" if check.least else "at_most": limits.get("", limits)}


def _with_units(value: Any, kind: str, segments: tuple[str, ...]) -> Any:
    attribute = attribute_of(kind, segments)
    if isinstance(value, dict):
        return {key: _with_units(below, kind, (*segments, key)) for key, below in value.items()}
    return f"{value} B" if attribute is not None and attribute.type == "bytes" else value
