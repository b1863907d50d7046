"""Putting a run into the archive: all of it or, visibly, none of it."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

from pinproof.archive.chain import head_of
from pinproof.archive.files import (
    FOLDER_MODE,
    as_text,
    make_folder,
    sync_folder,
    telling,
    write_new,
)
from pinproof.archive.layout import (
    FACTS_FOLDER,
    LATEST_LINK,
    MANIFEST_FILE,
    OPENED_FILE,
    REPORT_FILE,
    RUN_FILE,
    SCHEMA,
    SUMS_FILE,
    VERDICT_FILE,
    check_run_id,
    facts_name,
    partial_name,
)
from pinproof.archive.lock import locked
from pinproof.archive.record import Kind, RunRecord
from pinproof.archive.sums import sums_of
from pinproof.errors import ArchiveError
from pinproof.report import capture, markdown


def prepare(root: Path) -> None:
    """Make the archive's folder, and see that it can be written to. Raises ArchiveError.

    Asked before hosts are looked at: a verdict that cannot be kept is none.
    """
    with telling("make", root):
        root.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    trial = root / f".trial-{secrets.token_hex(8)}"
    with telling("write to", root):
        try:
            write_new(trial, "-" * 65536)
        finally:
            with contextlib.suppress(OSError):
                trial.unlink()


def open_run(root: Path, run: str, kind: Kind, opened_at: str) -> Path:
    """Begin a run, so that one that is cut short can be seen. Gives its folder. Raises ArchiveError, UsageError."""
    prepare(root)
    _refuse_existing(root, check_run_id(run))
    folder = root / partial_name(run)
    with telling("make", folder):
        try:
            make_folder(folder)
        except FileExistsError:
            raise ArchiveError(f"the archive: {folder} is there already; a run id is used once") from None
        write_new(folder / OPENED_FILE, as_text({"schema": SCHEMA, "run": run, "kind": kind, "opened_at": opened_at}))
        sync_folder(folder)
        sync_folder(root)
    return folder


def publish(root: Path, record: RunRecord) -> Path:
    """Archive a run and give its folder; it is complete, or it is not there.

    Raises ArchiveError where it cannot be written or its id is taken, and
    ObservationError for facts that are none.
    """
    check_run_id(record.run)
    record.check()
    files = _content(record)
    with telling("make", root):
        root.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    final = root / record.run
    with locked(root), telling("write", final):
        _refuse_existing(root, record.run)
        if final.is_dir():
            final.rmdir()  # empty, and no link of the chain
        partial = _begin(root, record.run)
        files[RUN_FILE] = as_text(record.as_json(head_of(root)))
        _fill(partial, files)
        partial.rename(final)
        sync_folder(root)
        if record.kind == "verify":
            _point_latest(root, record.run)
    return final


def _content(record: RunRecord) -> dict[str, str]:
    """Make the text of every file but `run.json`, before anything is written."""
    files = {facts_name(host.host): as_text(host.as_json(record.run)) for host in record.hosts}
    files[MANIFEST_FILE] = record.manifest_text
    if record.outcome is not None:
        files[VERDICT_FILE] = as_text(record.outcome.as_json())
        files[REPORT_FILE] = markdown.render(record.outcome)
    else:
        files[REPORT_FILE] = capture.markdown(record.captured(), record.run, record.manifest.name, record.finished_at)
    return files


def _refuse_existing(root: Path, run: str) -> None:
    """Refuse an id whose folder holds anything: leftovers are never packed into another run."""
    folder = root / run
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ArchiveError(f"the archive: {folder} is there already and is no folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise ArchiveError(f"the archive: {folder} is there already; a run id is used once")


def _begin(root: Path, run: str) -> Path:
    """Give the folder to fill: the one that was opened, or a new one."""
    folder = root / partial_name(run)
    try:
        make_folder(folder)
    except FileExistsError:
        if folder.is_symlink() or not folder.is_dir():
            raise ArchiveError(f"the archive: {folder} is no folder") from None
        leftover = sorted(entry.name for entry in folder.iterdir() if entry.name != OPENED_FILE)
        if leftover:
            said = f"it holds {leftover[0]} of an earlier attempt; a run id is used once"
            raise ArchiveError(f"the archive: {folder} cannot be completed: {said}") from None
    return folder


def _fill(folder: Path, files: dict[str, str]) -> None:
    make_folder(folder / FACTS_FOLDER)
    for name, text in sorted(files.items()):
        write_new(folder / name, text)
    if not any((folder / FACTS_FOLDER).iterdir()):
        (folder / FACTS_FOLDER).rmdir()
    else:
        sync_folder(folder / FACTS_FOLDER)
    (folder / OPENED_FILE).unlink(missing_ok=True)
    write_new(folder / SUMS_FILE, sums_of(folder))
    sync_folder(folder)


def _point_latest(root: Path, run: str) -> None:
    """Let `latest` lead to this run, from one moment to the next."""
    temporary = root / f".{LATEST_LINK}-{secrets.token_hex(8)}"
    temporary.symlink_to(run)
    temporary.replace(root / LATEST_LINK)
    sync_folder(root)
