"""Bringing the replica to where a run starts: production captured, then the experiment's first leg started."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pinproof.archive import Archive
from pinproof.errors import PinproofError
from pinproof.manifest import load_manifest_file
from pinproof.replica import site
from pinproof.replica.build import build, builder_version, read_stamp
from pinproof.replica.site import Arm

FIRST_START = Arm("experiment", "off-1", "measured")


def is_prepared(root: Path, archive: Path, manifest: Path) -> bool:
    """Say whether a current replica runs in an arm of the experiment and a usable capture of production is there."""
    stamp = read_stamp(root)
    if stamp is None or stamp.builder != builder_version() or stamp.arm == site.PRODUCTION:
        return False
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    baseline = Archive(archive).baseline("", load_manifest_file(manifest), now)
    return baseline is not None and not baseline.problem


def prepare(root: Path, checkout: Path, archive: Path, manifest: Path, say: Callable[[str], None]) -> None:
    """Do what is missing of it: build, capture production, start the first leg. Raises PinproofError.

    A replica that was spoiled on purpose is left as it is.
    """
    if is_prepared(root, archive, manifest):
        stamp = read_stamp(root)
        say(f"{root}: ready, production is captured")
        for text in stamp.spoiled if stamp else ():
            say(f"  still spoiled: {text} (pinproof replica reset)")
        return
    say(f"{root}: building the hosts in production state")
    build(root, site.PRODUCTION)
    say("capturing production as the baseline")
    _capture(checkout, root, archive, manifest)
    say("starting the experiment's first leg (off-1, measured)")
    build(root, FIRST_START)


def _capture(checkout: Path, root: Path, archive: Path, manifest: Path) -> None:
    variables = {"pinproof_replica": root, "pinproof_archive": archive, "pinproof_manifest": manifest}
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "playbooks/capture.yml", "--check"]
    for name, path in variables.items():
        command += ["-e", f"{name}={path.absolute()}"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PinproofError(f"production could not be captured:\n{done.stdout}{done.stderr}")
