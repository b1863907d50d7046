"""The kinds of probe: their collector, their parameters, and what can be pinned of each.

This is the contract between manifests and collectors. An attribute's pattern is
its path inside the observation, with `*` for any one segment and `**` for the
rest of a JSON value. Every attribute has a type, by which the expectations of a
manifest are read; scalars of YAML are never typed by guessing.
"""

from __future__ import annotations

from collections.abc import Mapping

from pinproof.catalogue import machine, running, sources
from pinproof.catalogue.kind import Attribute, AttributeType, Kind, Parameter, ParameterType

KINDS: Mapping[str, Kind] = {**sources.KINDS, **running.KINDS, **machine.KINDS}

__all__ = ["KINDS", "Attribute", "AttributeType", "Kind", "Parameter", "ParameterType"]
