"""The pins that are told one by one, as text: where, expected and observed, why, and what settles it."""

from __future__ import annotations

from pinproof.outcome import PinVerdict
from pinproof.report.hashes import abbreviate_in
from pinproof.report.layout import Layout
from pinproof.report.sides import Sides, sides, sides_of_line
from pinproof.report.text import wrap
from pinproof.report.words import PinGroup
from pinproof.verdicts import Verdict

MOST_DIFFERENCES = 8
_LABEL = "expected  "


def pin_lines(group: PinGroup, layout: Layout, indent: str) -> list[str]:
    """Tell a pin that does not match."""
    pin = group.pin
    evidence = f", {pin.evidence.word} evidence" if pin.evidence is not None else ""
    title = layout.safe(f"{group.title}: {pin.verdict.name}{evidence}")
    lines = [layout.by_verdict(line, pin.verdict) for line in wrap(title, layout.width, indent, "  ")]
    inner = indent + "  "
    lines += _difference_lines(pin, layout, inner)
    lines += wrap(layout.safe(abbreviate_in(pin.why, ellipsis=layout.ellipsis)), layout.width, inner) if pin.why else []
    for note in pin.notes:
        lines += wrap(layout.safe(f"note: {note}"), layout.width, inner, "  ")
    return lines


def differences(pin: PinVerdict, room: int, ellipsis: str) -> list[Sides | str]:
    """List what differs: two sides where a line has two, else the line; without lines, the pin's own two values."""
    if pin.diff:
        return [sides_of_line(line, room, ellipsis) or line for line in pin.diff]
    if pin.verdict in (Verdict.DRIFT, Verdict.REFUSED, Verdict.MISMATCH):
        return [sides(pin.expected, pin.observed, room, ellipsis)]
    return []


def _difference_lines(pin: PinVerdict, layout: Layout, indent: str) -> list[str]:
    room = layout.width - len(indent) - len(_LABEL) - 2
    found = differences(pin, room, layout.ellipsis)
    lines: list[str] = []
    for item in found[:MOST_DIFFERENCES]:
        if isinstance(item, str):
            text = layout.safe(abbreviate_in(item, ellipsis=layout.ellipsis))
            lines += wrap(text, layout.width, indent, "  ")
        else:
            lines += _side_lines(item, layout, indent, "" if pin.id.endswith(pin.at) else pin.at, pin.at)
    if len(found) > MOST_DIFFERENCES:
        more = f"and {len(found) - MOST_DIFFERENCES} more, told by: pinproof explain {pin.id}"
        lines += wrap(layout.safe(more), layout.width, indent, "  ")
    return lines


def _side_lines(item: Sides, layout: Layout, indent: str, title: str, at: str) -> list[str]:
    """Give the two sides, below their path where that is not said above already."""
    path = title if item.path in ("", at) else item.path
    lines = wrap(layout.safe(path), layout.width, indent) if path else []
    remark = layout.safe(item.remark)
    inner = indent + "  " if path else indent
    lines += [f"{inner}expected  {layout.safe(item.expected)}", f"{inner}observed  {layout.safe(item.observed)}"]
    if item.marks:
        lines.append(f"{inner}          {item.marks}")
    return lines + (
        wrap(f"({remark})" if not remark.startswith("(") else remark, layout.width, inner) if remark else []
    )
