"""Hosts, groups and authorities: the names that the rest of a manifest refers to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pinproof.manifest.errors import Problems, nearest, short
from pinproof.manifest.fields import AUTHORITY
from pinproof.manifest.model import Authority
from pinproof.manifest.nodes import Mapping as MapNode
from pinproof.manifest.nodes import Node, Scalar, Sequence
from pinproof.manifest.shapes import Opened

PIN_HOSTS = "hosts"
OVER_EXPERIMENT = ("legs", "bracket")


@dataclass(frozen=True, slots=True)
class Site:
    """What a manifest is about, before its probes: scope, hosts in order, groups, authorities.

    `complete` is false where a mistake in hosts or groups was told already, so
    that unknown names are no news.
    """

    scope: str
    hosts: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    authorities: Mapping[str, Authority]
    complete: bool

    def in_order(self, hosts: Iterable[str]) -> tuple[str, ...]:
        """Give hosts in the order of the manifest, each once."""
        wanted = set(hosts)
        return tuple(host for host in self.hosts if host in wanted)

    def expand(self, names: list[Scalar], key: str, problems: Problems) -> tuple[str, ...] | None:
        """Give the hosts that these names of hosts and groups stand for; None where one is not known."""
        found: list[str] = []
        known = True
        for name in names:
            if name.text in self.groups:
                found.extend(self.groups[name.text])
            elif name.text in self.hosts:
                found.append(name.text)
            else:
                known = False
                self.unknown(name, f"'{key}': unknown host or group", [*self.hosts, *self.groups], problems)
        return self.in_order(found) if known else None

    def unknown(self, name: Scalar, what: str, options: Iterable[str], problems: Problems) -> None:
        """Note a name of a host or a group that is not declared."""
        if self.complete:
            problems.add(name, f"{what} {short(name.text)}", nearest(name.text, options, "declared"))


def load_site(manifest: Opened, problems: Problems) -> Site:
    """Read hosts, groups and authorities."""
    before = len(problems)
    hosts = tuple(dict.fromkeys(scalar.text for scalar in manifest.list("hosts")))
    groups = _groups(manifest.get("groups"), hosts, problems)
    complete = len(problems) == before and not {"hosts", "groups"} & manifest.broken
    authorities = _authorities(manifest.get("authorities"), problems)
    return Site(manifest.text("scope"), hosts, groups, authorities, complete)


def _groups(node: Node | None, hosts: tuple[str, ...], problems: Problems) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for name, (scalar, members) in node.entries.items() if isinstance(node, MapNode) else ():
        if name in (PIN_HOSTS, *OVER_EXPERIMENT):
            problems.add(scalar, f"a group named '{name}'", "the word has a meaning in `same_across`: choose another")
        if name in hosts:
            problems.add(scalar, f"'{name}' is a host and a group", "choose another name for the group")
        named = [item for item in members.items if isinstance(item, Scalar)] if isinstance(members, Sequence) else []
        for member in named:
            if member.text not in hosts and hosts:
                what = f"group '{name}': unknown host {short(member.text)}"
                problems.add(member, what, nearest(member.text, hosts, "declared"))
        groups[name] = tuple(member.text for member in named if member.text in hosts)
    return groups


def _authorities(node: Node | None, problems: Problems) -> dict[str, Authority]:
    opened: dict[str, Opened] = {}
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, MapNode):
            authority = AUTHORITY.open(item, problems)
            name = authority.text("id")
            if name in opened:
                first = opened[name].line
                problems.add(item, f"authority '{name}' is declared twice, first in line {first}", "keep one of them")
            elif name:
                opened[name] = authority
    for authority in opened.values():
        superseded = authority.get("supersedes")
        if isinstance(superseded, Scalar) and superseded.text not in opened:
            what = f"'supersedes': unknown authority {short(superseded.text)}"
            problems.add(superseded, what, nearest(superseded.text, opened, "declared"))
    authorities = {
        name: Authority(name, item.text("about"), item.text("supersedes"), item.text("scope"), item.text("date"))
        for name, item in opened.items()
    }
    _refuse_cycles(authorities, opened, problems)
    return authorities


def _refuse_cycles(authorities: Mapping[str, Authority], opened: Mapping[str, Opened], problems: Problems) -> None:
    told: set[str] = set()
    for start in authorities:
        path = [start]
        while (following := authorities[path[-1]].supersedes) in authorities and following not in path:
            path.append(following)
        if following == start and not told & set(path):
            told.update(path)
            around = " -> ".join([*path, start])
            place = opened[start].get("supersedes") or opened[start]
            problems.add(place, f"authorities supersede each other in a circle: {around}", "remove one `supersedes`")
