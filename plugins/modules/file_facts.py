#!/usr/bin/python
# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collector of files: links, files, folders, JSON, environment files, lists of sums, emissions, request records."""

from __future__ import annotations

DOCUMENTATION = r"""
module: file_facts
short_description: Read files of a host, or of a process' root, and tell what they are
version_added: "0.1.0"
description:
  - Reads and hashes files; nothing that is read is ever executed, and links are followed inside the tree they lie in.
  - Every file is read in one generation. One that moves, hangs, is empty, too large or malformed is a status with its
    reason, never a value; of several files, each has a status of its own.
  - C(changed_at) covers every file, every link on the way to it, and folders that were renamed into place. For records
    that are only valid when fresh (C(status), C(emission), C(requests)) it is when the content was written instead.
  - Names are shown as UTF-8. A byte that is not becomes C(\xNN), and a backslash of the name's own is doubled.
notes:
  - "The format of C(requests), one JSON object a line: C(request) (an object: C(endpoint), C(complete),
    C(prompt_tokens), C(max_tokens), C(thinking), C(effort), C(effort_percent), C(temperature), C(top_p), C(seed),
    C(priority)), C(repetition) (from 1), C(corpus_sha256), C(order_sha256), C(header_sha256), C(salt_prefix_sha256),
    C(prompt_sha256), C(salt_sha256) (64 hex digits each), C(answer) (an object: C(cached_tokens),
    C(completion_tokens))."
  - "The format of C(emission), one JSON object: C(tool), C(emitted_at) (with time zone), C(rank), and C(files), a list
    of objects with C(path), C(sha256), C(ok) and, where not ok, C(why)."
  - The digest of a tree is the sha256 of what C(sha256sum) prints of its files in the order of their names' bytes; for
    a link, C(link:) and the sha256 of its target stand in place of a digest.
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
    choices: [link, file, files, tree, json, status, env_file, derivation, sums, emission, requests]
    required: true
    version_added: "0.1.0"
  path:
    description: The link, file or folder, for C(link), C(file) and C(tree).
    type: path
    version_added: "0.1.0"
  under:
    description: The folder, for C(files) and C(sums).
    type: path
    version_added: "0.1.0"
  names:
    description: The files of the folder, relative to it, for C(files).
    type: list
    elements: str
    version_added: "0.1.0"
  ignore:
    description:
      - Globs of relative paths left out, for C(tree).
      - One without a slash fits a name at any depth. One with a slash fits from the tree's top, C(*) within one
        component, C(**) over any number of them. What fits a folder leaves out everything in it.
      - The change of a folder that holds a name left out does not count in C(changed_at).
    type: list
    elements: str
    version_added: "0.1.0"
  file:
    description: The file, for C(json), C(status), C(env_file), C(emission) and C(requests).
    type: path
    version_added: "0.1.0"
  sizes:
    description: The prompt sizes that a complete run has, in tokens, for C(requests).
    type: list
    elements: str
    version_added: "0.1.0"
  repetitions:
    description:
      - How often a complete run has each of O(sizes), for C(requests).
      - Fewer leave the tallies without an answer, since the others may still be measured.
    type: int
    version_added: "0.1.0"
  list:
    description: The list in the format of C(sha256sum), for C(sums).
    type: path
    version_added: "0.1.0"
  base:
    description: The environment file that another derives from, for C(derivation).
    type: path
    version_added: "0.1.0"
  derived:
    description: The environment file that derives from O(base), for C(derivation).
    type: path
    version_added: "0.1.0"
  dialect:
    description: The dialect of the environment files, for C(env_file) and C(derivation).
    type: str
    choices: [shell, container, compose, systemd]
    version_added: "0.1.0"
  inside:
    description:
      - The process in whose root (C(/proc/PID/root)) is read, by the parameters of its process look.
      - For C(file), C(files), C(tree), C(json), C(status), C(sums) and C(emission).
    type: dict
    version_added: "0.1.0"
"""

EXAMPLES = r"""
- name: Where the current release leads
  file_facts:
    kind: link
    path: ~/dsv41-offload/prod/dspark-worker/current

- name: The checkpoint's small files
  file_facts:
    kind: files
    under: /srv/dsv41/legal-v2a
    names: [config.json, tokenizer.json]

- name: Engine code as the engine sees it
  file_facts:
    kind: tree
    path: /opt/dsv41/engine
    ignore: ["__pycache__"]
    inside: {container: dsv41, program: vllm}
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to ansible_facts.
  returned: success
  type: dict
  contains:
    file_facts:
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
          sample: {target: fb68c52, resolved: /srv/worker/fb68c52, name: fb68c52}
        state:
          description: What may move, such as C(changed_at), in seconds since the epoch.
          returned: success
          type: dict
          sample: {changed_at: 1792310400.25}
        faults:
          description: By attribute path, the status and reason of what could not be read.
          returned: success
          type: dict
          sample: {"files[config.json]": {status: denied, why: "/srv/config.json: permission denied (EACCES)"}}
"""

import typing as t

from ..module_utils._disclosure import Disclosure
from ..module_utils._emission import look_emission
from ..module_utils._env_looks import look_derivation, look_env_file
from ..module_utils._file_looks import look_file, look_files, look_json, look_link, look_status
from ..module_utils._insides import look_inside
from ..module_utils._observation import Observation, Unparsable
from ..module_utils._records import look_requests
from ..module_utils._root import HostRoot
from ..module_utils._tree_looks import look_sums, look_tree

Look = t.Callable[[t.Dict[str, t.Any], HostRoot], Observation]

_LOOKS: t.Mapping[str, Look] = {
    "link": look_link,
    "file": look_file,
    "files": look_files,
    "tree": look_tree,
    "json": look_json,
    "sums": look_sums,
    "emission": look_emission,
    "requests": look_requests,
}


def collect(request: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at files as the request's kind says. Raises a LookError."""
    params = request["params"]
    look = _look_of(request)
    if not params.get("inside"):
        return look(params, root)
    observation = look_inside(root, params["inside"], request["now"], lambda inner, _: look(params, inner))
    if observation.evidence == "file":
        observation.evidence = "process"
    observation.method += " through the process' root"
    return observation


def _look_of(request: dict[str, t.Any]) -> Look:
    kind = request["kind"]
    if kind == "status":
        return lambda params, root: look_status(params, root, request["now"])
    if kind in ("env_file", "derivation"):
        look = look_env_file if kind == "env_file" else look_derivation
        disclosure = Disclosure.of(request)
        return lambda params, root: look(params, root, disclosure)
    if kind not in _LOOKS:
        raise Unparsable("file_facts has no look of kind '%s'" % kind)
    return _LOOKS[kind]
