"""Probes: where to look, by which kind of look, with which parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pinproof.catalogue import KINDS
from pinproof.manifest.errors import Problems, Wrong, nearest, short
from pinproof.manifest.fields import BASELINE, PARAMETERS, PROBE
from pinproof.manifest.model import Json, Probe
from pinproof.manifest.nodes import Mapping as MapNode
from pinproof.manifest.nodes import Node, Scalar, Sequence
from pinproof.manifest.patterns import refuse_pattern
from pinproof.manifest.shapes import Opened
from pinproof.manifest.site import Site

DEFAULT_DEADLINE_S = 60.0
MAX_DEADLINE_S = 3600.0
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_AT_MOST_ONE: Mapping[str, tuple[str, ...]] = {
    "process": ("container", "unit", "pid_file"),
    "jit": ("path", "variable"),
}
_AT_LEAST_ONE: Mapping[str, tuple[str, ...]] = {
    "process": ("container", "unit", "pid_file", "program"),
    "jit": ("path", "variable"),
}
_ONE_GROUP = frozenset({("engine_log", "values")})
_NEEDS = {("jit", "variable"): "inside"}


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a manifest: those that are usable, and the names of all that are declared."""

    usable: Mapping[str, Probe]
    declared: frozenset[str]


def load_probes(node: Node | None, site: Site, problems: Problems) -> Probes:
    """Read all probes."""
    usable: dict[str, Probe] = {}
    opened: dict[str, Opened] = {}
    names: list[str] = []
    for name, (scalar, value) in node.entries.items() if isinstance(node, MapNode) else ():
        names.append(name)
        if name == BASELINE:
            problems.add(scalar, f"a probe named '{BASELINE}'", "the name stands for the baseline: choose another")
        elif isinstance(value, MapNode):
            opened[name] = PROBE.open(value, problems)
            probe = _probe(name, opened[name], site, problems)
            if probe is not None:
                usable[name] = probe
    for name, probe in usable.items():
        _check_processes(probe, opened[name], usable, frozenset(names), problems)
    return Probes(usable, frozenset(names))


def _probe(name: str, record: Opened, site: Site, problems: Problems) -> Probe | None:
    kind = _kind(name, record, problems)
    on = site.expand(record.list("on"), "on", problems) if record.get("on") else None
    deadline = _deadline(record, problems)
    if kind is None:
        return None
    parameters = _parameters(kind, record.values[kind], problems)
    if parameters is None or not on:
        return None
    return Probe(
        name=name,
        kind=kind,
        collector=KINDS[kind].collector,
        on=on,
        parameters=parameters,
        loaded_by=record.text("loaded_by"),
        written_since=record.text("written_since"),
        deadline_s=deadline,
        mark=problems.mark(record),
    )


def _kind(name: str, record: Opened, problems: Problems) -> str | None:
    kinds = [key for key in record.node.entries if key in KINDS]
    unknown = [key for key in record.node.entries if key not in PROBE.fields]
    if len(kinds) > 1:
        what = f"probe '{name}' has {len(kinds)} kinds: {', '.join(kinds)}"
        problems.add(record.node.entries[kinds[1]][0], what, "a probe looks in one way: make two probes of it")
        return None
    if not kinds and not unknown:
        what = f"probe '{name}' has no kind"
        problems.add(record, what, "say how to look, such as `container: NAME`")
    return kinds[0] if kinds and kinds[0] in record.values else None


def seconds(text: str) -> float:
    """Give a duration in seconds; the text has the form of one."""
    number, unit = re.fullmatch(r"([0-9.]+) ?([a-z]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * _SECONDS[unit]


def _deadline(record: Opened, problems: Problems) -> float:
    node = record.get("deadline")
    if not isinstance(node, Scalar):
        return DEFAULT_DEADLINE_S
    deadline = seconds(node.text)
    if not 0 < deadline <= MAX_DEADLINE_S:
        problems.add(node, f"'deadline': {short(node.text)} is out of range", "more than 0 s, at most 1 h")
    return deadline


def _parameters(kind: str, node: Node, problems: Problems) -> dict[str, Json] | None:
    """Read the parameters of a kind; None where one is missing or wrong."""
    before = len(problems)
    if isinstance(node, MapNode):
        record = PARAMETERS[kind].open(node, problems)
        values = dict(record.values)
        if not record.broken:
            _check_together(kind, record, problems)
    else:
        values = {KINDS[kind].subject: node}
    read: dict[str, Json] = {}
    for name, declared in KINDS[kind].parameters.items():
        if name in values:
            groups = 1 if (kind, name) in _ONE_GROUP else None
            read[name] = _value(declared.type, values[name], groups, problems)
    return read if len(problems) == before else None


def _check_together(kind: str, record: Opened, problems: Problems) -> None:
    given = record.node.entries
    present = [name for name in _AT_MOST_ONE.get(kind, ()) if name in given]
    if len(present) > 1:
        what = f"'{present[0]}' and '{present[1]}' exclude each other in kind '{kind}'"
        problems.add(given[present[1]][0], what, "keep one of them")
    wanted = _AT_LEAST_ONE.get(kind, ())
    if wanted and not any(name in given for name in wanted):
        problems.add(record, f"kind '{kind}' is told nothing to look at", f"add one of {', '.join(wanted)}")
    for (of, name), other in _NEEDS.items():
        if of == kind and name in given and other not in given:
            problems.add(given[name][0], f"'{name}' of kind '{kind}' needs '{other}'", f"add `{other}: PROCESS-PROBE`")


def _value(type_: str, node: Node, groups: int | None, problems: Problems) -> Json:
    """Give the typed value of a parameter whose shape is right."""
    if isinstance(node, Sequence):
        return [item.text for item in node.items if isinstance(item, Scalar)]
    if isinstance(node, MapNode):
        return {key: _value(type_, value, groups, problems) for key, (_, value) in node.entries.items()}
    if not isinstance(node, Scalar):
        return None
    if type_ in ("patterns", "regex"):
        try:
            refuse_pattern(node.text, groups=groups)
        except Wrong as wrong:
            problems.add(node, wrong.what, wrong.fix)
    if type_ == "int":
        return int(node.text)
    if type_ == "bool":
        return node.text == "true"
    return seconds(node.text) if type_ == "duration" else node.text


def _check_processes(
    probe: Probe, record: Opened, usable: Mapping[str, Probe], declared: frozenset[str], problems: Problems
) -> None:
    """Check that process probes are there where a probe refers to them, and look on its hosts."""
    value = record.values[probe.kind]
    references = [(key, record.get(key)) for key in ("loaded_by", "written_since")]
    for name, parameter in KINDS[probe.kind].parameters.items():
        if parameter.type == "process":
            subject = KINDS[probe.kind].subject == name and isinstance(value, Scalar)
            references.append((name, value if subject else value.get(name) if isinstance(value, MapNode) else None))
    for key, node in references:
        if isinstance(node, Scalar):
            _check_process(key, node, probe, usable, declared, problems)


def _check_process(
    key: str, node: Scalar, probe: Probe, usable: Mapping[str, Probe], declared: frozenset[str], problems: Problems
) -> None:
    process = usable.get(node.text)
    if process is None:
        if node.text not in declared:
            processes = [name for name, other in usable.items() if other.kind == "process"]
            what = f"'{key}' names no probe: {short(node.text)}"
            problems.add(node, what, nearest(node.text, processes, "of kind process"))
        return
    if process.kind != "process":
        what = f"'{key}' names '{process.name}', a probe of kind {process.kind}"
        problems.add(node, what, "name a probe of kind process")
    elif process.name == probe.name:
        problems.add(node, f"'{key}' names its own probe", "a process does not load itself: remove it")
    elif missing := [host for host in probe.on if host not in process.on]:
        what = f"'{key}' names '{process.name}', which does not look on {', '.join(missing)}"
        problems.add(node, what, f"both probes look on the same hosts: here {', '.join(probe.on)}")
