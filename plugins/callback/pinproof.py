# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress and verdict on the terminal: what is being looked at, then the report, last."""

from __future__ import annotations

DOCUMENTATION = r"""
name: pinproof
type: stdout
short_description: Progress of the looks, then the verdict
description:
  - Shows one line a host while hosts are looked at, and the report of the run at the very end.
  - Other tasks, and every task under C(-v), are shown as the default callback shows them.
  - A run of the project's own playbooks that ends without a verdict exits with code 3, whatever was skipped.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
"""

import typing as t
from pathlib import Path

from ansible.plugins.callback.default import CallbackModule as DefaultCallback

# Every task runs in a process forked from this one: what is imported here is imported once, not in each.
from pinproof.ansible import looks as _looks_once  # noqa: F401
from pinproof.ansible import runs as _runs_once  # noqa: F401
from pinproof.manifest import load as _load_once  # noqa: F401

LOOKING = ("gather",)
JUDGING = ("reconcile", "capture")
OWN_TASKS = ("open_run", *LOOKING, *JUDGING)
NO_VERDICT = 3
NOTHING_JUDGED = "nothing was judged (are all tasks skipped by --skip-tags?)"


class CallbackModule(DefaultCallback):  # type: ignore[misc]
    """Quiet about our own tasks but for progress and the report; otherwise the default."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "pinproof"

    def __init__(self) -> None:
        super().__init__()
        self._own_playbook = False
        self._report: str | None = None
        self._problem = ""

    # -- plays and tasks ---------------------------------------------------
    def v2_playbook_on_start(self, playbook: t.Any) -> None:
        """Remember whether the playbook is one of ours, so that it owes a verdict."""
        path = Path(playbook._file_name).resolve()
        project = Path(__file__).resolve().parents[2]
        self._own_playbook = path.name in ("verify.yml", "capture.yml") and path.parent in (
            project,
            project / "playbooks",
        )
        super().v2_playbook_on_start(playbook)

    def v2_playbook_on_play_start(self, play: t.Any) -> None:
        """Show play names of ours only on demand."""
        if self._chatty():
            super().v2_playbook_on_play_start(play)
        else:
            self._play = play  # the default callback asks it for its strategy

    def v2_playbook_on_task_start(self, task: t.Any, is_conditional: bool) -> None:
        """Show task names of ours only on demand."""
        if self._chatty() or task.action not in OWN_TASKS:
            super().v2_playbook_on_task_start(task, is_conditional)

    def v2_runner_on_start(self, host: t.Any, task: t.Any) -> None:
        """Say that a host is being looked at."""
        if task.action in LOOKING:
            self._display.display(f"  {host.get_name():<14} looking ...")

    # -- results -----------------------------------------------------------
    def v2_runner_on_ok(self, result: t.Any) -> None:
        """Show how a host answered, or keep the report for the end."""
        action = _action(result)
        data = _data(result)
        if action in LOOKING:
            self._display.display(f"  {_host(result):<14} {_looks(data.get('pinproof_looks') or {})}")
        if action in JUDGING:
            self._report = str(data.get("report", ""))
        if action not in OWN_TASKS or self._chatty():
            super().v2_runner_on_ok(result)

    def v2_runner_on_failed(self, result: t.Any, ignore_errors: bool = False) -> None:
        """Keep the report of a run that does not reconcile; show other failures of ours in their words."""
        action = _action(result)
        data = _data(result)
        if action in JUDGING and "report" in data:
            self._report = str(data["report"])
        elif action in OWN_TASKS:
            self._problem = str(data.get("msg", ""))
            self._display.display(f"pinproof: {self._problem}", stderr=True)
        else:
            super().v2_runner_on_failed(result, ignore_errors)

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        """Print the report last; a playbook of ours without one does not end well."""
        if self._chatty():
            super().v2_playbook_on_stats(stats)
        if self._report is not None:
            self._display.display(self._report)
        elif self._own_playbook:
            first, *others = self._problem.splitlines() or [NOTHING_JUDGED]
            why = f"{first} (and {len(others)} more, above)" if others else first
            self._display.display(f"NO VERDICT: {why}", stderr=True)
            raise SystemExit(NO_VERDICT)

    def _chatty(self) -> bool:
        return not self._own_playbook or bool(self._display.verbosity > 0)


def _action(result: t.Any) -> str:
    return str(_task(result).action)


def _task(result: t.Any) -> t.Any:
    return getattr(result, "task", None) or result._task


def _host(result: t.Any) -> str:
    return str((getattr(result, "host", None) or result._host).get_name())


def _data(result: t.Any) -> dict[str, t.Any]:
    return t.cast("dict[str, t.Any]", getattr(result, "result", None) or result._result)


def _looks(summary: dict[str, t.Any]) -> str:
    statuses = dict(summary.get("statuses") or {})
    total = sum(statuses.values())
    answered = statuses.pop("ok", 0)
    rest = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(statuses.items()))
    took = float(summary.get("took_ms") or 0.0)
    return f"{answered} of {total} looks answered in {took:.0f} ms{'; ' + rest if rest else ''}"
