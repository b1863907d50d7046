"""What judging needs to know, gathered once for a run: the two sides, and what holds many pins at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinproof.manifest.model import Manifest, Pin, Row
from pinproof.observations import HostFacts
from pinproof.outcome import Arm
from pinproof.reconcile.compare import too_deep


@dataclass(frozen=True, slots=True)
class Seed:
    """A cause before it is known how many pins follow from it."""

    id: str
    text: str
    settle: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The observations of one run: the one that is judged, or the baseline's.

    `too_deep` are those, by host and probe, that are nested beyond what is compared.
    """

    run: str
    hosts: Mapping[str, HostFacts]
    of_baseline: bool
    too_deep: frozenset[tuple[str, str]] = field(default=frozenset())

    @classmethod
    def of(cls, run: str, hosts: Mapping[str, HostFacts], *, of_baseline: bool) -> Scene:
        """Make a scene, looking at each observation once."""
        deep = {
            (host, name)
            for host, facts in hosts.items()
            for name, item in facts.observations.items()
            if too_deep(item.identity) or too_deep(item.state)
        }
        return cls(run, hosts, of_baseline, frozenset(deep))

    @property
    def words(self) -> str:
        """How to say where something was seen."""
        return "in the baseline" if self.of_baseline else "in this run"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A text that the manifest expects, and the place and row that do so."""

    text: str
    place: str
    setting: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that verdicts depend on.

    `then` is None where there is no usable baseline, `no_baseline` says why.
    `same_machine` holds the pairs of inventory names that show one machine.
    """

    manifest: Manifest
    now: Scene
    then: Scene | None
    no_baseline: Seed | None
    lane: str
    arm: Arm
    same_machine: Mapping[frozenset[str], Seed]
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A pin on one host."""

    case: Case
    row: Row
    pin: Pin
    host: str

    @property
    def at(self) -> str:
        """The pin's path as text."""
        return str(self.pin.at)
