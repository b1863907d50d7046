"""Which legs and starts a manifest's experiment has."""

from __future__ import annotations

from pinproof.errors import UsageError
from pinproof.manifest.errors import nearest
from pinproof.manifest.model import Manifest


def check_arm(manifest: Manifest, leg: str, start: str) -> None:
    """See that a run's leg and start are the manifest's; "" is none. Raises UsageError with the nearest names."""
    experiment = manifest.experiment
    legs = [item.id for item in experiment.legs] if experiment is not None else []
    starts = [item.name for item in experiment.starts] if experiment is not None else []
    for word, given, known in (("leg", leg, legs), ("start", start, starts)):
        if given and given not in known:
            raise UsageError(f"{manifest.name} has no {word} '{given}'; {nearest(given, known, f'{word}s')}")
