"""The machine one sits at as a host: something to pin, a manifest of it, an inventory that leads to it.

Everything is kept in one folder (`.here/`), and one harmless process (`sleep`)
is started so that there is a running process to look at.
"""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import jinja2

from pinproof.errors import UsageError

UNITS = ("systemd-journald.service", "ssh.service", "cron.service", "dbus.service", "systemd-udevd.service")
UNIT_FOLDERS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
SLEEP_S = "86400"
SETTING = "PAIR=3"


@dataclass(frozen=True, slots=True)
class Here:
    """Where everything of this machine's run is kept."""

    checkout: Path
    folder: Path

    @property
    def manifest(self) -> Path:
        """The manifest that was made for this machine."""
        return self.folder / "manifest.yml"

    @property
    def archive(self) -> Path:
        """The archive of this machine's runs."""
        return self.folder / "archive"

    @property
    def pid_file(self) -> Path:
        """The process id of the process that is looked at."""
        return self.folder / "process.pid"

    @property
    def settings(self) -> Path:
        """A file to edit, to see what a run says of it."""
        return self.folder / "settings.env"


def prepare(here: Here, container: str = "", socket: str = "/run/docker.sock") -> None:
    """Make what is missing of manifest, settings and process. Raises UsageError where the machine lacks a part."""
    try:
        here.folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {here.folder} cannot be made: {error.strerror}") from None
    if not here.settings.exists():
        here.settings.write_text(SETTING + "\n", encoding="utf-8")
    start_process(here)
    text = manifest_text(here, unit_of_distribution(), head_commit(here.checkout), container, socket)
    here.manifest.write_text(text, encoding="utf-8")


def manifest_text(here: Here, unit: str, head: str, container: str, socket: str) -> str:
    """Fill in the manifest's template."""
    template = here.checkout / "inventory" / "manifests" / "this-machine.yml.j2"
    # Not HTML: values are quoted as JSON, which YAML reads as double-quoted text.
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)
    return environment.from_string(template.read_text(encoding="utf-8")).render(
        checkout=str(here.checkout),
        head=head,
        settings=str(here.settings),
        setting_text=SETTING,
        unit=unit,
        pid_file=str(here.pid_file),
        arguments=[SLEEP_S],
        container=container,
        socket=socket,
    )


def unit_of_distribution() -> str:
    """Name a unit whose file this distribution brings. Raises UsageError where there is none."""
    for unit in UNITS:
        if any((Path(folder) / unit).is_file() for folder in UNIT_FOLDERS):
            return unit
    raise UsageError(f"none of {', '.join(UNITS)} has a unit file here: install systemd's units to look at one")


def head_commit(checkout: Path) -> str:
    """Give the commit of the checkout. Raises UsageError where it is no git work tree."""
    done = subprocess.run(
        ["git", "-c", f"safe.directory={checkout}", "-C", str(checkout), "rev-parse", "--verify", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UsageError(f"{checkout} is no git work tree with a commit: {done.stderr.strip()}")
    return done.stdout.strip()


def running_process(here: Here) -> int | None:
    """Give the id of the process that is looked at, where it still runs."""
    try:
        pid = int(here.pid_file.read_text(encoding="ascii"))
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if words[:2] == [b"sleep", SLEEP_S.encode()] else None


def start_process(here: Here) -> None:
    """Start the process that is looked at, unless it runs."""
    if running_process(here) is not None:
        return
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "PINPROOF_PAIR": "3"}
    process = subprocess.Popen(
        ["sleep", SLEEP_S],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    here.pid_file.write_text(f"{process.pid}\n", encoding="ascii")
    process.returncode = 0  # it outlives this program on purpose


def end_process(here: Here) -> bool:
    """End the process that is looked at; False where it did not run."""
    pid = running_process(here)
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    return True
