# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies beside a tree and could be imported in its stead, or before it.

This module util is private to the collectors. Python looks for a name in the
folder that holds the tree: a module of the same name, a path file, or a module
that every interpreter imports when it starts.
"""

from __future__ import annotations

import posixpath
import stat as stat_module

from ._names import shown
from ._observation import Absent
from ._root import HostRoot

_AT_START = ("sitecustomize", "usercustomize")
_MODULES = {".py": "Python module", ".pyc": "compiled Python module", ".so": "extension module"}


def shadows(root: HostRoot, path: str, resolved: str) -> dict[str, str]:
    """Say, by name, what lies beside the folder at `path` that could be loaded in its stead.

    Where `path` is a link, the folder it lies in is looked at, and the folder it
    leads into; names of the latter are told with their whole path. Raises a
    LookError where a folder cannot be listed.
    """
    named = posixpath.split(root.resolve(path, follow_last=False))
    real = posixpath.split(resolved)
    found = {shown(name): what for name, what in _beside(root, *named).items()}
    if real != named:
        found.update({shown(posixpath.join(real[0], name)): what for name, what in _beside(root, *real).items()})
    return found


def _beside(root: HostRoot, folder: str, own: str) -> dict[str, str]:
    if not own:
        return {}
    found = {}
    for name in root.listdir(folder):
        what = "" if name == own else _what(root, folder, name, own)
        if what:
            found[name] = what
    return found


def _what(root: HostRoot, folder: str, name: str, own: str) -> str:
    """Say what a name is to an importer that looks for `own`, or "" where it is nothing."""
    if name.endswith(".pth"):
        return "path file, read when an interpreter starts"
    wanted = {own, posixpath.splitext(own)[0], *_AT_START}
    stem, suffix = posixpath.splitext(name)
    if suffix == ".so" and stem not in wanted:
        # An extension module may carry tags: engine.cpython-312-x86_64-linux-gnu.so, engine.abi3.so.
        stem = name.split(".", 1)[0]
    if suffix in _MODULES and stem in wanted:
        what = _MODULES[suffix]
    elif name in wanted and _is_folder(root, posixpath.join(folder, name)):
        stem, what = name, "folder"
    else:
        return ""
    return what + ", imported when an interpreter starts" if stem in _AT_START else what


def _is_folder(root: HostRoot, path: str) -> bool:
    try:
        return stat_module.S_ISDIR(root.stat(path).st_mode)
    except Absent:
        # A link that leads nowhere today.
        return False
