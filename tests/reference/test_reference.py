"""The manifest and the replica, each against a table of the reference that was transcribed by hand.

The replica is read raw: by bytes, NULs and lines, never by the project's own
collectors or builders' constants.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pinproof.manifest import load_manifest_file
from pinproof.manifest.model import (
    BaselineIs,
    Bound,
    Closed,
    Is,
    IsAbsent,
    Manifest,
    PerHost,
    Pin,
    Prefix,
    Prescribed,
    SameAsBaseline,
    SetOf,
)
from pinproof.paths import AttributePath
from pinproof.replica.build import build
from pinproof.replica.site import Arm

HERE = Path(__file__).parent
MANIFEST = HERE.parents[1] / "inventory/manifests/up2-low-cap.yml"
TABLE: dict[str, list[dict[str, Any]]] = yaml.safe_load((HERE / "table.yml").read_text())["rows"]
VALUES = [(row, value) for row, values in TABLE.items() for value in values]
IDS = [f"{row}-{number}-{value['says'][:24]}" for number, (row, value) in enumerate(VALUES)]
TABLE_ROWS = 21


@pytest.fixture(scope="session", name="manifest")
def _manifest() -> Manifest:
    return load_manifest_file(MANIFEST)


@pytest.fixture(scope="session", name="replicas")
def _replicas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The replica in both states, read as it lies on disk."""
    roots = {state: tmp_path_factory.mktemp("reference") / state for state in ("production", "experiment")}
    build(roots["production"])
    build(roots["experiment"], Arm("experiment", "off-1", "measured"))
    return roots


# -- the manifest -----------------------------------------------------------------
def demands(manifest: Manifest, row: str, at: AttributePath, host: str) -> Iterator[tuple[str, Any]]:
    """Give what a row's pins demand at a path on a host; of a map, what they demand of the key below it."""
    found = next(item for item in manifest.rows if item.id == row)
    for pin in found.pins:
        if pin.at.probe != at.probe or host not in pin.on or at.segments[: len(pin.at.segments)] != pin.at.segments:
            continue
        yield from demands_of(pin, at.segments[len(pin.at.segments) :], host)


def demands_of(pin: Pin, below: tuple[str, ...], host: str) -> Iterator[tuple[str, Any]]:
    for check in pin.checks:
        if isinstance(check, Is):
            yield "is", inner(check.value, below)
        elif isinstance(check, PerHost):
            yield "is", inner(check.values[host], below)
        elif below:
            continue
        elif isinstance(check, Prefix):
            yield "prefix", check.text
        elif isinstance(check, SetOf):
            yield "set_of", sorted(str(value) for value in check.values)
        elif isinstance(check, IsAbsent):
            yield "absent", None
        elif isinstance(check, SameAsBaseline):
            yield "same_as", None
        elif isinstance(check, BaselineIs):
            yield "baseline_is", check.value
        elif isinstance(check, Prescribed):
            yield "prescribed", dict(check.values)
        elif isinstance(check, Bound):
            yield "at_least" if check.least else "at_most", bound(check)
        elif isinstance(check, Closed):
            yield "closed", check


def inner(value: Any, below: tuple[str, ...]) -> Any:
    for segment in below:
        value = value.get(segment) if isinstance(value, dict) else None
    return value


def bound(check: Bound) -> Any:
    return dict(check.limits) if check.authority else check.limit


@pytest.mark.parametrize(("row", "value"), VALUES, ids=IDS)
def test_the_manifest_pins_the_value(
    manifest: Manifest, replicas: dict[str, Path], row: str, value: dict[str, Any]
) -> None:
    at = AttributePath.parse(value["at"])
    expect, wanted = value["expect"], value.get("value")
    for host in value["hosts"]:
        found = list(demands(manifest, value.get("row", row), at, host))
        if expect == "closed":
            sets = [check for kind, check in found if kind == "closed"]
            assert any(wanted not in check.allowed and matches(wanted, check.globs) for check in sets)
        elif expect == "hash-of":
            data = (replicas["experiment"] / host / wanted).read_bytes()
            assert ("is", hashlib.sha256(data).hexdigest()) in found
        else:
            wanted = sorted(wanted) if expect == "set_of" else wanted
            assert (expect, spelled(wanted)) in [(kind, spelled(demand)) for kind, demand in found], found


def spelled(value: Any) -> str:
    """Spell a value so that 1, "1", 1.0 and true are four."""
    return json.dumps(value, sort_keys=True, default=repr)


def matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(re.fullmatch(re.escape(glob).replace(r"\*", ".*"), name) for glob in globs)


def test_every_row_of_the_table_is_transcribed(manifest: Manifest) -> None:
    rows = [row.id for row in manifest.rows]
    assert list(TABLE)[:TABLE_ROWS] == rows[:TABLE_ROWS]
    assert set(TABLE) <= set(rows)
    assert all(TABLE.values())


def test_the_composed_list_names_forty_two_files() -> None:
    lines = (MANIFEST.parent / "up2-composed.sha256").read_text().splitlines()
    assert len(lines) == len({line[66:] for line in lines}) == 42
    assert all(re.fullmatch(r"[0-9a-f]{64}  /opt/dsv41/engine/\S+", line) for line in lines)


# -- the replica ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("row", "value"),
    [item for item in VALUES if "file" in item[1]],
    ids=[name for name, item in zip(IDS, VALUES, strict=True) if "file" in item[1]],
)
def test_the_replica_holds_the_value(replicas: dict[str, Path], row: str, value: dict[str, Any]) -> None:
    for host in value["hosts"]:
        tree = replicas[value.get("state", "experiment")] / host
        path = tree / place(tree, value["file"])
        held = FORMS[value["form"]](path, value)
        assert held, f"{row}: {path} does not hold {value['holds']} as {value['form']}"


def place(tree: Path, file: str) -> str:
    """Fill in the process id, or the name of the recorded log."""
    if file == "{log}":
        return str(next(path for path in (tree / "run/docker.sock").iterdir() if "logs" in path.name))
    match = re.search(r"\{(.+?)\}", file)
    return file.replace(match.group(), process_of(tree, match.group(1).encode())) if match else file


def process_of(tree: Path, program: bytes) -> str:
    for entry in sorted((tree / "proc").glob("[0-9]*")):
        words = (entry / "cmdline").read_bytes().split(b"\0")[:2]
        if any(word.rpartition(b"/")[2] == program for word in words):
            return entry.name
    raise LookupError(program)


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


def is_entry(path: Path, value: dict[str, Any]) -> bool:
    data = path.read_bytes()
    return data.endswith(b"\0") and data.split(b"\0").count(value["holds"].encode()) == 1


def is_words(path: Path, value: dict[str, Any]) -> bool:
    words = value["holds"].encode().replace(b" ", b"\0")
    return (b"\0" + path.read_bytes()).count(b"\0" + words + b"\0") == 1


def is_json(path: Path, value: dict[str, Any]) -> bool:
    return same(inner(json.loads(path.read_text()), tuple(value["key"].split("."))), value["holds"])


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def is_object(path: Path, value: dict[str, Any]) -> bool:
    name = path.read_text().strip()
    git_dir = next(parent for parent in path.parents if (parent / "objects").is_dir())
    whole = zlib.decompress((git_dir / "objects" / name[:2] / name[2:]).read_bytes())
    intact = hashlib.sha1(whole).hexdigest() == name
    return intact and any(line.startswith(value["holds"].encode()) for line in whole.split(b"\0", 1)[1].splitlines())


def is_log(path: Path, value: dict[str, Any]) -> bool:
    data, position, found = path.read_bytes(), 0, []
    while position < len(data):
        assert data[position] in (1, 2)
        assert data[position + 1 : position + 4] == b"\0\0\0"
        size = int.from_bytes(data[position + 4 : position + 8], "big")
        found.append(data[position + 8 : position + 8 + size].decode())
        position += 8 + size
    stamped = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z .+\n"
    return all(re.fullmatch(stamped, line) for line in found) and any(value["holds"] in line for line in found)


def is_files(path: Path, value: dict[str, Any]) -> bool:
    """Check every digest of a list against the file beside it, and that no file is beside them."""
    for line in lines_of(path):
        assert hashlib.sha256((path.parent / line[66:]).read_bytes()).hexdigest() == line[:64]
    return len(lines_of(path)) == value["holds"] == len(list(path.parent.iterdir())) - 1


def is_records(path: Path, value: dict[str, Any]) -> bool:
    name, _, wanted = value["key"].partition("=")
    records = [json.loads(line) for line in lines_of(path)]
    fitting = [record for record in records if same(inner(record, tuple(name.split("."))), json.loads(wanted))]
    return len(fitting) == value["holds"]


FORMS = {
    "line": lambda path, value: value["holds"] in lines_of(path),
    "start": lambda path, value: path.read_text().startswith(value["holds"]),
    "start-of-line": lambda path, value: any(line.startswith(value["holds"]) for line in lines_of(path)),
    "link": lambda path, value: str(path.readlink()) == value["holds"],
    "lacks": lambda path, value: value["holds"].encode().lower() not in path.read_bytes().lower(),
    "entry": is_entry,
    "words": is_words,
    "json": is_json,
    "object": is_object,
    "log": is_log,
    "files": is_files,
    "records": is_records,
}
