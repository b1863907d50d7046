"""What the status of a look is worth, and what would settle it."""

from __future__ import annotations

from pinproof.verdicts import Verdict

_SETTLE = {
    "absent": "let it be there, or find out why it is gone",
    "denied": "grant the access that is named, or verify as who has it",
    "timeout": "find out why the source does not answer, then verify again",
    "unparsable": "look at the named source by hand, then verify again",
    "unstable": "verify again when nothing changes it any more",
    "incomparable": "provide what the reason names, or capture both sides in the same way",
    "no_tool": "provide what the look needs on the host, then verify again",
    "unreachable": "make the host reachable, then verify again",
    "not_attempted": "verify from a lane that allows this look",
}


def no_evidence(status: str) -> Verdict:
    """Give the verdict of a status that is not evidence."""
    return Verdict.NOT_RUN if status == "not_attempted" else Verdict.HOLD


def settle(status: str) -> str:
    """Say what would settle a look that came back with this status."""
    return _SETTLE.get(status, "verify again, with the same versions on both sides")
