#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin `gather`, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gather
short_description: Ask a host everything a manifest wants to know of it, in one round trip
version_added: "0.1.0"
description:
  - Sends the collectors that the manifest needs on the interpreter's standard input; nothing is created on the host.
  - Every look has a deadline of its own; a host that cannot be reached is an answer, not a failure.
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
"""

EXAMPLES = r"""
- name: Look at the host
  gather:
    manifest: inventory/manifests/up2-low-cap.yml
    archive: archive
    run: "{{ opened.run }}"
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    pinproof:
      description: The host's answer as JSON text, one observation for every look.
      returned: success
      type: str
      sample: '{"schema": 1, "run": "20261201T101500Z-5f3a9c1e", "host": "x86host", "observations": []}'
pinproof_looks:
  description: How many looks ended in which status, and how long they took in all.
  returned: success
  type: dict
  sample: {"took_ms": 212.4, "statuses": {"ok": 9}}
"""
