#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of the machine itself: which one it is, its kernel, its memory, what its kernel logged."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_facts
short_description: Look at the machine, its kernel, memory, temperatures and kernel log
version_added: "0.1.0"
description:
  - Tells machine id, boot id and SSH host key, by which machines are told apart, and kernel, architecture, driver,
    memory and temperatures.
  - Reads the kernel log for lines of the NVIDIA driver (Xid and others; that it was loaded is not one) and for
    processes killed for lack of memory. A log that does not reach back to the start in question is no evidence.
  - The log's clock and that of process starts drift apart; records of up to a second and 50 ppm before the start are
    counted as well.
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
    choices: [host]
    default: host
    version_added: "0.1.0"
  log_since:
    description:
      - Count lines of the kernel log since this process started, by the parameters of its process look.
      - Without it, since the boot.
    type: dict
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: The machine
  host_facts: {}

- name: What the kernel logged since the engine started
  host_facts:
    log_since: {container: dsv41, program: vllm}
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    host_facts:
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
            hostname: sparkhead
            kernel: 6.17.0-1008-nvidia
            architecture: aarch64
            memory: {total: 128639832064}
        state:
          description: What may move, such as free memory and what the kernel logged.
          returned: success
          type: dict
          sample: {kernel_log: {xid: {}, oom_kills: {}}}
        faults:
          description: By attribute path, the status and reason of what could not be read.
          returned: success
          type: dict
          sample: {kernel_log: {status: denied, why: "/dev/kmsg: reading the kernel log needs CAP_SYSLOG (become)"}}
"""

import typing as t

from ..module_utils._kmsg import gpu_errors, oom_kills, reaches_back, read_log, suspended_s
from ..module_utils._leaves import set_leaf
from ..module_utils._machine import architecture, boot_id, host_key, line, machine_id, memory, temperatures
from ..module_utils._nvidia import FOLDER, parse_version
from ..module_utils._observation import Absent, Incomparable, LookError, Observation
from ..module_utils._proc import TICKS_A_SECOND
from ..module_utils._process import find_process
from ..module_utils._root import HostRoot, optional
from ..module_utils._segments import within


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at the machine; each leaf that can not be read is a fault of its own."""
    observation = Observation("loaded", "files of /etc, /proc and /sys, and the kernel log")
    observation.level("machine_id", "file")
    observation.level("host_key", "file")
    identity, state = observation.identity, observation.state
    looks: list[tuple[dict[str, t.Any], str, t.Callable[[], t.Any]]] = [
        (identity, "machine_id", lambda: machine_id(root)),
        (state, "boot_id", lambda: boot_id(root)),
        (identity, "host_key", lambda: host_key(root)),
        (identity, "hostname", lambda: line(root, "/proc/sys/kernel/hostname")),
        (identity, "kernel", lambda: line(root, "/proc/sys/kernel/osrelease")),
        (identity, "architecture", lambda: architecture(root)),
        (identity, "driver", lambda: optional(lambda: _driver(root))),
    ]
    for target, name, look in looks:
        set_leaf(observation, target, (name,), look)
    _tell_memory(observation, root)
    _tell_temperatures(observation, root)
    _tell_log(observation, root, request["params"].get("log_since"), request["now"])
    return observation


def _driver(root: HostRoot) -> str:
    return parse_version(root.read(FOLDER + "/version").decode("utf-8", "replace"))


def _tell_memory(observation: Observation, root: HostRoot) -> None:
    try:
        found = memory(root)
    except LookError as error:
        observation.fault("memory", error)
        observation.fault("cma_total", error)
        return
    observation.identity["memory"] = {"total": found["MemTotal"]}
    observation.state["memory"] = {"available": found["MemAvailable"], "free": found["MemFree"]}
    if "CmaTotal" in found:
        observation.identity["cma_total"] = found["CmaTotal"]


def _tell_temperatures(observation: Observation, root: HostRoot) -> None:
    try:
        found, failed = temperatures(root)
    except LookError as error:
        observation.fault("temperature_c", error)
        return
    observation.state["temperature_c"] = found
    for zone, failure in failed.items():
        observation.fault(within("temperature_c", zone), failure)


def _tell_log(
    observation: Observation, root: HostRoot, since_process: t.Optional[dict[str, t.Any]], now: float
) -> None:
    """Fill what the kernel logged; what was found stands even where the log is not complete."""
    try:
        since = _start(root, since_process, now) if since_process else 0.0
        log = read_log(root)
    except LookError as error:
        observation.fault("kernel_log", error)
        return
    incomplete = reaches_back(log, since)
    if incomplete is not None:
        observation.fault("kernel_log", incomplete)
    observation.state["kernel_log"] = {"xid": gpu_errors(log, since), "oom_kills": oom_kills(log, since)}


def _start(root: HostRoot, selector: dict[str, t.Any], now: float) -> float:
    """Give when a process started, in seconds after boot by the clock of the kernel log. Raises a LookError."""
    try:
        process = find_process(root, selector, now)
    except Absent as error:
        # That it does not run is no evidence about what the kernel logged.
        raise Incomparable("no start to count from: %s" % error.why) from None
    return max(process.start_ticks / TICKS_A_SECOND - (0.0 if root.recorded else suspended_s()), 0.0)
