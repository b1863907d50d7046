"""Manifests: what is pinned, read from YAML and checked to the line and column.

`load_manifest` is a pure function of its text and of the lists that it names;
`load_manifest_bytes` and `load_manifest_file` are the thin shells around it. The
loader is imported when it is first called: most of those who hold a manifest
only want its model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pinproof.manifest.errors import ManifestErrors, Problem

if TYPE_CHECKING:
    from pinproof.manifest.model import Manifest

__all__ = ["ManifestErrors", "Problem", "load_manifest", "load_manifest_bytes", "load_manifest_file", "render_manifest"]


def load_manifest(text: str, file: str, read_list: Callable[[str], str]) -> Manifest:
    """Read a manifest.

    Args:
        text: The YAML text.
        file: How the text is called in messages.
        read_list: Gives the text of a list that the manifest names beside itself; may raise OSError or ValueError.

    Raises:
        ManifestErrors: The manifest cannot be used; it holds all mistakes that were found.

    """
    from pinproof.manifest import load

    return load.load_manifest(text, file, read_list)


def load_manifest_bytes(data: bytes, file: str, read_list: Callable[[str], str]) -> Manifest:
    """Read a manifest from the bytes of a file. Raises ManifestErrors."""
    from pinproof.manifest import load

    return load.load_manifest_bytes(data, file, read_list)


def load_manifest_file(path: Path) -> Manifest:
    """Read a manifest and the lists that lie beside it. Raises ManifestErrors."""
    from pinproof.manifest import load

    return load.load_manifest_file(path)


def render_manifest(manifest: Manifest) -> str:
    """Give a manifest resolved, as YAML that loads again to the same digest."""
    from pinproof.manifest import render

    return render.render_manifest(manifest)
