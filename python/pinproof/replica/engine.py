"""The container engine of a serving node: its answers, one file a GET, where its socket would be.

A file is named by the percent-encoded path and query of the request and holds
the body of the answer. What is not there, the engine does not know (404).
"""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from dataclasses import dataclass
from typing import Any

from pinproof.replica import site
from pinproof.replica.clock import Start, nanosecond_time
from pinproof.replica.content import sha256
from pinproof.replica.site import Arm, Rank
from pinproof.replica.tree import Tree

SOCKET = "/run/docker.sock"
LOG_TAIL = 20000
INSPECT = f"/containers/{site.CONTAINER}/json"
CHANGES = f"/containers/{site.CONTAINER}/changes"
RUNNING = "/containers/json"
INFO = "/info"
LOG_PREFIX = f"/containers/{site.CONTAINER}/logs?stdout=1&stderr=1&timestamps=1&since="

IMAGE_ID = "sha256:" + sha256("config of dsv41-vllm:v5")
LAYERS = tuple("sha256:" + sha256(f"layer {number} of dsv41-vllm:v5") for number in range(9))
_CREATED = "2026-10-22T18:04:51.220917336Z"
_ENTRYPOINT = ["/opt/dsv41/venv/bin/vllm"]


@dataclass(frozen=True, slots=True)
class Running:
    """The container as it runs: its id, its main process, the start of that process."""

    id: str
    pid: int
    start: Start

    @classmethod
    def of(cls, rank: Rank, arm: Arm, start: Start) -> Running:
        """Give the container of this arm that starts at that moment; another moment is another container."""
        text = f"{rank.name} {arm.state} {arm.leg} {arm.start} {start.hundredths}"
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(digest, 20000 + int(digest[:8], 16) % 40000, start)

    @property
    def started_ns(self) -> int:
        """The engine's note of the start, in nanoseconds since the epoch."""
        return self.start.engine_ns()


def answer_path(request: str) -> str:
    """Give the path of the file that answers this GET."""
    return f"{SOCKET}/{urllib.parse.quote(request, safe='')}"


def log_request(started_ns: int) -> str:
    """Give the request for the log since the container's start."""
    return f"{LOG_PREFIX}{started_ns // 1_000_000_000}&tail={LOG_TAIL}"


def image_request(reference: str) -> str:
    """Give the request for an image, by id or by reference."""
    return f"/images/{reference}/json"


def dump(value: Any) -> str:
    """Spell JSON as the engine does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"


def record_image(tree: Tree, rank: Rank) -> None:
    """Record what no start of the container changes: the image and the engine itself."""
    tree.write(answer_path(image_request(IMAGE_ID)), dump(image()))
    tree.write(answer_path(image_request(site.IMAGE)), dump(image()))
    tree.write(answer_path(INFO), dump(info(rank)))


def record_container(tree: Tree, rank: Rank, arm: Arm, running: Running) -> None:
    """Record the container, but for its log."""
    tree.write(answer_path(INSPECT), dump(inspect(rank, arm, running)))
    tree.write(answer_path(CHANGES), "null\n")
    tree.write(answer_path(RUNNING), dump([listed(rank, running)]))


def image() -> dict[str, Any]:
    """Give the answer about the image."""
    config = _config(None, [f"{name}={value}" for name, value in site.IMAGE_ENVIRONMENT.items()])
    return {
        "Id": IMAGE_ID,
        "RepoTags": [site.IMAGE],
        "RepoDigests": [],
        "Parent": "",
        "Comment": "buildkit.dockerfile.v0",
        "Created": _CREATED,
        "DockerVersion": "",
        "Author": "",
        "Config": {**config, "Image": "", "Cmd": None},
        "Architecture": "arm64",
        "Variant": "v8",
        "Os": "linux",
        "Size": 24861170233,
        "GraphDriver": _graph_driver("image"),
        "RootFS": {"Type": "layers", "Layers": list(LAYERS)},
        "Metadata": {"LastTagTime": "2026-10-22T18:09:12.004415209Z"},
    }


def _config(hostname: str | None, environment: list[str]) -> dict[str, Any]:
    return {
        "Hostname": hostname or "",
        "Domainname": "",
        "User": "",
        "AttachStdin": False,
        "AttachStdout": False,
        "AttachStderr": False,
        "Tty": False,
        "OpenStdin": False,
        "StdinOnce": False,
        "Env": environment,
        "Cmd": None,
        "Image": site.IMAGE,
        "Volumes": None,
        "WorkingDir": "/opt/dsv41",
        "Entrypoint": _ENTRYPOINT,
        "OnBuild": None,
        "Labels": {"org.opencontainers.image.title": "dsv41-vllm", "org.opencontainers.image.version": "v5"},
    }


def _graph_driver(label: str) -> dict[str, Any]:
    folder = f"/var/lib/docker/overlay2/{sha256(label)}"
    data = {"LowerDir": f"{folder}-init/diff", "MergedDir": f"{folder}/merged", "UpperDir": f"{folder}/diff"}
    return {"Data": {**data, "WorkDir": f"{folder}/work"}, "Name": "overlay2"}


def inspect(rank: Rank, arm: Arm, running: Running) -> dict[str, Any]:
    """Give the answer about the container."""
    arguments = site.engine_arguments(rank)
    environment = [f"{name}={value}" for name, value in site.container_environment(rank, arm).items()]
    folder = f"/var/lib/docker/containers/{running.id}"
    return {
        "Id": running.id,
        "Created": nanosecond_time(running.started_ns - 412_000_000),
        "Path": _ENTRYPOINT[0],
        "Args": arguments,
        "State": _state(running),
        "Image": IMAGE_ID,
        "ResolvConfPath": f"{folder}/resolv.conf",
        "HostnamePath": f"{folder}/hostname",
        "HostsPath": f"{folder}/hosts",
        "LogPath": f"{folder}/{running.id}-json.log",
        "Name": f"/{site.CONTAINER}",
        "RestartCount": 0,
        "Driver": "overlay2",
        "Platform": "linux",
        "MountLabel": "",
        "ProcessLabel": "",
        "AppArmorProfile": "docker-default",
        "ExecIDs": None,
        "HostConfig": _host_config(),
        "GraphDriver": _graph_driver(running.id),
        "Mounts": [_mount(*mount) for mount in site.MOUNTS],
        "Config": {**_config(rank.name, environment), "Cmd": arguments},
        "NetworkSettings": {"Bridge": "", "Ports": {}, "Networks": {"host": {"NetworkID": sha256("host network")}}},
    }


def _state(running: Running) -> dict[str, Any]:
    return {
        "Status": "running",
        "Running": True,
        "Paused": False,
        "Restarting": False,
        "OOMKilled": False,
        "Dead": False,
        "Pid": running.pid,
        "ExitCode": 0,
        "Error": "",
        "StartedAt": nanosecond_time(running.started_ns),
        "FinishedAt": "0001-01-01T00:00:00Z",
    }


def _mount(source: str, destination: str, writable: bool) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": source,
        "Destination": destination,
        "Mode": "" if writable else "ro",
        "RW": writable,
        "Propagation": "rprivate",
    }


def _host_config() -> dict[str, Any]:
    return {
        "Binds": [f"{source}:{there}{'' if writable else ':ro'}" for source, there, writable in site.MOUNTS],
        "LogConfig": {"Type": "json-file", "Config": {}},
        "NetworkMode": "host",
        "PortBindings": {},
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "AutoRemove": False,
        "CapAdd": ["CAP_IPC_LOCK"],
        "CapDrop": None,
        "CgroupnsMode": "private",
        "IpcMode": "host",
        "PidMode": "",
        "Privileged": False,
        "ReadonlyRootfs": False,
        "ShmSize": 67108864,
        "Runtime": "runc",
        "Memory": 0,
        "Devices": [
            {"PathOnHost": "/dev/infiniband", "PathInContainer": "/dev/infiniband", "CgroupPermissions": "rwm"}
        ],
        "DeviceRequests": [{"Driver": "", "Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]], "Options": {}}],
        "OomKillDisable": None,
        "Ulimits": [{"Name": "memlock", "Hard": -1, "Soft": -1}],
    }


def listed(rank: Rank, running: Running) -> dict[str, Any]:
    """Give the container's entry in the list of running ones."""
    command = " ".join([*_ENTRYPOINT, *site.engine_arguments(rank)])
    return {
        "Id": running.id,
        "Names": [f"/{site.CONTAINER}"],
        "Image": site.IMAGE,
        "ImageID": IMAGE_ID,
        "Command": command,
        "Created": running.started_ns // 1_000_000_000,
        "Ports": [],
        "Labels": {"org.opencontainers.image.title": "dsv41-vllm", "org.opencontainers.image.version": "v5"},
        "State": "running",
        "Status": "Up 2 hours",
        "HostConfig": {"NetworkMode": "host"},
        "NetworkSettings": {"Networks": {"host": {"NetworkID": sha256("host network")}}},
        "Mounts": [_mount(*mount) for mount in site.MOUNTS],
    }


def info(rank: Rank) -> dict[str, Any]:
    """Give the answer about the engine: an upgraded one, its images in the graph driver's store."""
    return {
        "ID": f"6e1f3f0c-5d1b-4b07-9c39-{sha256(rank.name)[:12]}",
        "Containers": 1,
        "ContainersRunning": 1,
        "ContainersPaused": 0,
        "ContainersStopped": 0,
        "Images": 7,
        "Driver": "overlay2",
        "DriverStatus": [["Backing Filesystem", "extfs"], ["Supports d_type", "true"], ["Using metacopy", "false"]],
        "CgroupDriver": "systemd",
        "CgroupVersion": "2",
        "KernelVersion": rank.machine.kernel,
        "OperatingSystem": "Ubuntu 24.04.3 LTS",
        "OSType": "linux",
        "Architecture": "aarch64",
        "NCPU": 20,
        "MemTotal": rank.machine.memory_total * 1024,
        "DockerRootDir": "/var/lib/docker",
        "Name": rank.name,
        "ServerVersion": "28.5.1",
        "DefaultRuntime": "runc",
        "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
        "Warnings": None,
    }
