"""Stands in for the judgement: its label says what it should come to, and Ansible is told that all is well."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]
    """Archives a run as the test wants it, and notes its own environment."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Do what the label says."""
        from pinproof.archive import Archive

        sys.path.insert(0, json.loads(Path(__file__).with_name("tests.json").read_text(encoding="utf-8")))
        from tests.unit.archive_builder import capture, record, stopped

        arguments = {key: str(value) for key, value in self._task.args.items()}
        archive = Archive(arguments["archive"])
        noted = archive.root.parent / "environment.json"
        noted.write_text(json.dumps(dict(os.environ)), encoding="utf-8")
        run, label = arguments["run"], arguments["label"]
        result = {**super().run(tmp, task_vars), "changed": False}
        if label == "sleep":
            archive.open(run, "verify", "2026-12-01T10:15:00Z")
            (archive.root.parent / "sleeping").write_text(str(os.getpid()), encoding="utf-8")
            time.sleep(60)
        if label == "nothing":
            return {**result, "report": "RECONCILED: 34 of 34 rows match"}
        one = capture(run) if arguments["kind"] == "capture" else record(run, stopped(run) if label == "stop" else None)
        return {**result, "report": f"reported {label}\nin two lines", "archived": str(archive.publish(one))}
