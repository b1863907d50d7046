"""What a pin is about: the probe, the path inside its observations, and the type of what stands there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from pinproof.catalogue import KINDS, Attribute
from pinproof.manifest.errors import Problems, Wrong, nearest, short
from pinproof.manifest.fields import BASELINE
from pinproof.manifest.given import refuse_not_given
from pinproof.manifest.load_probes import Probes
from pinproof.manifest.model import Probe
from pinproof.manifest.nodes import Scalar
from pinproof.manifest.site import Site
from pinproof.paths import AttributePath, suffix

MAX_SEGMENTS = 32

_COORDINATOR = "coordinator"
_USABLE = ("usable",)


@dataclass(frozen=True, slots=True)
class Target:
    """The place that a pin is about. `probe` is None for the reserved probe `baseline`."""

    path: AttributePath
    attribute: Attribute
    probe: Probe | None
    on: tuple[str, ...]

    @property
    def type(self) -> str:
        """The type of the attribute."""
        return self.attribute.type

    def below(self, key: str) -> Target:
        """Give the target one key further. Raises Wrong where nothing is there."""
        segments = (*self.path.segments, key)
        if self.probe is None:
            raise Wrong(f"nothing stands below '{self.path}'")
        attribute = typed_attribute(self.probe, segments)
        return replace(self, path=AttributePath(self.path.probe, segments), attribute=attribute)


@lru_cache(maxsize=4096)
def attribute_of(kind: str, segments: tuple[str, ...]) -> Attribute | None:
    """Give the attribute of a kind at these segments; None where there is none."""
    return KINDS[kind].attribute(segments)


def typed_attribute(probe: Probe, segments: tuple[str, ...]) -> Attribute:
    """Give the attribute at these segments of a probe. Raises Wrong naming the nearest one, where there is none."""
    attribute = attribute_of(probe.kind, segments)
    if attribute is None:
        depth = 0
        while attribute_of(probe.kind, segments[: depth + 1]) is not None:
            depth += 1
        kind = KINDS[probe.kind]
        where = probe.name + suffix(segments[:depth])
        what = f"'{where}' (kind {probe.kind}) has no attribute {short(segments[depth])}"
        names = kind.names_below(segments[:depth])
        raise Wrong(what, nearest(segments[depth], names, "there") if names else "it is a single value")
    refuse_not_given(probe, segments)
    return attribute


def resolve(at: Scalar, probes: Probes, site: Site, problems: Problems, key: str = "at") -> Target | None:
    """Find what a path names (the value of `key`); None where it names nothing, which is noted."""
    try:
        path = AttributePath.parse(at.text)
        if len(path.segments) > MAX_SEGMENTS:
            raise Wrong(f"{short(at.text)} has more than {MAX_SEGMENTS} segments", "nothing stands that deep")
        if path.probe == BASELINE:
            return _baseline(path, site)
        probe = probes.usable.get(path.probe)
        if probe is None:
            if path.probe in probes.declared:
                return None
            raise Wrong(
                f"no probe is named {short(path.probe)}", nearest(path.probe, [*probes.declared, BASELINE], "declared")
            )
        if not path.segments:
            names = KINDS[probe.kind].names_below(())
            raise Wrong(f"'{path}' names a whole probe", f"add what is pinned of it: {', '.join(names)}")
        return Target(path, typed_attribute(probe, path.segments), probe, probe.on)
    except Wrong as wrong:
        problems.add(at, f"'{key}': {wrong.what}", wrong.fix)
    except ValueError as error:
        problems.add(at, f"'{key}': {error}", "a name with other characters stands in brackets: probe.files[a.b]")
    return None


def _baseline(path: AttributePath, site: Site) -> Target:
    if path.segments != _USABLE:
        raise Wrong(f"the baseline has no '{path}'", f"only '{BASELINE}.{_USABLE[0]}' can be pinned")
    host = _COORDINATOR if _COORDINATOR in site.hosts else next(iter(site.hosts), "")
    about = "a complete, intact capture made before this run"
    return Target(path, Attribute("bool", about), None, (host,) if host else ())
