"""Opening a run, and what it comes to: the controller's part of the playbooks."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinproof.ansible.plain import text_option
from pinproof.archive import Archive, HostRecord, RunRecord, new_run_id, project_key
from pinproof.errors import UsageError
from pinproof.manifest import load_manifest_file, render_manifest
from pinproof.manifest.arms import check_arm
from pinproof.manifest.model import Manifest
from pinproof.outcome import Arm
from pinproof.reconcile import reconcile
from pinproof.report import capture as capture_report
from pinproof.report import terminal
from pinproof.verdicts import Decision

FACT = "pinproof"
NOT_ASKED = "it was not among the hosts that this run looked at (limit, tags or inventory)"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run came to: a word for it, whether it is good, the report, and where it is archived."""

    word: str
    good: bool
    report: str
    archived: Path


def now() -> str:
    """Give the time in the form that runs use."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def open_run(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Check the manifest and that the archive can be written, and give the run its id. Raises PinproofError."""
    manifest = load_manifest_file(Path(text_option(arguments, "manifest")))
    check_arm(manifest, text_option(arguments, "leg"), text_option(arguments, "start"))
    archive = Archive(Path(text_option(arguments, "archive")).resolve())
    run = text_option(arguments, "run") or new_run_id()
    opened_at = now()
    archive.open(run, "capture" if text_option(arguments, "kind") == "capture" else "verify", opened_at)
    project_key(archive.root)
    return {"run": run, "opened_at": opened_at}


def verify(arguments: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Ended:
    """Judge what the play's hosts answered, and archive the run. Raises PinproofError."""
    manifest = load_manifest_file(Path(text_option(arguments, "manifest")))
    archive = Archive(Path(text_option(arguments, "archive")).resolve())
    run, opened_at = text_option(arguments, "run"), text_option(arguments, "opened_at")
    records = host_records(manifest, task_vars)
    lane = lane_name(arguments, records)
    outcome = reconcile(
        manifest,
        {record.host: record.facts() for record in records},
        archive.baseline(text_option(arguments, "baseline"), manifest, opened_at),
        run=run,
        lane=lane,
        arm=arm_of(arguments),
    )
    folder = archive.publish(_record(arguments, "verify", manifest, records, outcome=outcome))
    return Ended(
        outcome.decision.value,
        outcome.decision is Decision.RECONCILED,
        terminal.render(outcome, archived=str(folder)),
        folder,
    )


def capture(arguments: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Ended:
    """Archive what the play's hosts answered as a baseline, complete or visibly not. Raises PinproofError."""
    manifest = load_manifest_file(Path(text_option(arguments, "manifest")))
    record = _record(arguments, "capture", manifest, host_records(manifest, task_vars))
    folder = Archive(Path(text_option(arguments, "archive")).resolve()).publish(record)
    captured = record.captured()
    return Ended(
        "CAPTURED" if captured.complete else "INCOMPLETE",
        captured.complete,
        capture_report.terminal(captured, record.run, manifest.name, str(folder)),
        folder,
    )


def arm_of(arguments: Mapping[str, Any]) -> Arm:
    """Read which arm a run belongs to."""
    return Arm(text_option(arguments, "leg"), text_option(arguments, "start"), text_option(arguments, "label"))


def lane_name(arguments: Mapping[str, Any], records: tuple[HostRecord, ...]) -> str:
    """Give the lane's name: the given one, or which access there was to which hosts where that was not full."""
    by_lane: dict[str, list[str]] = {}
    for record in records:
        lane = str(record.probe_program.get("lane", "full"))
        if lane != "full":
            by_lane.setdefault(lane, []).append(record.host)
    seen = "; ".join(f"{lane} on {', '.join(hosts)}" for lane, hosts in sorted(by_lane.items())) or "full"
    return text_option(arguments, "lane") or seen


def host_records(manifest: Manifest, task_vars: Mapping[str, Any]) -> tuple[HostRecord, ...]:
    """Collect what each host of the manifest answered in this play; those that nobody asked too."""
    hostvars = task_vars["hostvars"]
    return tuple(_host_record(host, hostvars) for host in manifest.hosts)


def _host_record(host: str, hostvars: Mapping[str, Any]) -> HostRecord:
    facts = hostvars[host].get("ansible_facts") if host in hostvars else None
    text = facts.get(FACT) if facts else None
    if text is None:
        return HostRecord(host, contacted=False, why=NOT_ASKED)
    try:
        answer = json.loads(str(text))
    except ValueError as error:
        raise UsageError(f"the fact '{FACT}' of {host} is not a host's answer: {error}") from error
    why = str(answer.pop("not_contacted", ""))
    interpreter = str(answer.pop("interpreter", ""))
    return HostRecord.of_answer(answer, contacted=not why, why=why, interpreter=interpreter)


def _record(
    arguments: Mapping[str, Any], kind: Any, manifest: Manifest, records: tuple[HostRecord, ...], **more: Any
) -> RunRecord:
    return RunRecord(
        run=text_option(arguments, "run"),
        kind=kind,
        manifest=manifest,
        manifest_text=render_manifest(manifest),
        opened_at=text_option(arguments, "opened_at"),
        finished_at=now(),
        lane=lane_name(arguments, records),
        arm=arm_of(arguments),
        hosts=records,
        **more,
    )
