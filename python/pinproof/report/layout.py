"""How a report is laid out: its width, its characters, its colours."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pinproof.report.text import printable
from pinproof.verdicts import Decision, Verdict

DEFAULT_WIDTH = 120
_LEAST = 60
_MOST = 400

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_COLOURS = {
    Verdict.MATCH: "\x1b[32m",
    Verdict.DRIFT: "\x1b[36m",
    Verdict.NOT_RUN: "\x1b[33m",
    Verdict.HOLD: "\x1b[33m",
    Verdict.REFUSED: "\x1b[31m",
    Verdict.MISMATCH: "\x1b[31m",
}
_DECISIONS = {Decision.RECONCILED: Verdict.MATCH, Decision.HOLD: Verdict.HOLD, Decision.STOP: Verdict.MISMATCH}


def terminal_width() -> int:
    """Give the width to print for: COLUMNS, or 120."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        return DEFAULT_WIDTH
    return columns if columns > 0 else DEFAULT_WIDTH


@dataclass(frozen=True, slots=True)
class Layout:
    """The width in columns, whether only ASCII can be shown, and whether colours are wanted (never needed)."""

    width: int
    ascii_only: bool
    colour: bool

    @classmethod
    def of(cls, width: int, encoding: str, colour: bool) -> Layout:
        """Make it for an output of this encoding; a width of 0 is the terminal's."""
        ascii_only = not encoding.lower().replace("-", "").replace("_", "").startswith("utf")
        return cls(min(max(width or terminal_width(), _LEAST), _MOST), ascii_only, colour)

    @property
    def ellipsis(self) -> str:
        """What stands for what is left out."""
        return "..." if self.ascii_only else "…"

    def safe(self, text: str) -> str:
        """Give a text that this output can show as it is."""
        shown = text.replace("…", "...") if self.ascii_only else text
        return printable(shown, self.ascii_only)

    def rule(self, width: int, strong: bool = False) -> str:
        """Give a horizontal line."""
        return ("=" if strong else "-") * width if self.ascii_only else ("━" if strong else "─") * width

    def by_verdict(self, text: str, verdict: Verdict) -> str:
        """Colour a text by a verdict."""
        return f"{_COLOURS[verdict]}{text}{_RESET}" if self.colour else text

    def by_decision(self, text: str, decision: Decision) -> str:
        """Colour a text by a decision, and make it bold."""
        return f"{_BOLD}{self.by_verdict(text, _DECISIONS[decision])}" if self.colour else text
