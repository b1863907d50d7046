"""Loading a manifest: from text to what `model` describes, or to all of its mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pinproof.manifest.closed import close
from pinproof.manifest.contradictions import refuse_contradictions
from pinproof.manifest.errors import Problems, short
from pinproof.manifest.fields import MANIFEST, VERSION
from pinproof.manifest.load_experiment import load_experiment
from pinproof.manifest.load_probes import load_probes
from pinproof.manifest.load_rows import Loading, load_rows
from pinproof.manifest.model import Manifest
from pinproof.manifest.nodes import MAX_BYTES, Mapping, Position, Scalar, read_tree
from pinproof.manifest.placeholders import refuse_placeholders
from pinproof.manifest.resolved import as_document, digest_of
from pinproof.manifest.site import load_site

_NUMBER = re.compile(r"[1-9][0-9]*")
_READ = tuple(str(version) for version in range(1, VERSION + 1))


def load_manifest(text: str, file: str, read_list: Callable[[str], str]) -> Manifest:
    """Read a manifest; see `pinproof.manifest.load_manifest`."""
    problems = Problems(file)
    root = read_tree(text, problems)
    if not isinstance(root, Mapping):
        problems.add(root, f"a manifest is a map, not {root.word}", "start it with `manifest: NAME`")
        problems.raise_if_any()
        raise AssertionError("unreachable")
    _refuse_newer(root, problems)
    refuse_placeholders(root, text, problems)
    top = MANIFEST.open(root, problems)
    site = load_site(top, problems)
    probes = load_probes(top.get("probes"), site, problems)
    experiment = load_experiment(top.get("experiment"), probes, site, problems)
    rows = load_rows(top.get("rows"), Loading(site, probes, experiment, read_list, problems))
    rows = close(rows, experiment, problems)
    refuse_contradictions(rows, problems)
    problems.raise_if_any()
    manifest = Manifest(
        name=top.text("manifest"),
        scope=site.scope,
        file=file,
        hosts=site.hosts,
        groups=site.groups,
        authorities=tuple(site.authorities.values()),
        probes=probes.usable,
        rows=rows,
        experiment=experiment,
        digest="",
    )
    return replace(manifest, digest=digest_of(as_document(manifest)))


def load_manifest_bytes(data: bytes, file: str, read_list: Callable[[str], str]) -> Manifest:
    """Read a manifest from the bytes of a file. Raises ManifestErrors."""
    problems = Problems(file)
    if len(data) > MAX_BYTES:
        problems.add(Position(1, 1), f"the manifest is larger than {MAX_BYTES} bytes", "is this the right file?")
        problems.raise_if_any()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        what = f"the file is not UTF-8: byte 0x{data[error.start]:02x}"
        problems.add(position, what, "save it as UTF-8")
        problems.raise_if_any()
        raise AssertionError("unreachable") from error
    return load_manifest(text, file, read_list)


def load_manifest_file(path: Path) -> Manifest:
    """Read a manifest and the lists beside it. Raises ManifestErrors."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        problems = Problems(str(path))
        problems.add(Position(1, 1), f"the manifest cannot be read: {error.strerror}", "name a file, or `-`")
        problems.raise_if_any()
        raise
    return load_manifest_bytes(data, str(path), read_list_beside(path.parent))


def read_list_beside(folder: Path) -> Callable[[str], str]:
    """Give the function that reads lists in a folder, bounded."""

    def read(name: str) -> str:
        with (folder / name).open("rb") as file:
            return file.read(MAX_BYTES + 1).decode("utf-8")

    return read


def _refuse_newer(root: Mapping, problems: Problems) -> None:
    """Refuse a manifest of a later format before anything in it is judged by the rules of this one."""
    version = root.get("version")
    if isinstance(version, Scalar) and _NUMBER.fullmatch(version.text) and version.text not in _READ:
        what = f"the manifest has version {short(version.text, 20)}: it is made for a newer pinproof"
        problems.add(version, what, f"this one reads version {VERSION}")
        problems.raise_if_any()
