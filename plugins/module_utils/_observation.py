# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one look at one host answers, and the ways in which a look can fail.

This module util is private to the collectors. A look that fails raises one of
the `LookError`s below; the status it carries is the status of the observation
(or of the one leaf that could not be read). Absent is evidence; every other
status is the lack of it.
"""

from __future__ import annotations

import datetime
import errno
import typing as t

EVIDENCE = ("source", "file", "loaded", "process", "native")
STATUSES = (
    "ok",
    "absent",
    "denied",
    "unreachable",
    "timeout",
    "unparsable",
    "unstable",
    "incomparable",
    "not_attempted",
    "no_tool",
)


class LookError(Exception):
    """A look that did not come back with data; `status` says in which way."""

    status = "unparsable"

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Absent(LookError):
    """The thing was looked for, where it would be, and is not there."""

    status = "absent"


class Denied(LookError):
    """The host refused the look; `why` says what would grant it."""

    status = "denied"


class Timeout(LookError):
    """The source did not answer before the deadline."""

    status = "timeout"


class Unparsable(LookError):
    """The source answered, but not in a format that can be trusted."""

    status = "unparsable"


class Unstable(LookError):
    """The source changed while it was being read."""

    status = "unstable"


class Incomparable(LookError):
    """The identity that could be compared can not be had here."""

    status = "incomparable"


class NotAttempted(LookError):
    """The lane does not allow this look."""

    status = "not_attempted"


class NoTool(LookError):
    """What the look needs (a tool, a socket, a driver) is not there to ask."""

    status = "no_tool"


def from_oserror(error: OSError, path: str) -> LookError:
    """Say an operating system error as the status it is, naming `path`."""
    text = errno.errorcode.get(error.errno or 0, "error")
    # ESRCH: an entry of /proc whose process ended between being opened and being read.
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESRCH):
        return Absent("%s: not there" % path)
    if error.errno in (errno.EACCES, errno.EPERM):
        return Denied("%s: permission denied (%s)" % (path, text))
    if error.errno == errno.ELOOP:
        return Unparsable("%s: symbolic links form a loop" % path)
    if error.errno in (errno.ETIMEDOUT, errno.EHOSTDOWN):
        return Timeout("%s: no answer (%s)" % (path, text))
    return Unparsable("%s: %s (%s)" % (path, error.strerror or "read failed", text))


def utc(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC, to the microsecond."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Observation:
    """What one probe saw on one host.

    `identity` is what must stay equal, `state` what may move. Keys are strings;
    leaves are JSON values. `evidence` is the class of the whole look, `levels`
    the class of subtrees that came from elsewhere (a unit's `loaded` answers).
    A subtree that could not be read is a fault: `fault("files[config.json]", error)`.
    """

    def __init__(self, evidence: str, method: str) -> None:
        if evidence not in EVIDENCE:
            raise ValueError("unknown evidence class: %s" % evidence)
        self.status = "ok"
        self.why = ""
        self.evidence = evidence
        self.method = method
        self.identity: dict[str, t.Any] = {}
        self.state: dict[str, t.Any] = {}
        self.levels: dict[str, str] = {}
        self.faults: dict[str, dict[str, str]] = {}
        self.notes: list[str] = []
        self.scope: dict[str, t.Any] = {}

    def fault(self, path: str, error: LookError) -> None:
        """Record that the subtree at `path` could not be read."""
        self.faults[path] = {"status": error.status, "why": error.why}

    def level(self, path: str, evidence: str) -> None:
        """Record that the subtree at `path` is evidence of another class."""
        if evidence not in EVIDENCE:
            raise ValueError("unknown evidence class: %s" % evidence)
        self.levels[path] = evidence

    @classmethod
    def failed(cls, error: LookError, evidence: str, method: str) -> Observation:
        """Make the observation of a look that failed as a whole."""
        observation = cls(evidence, method)
        observation.status = error.status
        observation.why = error.why
        return observation

    def as_dict(self) -> dict[str, t.Any]:
        """Give the observation as JSON data (the caller adds probe, host, run and times)."""
        return {
            "status": self.status,
            "why": self.why,
            "evidence": self.evidence,
            "method": self.method,
            "identity": self.identity,
            "state": self.state,
            "levels": self.levels,
            "faults": self.faults,
            "notes": self.notes,
            "scope": self.scope,
        }
