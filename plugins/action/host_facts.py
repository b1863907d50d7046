# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the collector host_facts on one host, through its interpreter's standard input."""

from __future__ import annotations

from pinproof.ansible.single import SingleLook


class ActionModule(SingleLook):
    """One look of host_facts."""

    collector = "host_facts"
