"""Verdicts of pins and rows, decisions of runs, and the order in which they outweigh each other."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Verdict(enum.IntEnum):
    """The verdict of a pin or a row; the greater one outweighs the lesser."""

    MATCH = 0
    DRIFT = 1
    NOT_RUN = 2
    HOLD = 3
    REFUSED = 4
    MISMATCH = 5


class Evidence(enum.IntEnum):
    """How close to the running bytes a look came; the greater one is closer."""

    SOURCE = 0
    FILE = 1
    LOADED = 2
    PROCESS = 3
    NATIVE = 4

    @property
    def word(self) -> str:
        """The word used in manifests, observations and reports."""
        return self.name.lower()


class Decision(enum.Enum):
    """The decision of a run."""

    RECONCILED = "RECONCILED"
    HOLD = "HOLD"
    STOP = "STOP"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the verdict that outweighs the others; of no verdicts at all it is HOLD."""
    return max(verdicts, default=Verdict.HOLD)


def decide(rows: Iterable[Verdict]) -> Decision:
    """Give the decision over the verdicts of all rows; no rows at all are HOLD."""
    verdict = worst(rows)
    if verdict >= Verdict.REFUSED:
        return Decision.STOP
    if verdict >= Verdict.NOT_RUN:
        return Decision.HOLD
    return Decision.RECONCILED
