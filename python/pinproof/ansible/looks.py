"""Sending looks to one host through Ansible's connection, in one round trip."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from pinproof.ansible.plain import plain
from pinproof.errors import ObservationError, UsageError
from pinproof.transport.answer import read_answer, unanswered
from pinproof.transport.program import host_program
from pinproof.transport.requests import HostAccess

LANES = ("none", "files", "full")
DEFAULT_INTERPRETER = "/usr/bin/python3"


def variable(action: ActionBase, task_vars: dict[str, Any], name: str, default: str = "") -> str:
    """Give an inventory variable of the task's host as text, its templates filled in."""
    value = plain(action._templar.template(task_vars.get(name)))
    return default if value in (None, "") else str(value)


def host_access(action: ActionBase, task_vars: dict[str, Any]) -> HostAccess:
    """Read from the inventory how a host is looked at. Raises UsageError for what does not fit."""
    lane = variable(action, task_vars, "pinproof_lane", "full")
    if lane not in LANES:
        raise UsageError(f"pinproof_lane is '{lane}'; it is one of {', '.join(LANES)}")
    root = variable(action, task_vars, "pinproof_root")
    if root and not Path(root).is_absolute():
        raise UsageError(f"pinproof_root is '{root}'; it must be an absolute path")
    # Only a replica lies below another root, with its engine's and tools' answers recorded.
    return HostAccess(root.rstrip("/"), bool(root), variable(action, task_vars, "pinproof_user"), lane)


def look(action: ActionBase, plugins: Path, payload: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
    """Send the payload to the task's host and give its answer.

    A host that cannot be reached or does not answer gives an observation for
    every request that says so; nothing is raised for it.
    """
    requests = payload["probes"]

    def without(status: str, why: str) -> dict[str, Any]:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {**unanswered(requests, payload["host"], payload["run"], status, why, now), "lane": payload["lane"]}

    if payload["lane"] == "none":
        why = "this lane has no access to this host: no connection was opened"
        return {**without("not_attempted", why), "not_contacted": why}
    if not requests:
        return without("not_attempted", "nothing is asked of this host")
    interpreter = variable(action, task_vars, "ansible_python_interpreter", DEFAULT_INTERPRETER)
    program = host_program(payload, plugins)
    try:
        result = action._low_level_execute_command(f"{interpreter} -I -S -B -", in_data=program, sudoable=True)
    except AnsibleConnectionFailure as error:
        return without("unreachable", _one_line(str(error)))
    except AnsibleError as error:
        return without("unreachable", _one_line(str(error)))
    try:
        answer = read_answer(str(result.get("stdout", "")), payload["run"])
        return {**answer, "interpreter": interpreter, "lane": payload["lane"]}
    except (ObservationError, ValueError) as error:
        said = _one_line(str(result.get("stderr", "")))
        detail = f" (exit code {result.get('rc')}{': ' + said if said else ''})"
        return without("unparsable", f"{error}{detail}; is {interpreter} a Python 3.8 or newer?")


def _one_line(text: str) -> str:
    """Give the last words of a message, on one line of bounded length."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:])[-600:]
