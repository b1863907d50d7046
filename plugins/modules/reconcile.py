#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin `reconcile`, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: reconcile
short_description: Judge what was seen on all hosts against the manifest, and archive the run
version_added: "0.1.0"
description:
  - Judges every host of the manifest, whether the play reached it or not, and fails on STOP and HOLD.
  - Archives observations, resolved manifest, verdict and report; runs on the controller only.
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
  baseline:
    description: Run id of the capture to compare with; the newest capture when empty.
    type: str
    default: ''
  leg:
    description: Leg of the experiment that this run belongs to.
    type: str
    default: ''
  start:
    description: Start of the experiment that this run belongs to, such as C(measured).
    type: str
    default: ''
"""

EXAMPLES = r"""
- name: Reconcile the observations with the manifest
  reconcile:
    manifest: inventory/manifests/up2-low-cap.yml
    archive: archive
    run: "{{ opened.run }}"
    opened_at: "{{ opened.opened_at }}"
    leg: off-1
    start: measured
  run_once: true
"""

RETURN = r"""
decision:
  description: RECONCILED, HOLD or STOP.
  returned: always
  type: str
  sample: RECONCILED
report:
  description: The report as text.
  returned: always
  type: str
  sample: "RECONCILED: 31 of 31 rows match"
archived:
  description: Folder of the archived run.
  returned: always
  type: str
  sample: archive/20261201T101500Z-5f3a9c1e
"""
