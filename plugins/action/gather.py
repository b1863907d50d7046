# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask one host everything that the manifest wants to know of it, in one round trip."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

from ansible.plugins.action import ActionBase

from pinproof.ansible.looks import host_access, look
from pinproof.ansible.plain import text_option
from pinproof.archive import project_key
from pinproof.errors import PinproofError
from pinproof.manifest import load_manifest_file
from pinproof.transport.requests import host_payload


class ActionModule(ActionBase):  # type: ignore[misc]
    """Gives the fact `pinproof`: the host's answer as JSON text."""

    TRANSFERS_FILES = False
    _requires_connection = True
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Look at the host. An unreachable host is an answer, not a failure."""
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        try:
            answer = self._answer(variables)
        except PinproofError as error:
            return {**result, "changed": False, "failed": True, "msg": str(error), "exit_code": error.exit_code}
        result["changed"] = False
        result["ansible_facts"] = {"pinproof": json.dumps(answer)}
        result["pinproof_looks"] = _summary(answer)
        return result

    def _answer(self, variables: dict[str, t.Any]) -> dict[str, t.Any]:
        arguments = self._task.args
        manifest = load_manifest_file(Path(text_option(arguments, "manifest")))
        payload = host_payload(
            manifest,
            str(variables["inventory_hostname"]),
            text_option(arguments, "run"),
            host_access(self, variables),
            project_key(Path(text_option(arguments, "archive"))),
        )
        return look(self, Path(__file__).resolve().parents[1], payload, variables)


def _summary(answer: dict[str, t.Any]) -> dict[str, t.Any]:
    statuses: dict[str, int] = {}
    for observation in answer["observations"]:
        statuses[observation["status"]] = statuses.get(observation["status"], 0) + 1
    return {"took_ms": answer.get("took_ms", 0.0), "statuses": statuses}
