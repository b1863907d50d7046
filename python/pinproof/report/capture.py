"""A capture as text and as Markdown: what was saved, what is missing, and that it is no verdict."""

from __future__ import annotations

from collections.abc import Iterator

from pinproof.completeness import Completeness
from pinproof.report.documents import fill
from pinproof.report.layout import Layout
from pinproof.report.text import wrap
from pinproof.report.words import AUTHORISES
from pinproof.verdicts import Verdict

NEVER_A_PASS = "captured, never a pass"


def terminal(
    captured: Completeness,
    run: str,
    manifest: str,
    archived: str = "",
    *,
    width: int = 0,
    encoding: str = "utf-8",
    colour: bool = False,
) -> str:
    """Give what a capture came to, without a final newline; the options are those of a verification's report."""
    layout = Layout.of(width, encoding, colour)
    verdict = Verdict.MATCH if captured.complete else Verdict.HOLD
    rule = layout.rule(len(captured.headline), strong=True)
    lines = [layout.by_verdict(line, verdict) for line in (layout.safe(captured.headline), rule)]
    lines += [f"run       {layout.safe(run)}", f"manifest  {layout.safe(manifest)}"]
    lines += _listed("without an answer:", captured.missing, layout)
    lines += _listed("not read, so that pins on it can not be compared with this capture:", captured.unread, layout)
    if archived:
        lines += ["", f"archived in {layout.safe(archived)}"]
    lines += ["", layout.safe(_closing(captured))]
    return "\n".join(lines)


def markdown(captured: Completeness, run: str, manifest: str, finished_at: str) -> str:
    """Give what a capture came to as Markdown."""
    return fill(
        "capture.md.j2",
        {
            "headline": captured.headline,
            "run": run,
            "manifest": manifest,
            "finished_at": finished_at,
            "missing": captured.missing,
            "unread": captured.unread,
            "closing": _closing(captured),
        },
    )


def _closing(captured: Completeness) -> str:
    return f"{captured.headline}: {NEVER_A_PASS}. This {AUTHORISES}."


def _listed(title: str, items: tuple[str, ...], layout: Layout) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield title
    for item in items:
        yield from wrap(layout.safe(item), layout.width, "  ", "  ")
