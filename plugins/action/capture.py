# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archive what was seen on all hosts as a baseline."""

from __future__ import annotations

import typing as t

from pinproof.ansible import runs
from pinproof.ansible.judging import EndOfRun


class ActionModule(EndOfRun):
    """Gives whether the capture is complete, and fails when it is not."""

    def end(self, arguments: t.Mapping[str, t.Any], task_vars: t.Mapping[str, t.Any]) -> runs.Ended:
        """End the run."""
        return runs.capture(arguments, task_vars)
