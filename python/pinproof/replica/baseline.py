"""The replica with a baseline of its own: production built, captured by the playbook, then the experiment's start."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pinproof.archive import Archive
from pinproof.errors import PinproofError
from pinproof.replica import site
from pinproof.replica.build import Built, build, builder_version, read_stamp
from pinproof.replica.site import Arm

PLAYBOOK = "playbooks/capture.yml"
_LINES = 40

Capture = Callable[[Path, Path, Path], None]


def build_with_baseline(root: Path, arm: Arm, manifest: Path, archive: Path, capture: Capture | None = None) -> Built:
    """Build the replica in an arm of the experiment, its production state captured into the archive before.

    Whatever of this is there already is left alone, but a capture that is no longer
    the archive's newest is made again: runs would be compared with the newer one.
    `capture` (root, manifest, archive) runs the playbook by default. Raises
    PinproofError where it fails or leaves no run behind.
    """
    digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
    stamp = read_stamp(root)
    usable = (
        stamp is not None
        and stamp.builder == builder_version()
        and stamp.manifest == digest
        and bool(stamp.baseline)
        and _is_newest(Path(stamp.baseline), archive)
    )
    if not usable:
        built = build(root, site.PRODUCTION, fresh=stamp is not None and bool(stamp.spoiled))
        before = _runs(archive)
        (capture or run_playbook)(root, manifest, archive)
        new = sorted(_runs(archive) - before)
        if not new:
            raise PinproofError(f"{PLAYBOOK} left no run in {archive}")
        replace(built.stamp, baseline=str((archive / new[-1]).resolve()), manifest=digest).save(root)
    return build(root, arm)


def _is_newest(baseline: Path, archive: Path) -> bool:
    """Say whether this is the capture that runs kept in the archive are compared with."""
    if not baseline.is_dir() or baseline.parent != archive.resolve():
        return False
    return Archive(archive).newest("capture") in ("", baseline.name)


def _runs(archive: Path) -> set[str]:
    """List the complete runs of an archive: folders, links left out."""
    if not archive.is_dir():
        return set()
    return {item.name for item in archive.iterdir() if (item / "run.json").is_file() and not item.is_symlink()}


def run_playbook(root: Path, manifest: Path, archive: Path) -> None:
    """Run the capture playbook of the checkout that is the working folder. Raises PinproofError."""
    variables = {
        "pinproof_replica": str(root.resolve()),
        "pinproof_manifest": str(manifest.resolve()),
        "pinproof_archive": str(archive.resolve()),
    }
    command = [
        str(Path(sys.executable).with_name("ansible-playbook")),
        PLAYBOOK,
        "--check",
        "-e",
        json.dumps(variables),
    ]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(Path("ansible.cfg").resolve())}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise PinproofError(f"{command[0]}: does not start ({error.strerror})") from None
    if done.returncode != 0:
        told = "\n".join((done.stdout + done.stderr).splitlines()[-_LINES:])
        raise PinproofError(f"{PLAYBOOK} ended with {done.returncode}:\n{told}")
