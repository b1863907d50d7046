"""Rows and their pins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pinproof.manifest.errors import Problems, nearest, short
from pinproof.manifest.fields import CHECKS, PIN, ROW
from pinproof.manifest.load_checks import Context, read_check
from pinproof.manifest.load_probes import Probes
from pinproof.manifest.model import (
    AcrossExperiment,
    Bound,
    Check,
    DistinctAcross,
    Experiment,
    Pin,
    Row,
    SameAcross,
)
from pinproof.manifest.nodes import Mapping as MapNode
from pinproof.manifest.nodes import Node, Scalar, Sequence
from pinproof.manifest.shapes import Opened
from pinproof.manifest.site import Site
from pinproof.manifest.targets import Target, resolve
from pinproof.verdicts import Evidence

_SINGLE = ("is", "absent", "one_of", "set_of", "prefix", "per_host", "prescribed_by", "is_listed_in")
_AT_ODDS = (
    ("at_least", _SINGLE),
    ("at_most", _SINGLE),
    ("same_across", ("per_host", "distinct_across")),
    ("distinct_across", ("is", "absent", "prescribed_by", "is_listed_in")),
    ("same_as", ("baseline_is",)),
    ("closed", ("absent",)),
)
_SPLITTABLE = ("text", "path", "option")


@dataclass(frozen=True, slots=True)
class Loading:
    """What pins refer to."""

    site: Site
    probes: Probes
    experiment: Experiment | None
    read_list: Callable[[str], str]
    problems: Problems


def load_rows(node: Node | None, loading: Loading) -> tuple[Row, ...]:
    """Read all rows; pins whose mistakes are noted are left out."""
    rows: list[Row] = []
    first_rows: dict[str, Opened] = {}
    first_pins: dict[str, Opened] = {}
    for item in node.items if isinstance(node, Sequence) else ():
        if not isinstance(item, MapNode):
            continue
        record = ROW.open(item, loading.problems)
        name = record.text("id")
        if name in first_rows:
            line = first_rows[name].line
            loading.problems.add(record, f"two rows have the id '{name}', the first in line {line}", "choose another")
        elif name:
            first_rows[name] = record
        pins = _pins(record, name, first_pins, loading)
        evidence = record.text("requires")
        requires = Evidence[evidence.upper()] if evidence else Evidence.NATIVE
        rows.append(Row(name, record.text("setting", name), requires, pins, loading.problems.mark(record)))
    return tuple(rows)


def _pins(record: Opened, row: str, first: dict[str, Opened], loading: Loading) -> tuple[Pin, ...]:
    before = len(loading.problems)
    pins: list[Pin] = []
    nodes = record.get("pins")
    for item in nodes.items if isinstance(nodes, Sequence) else ():
        if not isinstance(item, MapNode):
            continue
        opened = PIN.open(item, loading.problems)
        name = opened.text("id") or (f"{row}/{opened.text('at')}" if opened.get("at") else "")
        if name in first:
            what = f"two pins have the id {short(name, 90)}, the first in line {first[name].line}"
            loading.problems.add(opened, what, "give this one an `id:` of its own")
        elif name:
            first[name] = opened
        pin = _pin(name, opened, loading)
        if pin is not None:
            pins.append(pin)
    if pins and all(pin.of_experiment for pin in pins) and len(loading.problems) == before:
        what = f"row '{row}' has no pin that a single run can judge"
        loading.problems.add(record, what, "add one that is not `same_across: legs` or `bracket`")
    return tuple(pins)


def _pin(name: str, record: Opened, loading: Loading) -> Pin | None:
    problems = loading.problems
    at = record.get("at")
    names = [key for key in CHECKS if key in record.node.entries]
    if not names:
        what = f"pin {short(name, 90)} checks nothing"
        problems.add(record, what, f"add one of {', '.join(CHECKS)}")
    target = resolve(at, loading.probes, loading.site, problems) if isinstance(at, Scalar) else None
    _refuse_at_odds(record, names, problems)
    if target is None:
        return None
    on = _hosts(record, target, loading)
    split = _split(record, target, problems)
    if on is None or split is None:
        return None
    context = Context(target, on, bool(split), loading.site, loading.experiment, loading.read_list, problems)
    read = {key: read_check(key, record.values[key], context) for key in names if key in record.values}
    checks = {key: check for key, check in read.items() if check is not None}
    if not checks or len(checks) < len(names):
        return None
    _check_together(record, checks, target, on, loading)
    return Pin(
        id=name,
        at=target.path,
        on=on,
        checks=tuple(checks.values()),
        split=split,
        drift=record.text("record") == "drift",
        note=record.text("note"),
        mark=problems.mark(record),
    )


def _hosts(record: Opened, target: Target, loading: Loading) -> tuple[str, ...] | None:
    """Give the hosts of a pin: its probe's, or those of them that `on` names; None where `on` is wrong."""
    if "on" not in record.node.entries:
        return target.on
    on = loading.site.expand(record.list("on"), "on", loading.problems) if record.get("on") else None
    if on is None:
        return None
    outside = [host for host in on if host not in target.on]
    if outside and loading.site.complete:
        what = f"'on': probe '{target.path.probe}' does not look on {', '.join(outside)}"
        place = record.get("on") or record
        loading.problems.add(place, what, nearest(outside[0], target.on, "its hosts"))
        return None
    return on


def _split(record: Opened, target: Target, problems: Problems) -> str | None:
    """Give the separator, "" for none; None where it is wrong."""
    if "split" in record.broken:
        return None
    separator = record.text("split")
    if separator and target.type not in _SPLITTABLE:
        place = record.get("split") or record
        problems.add(place, f"'split': '{target.path}' is not a text", "only a text can be split: remove it")
        return None
    return separator


def _refuse_at_odds(record: Opened, names: list[str], problems: Problems) -> None:
    """Refuse checks that say the same thing twice, or things that can't all be so."""
    entries = record.node.entries
    exact = [key for key in names if key in _SINGLE]
    if len(exact) > 1:
        what = f"'{exact[0]}' and '{exact[1]}' on one pin"
        problems.add(entries[exact[1]][0], what, "a pin has one expectation of this kind: keep one of them")
    for key, others in _AT_ODDS:
        for other in others:
            if key in names and other in names:
                what = f"'{key}' and '{other}' on one pin"
                problems.add(entries[key][0], what, "they are at odds: keep one of them, or make two pins")


def _check_together(
    record: Opened, checks: Mapping[str, Check], target: Target, on: tuple[str, ...], loading: Loading
) -> None:
    across = [key for key, check in checks.items() if isinstance(check, AcrossExperiment)]
    place = record.node.entries
    problems = loading.problems
    if across and len(checks) > 1:
        what = f"'{across[0]}: {record.text(across[0])}' beside other checks on one pin"
        fix = "compare judges it over runs, a run judges the others: make it a pin of its own, with an `id:`"
        problems.add(place[across[0]][0], what, fix)
    if across and record.text("same_across") == "legs" and loading.experiment is not None:
        for path in loading.experiment.may_differ:
            if path.probe == target.path.probe and target.path.segments[: len(path.segments)] == path.segments:
                what = f"'{target.path}' is the same across legs here, and `may_differ` lists '{path}'"
                problems.add(place["same_across"][0], what, "remove one of them")
    lower, upper = checks.get("at_least"), checks.get("at_most")
    if isinstance(lower, Bound) and isinstance(upper, Bound) and lower.limit > upper.limit:
        problems.add(place["at_most"][0], "'at_most' is less than 'at_least'", "no value is between them")
    _refuse_uncompared(record, checks, on, loading)


def _refuse_uncompared(record: Opened, checks: Mapping[str, Check], on: tuple[str, ...], loading: Loading) -> None:
    """Refuse a pin that says nothing about some of its hosts."""
    groups = [check.hosts for check in checks.values() if isinstance(check, SameAcross | DistinctAcross)]
    if len(groups) < len(checks) or not loading.site.complete:
        return
    compared = {host for hosts in groups for host in hosts}
    left = [host for host in on if host not in compared]
    if left:
        key = next(key for key in checks if key in ("same_across", "distinct_across"))
        what = f"the pin says nothing about {', '.join(left)}, which it is on"
        loading.problems.add(record.node.entries[key][0], what, f"narrow it: `on: {record.text(key)}`")
