"""Spoiling what the container engine tells: the container, its image, its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pinproof.replica import clock, engine, engine_log, hosts, site
from pinproof.replica.content import sha256
from pinproof.replica.spoilers import Spoil, Table

_INSPECT = engine.answer_path(engine.INSPECT)
_RUNNING = engine.answer_path(engine.RUNNING)
_CHANGES = engine.answer_path(engine.CHANGES)
_BY_REFERENCE = engine.answer_path(engine.image_request(site.IMAGE))
_BY_ID = engine.answer_path(engine.image_request(engine.IMAGE_ID))
_MARKERS = {
    "engram_remote_active": "[engram] remote active",
    "k1_engaged": "[k1] engaged",
    "dspark_engaged": "[dspark] engaged",
    "throttle_engaged": "[throttle] engaged",
}
_DISARMED = "[throttle] disarmed after 24 rounds"


def _running(spoil: Spoil) -> str:
    inspected = spoil.json(_INSPECT)
    inspected["State"].update(Status="exited", Running=False, Pid=0, ExitCode=137)
    spoil.write_json(_INSPECT, inspected)
    return "the engine says that the container has exited"


def _tag(spoil: Spoil) -> str:
    """Let the container be started by another tag of the same image."""
    reference = site.IMAGE.rpartition(":")[0] + ":v4"
    inspected = spoil.json(_INSPECT)
    inspected["Config"]["Image"] = reference
    spoil.write_json(_INSPECT, inspected)
    for path in (_BY_ID, _BY_REFERENCE, engine.answer_path(engine.image_request(reference))):
        spoil.write_json(path, {**spoil.json(_BY_ID), "RepoTags": [reference, site.IMAGE]})
    return f"the container was started as {reference}"


def _content(spoil: Spoil) -> str:
    for path in (_BY_ID, _BY_REFERENCE):
        image = spoil.json(path)
        image["RootFS"]["Layers"][-1] = "sha256:" + sha256("another last layer")
        spoil.write_json(path, image)
    return "the image has another last layer"


def _tag_moved(spoil: Spoil) -> str:
    image = spoil.json(_BY_REFERENCE)
    image["Id"] = "sha256:" + sha256("a newer image")
    image["RootFS"]["Layers"].append("sha256:" + sha256("one more layer"))
    spoil.write_json(_BY_REFERENCE, image)
    return f"{site.IMAGE} names another image now"


def _mount(spoil: Spoil) -> str:
    """Change a pinned mount, or add one under a name that is refused."""
    inspected = spoil.json(_INSPECT)
    mounts: list[dict[str, Any]] = inspected["Mounts"]
    found = next((mount for mount in mounts if mount["Destination"] == spoil.key), None)
    if found is not None:
        found["RW"] = not found["RW"]
        told = f"{spoil.key} is mounted {'for writing' if found['RW'] else 'for reading'}"
    else:
        name = spoil.key if spoil.key.startswith("/") else f"/opt/dsv41/{spoil.key}"
        mounts.append({**mounts[0], "Source": f"/srv/overlays/{name.rpartition('/')[2]}", "Destination": name})
        told = f"{name} is mounted too"
    spoil.write_json(_INSPECT, inspected)
    return told


def _network_mode(spoil: Spoil) -> str:
    inspected = spoil.json(_INSPECT)
    inspected["HostConfig"]["NetworkMode"] = "bridge" if inspected["HostConfig"]["NetworkMode"] == "host" else "host"
    spoil.write_json(_INSPECT, inspected)
    return f"the container runs in network mode {inspected['HostConfig']['NetworkMode']}"


def _privileged(spoil: Spoil) -> str:
    inspected = spoil.json(_INSPECT)
    inspected["HostConfig"]["Privileged"] = not inspected["HostConfig"]["Privileged"]
    spoil.write_json(_INSPECT, inspected)
    return "the container's privileges differ"


def _change(spoil: Spoil) -> str:
    path = "/opt/dsv41/engine/entry.py"
    spoil.write_json(_CHANGES, [{"Path": "/opt/dsv41/engine", "Kind": 0}, {"Path": path, "Kind": 0}])
    return f"the container changed {path}"


def _restarted(spoil: Spoil) -> str:
    inspected = spoil.json(_INSPECT)
    inspected["RestartCount"] = 1
    spoil.write_json(_INSPECT, inspected)
    return "the engine counts a restart"


def _out_of_memory(spoil: Spoil) -> str:
    inspected = spoil.json(_INSPECT)
    inspected["State"]["OOMKilled"] = True
    spoil.write_json(_INSPECT, inspected)
    return "the engine saw an out-of-memory kill"


def _listed(spoil: Spoil) -> str:
    """Give a listed container another image, or list one more."""
    running = spoil.json(_RUNNING)
    found = next((item for item in running if item["Names"] == [f"/{spoil.key}"]), None)
    if found is not None:
        found["Image"] = site.IMAGE.rpartition(":")[0] + ":v4"
        told = f"{spoil.key} is listed with {found['Image']}"
    else:
        extra = {"Id": sha256(spoil.key), "Names": [f"/{spoil.key}"], "Image": "busybox:1.37"}
        running.append({**running[0], **extra, "ImageID": "sha256:" + sha256("busybox")})
        told = f"a container {spoil.key} runs too"
    spoil.write_json(_RUNNING, running)
    return told


# -- the log ---------------------------------------------------------------------
def _rewrite_log(spoil: Spoil, change: Callable[[list[tuple[int, str]]], list[tuple[int, str]]]) -> None:
    path = f"{engine.SOCKET}/{hosts.find_logs(spoil.journal.tree)[0].name}"
    started = spoil.json(_INSPECT)["State"]["StartedAt"]
    entries = change(engine_log.texts(spoil.journal.read(path)))
    spoil.journal.write(path, engine_log.stream(entries, clock.nanoseconds(started)))


def _replace_in_log(spoil: Spoil, old: str, new: str) -> None:
    _rewrite_log(spoil, lambda entries: [(kind, text.replace(old, new)) for kind, text in entries])


def _pool(spoil: Spoil) -> str:
    _replace_in_log(spoil, "2,502,600 tokens", "2,131,968 tokens")
    return "the engine logged a pool of 2,131,968 tokens"


def _marker(spoil: Spoil) -> str:
    name = spoil.key or spoil.segments[1]
    text = _MARKERS.get(name)
    if text is None:
        _rewrite_log(spoil, lambda entries: [*entries, (engine_log.STDOUT, _DISARMED)])
        return f"the log's last line is {_DISARMED}"
    _rewrite_log(spoil, lambda entries: [entry for entry in entries if text not in entry[1]])
    return f"the log has no line {text}"


def _devices(spoil: Spoil) -> str:
    _replace_in_log(spoil, " [1]roceP2p1s0f1:1/RoCE", "")
    return "NCCL logged that it uses rocep1s0f1 alone"


def _network(spoil: Spoil) -> str:
    _replace_in_log(spoil, "Using network IB", "Using network Socket")
    return "NCCL logged that it uses sockets"


CONTAINER: Table = {
    "running": _running,
    "image/tag": _tag,
    "image/content": _content,
    "image/tag_names_running": _tag_moved,
    "mounts": _mount,
    "changes": _change,
    "network_mode": _network_mode,
    "privileged": _privileged,
    "restart_count": _restarted,
    "oom_killed": _out_of_memory,
}
CONTAINERS: Table = {"running": _listed}
ENGINE_LOG: Table = {
    "values/*": _pool,
    "markers": _marker,
    "nccl/devices": _devices,
    "nccl/network": _network,
}
