"""`pinproof replica`: build the embedded replica, list it, spoil one pinned thing of it, put it back."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pinproof import exit_codes
from pinproof.errors import UsageError
from pinproof.manifest.model import Manifest
from pinproof.replica import site
from pinproof.replica.build import DEFAULT_ROOT, Stamp, build, read_stamp
from pinproof.replica.clock import iso
from pinproof.replica.site import Arm

DEFAULT_ARCHIVE = Path("archive")
DEFAULT_MANIFEST = Path("inventory/manifests/up2-low-cap.yml")


def add_parser(subparsers: Any) -> None:
    """Add the command `replica` and its subcommands; each sets `run`, a function of the arguments to an exit code."""
    parser = subparsers.add_parser("replica", help="build and spoil the embedded replica of the reference site")
    commands = parser.add_subparsers(dest="replica_command", metavar="COMMAND", required=True)
    _add_build(_command(commands, "build", _build, "build the replica, unless it is current"))
    listing = _command(commands, "list", _list, "show the replica's hosts, and which pins can be spoiled on them")
    listing.add_argument("--pins", action="store_true", help="list the pins, with their hosts")
    _add_manifest(listing)
    drift = _command(commands, "drift", _drift, "spoil the one thing that a pin is about")
    drift.add_argument("pin", metavar="PIN", help="the pin's id, as reports show it")
    drift.add_argument("--host", help="the host to spoil it on (default: the pin's first)")
    drift.add_argument("--key", help="of a map: the key to change, or a name to add")
    _add_manifest(drift)
    _command(commands, "reset", _reset, "build the replica anew, in the state it was built in")


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    command.add_argument(
        "--root", type=Path, default=DEFAULT_ROOT, help=f"the replica's folder (default: {DEFAULT_ROOT})"
    )
    command.set_defaults(run=run)
    return command


def _add_build(command: argparse.ArgumentParser) -> None:
    command.add_argument("--state", choices=["production", "experiment"], help="(default: production)")
    command.add_argument("--leg", choices=site.LEGS, help="leg of the experiment (default: off-1)")
    command.add_argument("--start", choices=site.STARTS, help="start of the leg (default: measured)")
    command.add_argument(
        "--at", metavar="TIME", type=_time, help="start at this time (ISO 8601 with its zone) instead of now"
    )
    command.add_argument("--fresh", action="store_true", help="build anew even where the replica is current")
    command.add_argument(
        "--with-baseline",
        action="store_true",
        help="capture production into the archive first, then build the experiment's start",
    )
    command.add_argument("--archive", type=Path, default=DEFAULT_ARCHIVE, help=f"(default: {DEFAULT_ARCHIVE})")
    _add_manifest(command)


def _add_manifest(command: argparse.ArgumentParser) -> None:
    command.add_argument("--manifest", type=Path, default=DEFAULT_MANIFEST, help=f"(default: {DEFAULT_MANIFEST})")


def _time(text: str) -> float:
    """Read a time with its zone, in seconds since the epoch."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no time such as 2026-10-24T09:15:00Z") from None
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"'{text}' has no zone; write 2026-10-24T09:15:00Z")
    return moment.timestamp()


def _build(arguments: argparse.Namespace) -> int:
    arm = _arm(arguments)
    if arguments.with_baseline:
        from pinproof.replica.baseline import build_with_baseline

        built = build_with_baseline(arguments.root, arm, arguments.manifest, arguments.archive)
    else:
        built = build(arguments.root, arm, arguments.at, fresh=arguments.fresh)
    _say(f"{built.root}: {built.done}, {_state(built.stamp)}")
    if built.stamp.baseline:
        _say(f"  baseline: {built.stamp.baseline}")
    for text in built.stamp.spoiled:
        _say(f"  still spoiled: {text} (pinproof replica reset)")
    return exit_codes.RECONCILED


def _arm(arguments: argparse.Namespace) -> Arm:
    """Give the arm that the options ask for. Raises UsageError where they contradict each other."""
    state = arguments.state or ("experiment" if arguments.with_baseline else "production")
    if arguments.with_baseline and (state == "production" or arguments.at is not None or arguments.fresh):
        raise UsageError(
            "--with-baseline ends in a start of the experiment, now; leave out --state production, --at, --fresh"
        )
    if state == "experiment":
        return Arm("experiment", arguments.leg or "off-1", arguments.start or "measured")
    if arguments.leg or arguments.start:
        raise UsageError("--leg and --start are of the experiment; add --state experiment")
    return site.PRODUCTION


def _state(stamp: Stamp) -> str:
    arm = stamp.arm
    state = f"{arm.state}, leg {arm.leg}, {arm.start} start" if arm.leg else arm.state
    return f"{state}, started {iso(stamp.hundredths / 100)}"


def _need_stamp(root: Path) -> Stamp:
    stamp = read_stamp(root)
    if stamp is None:
        raise UsageError(f"{root}: no replica is built there; run pinproof replica build")
    return stamp


def _list(arguments: argparse.Namespace) -> int:
    stamp = _need_stamp(arguments.root)
    _say(f"{arguments.root}: {_state(stamp)}")
    for name in site.HOSTS:
        _say(f"  {name:<12} {arguments.root / name}")
    for text in stamp.spoiled:
        _say(f"  spoiled: {text}")
    if arguments.pins:
        from pinproof.replica.drift import spoilable

        on: dict[str, list[str]] = {}
        for pin, host in spoilable(_manifest(arguments.manifest)):
            on.setdefault(pin.id, []).append(host)
        for pin_id, hosts in on.items():
            _say(f"  {pin_id} on {', '.join(hosts)}")
    return exit_codes.RECONCILED


def _drift(arguments: argparse.Namespace) -> int:
    from pinproof.replica.drift import pin_named, spoil

    stamp = _need_stamp(arguments.root)
    manifest = _manifest(arguments.manifest)
    host = arguments.host or pin_named(manifest, arguments.pin).on[0]
    spoiled = spoil(arguments.root, manifest, arguments.pin, host, arguments.key)
    told = f"{spoiled.pin} on {spoiled.host}: {spoiled.description}"
    replace(stamp, spoiled=(*stamp.spoiled, told)).save(arguments.root)
    _say(f"{told}\nverify shows it; pinproof replica reset takes it back")
    return exit_codes.RECONCILED


def _reset(arguments: argparse.Namespace) -> int:
    stamp = _need_stamp(arguments.root)
    built = build(arguments.root, stamp.arm, fresh=True)
    _say(f"{built.root}: {built.done}, {_state(built.stamp)}")
    return exit_codes.RECONCILED


def _manifest(path: Path) -> Manifest:
    from pinproof.manifest import load_manifest_file

    return load_manifest_file(path)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
