# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what was seen on all hosts against the manifest, and archive the run."""

from __future__ import annotations

import typing as t

from pinproof.ansible import runs
from pinproof.ansible.judging import EndOfRun


class ActionModule(EndOfRun):
    """Gives decision and report, and fails on STOP and HOLD."""

    def end(self, arguments: t.Mapping[str, t.Any], task_vars: t.Mapping[str, t.Any]) -> runs.Ended:
        """End the run."""
        return runs.verify(arguments, task_vars)
