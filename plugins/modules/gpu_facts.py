#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of GPUs: which there are, how they are linked, how they run, who uses them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_facts
short_description: Look at NVIDIA GPUs through the driver's files and nvidia-smi
version_added: "0.1.0"
description:
  - Reads C(/proc/driver/nvidia) first and asks C(nvidia-smi) for what only it can tell. A tool that fails or hangs
    costs only that part, and one that hung once is not asked again.
  - The UUIDs are told only where driver and tool agree on them and every GPU has one; C(GPU-????????-...) is the mark
    of a GPU that is not initialised, never a UUID.
  - A clock cap cannot be read back from the driver; the highest of some samples refutes a cap, and never proves one.
  - Connections between GPUs are told by pairs of UUIDs; a single GPU has none.
  - Processes are counted once for each program, over however many GPUs they use.
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
    description: The kind of look.
    type: str
    choices: [gpu]
    default: gpu
    version_added: "0.1.0"
  samples:
    description: How many samples of clocks to take, 0.15 s apart; at most 50.
    type: int
    default: 3
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: The GPUs, with five samples of their clocks
  gpu_facts:
    samples: 5
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    gpu_facts:
      description: The observation; its identity and state hold the attributes of the kind.
      returned: success
      type: dict
      contains:
        status:
          description: C(ok), or in which way the look failed.
          returned: always
          type: str
          sample: ok
        identity:
          description: What must stay equal.
          returned: success
          type: dict
          sample:
            uuids: [GPU-7744b44b-8a13-b06d-a67e-f958fd74b8fc]
            driver: 580.142
            persistence_modes: [Enabled]
            clocks: {sm_mhz: 2100}
        state:
          description: What may move, such as the single samples and temperatures.
          returned: success
          type: dict
          sample: {temperature_c: {GPU-7744b44b-8a13-b06d-a67e-f958fd74b8fc: 46}}
        faults:
          description: By attribute path, the status and reason of what could not be read.
          returned: success
          type: dict
          sample: {clocks: {status: timeout, why: "nvidia-smi: no answer before the deadline, left to itself"}}
"""

import typing as t

from ..module_utils._gpu_looks import tell_links, tell_processes, tell_running
from ..module_utils._gpu_set import ask_tool, read_driver, tell_gpus
from ..module_utils._nvidia import FOLDER, parse_version
from ..module_utils._observation import Absent, LookError, Observation, Unparsable
from ..module_utils._root import HostRoot
from ..module_utils._smi import Smi

DEFAULT_SAMPLES = 3
MOST_SAMPLES = 50


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at the GPUs. Raises a LookError where there are none to look at."""
    samples = request["params"].get("samples")
    samples = DEFAULT_SAMPLES if samples is None else samples
    if not 1 <= samples <= MOST_SAMPLES:
        raise Unparsable("samples: %d is not between 1 and %d" % (samples, MOST_SAMPLES))
    observation = Observation("loaded", "driver files and nvidia-smi")
    observation.level("clocks", "native")
    observation.scope = {"samples": samples}
    driver = read_driver(root)
    smi = Smi(root)
    tool = ask_tool(smi)
    gpus = tell_gpus(observation, driver, tool, smi)
    _tell_version(observation, root)
    tell_running(observation, gpus, tool, smi, samples)
    tell_links(observation, gpus, tool, smi)
    tell_processes(observation, gpus, root, smi)
    return observation


def _tell_version(observation: Observation, root: HostRoot) -> None:
    try:
        observation.identity["driver"] = parse_version(root.read(FOLDER + "/version").decode("utf-8", "replace"))
    except Absent as error:
        observation.notes.append(error.why)
    except LookError as error:
        observation.fault("driver", error)
