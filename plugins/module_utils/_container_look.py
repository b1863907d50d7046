# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at a container with the image that runs in it, and at all that run.

This module util is private to the collectors.
"""

from __future__ import annotations

import functools
import typing as t

from . import _container_settings as settings
from . import _image_identity as identity
from ._container import Container, find_container, need_same
from ._disclosure import Disclosure
from ._engine import Engine, is_image_reference
from ._leaves import set_leaf
from ._observation import Absent, Incomparable, LookError, Observation, Unparsable, Unstable

_LEAVES: tuple[tuple[str, tuple[str, ...], type], ...] = (
    ("network_mode", ("HostConfig", "NetworkMode"), str),
    ("privileged", ("HostConfig", "Privileged"), bool),
)
_STATE_LEAVES: tuple[tuple[str, tuple[str, ...], type], ...] = (
    ("restart_count", ("RestartCount",), int),
    ("oom_killed", ("State", "OOMKilled"), bool),
)
_OF_THE_IMAGE: tuple[tuple[str, t.Callable[[dict[str, t.Any]], t.Any]], ...] = (
    ("content", identity.content_digest),
    ("layers", identity.layers_of),
    ("config", identity.config_digest),
    ("labels", identity.labels_of),
    ("platform", identity.platform_of),
    ("repo_digests", identity.repo_digests_of),
)


def look_at_container(engine: Engine, name: str, disclosure: Disclosure) -> Observation:
    """Look at one container. Raises a LookError where it is not there, can not be asked for, or moved."""
    container = find_container(engine, name)
    observation = Observation("loaded", "engine")
    observation.identity["running"] = container.running
    observation.state.update(id=container.id, pid=container.pid, started_at=container.started_at)
    if container.status == "paused":
        observation.notes.append("the container is paused")
    _configured(observation, container.data)
    _command_and_environment(observation, container.data, disclosure)
    _changes(observation, engine, container)
    _image(observation, engine, container)
    need_same(engine, container)
    return observation


def _configured(observation: Observation, data: dict[str, t.Any]) -> None:
    for name, where, kind in _LEAVES:
        set_leaf(observation, observation.identity, (name,), functools.partial(settings.leaf, data, where, kind))
    for name, where, kind in _STATE_LEAVES:
        set_leaf(observation, observation.state, (name,), functools.partial(settings.leaf, data, where, kind))
    set_leaf(observation, observation.identity, ("user",), lambda: settings.leaf(data, ("Config", "User"), str) or None)
    set_leaf(observation, observation.identity, ("mounts",), lambda: settings.mounts(data))


def _command_and_environment(observation: Observation, data: dict[str, t.Any], disclosure: Disclosure) -> None:
    set_leaf(
        observation,
        observation.identity,
        ("command",),
        lambda: [disclosure.value("command", item) for item in settings.command(data)],
    )
    try:
        values, repeated = settings.environment(data)
    except LookError as error:
        observation.fault("env", error)
        return
    observation.identity["env"] = {name: disclosure.value(name, value) for name, value in values.items()}
    if repeated:
        observation.notes.append("given more than once, the last counts: %s" % ", ".join(repeated))


def _changes(observation: Observation, engine: Engine, container: Container) -> None:
    mounted = observation.identity.get("mounts")
    if mounted is None:
        observation.fault("changes", Incomparable("without the mounts, changes can not be told from mount points"))
        return
    set_leaf(
        observation,
        observation.identity,
        ("changes",),
        lambda: settings.changes(_changes_answer(engine, container), mounted),
    )


def _changes_answer(engine: Engine, container: Container) -> t.Any:
    try:
        return engine.json("/containers/%s/changes" % container.name)
    except Absent as error:
        # It was there a moment ago.
        raise Unstable(error.why) from None


# -- the image that runs ---------------------------------------------------
def _image(observation: Observation, engine: Engine, container: Container) -> None:
    image: dict[str, t.Any] = {}
    observation.identity["image"] = image
    set_leaf(observation, image, ("image", "store"), lambda: identity.store_of(engine.object("/info")))
    set_leaf(
        observation, image, ("image", "reference"), lambda: settings.leaf(container.data, ("Config", "Image"), str)
    )
    reference = str(image.get("reference", ""))
    if reference:
        set_leaf(observation, image, ("image", "tag"), lambda: identity.tag_of(reference))
    names = [name for name, _ in _OF_THE_IMAGE]
    try:
        image["id"] = identity.image_id(container.data.get("Image"), "container %s" % container.name)
        found = _inspected(engine, str(container.data["Image"]))
    except LookError as error:
        for name in [*names, "tag_names_running", *([] if "id" in image else ["id"])]:
            observation.fault("image." + name, error)
        return
    for name, look in _OF_THE_IMAGE:
        set_leaf(observation, image, ("image", name), functools.partial(look, found))
    set_leaf(observation, image, ("image", "tag_names_running"), lambda: _names(engine, reference, image["id"]))
    if image.get("tag_names_running") is False:
        observation.notes.append("%s names another image now, or none: a restart changes what runs" % reference)


def _inspected(engine: Engine, running: str) -> dict[str, t.Any]:
    try:
        found = engine.object("/images/%s/json" % running)
    except Absent:
        raise Incomparable("the image that runs (%s) was removed from the engine" % running) from None
    if identity.image_id(found.get("Id"), running) != identity.image_id(running, running):
        raise Unparsable("%s: the engine answers with another image" % running)
    return found


def _names(engine: Engine, reference: str, running: str) -> bool:
    if not is_image_reference(reference):
        raise Unparsable("'%s' is no image reference that an engine can be asked for" % reference)
    try:
        named = engine.object("/images/%s/json" % reference)
    except Absent:
        return False
    return identity.image_id(named.get("Id"), reference) == running


# -- all containers --------------------------------------------------------
def look_at_containers(engine: Engine) -> Observation:
    """Look at which containers run. Raises a LookError."""
    observation = Observation("loaded", "engine")
    running = _listed(engine)
    if _listed(engine) != running:
        raise Unstable("containers were started or ended during the look")
    observation.identity["running"] = {name: image for name, (_, image) in running.items()}
    return observation


def _listed(engine: Engine) -> dict[str, tuple[str, str]]:
    """Give id and image of the running containers by name."""
    answer = engine.json("/containers/json")
    if not isinstance(answer, list):
        raise Unparsable("the engine tells containers that are no list")
    found: dict[str, tuple[str, str]] = {}
    for item in answer:
        container_id, image = settings.leaf(item, ("Id",), str), settings.leaf(item, ("Image",), str)
        names = [str(name).lstrip("/") for name in item.get("Names") or []]
        # A link shows as a name below another container's.
        own = [name for name in names if name and "/" not in name]
        name = own[0] if own else str(container_id)[:12]
        if name in found:
            raise Unparsable("the engine tells two containers of the name %s" % name)
        found[name] = (str(container_id), str(image))
    return found
