"""What is pinned, as data: probes, rows, pins, authorities, experiment.

These are the results of loading a manifest; nothing here reads files. Every
value that an expectation holds is typed already, by the attribute it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pinproof.paths import AttributePath
from pinproof.verdicts import Evidence

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a manifest; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


# -- checks: what a pin demands of the value its path leads to -------------


@dataclass(frozen=True, slots=True)
class Is:
    """`is`: this very value. On a map: these keys with these values, others left to `closed`."""

    value: Json


@dataclass(frozen=True, slots=True)
class IsAbsent:
    """`absent`: nothing there, or an empty list or map."""


@dataclass(frozen=True, slots=True)
class Bound:
    """`at_least` or `at_most`: a limit, by the authority that set it ("" when none is named).

    `limits` holds (authority, number) as written; `authority` is the one in force.
    """

    least: bool
    limits: tuple[tuple[str, float], ...]
    authority: str

    @property
    def limit(self) -> float:
        """The number in force."""
        return dict(self.limits)[self.authority]


@dataclass(frozen=True, slots=True)
class OneOf:
    """`one_of`: any of these values."""

    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class SetOf:
    """`set_of`: a list with exactly these members, in any order, none of them twice."""

    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Prefix:
    """`prefix`: only an abbreviation of the value is known."""

    text: str


@dataclass(frozen=True, slots=True)
class SameAsBaseline:
    """`same_as: baseline`: what this host's baseline shows at the same path."""


@dataclass(frozen=True, slots=True)
class BaselineIs:
    """`baseline_is`: the baseline shows this value (and this run what the other checks say)."""

    value: Json


@dataclass(frozen=True, slots=True)
class SameAcross:
    """`same_across`: equal on all these hosts."""

    group: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DistinctAcross:
    """`distinct_across`: on no two of these hosts the same; where it is, comparisons between them mean nothing."""

    group: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PerHost:
    """`per_host`: a value of its own for every host the pin is on."""

    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Prescribed:
    """`prescribed_by`: the value that this leg (`leg.replay`) or start (`start.audit`) of the experiment prescribes.

    `values` gives it by leg id or by start name.
    """

    of: Literal["leg", "start"]
    setting: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Closed:
    """`closed`: keys that match these globs and are not listed by the pins on the same map are refused.

    `allowed` are the keys that this pin's `is` and sibling pins of the manifest list.
    """

    globs: tuple[str, ...]
    allowed: frozenset[str]


@dataclass(frozen=True, slots=True)
class AcrossExperiment:
    """`same_across: legs` or `same_across: bracket`: judged by compare, not by a single run."""

    over: Literal["legs", "bracket"]


Check = (
    Is
    | IsAbsent
    | Bound
    | OneOf
    | SetOf
    | Prefix
    | SameAsBaseline
    | BaselineIs
    | SameAcross
    | DistinctAcross
    | PerHost
    | Prescribed
    | Closed
    | AcrossExperiment
)


@dataclass(frozen=True, slots=True)
class Pin:
    """One expectation about observations.

    `split` is the separator by which a text is made a list before it is checked
    ("" for none). `drift`: a difference is recorded as DRIFT and never stops.
    """

    id: str
    at: AttributePath
    on: tuple[str, ...]
    checks: tuple[Check, ...]
    split: str
    drift: bool
    note: str
    mark: Mark

    @property
    def of_experiment(self) -> bool:
        """Whether other runs are needed to judge it."""
        return any(isinstance(check, AcrossExperiment) for check in self.checks)


@dataclass(frozen=True, slots=True)
class Row:
    """A titled group of pins; the unit of the report. `rule` rows come from the text, not from the table."""

    id: str
    setting: str
    requires: Evidence
    pins: tuple[Pin, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Probe:
    """A named thing to look at on some hosts.

    `loaded_by`: the process that took these bytes when it started; a change after
    that start leaves pins on HOLD. `written_since`: the process since whose start
    the record must have been written.
    """

    name: str
    kind: str
    collector: str
    on: tuple[str, ...]
    parameters: Mapping[str, Json]
    loaded_by: str
    written_since: str
    deadline_s: float
    mark: Mark


@dataclass(frozen=True, slots=True)
class Authority:
    """Who says so. `supersedes` names the authority it replaces within `scope`."""

    id: str
    about: str
    supersedes: str
    scope: str
    date: str


@dataclass(frozen=True, slots=True)
class Leg:
    """One arm of the experiment, with what it prescribes."""

    id: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Start:
    """A kind of start of legs (`diagnostic`, `measured`), with what it prescribes."""

    name: str
    of: tuple[str, ...]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Legs in order, starts, and the paths that may differ between legs."""

    legs: tuple[Leg, ...]
    starts: tuple[Start, ...]
    may_differ: tuple[AttributePath, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole manifest, checked and resolved.

    `digest` is the sha256 of its canonical JSON: the same for a file, standard
    input, a re-rendered text or another order of keys.
    """

    name: str
    scope: str
    file: str
    hosts: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    authorities: tuple[Authority, ...]
    probes: Mapping[str, Probe]
    rows: tuple[Row, ...]
    experiment: Experiment | None
    digest: str

    def pins(self) -> list[tuple[Row, Pin]]:
        """List every pin with its row."""
        return [(row, pin) for row in self.rows for pin in row.pins]
