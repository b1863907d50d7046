# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe program: runs all looks that were asked of this host and gives all their answers.

This module util is private. Every look runs in a child of its own with its own
deadline, so that one that hangs or fails costs the others nothing. A look that
does not end is named, asked to end, and left; alarms make sure that everything
on the host ends by itself, whatever becomes of the controller.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import mmap
import os
import platform
import resource
import select
import signal
import sys
import time
import typing as t

from ._observation import LookError, NotAttempted, Observation, Timeout, Unparsable, utc
from ._root import HostRoot

PARALLEL = 4
CHILD_MEMORY = 3 << 30
ANSWER_LIMIT = 32 << 20
SCHEMA = 1


class Touched(list):  # type: ignore[type-arg]
    """The paths looked at, the last one readable from outside: it names what a hung look hangs on."""

    def __init__(self, board: mmap.mmap) -> None:
        super().__init__()
        self._board = board

    def append(self, item: str) -> None:
        """Note a path on the list and on the board."""
        super().append(item)
        text = item.encode("utf-8", "surrogateescape")[:1000]
        self._board[0 : len(text) + 1] = text + b"\0"


class _Child:
    """A look under way."""

    def __init__(self, request: dict[str, t.Any], pid: int, handle: int, board: mmap.mmap) -> None:
        self.request = request
        self.pid = pid
        self.handle = handle
        self.board = board
        self.data = b""
        self.closed = False
        self.started = time.monotonic()
        self.started_at = time.time()
        self.end = self.started + float(request["deadline_s"])


def run(payload: dict[str, t.Any], package: str) -> dict[str, t.Any]:
    """Answer every request of the payload.

    `package` is the package that holds the collectors. The answer is
    `{"schema", "run", "host", "python", "uid", "took_ms", "observations": [...]}`
    with exactly one observation for each request, in their order.
    """
    begin = time.monotonic()
    signal.alarm(int(payload["deadline_s"]) + 5)
    waiting = list(reversed(payload["probes"]))
    for name in sorted({"%s.modules.%s" % (package, request["collector"]) for request in waiting}):
        # Before the children: what is imported once need not be compiled in each.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    done: dict[str, dict[str, t.Any]] = {}
    running: list[_Child] = []
    host_end = begin + float(payload["deadline_s"])
    while waiting or running:
        while waiting and len(running) < PARALLEL:
            running.append(_start(waiting.pop(), payload, package))
        for child in _ready(running, host_end):
            running.remove(child)
            done[child.request["probe"]] = _finish(child, payload)
        if time.monotonic() >= host_end:
            for request in waiting:
                error = Timeout("not started before the host's deadline of %s s" % payload["deadline_s"])
                done[request["probe"]] = _stamp(request, payload, _failed(error), time.time(), 0.0, [])
            waiting = []
    return {
        "schema": SCHEMA,
        "run": payload["run"],
        "host": payload["host"],
        "python": platform.python_version(),
        "uid": os.getuid(),
        "took_ms": round((time.monotonic() - begin) * 1000, 1),
        "observations": [done[request["probe"]] for request in payload["probes"]],
    }


def _start(request: dict[str, t.Any], payload: dict[str, t.Any], package: str) -> _Child:
    board = mmap.mmap(-1, 1024)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            _become_child(float(request["deadline_s"]))
            answer = _encoded(_look(request, payload, package, Touched(board)))
            with os.fdopen(writer, "wb") as out:
                out.write(answer.encode("ascii"))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    return _Child(request, pid, reader, board)


def _become_child(deadline: float) -> None:
    """Let go of the connection, be the least important process, and end by oneself."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    os.setpgid(0, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(deadline) + 2)
    with contextlib.suppress(OSError):
        os.nice(19)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (CHILD_MEMORY, CHILD_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _look(request: dict[str, t.Any], payload: dict[str, t.Any], package: str, touched: Touched) -> dict[str, t.Any]:
    """Run the collector and give its observation, or the one of its failure, as JSON data."""
    root = HostRoot(payload["root"], payload["user"], payload["recorded"], payload["lane"])
    root.touched = touched
    root.end = time.monotonic() + float(request["deadline_s"])
    full = dict(request, now=time.time(), disclose=payload["disclose"])
    try:
        if payload["lane"] == "none":
            raise NotAttempted("this lane has no access to this host")
        module = importlib.import_module("%s.modules.%s" % (package, request["collector"]))
        observation = module.collect(full, root)
    except LookError as error:
        observation = _failed(error)
    except MemoryError:
        observation = _failed(Unparsable("the look needed more than %d MiB of memory" % (CHILD_MEMORY >> 20)))
    except Exception as error:
        observation = _failed(Unparsable("the collector failed on what it read: %s" % _place(error)))
    result = t.cast("dict[str, t.Any]", _printable(observation.as_dict()))
    result["source"] = [_printable(item) for item in dict.fromkeys(touched)][:200]
    return result


def _encoded(answer: dict[str, t.Any]) -> str:
    """Give the answer as JSON; what JSON cannot say is a failure of the look."""
    try:
        return json.dumps(answer, allow_nan=False)
    except (ValueError, TypeError) as error:
        failed = _failed(Unparsable("the collector gave what JSON cannot say: %s" % error)).as_dict()
        return json.dumps({**failed, "source": answer["source"]})


def _place(error: BaseException) -> str:
    """Say an unexpected error in one line with the place it came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else " (%s:%d)" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return "%s: %s%s" % (type(error).__name__, error, where)


def _failed(error: LookError) -> Observation:
    return Observation.failed(error, "source", "none")


def _ready(running: list[_Child], host_end: float) -> list[_Child]:
    """Wait until a child has answered in full or is out of time; give those."""
    now = time.monotonic()
    nearest = min([host_end, *(child.end for child in running)])
    readable = select.select([child.handle for child in running], [], [], max(nearest - now, 0))[0]
    ended = []
    for child in running:
        if child.handle in readable:
            data = os.read(child.handle, 1 << 20)
            child.data += data
            child.closed = not data
            if child.closed or len(child.data) > ANSWER_LIMIT:
                ended.append(child)
                continue
        if time.monotonic() >= min(child.end, host_end):
            ended.append(child)
    return ended


def _finish(child: _Child, payload: dict[str, t.Any]) -> dict[str, t.Any]:
    """Make the observation of a child that answered, died, or is out of time."""
    os.close(child.handle)
    took = (time.monotonic() - child.started) * 1000
    last = child.board[:].split(b"\0")[0].decode("utf-8", "backslashreplace")
    place = "; last look: %s" % last if last else ""
    answer = None
    with contextlib.suppress(ValueError):
        answer = json.loads(child.data.decode("ascii"))
    if isinstance(answer, dict):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child.pid, 0)
        source = answer.pop("source")
        return _stamp(child.request, payload, answer, child.started_at, took, source)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGTERM)
    error: LookError
    if child.closed:
        error = Unparsable("the look died without an answer%s" % place)
    elif len(child.data) > ANSWER_LIMIT:
        error = Unparsable("more than %d MiB of answer%s" % (ANSWER_LIMIT >> 20, place))
    else:
        error = Timeout("no answer within %.1f s, left to itself%s" % (took / 1000, place))
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child.pid, os.WNOHANG)
    return _stamp(child.request, payload, _failed(error), child.started_at, took, [last] if last else [])


def _stamp(
    request: dict[str, t.Any],
    payload: dict[str, t.Any],
    observation: t.Union[Observation, dict[str, t.Any]],
    started_at: float,
    took_ms: float,
    source: list[str],
) -> dict[str, t.Any]:
    data = observation.as_dict() if isinstance(observation, Observation) else observation
    return {
        "probe": request["probe"],
        "host": payload["host"],
        "run": payload["run"],
        "kind": request["kind"],
        "observed_at": utc(started_at),
        "took_ms": round(took_ms, 1),
        "source": source,
        **data,
    }


def _printable(value: t.Any) -> t.Any:
    """Escape what is not UTF-8 (names and values are bytes on a host), so that archives can hold it."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return value
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(item) for item in value]
    return value


def emit(answer: dict[str, t.Any]) -> None:
    """Print the answer in its frame, so that greetings of a login shell are told apart from it."""
    text = json.dumps(answer, separators=(",", ":"), allow_nan=False)
    sys.stdout.write("\n<pinproof %s %d>\n%s\n</pinproof>\n" % (answer["run"], len(text), text))
    sys.stdout.flush()
    # Not by way of interpreter shutdown: an abandoned child must not be waited for.
    os._exit(0)
