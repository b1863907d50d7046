#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of just-in-time caches: what the kernels on disk are, by the rules of each kind of cache."""

from __future__ import annotations

DOCUMENTATION = r"""
module: jit_facts
short_description: Hash a just-in-time cache by the rules of its kind
version_added: "0.1.0"
description:
  - Tells what of a cache is identity (kernels and the sources they are made of) from what is volatile (locks, files
    being written, time stamps) and from what spells paths; only identity is hashed and compared.
  - A file that the rules of the kind do not know counts as identity, so that nothing new passes unseen.
  - The cache is listed twice. Growth (new files only) is told apart from change; volatile files may come and go.
  - The cache of the CUDA driver has no identity (an index and blobs that the driver replaces); its presence is told,
    its entries are C(incomparable).
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
    choices: [jit]
    default: jit
    version_added: "0.1.0"
  cache:
    description: The kind of cache, by whose rules it is read.
    type: str
    choices: [triton, inductor, vllm, flashinfer, deepgemm, tilelang, cuda]
    required: true
    version_added: "0.1.0"
  path:
    description:
      - Where the cache lies. Give this or O(variable).
      - With O(inside), the path is as that process sees it.
    type: path
    version_added: "0.1.0"
  variable:
    description:
      - The variable in the environment of the process O(inside) that says where the cache lies.
      - Where it is not set, the look is C(absent).
    type: str
    version_added: "0.1.0"
  inside:
    description:
      - The process whose cache it is, by the parameters of its process look.
      - Its environment, its root and its mounts are what counts.
    type: dict
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: The Triton cache that the engine uses
  jit_facts:
    cache: triton
    variable: TRITON_CACHE_DIR
    inside: {container: dsv41, program: vllm}

- name: A cache by its place on the host
  jit_facts:
    cache: flashinfer
    path: /var/cache/dsv41/flashinfer
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    jit_facts:
      description: The observation.
      returned: success
      type: dict
      contains:
        identity:
          description:
            - C(path) is the tree that was hashed, C(variable) the value of the variable, C(mount) the mount point the
              tree lies on; the last is as the process sees it, and is not known without a process.
            - C(entries) holds the sha256 of each file that is identity by its relative path, or C(link:TARGET);
              C(digest) is over all of them and C(count) their number.
          returned: success
          type: dict
          sample:
            variable: /var/cache/dsv41/triton
            path: /var/cache/dsv41/triton
            mount: /var/cache/dsv41
            count: 1
            entries: {KEY/kernel.cubin: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}
        state:
          description: >-
            C(volatile) counts the files left out, by reason; C(changed_at) is when identity, or the way to it, last
            changed, in seconds since the epoch.
          returned: success
          type: dict
          sample: {volatile: {lock: 1}, changed_at: 1792310400.25}
"""

import os
import typing as t

from ..module_utils._insides import look_inside
from ..module_utils._jit_rules import RULES, CacheRules
from ..module_utils._jit_scan import Scan, scan
from ..module_utils._mounts import mount_of, mount_points
from ..module_utils._names import shown
from ..module_utils._observation import Absent, Incomparable, LookError, Observation, Unparsable, Unstable
from ..module_utils._process import Process, inherited, read_entry
from ..module_utils._reading import way
from ..module_utils._root import HostRoot
from ..module_utils._tree_looks import spread_faults


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at a cache. Raises a LookError."""
    params = request["params"]
    rules = RULES.get(params["cache"])
    if rules is None:
        raise Unparsable(
            "no rules for a cache of kind '%s'; there are %s" % (params["cache"], ", ".join(sorted(RULES)))
        )
    path, variable, inside = params.get("path"), params.get("variable"), params.get("inside")
    if bool(path) == bool(variable):
        raise Unparsable("a cache needs either 'path' or 'variable', and not both, to say where it lies")
    if inside:
        return look_inside(
            root,
            inside,
            request["now"],
            lambda inner, process: _of_process(root, inner, process, rules, path, variable),
        )
    if not path:
        raise Unparsable("'variable' needs 'inside': the process in whose environment %s is looked up" % variable)
    observation = _look(root, path, rules)
    observation.fault("mount", Incomparable("a mount point is told as a process sees it; name one by 'inside'"))
    return observation


def _of_process(
    root: HostRoot, inner: HostRoot, process: Process, rules: CacheRules, path: str | None, variable: str | None
) -> Observation:
    """Look at a cache in the root of a process, at `path` or where its environment says."""
    if variable:
        value, notes = _value(root, process, rules, variable)
        observation = _look(inner, value, rules)
        observation.identity["variable"] = value
        observation.notes.extend(notes)
    else:
        observation = _look(inner, path or "", rules)
    observation.evidence = "process"
    observation.method += " through the process' root"
    try:
        observation.identity["mount"] = _mount(root, process, inner.resolve(path or observation.identity["variable"]))
    except LookError as error:
        observation.fault("mount", error)
    return observation


def _value(root: HostRoot, process: Process, rules: CacheRules, variable: str) -> tuple[str, list[str]]:
    """Give the variable's value, with notes; it is a path that the manifest asks for by name, and told as it is."""
    found = inherited(root, process.pid)
    if found.environment is None:
        raise Incomparable(
            "process %d wrote over its environment, so that %s is not known; name the cache by 'path'"
            % (process.pid, variable)
        )
    value = found.environment.values.get(variable)
    if value is None:
        raise Absent(
            "%s: not set in the environment of process %d; its cache lies at the default, %s"
            % (variable, process.pid, rules.default)
        )
    if variable in found.environment.ambiguous:
        raise Incomparable("%s: stands in the environment of process %d with two values" % (variable, process.pid))
    if not value.startswith("/"):
        raise Unparsable("%s is '%s' in process %d: not an absolute path" % (variable, value, process.pid))
    notes = []
    if found.source != "process":
        notes.append("%s is from the environment of an ancestor; the process wrote over its own" % variable)
    return value, notes


def _mount(root: HostRoot, process: Process, resolved: str) -> str:
    data = read_entry(root, process.pid, "mountinfo")
    found = mount_of(os.fsencode(resolved), mount_points(data, "/proc/%d/mountinfo" % process.pid))
    if found is None:
        raise Unparsable("/proc/%d/mountinfo: no mount holds %s" % (process.pid, resolved))
    return found


def _look(root: HostRoot, path: str, rules: CacheRules) -> Observation:
    observation = Observation("file", "%s cache read" % rules.kind)
    taken = way(root, path)
    found = scan(root, path, rules)
    if way(root, path).resolved != taken.resolved:
        raise Unstable("%s: led elsewhere while it was read" % path)
    observation.identity["path"] = shown(taken.resolved)
    _tell(observation, path, rules, found)
    observation.state = {"volatile": found.volatile, "changed_at": max(found.changed_at, taken.changed_at)}
    observation.scope["rules"] = rules.kind
    if found.unknown:
        observation.notes.append(
            "%d files are of a kind that the rules for %s do not know and count as identity, first %s"
            % (len(found.unknown), rules.kind, found.unknown[0])
        )
    return observation


def _tell(observation: Observation, path: str, rules: CacheRules, found: Scan) -> None:
    """Add what is identity to the observation, or why it cannot be told."""
    if rules.none_is_identity:
        for area in ("entries", "digest", "count"):
            observation.fault(area, Incomparable("%s: %s" % (path, rules.none_is_identity)))
        return
    observation.identity["entries"] = found.entries
    if not found.faults:
        observation.identity.update(digest=found.digest, count=len(found.entries))
        return
    spread_faults(observation, "entries", found.faults)
    first = sorted(found.faults)[0]
    why = "%d of its entries could not be read, first %s" % (len(found.faults), found.faults[first].why)
    for area in ("digest", "count"):
        observation.fault(area, Unparsable("%s: %s" % (path, why)))
