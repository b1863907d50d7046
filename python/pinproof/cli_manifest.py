"""`pinproof manifest`: check, render, schema and reference. Nothing here contacts a host.

Mistakes of a manifest leave as ManifestErrors, whose exit code is 78.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pinproof import exit_codes
from pinproof.manifest import load_manifest_bytes, load_manifest_file, render_manifest
from pinproof.manifest.model import Manifest

Command = tuple[str, Callable[[argparse.Namespace], int], str]

_STDIN = "-"
_STDIN_NAME = "<stdin>"


def add_parser(subparsers: Any) -> None:
    """Add the command `manifest` and its subcommands; each sets `run`, a function of the arguments to an exit code."""
    parser = subparsers.add_parser("manifest", help="check or show a manifest, without contact to any host")
    commands = parser.add_subparsers(dest="manifest_command", metavar="COMMAND", required=True)
    file_help = "the manifest, or - for standard input (lists are then looked for in the working folder)"
    for name, run, about in _ON_FILE:
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("file", metavar="FILE", help=file_help)
        command.set_defaults(run=run)
    for name, run, about in _ALONE:
        commands.add_parser(name, help=about, description=about).set_defaults(run=run)


def _load(file: str) -> Manifest:
    """Read the manifest that the command line names."""
    if file != _STDIN:
        return load_manifest_file(Path(file))
    from pinproof.manifest.load import read_list_beside
    from pinproof.manifest.nodes import MAX_BYTES

    return load_manifest_bytes(sys.stdin.buffer.read(MAX_BYTES + 1), _STDIN_NAME, read_list_beside(Path()))


def summary(manifest: Manifest) -> str:
    """Say in one line what a manifest holds."""
    pins = manifest.pins()
    of_experiment = sum(pin.of_experiment for _, pin in pins)
    return (
        f"{manifest.name}: {len(manifest.rows)} rows, {len(pins)} pins ({of_experiment} judged by compare), "
        f"{len(manifest.probes)} probes, {len(manifest.hosts)} hosts, sha256 {manifest.digest}"
    )


def _check(arguments: argparse.Namespace) -> int:
    return _print(summary(_load(arguments.file)) + "\n")


def _render(arguments: argparse.Namespace) -> int:
    return _print(render_manifest(_load(arguments.file)))


def _schema(_arguments: argparse.Namespace) -> int:
    from pinproof.manifest.schema import manifest_schema

    return _print(json.dumps(manifest_schema(), indent=2) + "\n")


def _reference(_arguments: argparse.Namespace) -> int:
    from pinproof.manifest.reference import reference

    return _print(reference())


def _print(text: str) -> int:
    sys.stdout.write(text)
    return exit_codes.RECONCILED


_ON_FILE: tuple[Command, ...] = (
    ("check", _check, "check a manifest; every mistake is told with its line, column and fix"),
    ("render", _render, "print a manifest resolved: groups expanded, ids written out, lists in place"),
)
_ALONE: tuple[Command, ...] = (
    ("schema", _schema, "print the JSON Schema of manifests, for editors"),
    ("reference", _reference, "print the reference of keys, checks, kinds and attributes, as Markdown"),
)
