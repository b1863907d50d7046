#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about a running process: what it was started with and what it runs from."""

from __future__ import annotations

DOCUMENTATION = r"""
module: process_facts
short_description: Tell what a running process was started with, and the bytes it runs from
version_added: "0.1.0"
description:
  - Reads the kernel's files about one process; nothing is attached to it and nothing is sent to it.
  - Arguments are told by option. C(--name=value) and C(--name value) are the same, a bare word after an option is its
    value, underscores in long names count as dashes, repeated options are lists, and a value that is a JSON object or
    list is JSON. Where an interpreter runs a script, the options are those after the script.
  - A process that wrote its title over its arguments and environment has none to tell. Its environment is then that of
    the nearest ancestor in the same container or unit that still has one, and it is said so.
  - Other users' processes can be read by root alone, so that this usually needs C(become).
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
  container:
    description:
      - The container the process runs in. Alone it means the container's main process.
      - One of O(container), O(unit), O(pid_file) and O(program) is needed.
    type: str
  unit:
    description: The systemd unit whose main process it is, with its suffix.
    type: str
  pid_file:
    description: The file that holds its process id.
    type: path
  program:
    description:
      - The file name of its program, or of the script or module where that is an interpreter.
      - Of several, the one that all others descend from is meant; processes that bear a title do not count.
    type: str
  socket:
    description: The engine's socket. Without it C(/run/docker.sock), then C(/var/run/docker.sock).
    type: path
  libraries:
    description:
      - Stems of library names, such as C(libnccl). Files mapped under the stem, or under the stem with C(.), C(-) or
        C(_) and more after it, are hashed and counted.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Look at the engine in its container
  process_facts:
    container: dsv41
    program: vllm
    libraries: [libnccl, libexl3]

- name: Look at the main process of a unit
  process_facts:
    unit: dspark-worker-tp2.service
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: always
  type: dict
  contains:
    process_facts:
      description:
        - The observation, with its status, evidence, identity (what must stay equal) and state (what may move).
      returned: always
      type: dict
      sample:
        status: ok
        evidence: process
        identity:
          program: /opt/venv/bin/vllm
          arguments: [serve, /srv/dsv41/legal-v2a]
          argv: {tensor-parallel-size: "2"}
          exe: {path: /usr/bin/python3.12, deleted: false}
          env_source: process
          library_counts: {libnccl: 1}
        state: {pid: 31337}
"""

import typing as t

from ..module_utils._disclosure import Disclosure
from ..module_utils._observation import Observation
from ..module_utils._process_look import look_at_process
from ..module_utils._root import HostRoot


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at one process. Raises a LookError where it is not there, can not be told from others, or ended."""
    return look_at_process(root, request["params"], float(request["now"]), Disclosure.of(request))
