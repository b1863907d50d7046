"""A run as text: the decision first and last, root causes, then every row with what differs."""

from __future__ import annotations

from collections.abc import Iterator

from pinproof.outcome import Outcome, RowVerdict
from pinproof.report.layout import Layout
from pinproof.report.pins import pin_lines
from pinproof.report.text import clip, pad, width_of, wrap
from pinproof.report.words import (
    cause_line,
    circumstances,
    closing,
    compare_line,
    counts_line,
    evidence_words,
    headline,
    is_short,
    row_summary,
    settlements,
    supersession_line,
    told_pins,
)
from pinproof.verdicts import Verdict

MOST_PINS = 12
_VERDICT = 8
_SUMMARY = 26
_HEADINGS = ("Setting", "Verdict", "Evidence", "What differs")


def render(
    outcome: Outcome, *, archived: str = "", width: int = 0, encoding: str = "utf-8", colour: bool = False
) -> str:
    """Give the report of a run, without a final newline.

    Args:
        outcome: The run, judged.
        archived: Where it is archived, "" where it is not.
        width: Columns of the output; 0 for those of the terminal.
        encoding: Of the output; without UTF-8, only ASCII is used.
        colour: Whether verdicts are coloured. Nothing is told by colour alone.

    """
    layout = Layout.of(width, encoding, colour)
    first = layout.safe(headline(outcome))
    rule = layout.rule(min(width_of(first), layout.width), strong=True)
    lines = [layout.by_decision(line, outcome.decision) for line in (first, rule)]
    lines += [line for word, said in circumstances(outcome) for line in _labelled(word, said, layout)]
    lines += _causes(outcome, layout)
    lines += ["", *_table(outcome, layout)]
    lines += _appendix(outcome, archived, layout)
    # The first line and the last are whole lines at any width: programs look for them.
    lines += ["", layout.by_decision(layout.safe(closing(outcome)), outcome.decision)]
    return "\n".join(line.rstrip() for line in lines)


def _labelled(word: str, said: str, layout: Layout) -> list[str]:
    return wrap(f"{word:<10}{layout.safe(said)}", layout.width, "", " " * 10)


def _causes(outcome: Outcome, layout: Layout) -> Iterator[str]:
    if not outcome.causes:
        return
    yield ""
    yield "Causes"
    for number, cause in enumerate(outcome.causes, 1):
        yield from wrap(layout.safe(f"{number}. {cause.text}"), layout.width, "  ", "   ")
        yield from wrap(layout.safe(cause_line(cause)), layout.width, "     ")
        for said in settlements(outcome, cause):
            yield from wrap(layout.safe(f"to settle: {said}"), layout.width, "     ", "  ")


def _table(outcome: Outcome, layout: Layout) -> Iterator[str]:
    evidence = max([len(_HEADINGS[2]), *(len(evidence_words(row)) for row in outcome.rows)])
    longest = max([len(_HEADINGS[0]), *(width_of(layout.safe(row.setting)) for row in outcome.rows)])
    setting = min(longest, max(12, layout.width - _VERDICT - evidence - _SUMMARY - 6))
    widths = (setting, _VERDICT, evidence)
    numbers = {cause.id: str(number) for number, cause in enumerate(outcome.causes, 1)}
    yield "  ".join([*(pad(word, width) for word, width in zip(_HEADINGS, widths, strict=False)), _HEADINGS[3]])
    yield "  ".join(layout.rule(width) for width in (*widths, layout.width - sum(widths) - 6))
    for row in outcome.rows:
        yield from _row(row, numbers, widths, layout)


def _row(row: RowVerdict, numbers: dict[str, str], widths: tuple[int, int, int], layout: Layout) -> Iterator[str]:
    setting = clip(layout.safe(row.setting), widths[0], layout.ellipsis)
    verdict = layout.by_verdict(pad(row.verdict.name, widths[1]), row.verdict)
    begin = f"{pad(setting, widths[0])}  {verdict}  {pad(evidence_words(row), widths[2])}  "
    column = sum(widths) + 6
    summary = wrap(layout.safe(row_summary(row, numbers)), layout.width - column)
    yield begin + summary[0]
    yield from (" " * column + line for line in summary[1:])
    if row.verdict is Verdict.MATCH:
        return
    groups = told_pins(row)
    if is_short(row) or not (groups or any(pin.cause for pin in row.pins)):
        yield from wrap(layout.safe(f"{row.id}: {row.why}"), layout.width, "    ", "  ")
    for group in groups[:MOST_PINS]:
        yield from pin_lines(group, layout, "    ")
    if len(groups) > MOST_PINS:
        more = f"and {len(groups) - MOST_PINS} more pins, told by: pinproof explain {row.id}"
        yield from wrap(layout.safe(more), layout.width, "    ", "  ")


def _appendix(outcome: Outcome, archived: str, layout: Layout) -> Iterator[str]:
    yield ""
    for item in outcome.supersessions:
        yield from wrap(layout.safe(f"superseded: {supersession_line(item)}"), layout.width, "", "  ")
    if outcome.experiment:
        yield from wrap(layout.safe(compare_line(outcome)), layout.width)
    yield from wrap(counts_line(outcome), layout.width)
    if archived:
        yield f"archived in {layout.safe(archived)}"
