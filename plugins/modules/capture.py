#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin `capture`, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capture
short_description: Archive what was seen on all hosts as a baseline
version_added: "0.1.0"
description:
  - Archives the observations of all hosts as a capture, complete or visibly not. A capture is never a pass.
  - Fails when the capture is not complete; runs on the controller only.
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
    description: Id of the run, as C(open_run) gave it.
    type: str
    required: true
  opened_at:
    description: When the run was opened, as C(open_run) gave it.
    type: str
    required: true
  lane:
    description: Name of the lane, for the report; told by the hosts' own lanes when empty.
    type: str
    default: ''
  label:
    description: A label kept with the run.
    type: str
    default: ''
"""

EXAMPLES = r"""
- name: Archive the observations as a baseline
  capture:
    manifest: inventory/manifests/up2-low-cap.yml
    archive: archive
    run: "{{ opened.run }}"
    opened_at: "{{ opened.opened_at }}"
  run_once: true
"""

RETURN = r"""
decision:
  description: CAPTURED, or INCOMPLETE where a look was not answered.
  returned: always
  type: str
  sample: CAPTURED
report:
  description: What was captured and what is missing, as text.
  returned: always
  type: str
  sample: "CAPTURED: 61 looks on 4 hosts"
archived:
  description: Folder of the archived run.
  returned: always
  type: str
  sample: archive/20261201T101500Z-5f3a9c1e
"""
