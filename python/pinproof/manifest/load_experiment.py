"""The experiment: legs and starts with what each prescribes, and what may differ between legs."""

from __future__ import annotations

from collections.abc import Mapping

from pinproof.manifest.errors import Problems, Wrong, nearest, short
from pinproof.manifest.fields import EXPERIMENT, LEG, START
from pinproof.manifest.load_probes import Probes
from pinproof.manifest.model import Experiment, Leg, Start
from pinproof.manifest.nodes import Mapping as MapNode
from pinproof.manifest.nodes import Node, Scalar, Sequence
from pinproof.manifest.shapes import Opened
from pinproof.manifest.site import Site
from pinproof.manifest.targets import resolve
from pinproof.paths import AttributePath


def load_experiment(node: Node | None, probes: Probes, site: Site, problems: Problems) -> Experiment | None:
    """Read the experiment; None where the manifest has none."""
    if not isinstance(node, MapNode):
        return None
    record = EXPERIMENT.open(node, problems)
    legs = _legs(record.get("legs"), problems)
    starts = _starts(record.get("starts"), legs, problems)
    return Experiment(tuple(legs.values()), starts, _may_differ(record, probes, site, problems))


def _legs(node: Node | None, problems: Problems) -> dict[str, Leg]:
    legs: dict[str, Leg] = {}
    for item in node.items if isinstance(node, Sequence) else ():
        if not isinstance(item, MapNode):
            continue
        record = LEG.open(item, problems)
        name = record.text("id")
        if name in legs:
            problems.add(record, f"two legs have the id '{name}'", "labels may repeat, ids don't: choose another")
        elif name:
            legs[name] = Leg(name, _settings(record, "id"))
    return legs


def _starts(node: Node | None, legs: Mapping[str, Leg], problems: Problems) -> tuple[Start, ...]:
    starts: list[Start] = []
    for name, (_, item) in node.entries.items() if isinstance(node, MapNode) else ():
        if not isinstance(item, MapNode):
            continue
        record = START.open(item, problems)
        named = record.list("of")
        for leg in named:
            if leg.text not in legs and legs:
                problems.add(leg, f"'of': unknown leg {short(leg.text)}", nearest(leg.text, legs, "declared"))
        of = tuple(leg for leg in legs if any(leg == scalar.text for scalar in named))
        starts.append(Start(name, of, _settings(record, "of")))
    return tuple(starts)


def _settings(record: Opened, own: str) -> dict[str, str]:
    return {key: node.text for key, node in record.values.items() if key != own and isinstance(node, Scalar)}


def _may_differ(record: Opened, probes: Probes, site: Site, problems: Problems) -> tuple[AttributePath, ...]:
    paths: list[AttributePath] = []
    for scalar in record.list("may_differ"):
        target = resolve(scalar, probes, site, problems, key="may_differ")
        if target is not None and target.path in paths:
            problems.add(scalar, f"'may_differ' lists {short(str(target.path))} twice", "keep one of them")
        elif target is not None:
            paths.append(target.path)
    return tuple(paths)


def prescribed(experiment: Experiment | None, of: str, setting: str) -> dict[str, str]:
    """Give the text that every leg or start prescribes for a setting. Raises Wrong where one does not."""
    if experiment is None:
        raise Wrong("there is no experiment that prescribes anything", "declare `experiment:` with legs and starts")
    settings = (
        {leg.id: leg.settings for leg in experiment.legs}
        if of == "leg"
        else {start.name: start.settings for start in experiment.starts}
    )
    if not settings:
        raise Wrong(f"the experiment has no {of}s", f"declare them under `experiment: {of}s:`")
    known = {name for each in settings.values() for name in each}
    if setting not in known:
        raise Wrong(f"no {of} has a setting {short(setting)}", nearest(setting, known, f"set by {of}s"))
    without = [name for name, each in settings.items() if setting not in each]
    if without:
        raise Wrong(f"{of} {', '.join(without)} does not set '{setting}'", f"every {of} says what it prescribes")
    return {name: each[setting] for name, each in settings.items()}
