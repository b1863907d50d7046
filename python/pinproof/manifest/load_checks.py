"""Checks: what a pin demands of the value its path leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pinproof.manifest.bounds import in_force
from pinproof.manifest.digests import read_prefix
from pinproof.manifest.errors import Problems, Wrong, nearest, short
from pinproof.manifest.expectations import Failed, read_single, read_value
from pinproof.manifest.lists import read_digests
from pinproof.manifest.load_experiment import prescribed
from pinproof.manifest.model import (
    AcrossExperiment,
    BaselineIs,
    Bound,
    Check,
    Closed,
    DistinctAcross,
    Experiment,
    Is,
    IsAbsent,
    Json,
    OneOf,
    PerHost,
    Prefix,
    Prescribed,
    SameAcross,
    SameAsBaseline,
    SetOf,
)
from pinproof.manifest.nodes import Mapping as MapNode
from pinproof.manifest.nodes import Node, Scalar, Sequence
from pinproof.manifest.scalars import NUMERIC, READERS
from pinproof.manifest.site import OVER_EXPERIMENT, PIN_HOSTS, Site
from pinproof.manifest.targets import Target


@dataclass(frozen=True, slots=True)
class Context:
    """What a check needs to know about its pin and its manifest."""

    target: Target
    on: tuple[str, ...]
    split: bool
    site: Site
    experiment: Experiment | None
    read_list: Callable[[str], str]
    problems: Problems

    @property
    def type(self) -> str:
        """The type of what is checked: after the split, where there is one."""
        return "list[text]" if self.split else self.target.type

    def value(self, node: Node) -> Json | Failed:
        """Read a value of the attribute."""
        return read_value(node, self.target, self.split, self.problems)

    def member(self, node: Node) -> Json | Failed:
        """Read a member of the attribute, which is a list."""
        if self.type == "json":
            return read_value(node, self.target, False, self.problems)
        type_ = "int" if self.type == "list[int]" else "text"
        return read_single(node, type_, str(self.target.path), self.problems)


def read_check(name: str, node: Node, context: Context) -> Check | None:
    """Read one check of a pin; None where it is wrong, which is noted at its place."""
    try:
        return _READERS[name](node, context)
    except Wrong as wrong:
        context.problems.add(node, f"'{name}': {wrong.what}", wrong.fix)
        return None


def _is(node: Node, context: Context) -> Check | None:
    value = context.value(node)
    return None if isinstance(value, Failed) else Is(value)


def _absent(_node: Node, _context: Context) -> Check | None:
    return IsAbsent()


def _bound(least: bool) -> Callable[[Node, Context], Check | None]:
    def read(node: Node, context: Context) -> Check | None:
        if context.type not in NUMERIC:
            raise Wrong(f"'{context.target.path}' is not a number", "pin its value with `is`")
        if isinstance(node, Scalar):
            return Bound(least, (("", _limit(node, context)),), "")
        limits: list[tuple[str, float]] = []
        for name, (scalar, item) in node.entries.items() if isinstance(node, MapNode) else ():
            if name not in context.site.authorities:
                fix = nearest(name, context.site.authorities, "declared")
                context.problems.add(scalar, f"unknown authority {short(name)}", fix)
            elif isinstance(item, Scalar):
                limits.append((name, _limit(item, context)))
        return Bound(least, tuple(limits), in_force(context.site, [name for name, _ in limits])) if limits else None

    return read


def _limit(node: Scalar, context: Context) -> float:
    value = READERS[context.type](node.text, node.plain)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Wrong(f"{short(node.text)} is not a number", "write one, without quotes")
    return value


def _one_of(node: Node, context: Context) -> Check | None:
    if context.type == "map":
        raise Wrong(f"'{context.target.path}' is a map", "pin its keys one by one")
    values = _values(node, context.value, context)
    if values is not None and len(values) == 1:
        raise Wrong("a choice of one value", "write `is:`")
    return None if values is None else OneOf(values)


def _set_of(node: Node, context: Context) -> Check | None:
    if context.type not in ("list[text]", "list[int]", "option", "json"):
        raise Wrong(f"'{context.target.path}' is not a list", "use `is`, or `split` a text at its separator first")
    values = _values(node, context.member, context)
    return None if values is None else SetOf(values)


def _values(node: Node, read: Callable[[Node], Json | Failed], context: Context) -> tuple[Json, ...] | None:
    values: list[Json] = []
    failed = False
    for item in node.items if isinstance(node, Sequence) else ():
        value = read(item)
        if isinstance(value, Failed):
            failed = True
        elif any(_same(value, other) for other in values):
            context.problems.add(item, f"{_shown(value)} is listed twice", "keep one of them")
        else:
            values.append(value)
    return None if failed else tuple(values)


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other


def _shown(value: Json) -> str:
    return short(value) if isinstance(value, str) else str(value)


def _prefix(node: Node, context: Context) -> Check | None:
    if context.type not in ("sha256", "commit", "text", "json") or not isinstance(node, Scalar):
        raise Wrong(f"'{context.target.path}' is neither a digest nor a commit", "pin its value with `is`")
    return Prefix(read_prefix(node.text, context.type))


def _same_as(_node: Node, _context: Context) -> Check | None:
    return SameAsBaseline()


def _baseline_is(node: Node, context: Context) -> Check | None:
    value = context.value(node)
    return None if isinstance(value, Failed) else BaselineIs(value)


def _per_host(node: Node, context: Context) -> Check | None:
    assert isinstance(node, MapNode)
    values: dict[str, Json] = {}
    failed = False
    for host, (scalar, item) in node.entries.items():
        if host not in context.on and context.site.complete:
            fix = nearest(host, context.on, "on this pin")
            context.problems.add(scalar, f"'per_host' names {short(host)}, which the pin is not on", fix)
            failed = True
            continue
        value = context.value(item)
        if isinstance(value, Failed):
            failed = True
        else:
            values[host] = value
    missing = [host for host in context.on if host not in node.entries]
    if missing and context.site.complete:
        raise Wrong(f"no value for {', '.join(missing)}", "give every host of the pin one, or narrow it with `on`")
    return None if failed else PerHost(values)


def _prescribed(node: Node, context: Context) -> Check | None:
    assert isinstance(node, Scalar)
    of, _, setting = node.text.partition(".")
    if context.type not in READERS:
        raise Wrong(f"'{context.target.path}' is not a single value", "pin the key that the setting is about")
    texts = prescribed(context.experiment, of, setting)
    values: dict[str, Json] = {}
    for name, text in texts.items():
        try:
            values[name] = READERS[context.type](text, True)
        except Wrong as wrong:
            raise Wrong(f"{of} {name} prescribes {short(text)}: {wrong.what}", wrong.fix) from wrong
    return Prescribed("leg" if of == "leg" else "start", setting, values)


def _is_listed_in(node: Node, context: Context) -> Check | None:
    assert isinstance(node, Scalar)
    if context.type != "map":
        raise Wrong(f"'{context.target.path}' is not a map of files", "pin its value with `is`")
    digests = read_digests(node.text, context.read_list)
    values: dict[str, Json] = {}
    for path, digest in digests.items():
        below = context.target.below(path)
        if below.type not in ("sha256", "text"):
            raise Wrong(f"'{context.target.path}' is not a map of paths to digests", "name such a map")
        values[path] = digest
    return Is(values)


def _same_across(node: Node, context: Context) -> Check | None:
    assert isinstance(node, Scalar)
    if node.text == "bracket":
        return AcrossExperiment("bracket")
    if node.text == "legs":
        if context.experiment is None:
            raise Wrong("there are no legs to compare", "declare `experiment:` with its legs")
        if len(context.experiment.legs) == 1:
            raise Wrong("one leg alone cannot be compared", "declare the other legs")
        return AcrossExperiment("legs")
    hosts = _group(node, context)
    return None if hosts is None else SameAcross(node.text, hosts)


def _distinct_across(node: Node, context: Context) -> Check | None:
    assert isinstance(node, Scalar)
    hosts = _group(node, context)
    return None if hosts is None else DistinctAcross(node.text, hosts)


def _group(node: Scalar, context: Context) -> tuple[str, ...] | None:
    """Give the hosts that are compared with each other; the pin must be on all of them."""
    if node.text == PIN_HOSTS:
        hosts = context.on
    elif node.text in context.site.groups:
        hosts = context.site.in_order(context.site.groups[node.text])
    elif node.text in context.site.hosts:
        raise Wrong(f"{short(node.text)} is a single host", "name a group, or `hosts` for all hosts of this pin")
    else:
        options = [*context.site.groups, PIN_HOSTS, *OVER_EXPERIMENT]
        context.site.unknown(node, "unknown group", options, context.problems)
        return None
    if not context.site.complete:
        return hosts
    if len(hosts) < 2:
        raise Wrong(f"{short(node.text)} is a single host here", "nothing is compared: name a group of two or more")
    missing = [host for host in hosts if host not in context.on]
    if missing:
        raise Wrong(f"the pin is not on {', '.join(missing)}", f"it can only compare {', '.join(context.on)}")
    return hosts


def _closed(node: Node, context: Context) -> Check | None:
    if context.type not in ("map", "json"):
        raise Wrong(f"'{context.target.path}' is not a map", "only a map can be closed")
    items = node.items if isinstance(node, Sequence) else [node]
    return Closed(tuple(item.text for item in items if isinstance(item, Scalar)), frozenset())


_READERS: Mapping[str, Callable[[Node, Context], Check | None]] = {
    "is": _is,
    "absent": _absent,
    "at_least": _bound(True),
    "at_most": _bound(False),
    "one_of": _one_of,
    "set_of": _set_of,
    "prefix": _prefix,
    "per_host": _per_host,
    "prescribed_by": _prescribed,
    "is_listed_in": _is_listed_in,
    "same_as": _same_as,
    "baseline_is": _baseline_is,
    "same_across": _same_across,
    "distinct_across": _distinct_across,
    "closed": _closed,
}
