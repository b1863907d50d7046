#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of systemd units: what their files say, and what the service manager has loaded."""

from __future__ import annotations

DOCUMENTATION = r"""
module: unit_facts
short_description: Look at a systemd unit as its files say it and as systemd has loaded it
version_added: "0.1.0"
description:
  - Reads the unit file that wins and all its drop-ins, by systemd's own rules, and tells what they come to.
  - Asks C(systemctl show) once what is loaded. Files and loaded unit are told apart, as they may differ.
  - Specifiers are replaced in commands, C(Environment=) and C(EnvironmentFile=); where the value of one can not be told
    from the host's files, what it stands in is C(incomparable). Other settings are told as written.
  - Variables (C($NAME)) in commands are told as written, as they get their values only when the unit starts.
  - Values of variables, options and settings that no pin names leave the host as a keyed digest.
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
    choices: [unit, units]
    default: unit
    version_added: "0.1.0"
  name:
    description: The unit, with its type, for C(unit).
    type: str
    version_added: "0.1.0"
  user:
    description:
      - The user whose manager's unit it is, for C(unit); the system's manager without it.
      - What a user's manager has loaded is told only to that user. For anybody else it is C(denied), because asking
        would start a session on the host.
    type: str
    version_added: "0.1.0"
  pattern:
    description: A glob of names, for C(units); services only.
    type: str
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: The worker's unit
  unit_facts:
    name: dspark-worker-tp2.service

- name: Which workers are active
  unit_facts:
    kind: units
    pattern: dspark-*
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    unit_facts:
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
          description: What must stay equal, of the files under C(file), of the loaded unit under C(loaded).
          returned: success
          type: dict
          sample:
            file: {fragment: /etc/systemd/system/a.service, dropins: [], masked: false}
            loaded: {load_state: loaded, active_state: active, sub_state: running, needs_reload: false}
        state:
          description: What may move, such as the main process.
          returned: success
          type: dict
          sample: {changed_at: 1792310400.25, loaded: {main_pid: 4242, restarts: 0}}
        faults:
          description: By attribute path, the status and reason of what could not be read.
          returned: success
          type: dict
          sample: {loaded: {status: no_tool, why: "systemctl: not installed"}}
"""

import os
import typing as t

from ..module_utils._accounts import Account, account_named
from ..module_utils._disclosure import Disclosure
from ..module_utils._observation import Absent, Denied, LookError, Observation, Unparsable, Unstable
from ..module_utils._root import HostRoot
from ..module_utils._systemctl import list_active, show
from ..module_utils._unit_looks import look_at_files, look_at_loaded
from ..module_utils._unit_name import UnitName
from ..module_utils._unit_paths import UnitFinder, search_path


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at one unit, or at the active units of a pattern. Raises a LookError."""
    if request["kind"] == "units":
        return _active_units(request["params"]["pattern"], root)
    return _unit(request, root)


def _active_units(pattern: str, root: HostRoot) -> Observation:
    observation = Observation("loaded", "systemctl list-units")
    observation.scope = {"pattern": pattern, "type": "service"}
    observation.identity["active"] = list_active(root, pattern)
    return observation


def _unit(request: dict[str, t.Any], root: HostRoot) -> Observation:
    name = UnitName.parse(request["params"]["name"])
    if name.is_template:
        raise Unparsable("%s: a template is no unit; name an instance of it" % name)
    user = request["params"].get("user")
    account = account_named(root, user) if user else None
    observation = Observation("file", "unit files and systemctl show")
    observation.level("loaded", "loaded")
    disclosure = Disclosure.of(request)
    no_file = no_unit = None
    try:
        files = UnitFinder(root, search_path(root, account)).find(name)
        look_at_files(observation, root, files, account, disclosure)
    except Unstable:
        raise
    except LookError as error:
        no_file = error
        observation.fault("file", error)
    try:
        properties = show(root, str(name), _user_manager(root, account))
        look_at_loaded(observation, properties, disclosure)
    except LookError as error:
        no_unit = error
        observation.fault("loaded", error)
    if isinstance(no_file, Absent) and isinstance(no_unit, Absent):
        raise Absent("%s; %s" % (no_file.why, no_unit.why))
    return observation


def _user_manager(root: HostRoot, account: t.Optional[Account]) -> t.Optional[dict[str, str]]:
    """Give the environment that leads to a user's manager, None for the system's. Raises Denied for another user's.

    Reaching another user's manager would start a transient session unit there.
    """
    if account is None:
        return None
    root.need_full_lane("systemctl --user")
    if not root.recorded and os.getuid() != account.uid:
        raise Denied("systemctl --user: only '%s' can ask that manager; log in as that user" % account.name)
    return {"XDG_RUNTIME_DIR": "/run/user/%d" % account.uid}
