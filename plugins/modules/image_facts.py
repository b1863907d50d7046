#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about containers, the images they run, and their logs."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_facts
short_description: Tell a container, the image that runs in it, and what its log shows
version_added: "0.1.0"
description:
  - Asks the container engine (Docker, or Podman's compatible service) over its socket, with GET only.
  - The image told is the one that runs, by the layers' diff ids and a canonical config, so that it can be compared
    between engines that keep images in different stores; whether the tag still names it is told beside it.
  - The container's own changes against its image leave out mount points and the folders above them, which the engine
    makes when it starts the container.
  - A log that does not reach back to the container's start is no evidence of anything.
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
  kind:
    description:
      - What to look at. C(container) is one container with its image, C(containers) which containers run on the host,
        C(engine_log) the log of a container since its start.
    type: str
    choices: [container, containers, engine_log]
    required: true
  name:
    description: The container's name; with O(kind=container).
    type: str
  container:
    description: The container's name; with O(kind=engine_log).
    type: str
  socket:
    description: The engine's socket. Without it C(/run/docker.sock), then C(/var/run/docker.sock).
    type: path
  values:
    description:
      - By name, a regular expression whose one group is the value; the last line that shows it counts.
      - With O(kind=engine_log).
    type: dict
  markers:
    description: By name, a regular expression that shows it; with O(kind=engine_log).
    type: dict
  tail:
    description:
      - Lines of the log to ask for; with O(kind=engine_log).
      - A log of as many lines counts as one that was cut off.
    type: int
    default: 20000
"""

EXAMPLES = r"""
- name: Look at the serving container and its image
  image_facts:
    kind: container
    name: dsv41

- name: List what runs, in a rootless engine
  image_facts:
    kind: containers
    socket: /run/user/1000/docker.sock

- name: Look for what the engine said about its levers
  image_facts:
    kind: engine_log
    container: dsv41
    values:
      kv_pool_tokens: 'GPU KV cache size: ([0-9,]+) tokens'
    markers:
      k1_engaged: '\[k1\] engaged pair=3'
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: always
  type: dict
  contains:
    image_facts:
      description:
        - The observation, with its status, evidence, identity (what must stay equal) and state (what may move).
      returned: always
      type: dict
      sample:
        status: ok
        evidence: loaded
        identity:
          running: true
          image:
            reference: dsv41-vllm:v5
            tag: v5
            store: graphdriver
            tag_names_running: true
        state: {pid: 31337, restart_count: 0, oom_killed: false}
"""

import typing as t

from ..module_utils._container_look import look_at_container, look_at_containers
from ..module_utils._disclosure import Disclosure
from ..module_utils._engine import Engine
from ..module_utils._log_look import look_at_log
from ..module_utils._observation import Observation
from ..module_utils._root import HostRoot


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a container, at all of them, or at a log. Raises a LookError where the whole look failed."""
    params = request["params"]
    engine = Engine(root, str(params.get("socket") or ""))
    if request["kind"] == "container":
        return look_at_container(engine, str(params["name"]), Disclosure.of(request))
    if request["kind"] == "containers":
        return look_at_containers(engine)
    return look_at_log(engine, params)
