"""Choosing the capture that pins refer to, and saying why one can not be used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pinproof.archive.files import read_text
from pinproof.archive.layout import is_run_id, partial_name, run_folders
from pinproof.archive.load import ArchivedRun, load_run, read_record, summary_of
from pinproof.archive.record import is_moment, moment_of
from pinproof.archive.subjects import changed_subjects, subjects, subjects_digest
from pinproof.completeness import completeness
from pinproof.errors import PinproofError
from pinproof.manifest.model import Manifest
from pinproof.observations import Baseline

_TOLD = 3
_AGAIN = "capture again, in a state known to be good"


def find_baseline(root: Path, run: str, manifest: Manifest, before: str) -> Baseline | None:
    """Give the named capture, or the newest one finished before `before` (ISO 8601) where `run` is empty.

    None where none is named and there is none. One that may not be used has a
    `problem` that says why and what to do, and no facts.
    """
    if not run:
        return _newest(root, manifest, before)
    if not is_run_id(run):
        return _unusable(run, _what_else(root, run))
    if run not in run_folders(root):
        if (root / partial_name(run)).exists():
            return _unusable(run, f"it was interrupted and is not complete; {_AGAIN}")
        return _unusable(run, f"there is no such run in {root}; {_captures(root)}")
    return _judge(root, run, manifest, before)


def _newest(root: Path, manifest: Manifest, before: str) -> Baseline | None:
    summaries = [summary_of(root / run) for run in run_folders(root)]
    captures = [item for item in summaries if item.kind == "capture" and is_moment(item.finished_at)]
    earlier = [item for item in captures if is_moment(before) and moment_of(item.finished_at) <= moment_of(before)]
    damaged = [item.run for item in summaries if item.state == "damaged"]
    chosen = max(earlier, key=lambda item: (moment_of(item.finished_at), item.run), default=None)
    newer = [run for run in damaged if chosen is None or run > chosen.run]
    if newer:
        # It may be the capture that was meant: an older one must not take its place unseen.
        said = "its record cannot be read, and it may be the newest capture; name the capture to compare with"
        return _unusable(newer[-1], said)
    if chosen is not None:
        return _judge(root, chosen.run, manifest, before)
    if captures:
        said = "it was finished after this run opened, and so shows no earlier state"
        return _unusable(captures[-1].run, f"{said}; {_AGAIN}")
    return None


def _judge(root: Path, run: str, manifest: Manifest, before: str) -> Baseline:
    try:
        record = read_record(root / run)
        problem = _wrong_record(record, manifest, before)
        if problem:
            return _unusable(run, problem, str(record["finished_at"]))
        archived = load_run(root / run)
    except PinproofError as error:
        return _unusable(run, f"{str(error).removeprefix('the archive: ')}; {_AGAIN}, or name another capture")
    problem = _incomplete(archived, manifest)
    if problem:
        return _unusable(run, problem, archived.finished_at)
    return Baseline(run, archived.finished_at, "", archived.facts)


def _wrong_record(record: Mapping[str, Any], manifest: Manifest, before: str) -> str:
    """Say what about a run's record keeps it from being the baseline of this manifest; "" where nothing does."""
    if record["kind"] != "capture":
        return f"it is a verification, not a capture: a verdict is no saved state; {_AGAIN}, or name a capture"
    name = record["manifest"].get("name")
    if name != manifest.name:
        return f"it was captured for manifest '{name}', and this is '{manifest.name}': another site; {_AGAIN}"
    if not is_moment(record["finished_at"]) or not is_moment(before):
        return f"it cannot be told whether it was finished ({record['finished_at']}) before this run opened ({before})"
    if moment_of(record["finished_at"]) > moment_of(before):
        return f"it was finished at {record['finished_at']}, after this run opened at {before}; {_AGAIN}"
    then, now = record["probes"], subjects(manifest)
    if then.get("digest") == subjects_digest(now):
        return ""
    looked_at = then.get("subjects")
    told = _some(changed_subjects(now, looked_at)) if isinstance(looked_at, dict) else ""
    told = told or "its record does not say what"
    return f"the manifest looked at something else when it was captured ({told}); {_AGAIN}"


def _incomplete(archived: ArchivedRun, manifest: Manifest) -> str:
    missing = completeness(manifest, archived.facts, archived.run).missing
    return f"it is not complete: {_some(missing)}; {_AGAIN}" if missing else ""


def _some(items: Sequence[str]) -> str:
    """Tell the first few of many."""
    return "; ".join(items[:_TOLD]) + (f"; and {len(items) - _TOLD} more" if len(items) > _TOLD else "")


def _unusable(run: str, problem: str, captured_at: str = "") -> Baseline:
    return Baseline(run, captured_at, problem, {})


def _what_else(root: Path, named: str) -> str:
    """Say what was named where a run id was wanted: people name manifests, JSON files and folders."""
    path = Path(named)
    what = "it is no run id"
    try:
        if path.is_dir():
            what = "it is a folder; a baseline is named by its run id"
        elif path.is_file():
            what = _what_file(read_text(path))
    except PinproofError:
        what = "it is a file that cannot be read as text, and no run id"
    except OSError:
        what = "it is no run id"
    return f"{what}; {_captures(root)}"


def _what_file(text: str) -> str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        is_manifest = any(line.startswith("manifest:") for line in text.splitlines())
        return "it is a manifest, not a captured run" if is_manifest else "it is a file, not a captured run"
    if isinstance(data, dict) and data.get("schema") is not None:
        return f"it is a JSON file of schema {data['schema']!r}, not a captured run"
    return "it is a JSON file, not a captured run" if data else "it is empty JSON, not a captured run"


def _captures(root: Path) -> str:
    captures = [item for run in run_folders(root) if (item := summary_of(root / run)).kind == "capture"]
    if not captures:
        return f"there is no capture yet: {_AGAIN}"
    return f"the newest captures are {', '.join(item.run for item in reversed(captures[-_TOLD:]))}"
