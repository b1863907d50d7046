# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's log: its records, and those that tell of GPU errors and of memory running out.

This module util is private to the collectors. On a host the records come from
/dev/kmsg, one a read; a replica holds them in a file of the same name.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import time
import typing as t

from ._observation import Denied, LookError, NoTool, Unparsable, Unstable, from_oserror
from ._root import HostRoot

DEVICE = "/dev/kmsg"
RECORD_LIMIT = 8192
LOG_LIMIT = 64 << 20
TEXT_LIMIT = 500
# The log's clock is not disciplined, the one of process starts is: how far they may drift apart.
CLOCK_SLACK_S = 1.0
CLOCK_DRIFT = 5e-5
_HEAD = re.compile(r"\d+,(\d+),(\d+),[^;\n]*;(.*)")
_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")
_NVRM = re.compile(r"\bNVRM: (?!\s*loading )")
_OOM = re.compile(r"Out of memory: Kill|Memory cgroup out of memory|\boom-kill:|Killed process \d+ .*(?:anon-rss|vm)")


@dataclasses.dataclass(frozen=True)
class Record:
    """One record; `seconds` since the boot, by the log's own clock."""

    number: int
    seconds: float
    text: str


@dataclasses.dataclass(frozen=True)
class Log:
    """The records that the kernel still has, and why they may not be all of those since the first."""

    records: tuple[Record, ...]
    broken: t.Optional[LookError]


def read_log(root: HostRoot) -> Log:
    """Read the kernel's log. Raises Denied, NoTool without one, Unparsable, or NotAttempted outside the lane."""
    root.need_full_lane(DEVICE)
    if not root.exists(DEVICE):
        # That there is no log is no evidence that nothing happened.
        raise NoTool("%s: no kernel log here" % DEVICE)
    if root.recorded:
        return Log(parse_records(root.read(DEVICE, LOG_LIMIT)), None)
    try:
        handle = os.open(root.real(DEVICE), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(error) from None
    try:
        data, broken = read_records(lambda: os.read(handle, RECORD_LIMIT))
    except OSError as error:
        raise _refused(error) from None
    finally:
        os.close(handle)
    return Log(parse_records(data), broken)


def _refused(error: OSError) -> LookError:
    if error.errno in (errno.EPERM, errno.EACCES):
        return Denied("%s: reading the kernel log needs CAP_SYSLOG (become), or kernel.dmesg_restrict=0" % DEVICE)
    if error.errno in (errno.ENOENT, errno.ENXIO, errno.ENODEV):
        return NoTool("%s: no kernel log here" % DEVICE)
    return from_oserror(error, DEVICE)


def read_records(read: t.Callable[[], bytes]) -> tuple[bytes, t.Optional[LookError]]:
    """Read record after record until there is none left to read.

    Gives them joined, and the failure that makes them incomplete. Raises OSError.
    """
    parts: list[bytes] = []
    total = 0
    broken: t.Optional[LookError] = None
    while True:
        try:
            record = read()
        except BlockingIOError:
            break
        except BrokenPipeError:
            # Records were overwritten before they could be read; the next read goes on after them.
            broken = Unstable("%s: records were overwritten while they were read" % DEVICE)
            continue
        if not record:
            break
        parts.append(record if record.endswith(b"\n") else record + b"\n")
        total += len(record)
        if total > LOG_LIMIT:
            broken = Unparsable("%s: more than %d bytes of records" % (DEVICE, LOG_LIMIT))
            break
    return b"".join(parts), broken


def parse_records(data: bytes) -> tuple[Record, ...]:
    r"""Parse records: `priority,number,microseconds,flags;text`, ` KEY=value` lines after it, bytes as `\xNN`.

    Raises Unparsable.
    """
    records = []
    for place, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if not line or line.startswith(" "):
            continue
        match = _HEAD.fullmatch(line)
        if match is None:
            raise Unparsable("%s: line %d is not in the kernel's format" % (DEVICE, place))
        number, microseconds, text = match.groups()
        records.append(Record(int(number), int(microseconds) / 1e6, _unescaped(text)))
    return tuple(records)


def _unescaped(text: str) -> str:
    raw = _ESCAPE.sub(lambda match: bytes([int(match.group(1), 16)]), text.encode("utf-8"))
    return raw.decode("utf-8", "replace")


def reaches_back(log: Log, since: float) -> t.Optional[LookError]:
    """Say why a log does not cover everything since that many seconds after the boot, or None when it does."""
    if log.broken is not None:
        return log.broken
    if not log.records:
        return Unparsable("%s: holds no record" % DEVICE)
    first = log.records[0]
    if first.number == 0 or first.seconds <= earliest(since):
        return None
    return Unparsable(
        "%s: does not reach back to the start: its first record is number %d, at %.0f s after boot, the start at %.0f s"
        % (DEVICE, first.number, first.seconds, since)
    )


def earliest(since: float) -> float:
    """Give the time by the log's clock before which nothing can have happened after `since`."""
    return max(since - CLOCK_SLACK_S - since * CLOCK_DRIFT, 0.0)


def gpu_errors(log: Log, since: float) -> dict[str, str]:
    """Give Xid and other lines of the NVIDIA driver since then, by number; that it was loaded is no error."""
    return _picked(log, since, _NVRM)


def oom_kills(log: Log, since: float) -> dict[str, str]:
    """Give the records of processes that the kernel killed for lack of memory since then, by number."""
    return _picked(log, since, _OOM)


def _picked(log: Log, since: float, pattern: t.Pattern[str]) -> dict[str, str]:
    start = earliest(since)
    return {
        str(record.number): record.text[:TEXT_LIMIT]
        for record in log.records
        if record.seconds >= start and pattern.search(record.text)
    }


def suspended_s() -> float:
    """Give how long this machine was suspended: the log's clock stood still, that of process starts did not."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    if boot is None:
        return 0.0
    return max(time.clock_gettime(boot) - time.clock_gettime(time.CLOCK_MONOTONIC), 0.0)
