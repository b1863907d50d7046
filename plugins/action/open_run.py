# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the manifest and open a run, before any host is contacted."""

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase

from pinproof.ansible.runs import open_run
from pinproof.errors import PinproofError


class ActionModule(ActionBase):  # type: ignore[misc]
    """Gives the run's id and when it was opened."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Open the run; a manifest that is no manifest fails here."""
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        try:
            return {**result, "changed": False, **open_run(self._task.args)}
        except PinproofError as error:
            return {**result, "changed": False, "failed": True, "msg": str(error), "exit_code": error.exit_code}
