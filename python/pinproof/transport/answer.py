"""Reading what a host answered: all its observations, or why there are none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pinproof.errors import ObservationError

SCHEMA = 1
_FRAME = re.compile(r"<pinproof (\S+) (\d+)>\n")


def read_answer(stdout: str, run: str) -> dict[str, Any]:
    """Find the framed answer of this run in what a host printed.

    Raises ObservationError that says what came instead.
    """
    for match in _FRAME.finditer(stdout):
        if match.group(1) != run:
            raise ObservationError(f"the host answered for run {match.group(1)}, not for {run}")
        text = stdout[match.end() : match.end() + int(match.group(2))]
        if not stdout[match.end() + len(text) :].startswith("\n</pinproof>"):
            raise ObservationError("the host's answer is cut short")
        answer = json.loads(text)
        if not isinstance(answer, dict) or answer.get("schema") != SCHEMA:
            raise ObservationError("the host's answer has another schema than this program reads")
        return answer
    raise ObservationError("the host gave no answer")


def unanswered(requests: list[dict[str, Any]], host: str, run: str, status: str, why: str, at: str) -> dict[str, Any]:
    """Make the answer of a host that did not answer: one observation a request, each saying so."""
    return {
        "schema": SCHEMA,
        "run": run,
        "host": host,
        "observations": [_no_look(request, host, run, status, why, at) for request in requests],
    }


def _no_look(request: Mapping[str, Any], host: str, run: str, status: str, why: str, at: str) -> dict[str, Any]:
    return {
        "probe": request["probe"],
        "host": host,
        "run": run,
        "kind": request["kind"],
        "status": status,
        "why": why,
        "evidence": "source",
        "method": "none",
        "source": [],
        "observed_at": at,
        "took_ms": 0.0,
        "identity": {},
        "state": {},
        "levels": {},
        "faults": {},
        "notes": [],
        "scope": {},
    }
