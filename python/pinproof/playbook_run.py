"""Running one of the checkout's playbooks through ansible-runner, in an environment of its own.

Nothing that ends in a verdict is taken from the runner: its return code tells
nothing about hosts. What it is asked for is what was said on the way.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from pinproof.errors import PinproofError

OWN_TASKS = ("open_run", "gather", "reconcile", "capture")

# Everything else of the caller's environment stays out: Ansible's own settings
# would override the checkout's, and secrets have no business in a runner's files.
_KEPT = ("HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "SSH_AUTH_SOCK")
_KEPT_BEGINNING = "LC_"
_POLL_S = 1
_PATIENCE_S = 5.0
_SAID_LAST = 20


@dataclass(frozen=True, slots=True)
class Request:
    """What to run: a playbook of the checkout, on which hosts, with which variables. "" is the checkout's default."""

    checkout: Path
    playbook: str
    run: str
    variables: Mapping[str, str]
    inventory: str = ""
    limit: str = ""
    tags: str = ""


@dataclass(slots=True)
class Heard:
    """What the playbook said on the way: where it archived, and what failed in tasks of ours (task, words, exit code).

    `started` is whether any task was begun; `last` are the last lines of output.
    """

    archived: str = ""
    failures: list[tuple[str, str, int | None]] = field(default_factory=list)
    started: bool = False
    last: list[str] = field(default_factory=list)
    code: int | None = None

    def note(self, event: Mapping[str, Any]) -> None:
        """Take from an event what matters."""
        self.last = [*self.last, *str(event.get("stdout", "")).splitlines()][-_SAID_LAST:]
        kind, data = event.get("event"), event.get("event_data") or {}
        if kind == "playbook_on_task_start":
            self.started = True
        result = data.get("res")
        if not isinstance(result, Mapping) or data.get("task_action") not in OWN_TASKS:
            return
        self.archived = str(result.get("archived") or self.archived)
        if kind == "runner_on_failed" and "report" not in result:
            code = result.get("exit_code")
            self.failures.append((data["task_action"], str(result.get("msg", "")), code if type(code) is int else None))


def run_playbook(request: Request, say: Callable[[str], None]) -> Heard:
    """Run the playbook; `say` gets its output, a piece at a time.

    Raises KeyboardInterrupt where it was interrupted, PinproofError where it cannot be started.
    """
    import ansible_runner.interface
    from pexpect.exceptions import TIMEOUT  # type: ignore[import-untyped]

    heard = Heard()

    def listen(event: Mapping[str, Any]) -> bool:
        heard.note(event)
        if event.get("stdout"):
            say(str(event["stdout"]).replace("\r\n", "\n") + "\n")
        return False  # no copy of facts in the runner's files

    with tempfile.TemporaryDirectory(prefix="pinproof-") as folder, _stoppable() as stopped:
        with _environment(clean_environment(request.checkout)):
            runner = ansible_runner.interface.init_runner(
                **_settings(request, folder), event_handler=listen, cancel_callback=lambda: bool(stopped)
            )
        # Where the runner's last read times out it raises; what counts is in the archive by then, or is not.
        with contextlib.suppress(TIMEOUT), _ending_gently(type(runner)):
            runner.run()
        heard.code = runner.rc
    if stopped:
        raise KeyboardInterrupt
    return heard


def clean_environment(checkout: Path) -> dict[str, str]:
    """Give the environment for Ansible: a few names of the caller's, and the checkout's settings."""
    binaries = str(Path(sys.executable).parent)
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_BEGINNING)}
    kept["PATH"] = os.pathsep.join([binaries, os.environ.get("PATH", os.defpath)])
    if shutil.which("ansible-playbook", path=kept["PATH"]) is None:
        raise PinproofError(f"there is no ansible-playbook in {binaries} or on PATH; install pinproof again")
    columns = os.environ.get("COLUMNS") or (str(shutil.get_terminal_size().columns) if sys.stdout.isatty() else "")
    return {
        **kept,
        **({"COLUMNS": columns} if columns else {}),
        **({} if sys.stdout.isatty() else {"ANSIBLE_NOCOLOR": "1"}),
        "ANSIBLE_CONFIG": str(checkout / "ansible.cfg"),
        "ANSIBLE_HOST_KEY_CHECKING": "True",  # the runner turns it off where it is not said
        "ANSIBLE_STDOUT_CALLBACK": "pinproof",
        "ANSIBLE_CALLBACK_PLUGINS": str(checkout / "plugins" / "callback"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _settings(request: Request, folder: str) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "private_data_dir": folder,
        "project_dir": str(request.checkout),
        "ident": request.run,
        "playbook": str(request.checkout / "playbooks" / request.playbook),
        "extravars": dict(request.variables),
        "cmdline": "--check",
        "fact_cache_type": "memory",  # nothing of an earlier run, and nothing on disk
        "settings": {"pexpect_timeout": _POLL_S},
        "quiet": True,
    }
    for name, value in (("inventory", request.inventory), ("limit", request.limit), ("tags", request.tags)):
        if value:
            settings[name] = value
    return settings


@contextlib.contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Let this be the whole environment for a while: the runner copies all of it."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _ending_gently(runner: Any) -> Iterator[None]:
    """Let the runner ask the playbook to end before it kills it.

    Ansible's workers are in sessions of their own: they end when the playbook
    passes the request on, and would be left behind, connections and all, by a kill.
    """
    kept, kill = vars(runner)["handle_termination"], runner.handle_termination

    def end(pid: int, pidfile: str | None = None) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + _PATIENCE_S
            while time.monotonic() < until and not _has_ended(pid):
                time.sleep(0.02)
        kill(pid, pidfile)

    runner.handle_termination = end
    try:
        yield
    finally:
        runner.handle_termination = kept


def _has_ended(pid: int) -> bool:
    """Say whether a child has ended, and leave it to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@contextlib.contextmanager
def _stoppable() -> Iterator[list[int]]:
    """Note interrupts instead of breaking off, so that the playbook is ended with everything below it."""
    noted: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        noted.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
