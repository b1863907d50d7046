"""Building the replica: four machines as file trees below one folder.

Bulk files come first, then the starts (after every change of a file, or no look
could say that a process runs on these bytes), then what a running service
writes itself. A stamp tells what was built: a replica that is current is left
alone, another arm replaces only what a start changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pinproof.errors import UsageError
from pinproof.replica import clock, hosts, site
from pinproof.replica.clock import Start
from pinproof.replica.site import Arm
from pinproof.replica.tree import Tree

DEFAULT_ROOT = Path(".replica")
STAMP = "replica.json"
_MARK = ".pinproof-replica"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a replica's stamp tells: which builder, which arm, the start; and what was spoiled since.

    `baseline` is the archived capture of its production state ("" for none),
    `manifest` the digest of the manifest that it was captured by.
    """

    builder: str
    arm: Arm
    boot: int
    hundredths: int
    spoiled: tuple[str, ...] = ()
    baseline: str = ""
    manifest: str = ""

    def save(self, root: Path) -> None:
        """Write it, whole or not at all."""
        temporary = root / (STAMP + ".new")
        temporary.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        temporary.replace(root / STAMP)


@dataclass(frozen=True, slots=True)
class Built:
    """What a build came to: `done` is "left alone", "switched" or "built"."""

    root: Path
    done: str
    stamp: Stamp


def read_stamp(root: Path) -> Stamp | None:
    """Read a replica's stamp; None where there is none, or one that another builder wrote."""
    try:
        data = json.loads((root / STAMP).read_text(encoding="utf-8"))
        return Stamp(
            builder=data["builder"],
            arm=Arm(**data["arm"]),
            boot=int(data["boot"]),
            hundredths=int(data["hundredths"]),
            spoiled=tuple(data["spoiled"]),
            baseline=str(data["baseline"]),
            manifest=str(data["manifest"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def builder_version() -> str:
    """Give a digest of the builder's own code: a replica that other code built is not current."""
    hasher = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        hasher.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return hasher.hexdigest()[:16]


def build(
    root: Path = DEFAULT_ROOT, arm: Arm = site.PRODUCTION, at: float | None = None, *, fresh: bool = False
) -> Built:
    """Build the replica, or leave a current one alone.

    `at` is the start in seconds since the epoch; by default it comes right after
    the files, as a look needs it. Raises UsageError for a folder that holds
    something else.
    """
    _claim(root)
    with _alone(root):
        stamp, version = read_stamp(root), builder_version()
        if stamp is None or stamp.builder != version:
            stamp = Stamp(version, arm, 0, 0)
        elif not fresh and at is None and stamp.arm == arm:
            return Built(root, "left alone", stamp)
        elif not fresh and at is None and not stamp.spoiled:
            return _switch(root, arm, stamp)
        return _build(root, replace(stamp, arm=arm, spoiled=()), at)


def _build(root: Path, stamp: Stamp, at: float | None) -> Built:
    _clear(root)
    trees = {name: Tree(root / name) for name in site.HOSTS}
    for name, tree in trees.items():
        hosts.write_files(tree, name)
    start = Start.at(clock.next_start() if at is None else at)
    for name, tree in trees.items():
        hosts.write_boot(tree, name, start)
        hosts.write_start(tree, name, stamp.arm, start)
    if at is None:
        clock.wait_past(start.seconds)
    for name, tree in trees.items():
        hosts.write_after_start(tree, name, start)
    return _finished(root, "built", replace(stamp, boot=start.boot, hundredths=start.hundredths))


def _switch(root: Path, arm: Arm, stamp: Stamp) -> Built:
    """Start the engine anew, on the same boot, in another arm."""
    (root / STAMP).unlink()
    start = Start.at(clock.next_start(), stamp.boot)
    trees = {rank.name: Tree(root / rank.name) for rank in site.RANKS}
    for name, tree in trees.items():
        hosts.write_start(tree, name, arm, start)
    clock.wait_past(start.seconds)
    for name, tree in trees.items():
        hosts.write_after_start(tree, name, start)
    return _finished(root, "switched", replace(stamp, arm=arm, hundredths=start.hundredths))


def _finished(root: Path, done: str, stamp: Stamp) -> Built:
    stamp.save(root)
    return Built(root, done, stamp)


def _claim(root: Path) -> None:
    """Mark the folder as a replica's, if it is one or new."""
    mark = root / _MARK
    if root.exists() and not mark.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root}: holds something that is no replica; name another folder with --root")
    root.mkdir(parents=True, exist_ok=True)
    if not mark.exists():
        mark.write_text("This folder is built and emptied by `pinproof replica`.\n", encoding="utf-8")


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Let two builds of one replica come one after the other."""
    with (root / _MARK).open(encoding="utf-8") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        yield


def _clear(root: Path) -> None:
    """Take away what was built before; first the stamp, so that half a replica is never a current one."""
    for name in (STAMP, *site.HOSTS):
        path = root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
