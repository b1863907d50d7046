# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what was seen on all hosts against the manifest, and archive the run."""

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase

from pinproof.ansible.runs import verify
from pinproof.errors import PinproofError


class ActionModule(ActionBase):  # type: ignore[misc]
    """Gives decision and report, and fails on STOP and HOLD."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Judge the run."""
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        result["changed"] = False
        try:
            ended = verify(self._task.args, task_vars or {})
        except PinproofError as error:
            return {**result, "failed": True, "msg": str(error), "exit_code": error.exit_code}
        result.update(decision=ended.word, report=ended.report, archived=str(ended.archived))
        if not ended.good:
            result.update(failed=True, msg=f"{ended.word}: see the report")
        return result
