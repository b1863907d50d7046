"""Action plugins that end a run on the controller: what they have in common."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from pinproof.ansible.runs import Ended
from pinproof.errors import PinproofError


class EndOfRun(ActionBase):  # type: ignore[misc]
    """Ends a run by its `end`, and gives what it came to, its report and its folder; fails where that is not good."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    @abc.abstractmethod
    def end(self, arguments: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Ended:
        """End the run with the task's arguments. Raises PinproofError."""

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """End the run."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        result["changed"] = False
        try:
            ended = self.end(self._task.args, task_vars or {})
        except PinproofError as error:
            return {**result, "failed": True, "msg": str(error), "exit_code": error.exit_code}
        result.update(decision=ended.word, report=ended.report, archived=str(ended.archived))
        if not ended.good:
            result.update(failed=True, msg=f"{ended.word}: see the report")
        return result
