# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What identifies an image, whichever store an engine keeps it in.

This module util is private to the collectors. An engine's image id is the digest
of a config in one store and of a manifest in the other, so that equal images can
have unequal ids. Compared are the layers' diff ids, in order, and a digest over
what of the config changes what runs; labels are told apart.
"""

from __future__ import annotations

import hashlib
import re
import typing as t

from ._observation import Incomparable, Unparsable
from ._strict_json import canonical

_DIGEST = re.compile("(?:sha256:)?([0-9a-f]{64})")
_LAYER = re.compile("sha256:[0-9a-f]{64}")


def image_id(text: t.Any, what: str) -> str:
    """Give an image id in its full form. Raises Incomparable for a name, which tells nothing about content."""
    found = _DIGEST.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise Incomparable("%s: the engine names the image (%s) instead of telling its id" % (what, str(text)[:80]))
    return "sha256:" + found.group(1)


def tag_of(reference: str) -> str | None:
    """Give the tag in an image reference.

    None where there is none: in an id, in a name alone, and in a reference by
    digest, where a tag beside the digest decides nothing.
    """
    if "@" in reference or _DIGEST.fullmatch(reference):
        return None
    name, colon, tag = reference.rpartition(":")
    if not colon or not name or not tag or "/" in tag:  # a colon before a slash is a registry's port
        return None
    return tag


def layers_of(image: dict[str, t.Any]) -> list[str]:
    """Give the layers' diff ids in order. Raises Incomparable where the engine does not tell them."""
    root = image.get("RootFS")
    layers = root.get("Layers") if isinstance(root, dict) else None
    if not isinstance(layers, list) or not layers:
        raise Incomparable("the engine tells no layers of the image")
    if not all(isinstance(layer, str) and _LAYER.fullmatch(layer) for layer in layers):
        raise Incomparable("the engine tells layers of the image that are no diff ids")
    return layers


def platform_of(image: dict[str, t.Any]) -> str:
    """Give os/architecture. Raises Incomparable."""
    system, architecture = image.get("Os"), image.get("Architecture")
    if not isinstance(system, str) or not isinstance(architecture, str) or not system or not architecture:
        raise Incomparable("the engine tells no platform of the image")
    return "%s/%s" % (system, architecture)


def config_digest(image: dict[str, t.Any]) -> str:
    """Give the sha256 over the canonical config. Raises Incomparable, Unparsable."""
    return _sha256(canonical_config(image))


def content_digest(image: dict[str, t.Any]) -> str:
    """Give the sha256 over layers and canonical config. Raises Incomparable, Unparsable."""
    return _sha256({"layers": layers_of(image), "config": canonical_config(image)})


def canonical_config(image: dict[str, t.Any]) -> dict[str, t.Any]:
    """Give what of an image's config changes what runs; null, empty and left out are the same there."""
    config = image.get("Config")
    if not isinstance(config, dict):
        raise Incomparable("the engine tells no config of the image")
    platform = platform_of(image)
    variant = _text(image, "Variant")
    if platform.endswith("/arm64") and variant == "v8":
        variant = ""  # the only one there is; some engines leave it out
    result: dict[str, t.Any] = {"platform": "%s/%s" % (platform, variant) if variant else platform}
    for name in ("Env", "Cmd", "Entrypoint"):
        result[name] = _texts(config, name)
    for name in ("User", "WorkingDir"):
        result[name] = _text(config, name)
    return result


def _text(data: dict[str, t.Any], name: str) -> str:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise Unparsable("the engine tells an image's %s that is no text" % name)
    return value or ""


def _texts(data: dict[str, t.Any], name: str) -> list[str]:
    value = data.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Unparsable("the engine tells an image's %s that is no list of texts" % name)
    return value


def labels_of(image: dict[str, t.Any]) -> dict[str, str]:
    """Give the labels. Raises Unparsable."""
    config = image.get("Config")
    labels = (config.get("Labels") if isinstance(config, dict) else None) or {}
    if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
        raise Unparsable("the engine tells labels of the image that are no texts")
    return labels


def repo_digests_of(image: dict[str, t.Any]) -> list[str]:
    """Give the digests by which registries know it, sorted. Raises Unparsable."""
    return sorted(_texts(image, "RepoDigests"))


def store_of(information: dict[str, t.Any]) -> str:
    """Give the kind of store of an engine's `/info`: graphdriver or containerd. Raises Unparsable."""
    if not isinstance(information.get("Driver"), str):
        raise Unparsable("the engine's information tells no storage driver")
    status = information.get("DriverStatus") or []
    pairs = [tuple(item) for item in status if isinstance(item, list)] if isinstance(status, list) else []
    return "containerd" if ("driver-type", "io.containerd.snapshotter.v1") in pairs else "graphdriver"


def _sha256(value: t.Any) -> str:
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()
