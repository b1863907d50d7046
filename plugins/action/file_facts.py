# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the collector file_facts on one host, through its interpreter's standard input."""

from __future__ import annotations

from pinproof.ansible.single import SingleLook


class ActionModule(SingleLook):
    """One look of file_facts."""

    collector = "file_facts"
