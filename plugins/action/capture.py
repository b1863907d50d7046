# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archive what was seen on all hosts as a baseline."""

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase

from pinproof.ansible.runs import capture
from pinproof.errors import PinproofError


class ActionModule(ActionBase):  # type: ignore[misc]
    """Gives whether the capture is complete, and fails when it is not."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Archive the capture."""
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        result["changed"] = False
        try:
            ended = capture(self._task.args, task_vars or {})
        except PinproofError as error:
            return {**result, "failed": True, "msg": str(error), "exit_code": error.exit_code}
        result.update(complete=ended.good, report=ended.report, archived=str(ended.archived))
        if not ended.good:
            result.update(failed=True, msg="the capture is not complete: see the report")
        return result
