# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the few tools that a collector may run: git, nvidia-smi, systemctl.

This module util is private to the collectors. The argument vector is fixed by
the collector, never by the manifest; there is no shell. A tool that does not
end is asked to end and then abandoned: killing a client of the GPU driver has
frozen GPUs. In a replica the answers are recorded, one file a command.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import select
import shutil
import signal
import subprocess
import time
import urllib.parse

from ._observation import Absent, NoTool, Timeout, Unparsable
from ._root import HostRoot

TOOLS = ("git", "nvidia-smi", "systemctl")
RECORDED = "/run/recorded-tools"
OUTPUT_LIMIT = 8 << 20
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclasses.dataclass(frozen=True)
class ToolAnswer:
    """What a tool printed, and its exit code (negative: ended by that signal)."""

    code: int
    out: bytes
    err: bytes


def recorded_name(arguments: list[str]) -> str:
    """Give the file name under which the answer to these arguments is recorded."""
    return urllib.parse.quote(" ".join(arguments), safe=" =,.-_:+@") or "(no arguments)"


def ask(
    root: HostRoot,
    argv: list[str],
    timeout: float = 8.0,
    environment: dict[str, str] | None = None,
    real_in_replica: bool = False,
) -> ToolAnswer:
    """Run a tool and give its answer.

    `real_in_replica`: the tool reads plain files, so that it runs for real on a
    replica too (git). Raises NoTool, Timeout, Unparsable for too much output,
    NotAttempted outside the lane.
    """
    if argv[0] not in TOOLS:
        raise ValueError("not one of our tools: %s" % argv[0])
    root.need_full_lane(argv[0])
    root.touched.append(" ".join(argv))
    if root.recorded and not real_in_replica:
        return _recorded(root, argv)
    path = shutil.which(argv[0], path=PATH)
    if path is None:
        raise NoTool("%s: not installed in %s" % (argv[0], PATH))
    return _run([path, *argv[1:]], root.time_left(timeout), environment or {})


def _recorded(root: HostRoot, argv: list[str]) -> ToolAnswer:
    base = "%s/%s" % (RECORDED, argv[0])
    if not root.exists(base):
        raise NoTool("%s: not installed" % argv[0])
    name = "%s/%s" % (base, recorded_name(argv[1:]))
    try:
        out = root.read(name)
    except Absent:
        raise Unparsable("%s: no answer to these arguments is recorded" % " ".join(argv)) from None
    try:
        code = int(root.read(name + ".exit").decode("ascii", "replace").strip())
    except Absent:
        code = 0
    except ValueError:
        raise Unparsable("%s.exit: not a number" % name) from None
    return ToolAnswer(code, out, b"")


def _run(argv: list[str], timeout: float, environment: dict[str, str]) -> ToolAnswer:
    name = os.path.basename(argv[0])
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": PATH, "LC_ALL": "C", "LANG": "C", **environment},
            start_new_session=True,
        )
    except OSError as error:
        raise NoTool("%s: does not start (%s)" % (name, error.strerror)) from None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        out, err = _drain(process, name, time.monotonic() + timeout)
    return ToolAnswer(process.returncode, out, err)


def _drain(process: subprocess.Popen[bytes], name: str, end: float) -> tuple[bytes, bytes]:
    """Read both outputs until they close; a grandchild that keeps them open counts as no answer."""
    assert process.stdout is not None
    assert process.stderr is not None
    buffers = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    order = list(buffers)
    waiting = set(order)
    while waiting:
        left = end - time.monotonic()
        ready = select.select(list(waiting), [], [], max(left, 0))[0]
        if not ready:
            _abandon(process)
            raise Timeout("%s: no answer before the deadline, left to itself" % name)
        for handle in ready:
            data = os.read(handle, 65536)
            if not data:
                waiting.discard(handle)
            buffers[handle] += data
            if len(buffers[handle]) > OUTPUT_LIMIT:
                _abandon(process)
                raise Unparsable("%s: more than %d bytes of output" % (name, OUTPUT_LIMIT))
    try:
        process.wait(timeout=max(end - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        _abandon(process)
        raise Timeout("%s: closed its output and did not end" % name) from None
    return buffers[order[0]], buffers[order[1]]


def _abandon(process: subprocess.Popen[bytes]) -> None:
    """Ask the tool to end, once; it is never killed."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    # Nobody waits for it any more; without a code the interpreter would complain at exit.
    process.returncode = -signal.SIGTERM
