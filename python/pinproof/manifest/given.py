"""What a probe looks for by name: its parameters decide which keys its observations can have.

A pin on a key that the probe was never told to look for would find nothing for
ever, and `absent: true` would call that a match. Such pins are errors.
"""

from __future__ import annotations

from collections.abc import Mapping

from pinproof.manifest.errors import Wrong, nearest, short
from pinproof.manifest.model import Probe

_KEYS: Mapping[str, Mapping[str, str]] = {
    "source": {"tags": "tags", "files": "files", "same_as_revision": "files"},
    "clone": {"files": "files"},
    "files": {"files": "names"},
    "engine_log": {"values": "values", "markers": "markers"},
    "process": {"libraries": "libraries", "library_counts": "libraries"},
}
_FIXED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("requests", "hashes"): ("corpus", "order", "header", "salt_prefix"),
}
_NEEDED: Mapping[tuple[str, str], str] = {
    ("source", "revision"): "revision",
    ("source", "same_as_revision"): "revision",
    ("clone", "settings"): "env_files",
    ("clone", "malformed"): "env_files",
    ("fabric", "nccl"): "process",
    ("fabric", "route"): "master",
    ("jit", "variable"): "variable",
}


def refuse_not_given(probe: Probe, segments: tuple[str, ...]) -> None:
    """Refuse a path that the probe's parameters leave nothing at. Raises Wrong with the fix."""
    if not segments:
        return
    first = segments[0]
    needed = _NEEDED.get((probe.kind, first))
    if probe.kind == "source" and segments[2:] == ("blob_sha256",):
        needed = "revision"
    if needed is not None and needed not in probe.parameters:
        what = f"'{first}' of probe '{probe.name}' is never looked at"
        raise Wrong(what, f"give the probe the parameter '{needed}'")
    parameter = _KEYS.get(probe.kind, {}).get(first)
    if parameter is not None and parameter not in probe.parameters:
        what = f"'{first}' of probe '{probe.name}' is never looked at"
        raise Wrong(what, f"give the probe the parameter '{parameter}'")
    if len(segments) > 1:
        _refuse_unknown_key(probe, first, segments[1], parameter)


def _refuse_unknown_key(probe: Probe, first: str, key: str, parameter: str | None) -> None:
    fixed = _FIXED.get((probe.kind, first))
    if fixed is not None and key not in fixed:
        raise Wrong(f"'{first}' of kind '{probe.kind}' has no {short(key)}", nearest(key, fixed, "there"))
    given = probe.parameters.get(parameter) if parameter else None
    names = [str(name) for name in given] if isinstance(given, list | dict) else None
    if names is not None and key not in names:
        what = f"probe '{probe.name}' is not told to look for {short(key)}"
        fix = f"{nearest(key, names, f'listed in {parameter!r}')} (or add it to '{parameter}')"
        raise Wrong(what, fix)
