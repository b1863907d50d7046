"""Spoiling one pinned thing of a replica, and taking it back.

What is spoiled is the bytes that a look reads, never a result. Each spoiler
changes as little as shows the pin's own fact as another; where the same bytes
are another pin's fact too (a blob at a revision, a unit's drop-in), that pin
differs with it. After a change of what the service runs on, the service is
started anew over it, so that the difference shows and not only the change.

Verdicts that follow: MISMATCH or REFUSED; DRIFT for pins that are recorded;
HOLD for hosts that are not distinct. A stopped container, a masked unit and a
missing revision take what is behind them with them.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from pinproof.errors import UsageError
from pinproof.manifest.model import Manifest, Pin
from pinproof.replica import (
    spoil_engine,
    spoil_fabric,
    spoil_files,
    spoil_host,
    spoil_process,
    spoil_requests,
    spoil_source,
)
from pinproof.replica.journal import Journal
from pinproof.replica.restart import restart
from pinproof.replica.spoilers import CannotSpoil, Spoil, Table, choose_key, find
from pinproof.replica.tree import Tree

TABLES: dict[str, Table] = {
    "source": spoil_source.SOURCE,
    "clone": spoil_source.CLONE,
    "derivation": spoil_source.DERIVATION,
    "link": spoil_files.LINK,
    "file": spoil_files.FILE,
    "files": spoil_files.FILES,
    "tree": spoil_files.TREE,
    "json": spoil_files.JSON,
    "status": spoil_files.STATUS,
    "sums": spoil_files.SUMS,
    "emission": spoil_files.EMISSION,
    "jit": spoil_files.JIT,
    "requests": spoil_requests.REQUESTS,
    "container": spoil_engine.CONTAINER,
    "containers": spoil_engine.CONTAINERS,
    "engine_log": spoil_engine.ENGINE_LOG,
    "process": spoil_process.PROCESS,
    "fabric": spoil_fabric.FABRIC,
    "gpu": spoil_host.GPU,
    "unit": spoil_host.UNIT,
    "units": spoil_host.UNITS,
    "host": spoil_host.HOST,
}

# What changes here shows at once: no process has taken it when it started.
_SHOWS_AT_ONCE = ("/proc/", "/sys/", "/run/", "/dev/")


@dataclass(frozen=True, slots=True)
class Spoiled:
    """One thing that was spoiled; `description` says what, `undo` takes it back."""

    pin: str
    host: str
    description: str
    root: Path
    journal: Journal

    def undo(self) -> None:
        """Restore every byte, and start the service over them where it had to be for the spoiling."""
        self.journal.undo()
        if _needs_restart(self.journal):
            restart(self.root, self.host)


def spoil(root: Path, manifest: Manifest, pin_id: str, host: str, key: str | None = None) -> Spoiled:
    """Spoil the one thing that a pin is about on a host of the replica at `root`.

    `key` chooses among the keys of a map, or is a name to add to it. Raises
    UsageError for a pin or host that is not there, CannotSpoil where the replica
    holds nothing of it (`baseline.usable` is about the archive).
    """
    pin = pin_named(manifest, pin_id)
    if host not in pin.on:
        raise UsageError(f"{pin_id}: is not on {host} (it is on {', '.join(pin.on)})")
    if pin.at.probe not in manifest.probes:
        raise CannotSpoil(f"{pin.id}: is about the archive, not about a host; take the baseline away instead")
    if pin.of_experiment:
        raise CannotSpoil(f"{pin.id}: is judged between runs; build the replica in another arm instead")
    probe = manifest.probes[pin.at.probe]
    spoiler = find(TABLES[probe.kind], pin.at.segments)
    if spoiler is None:
        raise CannotSpoil(f"{pin.id}: the replica spoils no {probe.kind} at {pin.at}")
    journal = Journal(Tree(root / host))
    try:
        asked = Spoil(manifest, pin, probe, host, pin.at.segments, choose_key(pin, host, key), journal)
        description = spoiler(asked)
        if _needs_restart(journal):
            restart(root, host, journal)
    except (LookupError, OSError, ValueError, StopIteration) as error:
        journal.undo()
        raise CannotSpoil(f"{pin.id}: the replica holds no such bytes on {host} ({error})") from error
    except BaseException:
        journal.undo()
        raise
    return Spoiled(pin.id, host, description, root, journal)


def spoilable(manifest: Manifest) -> list[tuple[Pin, str]]:
    """List every pin of run scope that the replica holds bytes of, with each of its hosts."""
    return [
        (pin, host)
        for _, pin in manifest.pins()
        if pin.at.probe in manifest.probes and not pin.of_experiment
        for host in pin.on
    ]


def pin_named(manifest: Manifest, pin_id: str) -> Pin:
    """Give the pin of this id. Raises UsageError with the nearest ids."""
    pins = {pin.id: pin for _, pin in manifest.pins()}
    if pin_id in pins:
        return pins[pin_id]
    near = difflib.get_close_matches(pin_id, pins, n=3)
    hint = f"; nearest: {', '.join(near)}" if near else "; pinproof replica list --pins shows all"
    raise UsageError(f"{pin_id}: no pin of {manifest.name} has this id{hint}")


def _needs_restart(journal: Journal) -> bool:
    return any(
        not path.startswith(_SHOWS_AT_ONCE) and not path.endswith(spoil_files.WRITTEN_BY_SERVICE)
        for path in journal.touched
    )
