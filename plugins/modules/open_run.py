#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin `open_run`, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: open_run
short_description: Check the manifest and open a run, before any host is contacted
version_added: "0.1.0"
description:
  - Loads the manifest and fails with every error in it, each with file, line and column.
  - Gives the run its id. Runs on the controller only.
author:
  - the pinproof authors
attributes:
  check_mode:
    support: full
    description: This action does not modify state.
  diff_mode:
    support: none
    description: There is nothing to show a difference of.
options:
  manifest:
    description: Path of the manifest on the controller.
    type: path
    required: true
  archive:
    description: Path of the archive folder on the controller.
    type: path
    required: true
  run:
    description: Id of the run; a new one is made when empty.
    type: str
    default: ''
  kind:
    description: What the run is to become.
    type: str
    choices: [verify, capture]
    default: verify
  leg:
    description: Leg of the experiment that the run belongs to; the manifest must have it.
    type: str
    default: ''
  start:
    description: Start of the experiment that the run belongs to; the manifest must have it.
    type: str
    default: ''
"""

EXAMPLES = r"""
- name: Open a run
  open_run:
    manifest: inventory/manifests/up2-low-cap.yml
    archive: archive
  run_once: true
  register: opened
"""

RETURN = r"""
run:
  description: The id of the run.
  returned: success
  type: str
  sample: 20261201T101500Z-5f3a9c1e
opened_at:
  description: When the run was opened, ISO 8601 in UTC.
  returned: success
  type: str
  sample: "2026-12-01T10:15:00.000000Z"
"""
