"""The chain: every run names the run before it, and the digest of that run's SHA256SUMS."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinproof.archive.files import read_object
from pinproof.archive.layout import RUN_FILE, run_folders
from pinproof.archive.sums import sums_digest
from pinproof.errors import ArchiveError


@dataclass(frozen=True, slots=True)
class Link:
    """A run, and what it says of the run before it ("" where it is the first one)."""

    run: str
    previous: str
    digest: str


def previous_of(record: dict[str, Any]) -> tuple[str, str]:
    """Give what a run's record says of the run before it. Raises ArchiveError where that is malformed."""
    previous = record.get("previous", "")
    if previous is None:
        return "", ""
    if not isinstance(previous, dict) or not all(isinstance(previous.get(key), str) for key in ("run", "digest")):
        raise ArchiveError(f"{RUN_FILE} does not say which run was before it")
    return previous["run"], previous["digest"]


def head_of(root: Path) -> dict[str, str] | None:
    """Give the run that the next one follows, as it names it; None in an empty archive.

    Read from the runs themselves: there is nothing beside them that could be
    out of date after a crash.
    """
    runs = run_folders(root)
    followed = {link.previous for link in _read_links(root, runs)[0]}
    ends = [run for run in runs if run not in followed]
    if not ends:
        return None
    run = ends[-1]
    try:
        return {"run": run, "digest": sums_digest(root / run)}
    except ArchiveError:
        # A damaged run must not keep later ones from being archived; the check of the chain tells it.
        return {"run": run, "digest": "missing"}


def check_link(root: Path, run: str) -> list[str]:
    """Check what one run says of the run before it."""
    try:
        previous, digest = previous_of(read_object(root / run / RUN_FILE))
    except ArchiveError as error:
        return [str(error)]
    return _check(root, Link(run, previous, digest), run_folders(root))


def check_chain(root: Path) -> list[tuple[str, str]]:
    """Check that all runs form one chain; gives (run, problem)."""
    runs = run_folders(root)
    known = frozenset(runs)
    links, problems = _read_links(root, runs)
    problems += [(link.run, said) for link in links for said in _check(root, link, known)]
    followers: dict[str, list[str]] = {}
    for link in links:
        followers.setdefault(link.previous, []).append(link.run)
    for previous, after in followers.items():
        if len(after) > 1:
            said = f"follows {previous}" if previous else "is the first of the archive"
            problems.extend((run, f"{said}, and so says {after[0]}") for run in after[1:])
    if links and len(links) == len(runs) and "" not in followers:
        problems.append((runs[0], "every run follows another one: the first run is missing"))
    return problems


def _read_links(root: Path, runs: Iterable[str]) -> tuple[list[Link], list[tuple[str, str]]]:
    """Give the links of the runs that say what they follow, and (run, problem) of the others."""
    links: list[Link] = []
    problems: list[tuple[str, str]] = []
    for run in runs:
        try:
            links.append(Link(run, *previous_of(read_object(root / run / RUN_FILE))))
        except ArchiveError as error:
            problems.append((run, str(error)))
    return links, problems


def _check(root: Path, link: Link, runs: Collection[str]) -> list[str]:
    if not link.previous:
        return []
    if link.previous not in runs:
        return [f"follows {link.previous}, which is not there any more"]
    try:
        now = sums_digest(root / link.previous)
    except ArchiveError as error:
        return [f"follows {link.previous}: {error}"]
    return [] if now == link.digest else [f"follows {link.previous}, whose SHA256SUMS was changed since"]
