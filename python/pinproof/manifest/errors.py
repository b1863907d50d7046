"""What is wrong with a manifest: all of it at once, each with its place and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from pinproof.errors import ConfigurationError
from pinproof.manifest.model import Mark

_LISTED = 24
_COMPARED = 200


class Place(Protocol):
    """Anything with a line and a column, counted from 1."""

    @property
    def line(self) -> int:
        """The line."""
        ...

    @property
    def column(self) -> int:
        """The column."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it is, what is wrong, and what to do about it ("" where that goes without saying)."""

    mark: Mark
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.what}; {self.fix}" if self.fix else f"{self.mark}: {self.what}"


class ManifestErrors(ConfigurationError):
    """A manifest that cannot be used. `problems` are all that were found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class Wrong(Exception):
    """A scalar that does not fit: what is wrong with it, and the fix. Always caught where the place is known."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


class Problems:
    """Collects the mistakes of one manifest."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[Problem] = []

    def mark(self, place: Place) -> Mark:
        """Give a place in this file as a mark."""
        return Mark(self.file, place.line, place.column)

    def add(self, place: Place, what: str, fix: str = "") -> None:
        """Note a mistake."""
        self._found.append(Problem(self.mark(place), what, fix))

    def __len__(self) -> int:
        return len(self._found)

    def raise_if_any(self) -> None:
        """Raise ManifestErrors with all mistakes noted so far, in the order of the file; each is told once."""
        if self._found:
            unique = dict.fromkeys(self._found)
            raise ManifestErrors(sorted(unique, key=lambda problem: (problem.mark.line, problem.mark.column)))


def nearest(name: str, known: Iterable[str], what: str = "known") -> str:
    """Say which of the known names was probably meant, or which there are."""
    from difflib import get_close_matches

    names = sorted(set(known))
    if not names:
        return f"there is nothing {what}"
    close = get_close_matches(name[:_COMPARED], names, n=1, cutoff=0.6) or [
        candidate for candidate in names if candidate.lower() == name.lower()
    ]
    if close:
        return f"did you mean '{close[0]}'?"
    if len(names) > _LISTED:
        return f"{what} are, among others, {', '.join(names[:_LISTED])}"
    return f"{what}: {', '.join(names)}"


def short(text: str, limit: int = 60) -> str:
    """Quote a text of the manifest for a message, cut where it is long; unprintable characters are escaped."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "'" + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cut) + "'"
