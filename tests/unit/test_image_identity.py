"""An image is its layers and what of its config changes what runs, in either store."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._image_identity import (
    canonical_config,
    config_digest,
    content_digest,
    image_id,
    labels_of,
    layers_of,
    platform_of,
    repo_digests_of,
    store_of,
    tag_of,
)
from plugins.module_utils._observation import Incomparable, Unparsable

LAYER = "sha256:" + "1" * 64
IMAGE: dict[str, Any] = {
    "Id": "sha256:" + "a" * 64,
    "Os": "linux",
    "Architecture": "arm64",
    "Config": {
        "Env": ["A=1"],
        "Cmd": ["serve"],
        "Entrypoint": None,
        "User": "",
        "WorkingDir": "/w",
        "Labels": {"l": "v"},
    },
    "RootFS": {"Type": "layers", "Layers": [LAYER, "sha256:" + "2" * 64]},
}


def changed(**values: Any) -> dict[str, Any]:
    return {**IMAGE, **values}


def configured(**values: Any) -> dict[str, Any]:
    return changed(Config={**IMAGE["Config"], **values})


def test_canonical_config_is_what_changes_what_runs() -> None:
    assert canonical_config(IMAGE) == {
        "platform": "linux/arm64",
        "Env": ["A=1"],
        "Cmd": ["serve"],
        "Entrypoint": [],
        "User": "",
        "WorkingDir": "/w",
    }


@pytest.mark.parametrize(
    "same",
    [
        configured(Entrypoint=[]),
        changed(Config={name: value for name, value in IMAGE["Config"].items() if name not in ("Entrypoint", "User")}),
        configured(Labels={"other": "label"}),
        configured(Hostname="x", ExposedPorts={"1/tcp": {}}),
        changed(Variant="v8"),
        changed(Variant=None),
        changed(
            Id="sha256:" + "b" * 64, RepoDigests=["x@sha256:" + "c" * 64], Created="2026", GraphDriver={"Name": "x"}
        ),
    ],
)
def test_what_stores_and_releases_tell_differently_is_the_same_image(same: dict[str, Any]) -> None:
    assert content_digest(same) == content_digest(IMAGE)
    assert config_digest(same) == config_digest(IMAGE)


@pytest.mark.parametrize(
    "other",
    [
        configured(Env=["A=2"]),
        configured(Env=["A=1", "B=1"]),
        configured(Cmd=["serve", ""]),
        configured(Cmd=[], Entrypoint=["serve"]),
        configured(User="0"),
        configured(WorkingDir="/"),
        changed(Architecture="amd64"),
        changed(Variant="v7"),
        changed(RootFS={"Layers": list(reversed(IMAGE["RootFS"]["Layers"]))}),
        changed(RootFS={"Layers": [LAYER]}),
    ],
)
def test_another_image_is_another(other: dict[str, Any]) -> None:
    assert content_digest(other) != content_digest(IMAGE)


@pytest.mark.parametrize(
    "root", [None, {}, {"Layers": None}, {"Layers": []}, {"Layers": ["sha256:1"]}, {"Layers": [1]}, []]
)
def test_without_layers_there_is_no_identity(root: Any) -> None:
    for look in (layers_of, content_digest):
        with pytest.raises(Incomparable, match="layers"):
            look(changed(RootFS=root))


@pytest.mark.parametrize(
    ("image", "error"),
    [
        (changed(Config=None), Incomparable),
        (changed(Os=""), Incomparable),
        (changed(Architecture=None), Incomparable),
        (changed(Variant=8), Unparsable),
        (configured(Env="A=1"), Unparsable),
        (configured(Cmd=[1]), Unparsable),
        (configured(User=0), Unparsable),
    ],
)
def test_a_config_that_can_not_be_read(image: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        config_digest(image)


def test_other_leaves() -> None:
    assert platform_of(IMAGE) == "linux/arm64"
    assert layers_of(IMAGE) == IMAGE["RootFS"]["Layers"]
    assert labels_of(IMAGE) == {"l": "v"}
    assert labels_of(configured(Labels=None)) == {}
    assert repo_digests_of(changed(RepoDigests=["b", "a"])) == ["a", "b"]
    assert repo_digests_of(changed(RepoDigests=None)) == []
    with pytest.raises(Unparsable):
        labels_of(configured(Labels={"l": 1}))
    with pytest.raises(Unparsable):
        repo_digests_of(changed(RepoDigests="x"))


@pytest.mark.parametrize(
    ("reference", "tag"),
    [
        ("demo:v5", "v5"),
        ("dsv41-vllm:v5", "v5"),
        ("demo", None),
        ("registry.example:5000/demo", None),
        ("registry.example:5000/demo:v5", "v5"),
        ("localhost/a/b:1.2-x_y", "1.2-x_y"),
        ("demo@sha256:" + "a" * 64, None),
        ("demo:v5@sha256:" + "a" * 64, None),
        ("sha256:" + "a" * 64, None),
        ("a" * 64, None),
        (":v5", None),
        ("demo:", None),
        ("", None),
    ],
)
def test_tag(reference: str, tag: str | None) -> None:
    assert tag_of(reference) == tag


@given(st.text(max_size=30))
def test_any_reference_has_a_tag_or_none(reference: str) -> None:
    tag = tag_of(reference)
    assert tag is None or reference.endswith(":" + tag)


def test_image_id() -> None:
    assert image_id("a" * 64, "x") == image_id("sha256:" + "a" * 64, "x") == "sha256:" + "a" * 64
    for text in ("localhost/demo:v5", "a" * 12, "sha256:", "", None, 7):
        with pytest.raises(Incomparable, match="x: the engine names the image"):
            image_id(text, "x")


@pytest.mark.parametrize(
    ("information", "store"),
    [
        ({"Driver": "overlay2", "DriverStatus": [["Backing Filesystem", "extfs"]]}, "graphdriver"),
        ({"Driver": "vfs", "DriverStatus": None}, "graphdriver"),
        ({"Driver": "overlayfs", "DriverStatus": [["driver-type", "io.containerd.snapshotter.v1"]]}, "containerd"),
        ({"Driver": "overlay", "DriverStatus": "odd"}, "graphdriver"),
    ],
)
def test_store(information: dict[str, Any], store: str) -> None:
    assert store_of(information) == store


def test_store_that_is_not_told() -> None:
    with pytest.raises(Unparsable, match="no storage driver"):
        store_of({})
