"""The kinds of probe: their collector, their parameters, and what can be pinned of each.

This is the contract between manifests and collectors. An attribute's pattern is
its path inside the observation, with `*` for any one segment and `**` for the
rest of a JSON value. Every attribute has a type, by which the expectations of a
manifest are read; scalars of YAML are never typed by guessing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pinproof.paths import split_within

AttributeType = Literal[
    "text",
    "int",
    "float",
    "bool",
    "bytes",
    "sha256",
    "commit",
    "path",
    "option",
    "json",
    "list[text]",
    "list[int]",
    "map",
]
ParameterType = Literal[
    "text", "path", "commit", "names", "bool", "int", "duration", "process", "dialect", "patterns", "dialects", "regex"
]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing that can be pinned: its type, whether it may move between arms, and where it comes from."""

    type: AttributeType
    about: str
    state: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a probe."""

    type: ParameterType
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of probe. `subject` is the parameter that a plain scalar stands for."""

    collector: str
    about: str
    subject: str
    parameters: Mapping[str, Parameter]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def attribute(self, segments: tuple[str, ...]) -> Attribute | None:
        """Find the attribute that these segments name; a prefix of attributes is a map of them."""
        for pattern, attribute in self.attributes.items():
            wanted = split_within(pattern)
            if _fits(wanted, segments):
                return attribute
        if any(_is_prefix(segments, split_within(pattern)) for pattern in self.attributes):
            return Attribute("map", "the attributes below it")
        return None

    def names_below(self, segments: tuple[str, ...]) -> list[str]:
        """List the fixed names that may follow these segments, for suggestions."""
        names = set()
        for pattern in self.attributes:
            wanted = split_within(pattern)
            if _is_prefix(segments, wanted) and len(wanted) > len(segments) and "*" not in wanted[len(segments)]:
                names.add(wanted[len(segments)])
        return sorted(names)


def _fits(wanted: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    if wanted and wanted[-1] == "**":
        return len(segments) >= len(wanted) - 1 and _is_prefix(segments[: len(wanted) - 1], wanted[:-1])
    return len(wanted) == len(segments) and _is_prefix(segments, wanted)


def _is_prefix(segments: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if len(segments) > len(wanted):
        return False
    return all(have == want or want == "*" for have, want in zip(segments, wanted, strict=False))


_A = Attribute
_P = Parameter

_INSIDE = _P("process", "read inside the root of this process' container (through /proc/PID/root)")
_SETTINGS = {
    "settings[*].value": _A("text", "the value, or the default where the launch environment may override it"),
    "settings[*].kind": _A("text", "literal, default, undecidable or malformed"),
    "settings[*].overridable": _A("bool", "true where the launch environment may override it"),
    "settings[*].line": _A("int", "the line of the assignment that decides", state=True),
    "malformed[*]": _A("text", "lines (by number) that the dialect refuses, with the reason"),
}
_CHANGED = {"changed_at": _A("float", "when the latest of the files changed, seconds since the epoch", state=True)}
_ARGUMENTS = {
    "argv[*]": _A("option", "options by name without dashes: text; a list where repeated; true where valueless"),
    "json[*][**]": _A("json", "options whose value is a JSON object or list, as JSON"),
    "arguments": _A("list[text]", "what is neither option nor option's value, in order"),
}

KINDS: Mapping[str, Kind] = {
    "source": Kind(
        "source_facts",
        "a git work tree and the bytes of its files on disk",
        "repo",
        {
            "repo": _P("path", "the work tree", required=True),
            "revision": _P("commit", "a commit or a unique abbreviation of one; blobs are taken at it"),
            "tags": _P("names", "tags to peel"),
            "files": _P("names", "files whose bytes on disk are compared with the revision's blobs"),
        },
        {
            "branch": _A("text", "the branch HEAD is on; absent when detached"),
            "head": _A("commit", "the commit HEAD leads to"),
            "revision": _A("commit", "the one commit that the parameter abbreviates"),
            "tags[*]": _A("commit", "the commit the tag peels to"),
            "modified[*]": _A("text", "tracked paths that differ from HEAD or index, with git's two letters"),
            "untracked[*]": _A("text", "untracked paths that are not ignored"),
            "files[*].sha256": _A("sha256", "bytes on disk"),
            "files[*].blob_sha256": _A("sha256", "bytes of the blob at the revision"),
            "same_as_revision[*]": _A("bool", "bytes on disk equal the blob at the revision"),
            **_CHANGED,
        },
    ),
    "clone": Kind(
        "source_facts",
        "blobs at a revision of a local clone: what the source says, not what a host holds",
        "repo",
        {
            "repo": _P("path", "the clone, bare or not", required=True),
            "revision": _P("commit", "a commit or a unique abbreviation of one", required=True),
            "files": _P("names", "files to take at the revision"),
            "env_files": _P("dialects", "files to parse, with their dialect"),
        },
        {
            "revision": _A("commit", "the one commit that the parameter abbreviates"),
            "files[*].sha256": _A("sha256", "bytes of the blob"),
            **_SETTINGS,
        },
    ),
    "link": Kind(
        "file_facts",
        "a symbolic link",
        "path",
        {"path": _P("path", "the link", required=True)},
        {
            "target": _A("text", "the text of the link"),
            "resolved": _A("path", "where it leads in the end"),
            "name": _A("text", "the last component of where it leads"),
        },
    ),
    "file": Kind(
        "file_facts",
        "one file",
        "path",
        {"path": _P("path", "the file", required=True), "inside": _INSIDE},
        {
            "sha256": _A("sha256", "its bytes"),
            "size": _A("int", "bytes"),
            "text": _A("text", "its text without the final newline, when it is at most 4 KiB"),
            "mode": _A("text", "permission bits in octal"),
            "resolved": _A("path", "where the path leads in the end"),
            **_CHANGED,
        },
    ),
    "files": Kind(
        "file_facts",
        "named files of one folder",
        "under",
        {
            "under": _P("path", "the folder", required=True),
            "names": _P("names", "the files, relative to it", required=True),
            "inside": _INSIDE,
        },
        {
            "resolved": _A("path", "where the folder leads in the end"),
            "files[*].sha256": _A("sha256", "its bytes"),
            "files[*].size": _A("int", "bytes"),
            **_CHANGED,
        },
    ),
    "tree": Kind(
        "file_facts",
        "a folder with everything in it",
        "path",
        {
            "path": _P("path", "the folder", required=True),
            "ignore": _P("names", "globs of relative paths left out"),
            "inside": _INSIDE,
        },
        {
            "digest": _A("sha256", "over the sorted entries"),
            "count": _A("int", "entries"),
            "bytes": _A("int", "size of all files"),
            "entries[*]": _A("text", "by relative path: a file's sha256, or `link:TARGET`"),
            "shadows[*]": _A("text", "importable files or folders beside the tree that could be loaded in its stead"),
            "resolved": _A("path", "where the path leads in the end"),
            **_CHANGED,
        },
    ),
    "json": Kind(
        "file_facts",
        "a JSON file",
        "file",
        {"file": _P("path", "the file", required=True), "inside": _INSIDE},
        {"value[**]": _A("json", "its value"), "sha256": _A("sha256", "its bytes"), **_CHANGED},
    ),
    "status": Kind(
        "file_facts",
        "a JSON status file that a process rewrites, with its age",
        "file",
        {"file": _P("path", "the file", required=True), "inside": _INSIDE},
        {
            "value[**]": _A("json", "its value"),
            "age_s": _A("float", "seconds between its last change and the look", state=True),
            **_CHANGED,
        },
    ),
    "env_file": Kind(
        "file_facts",
        "an environment file, parsed in its dialect and never sourced",
        "file",
        {
            "file": _P("path", "the file", required=True),
            "dialect": _P("dialect", "shell, container, compose or systemd", required=True),
        },
        {**_SETTINGS, "sha256": _A("sha256", "its bytes"), **_CHANGED},
    ),
    "derivation": Kind(
        "file_facts",
        "two environment files of which one derives from the other",
        "derived",
        {
            "base": _P("path", "the base file", required=True),
            "derived": _P("path", "the derived file", required=True),
            "dialect": _P("dialect", "shell, container, compose or systemd", required=True),
        },
        {
            "added[*]": _A("text", "keys only the derived file sets, with the value"),
            "removed[*]": _A("text", "keys only the base file sets, with the value"),
            "changed[*].base": _A("text", "value in the base file"),
            "changed[*].derived": _A("text", "value in the derived file"),
            "kept[*]": _A("text", "keys with the same value and spelling in both"),
            **_CHANGED,
        },
    ),
    "sums": Kind(
        "file_facts",
        "a folder against a sha256sum list that lies on the host",
        "list",
        {
            "list": _P("path", "the list, in the format of sha256sum", required=True),
            "under": _P("path", "the folder its names are relative to", required=True),
            "inside": _INSIDE,
        },
        {
            "count": _A("int", "names listed"),
            "matching": _A("int", "files whose bytes are those listed"),
            "listed[*]": _A("sha256", "the list itself"),
            "missing[*]": _A("sha256", "listed, and not in the folder"),
            "extra[*]": _A("sha256", "in the folder, and not listed"),
            "differing[*].listed": _A("sha256", "the listed digest of a file that differs"),
            "differing[*].actual": _A("sha256", "the digest of its bytes"),
            **_CHANGED,
        },
    ),
    "emission": Kind(
        "file_facts",
        "what the engine's own verifier emitted about its bytes",
        "file",
        {"file": _P("path", "the emitted JSON", required=True), "inside": _INSIDE},
        {
            "tool": _A("text", "the emitter's name"),
            "count": _A("int", "files it covers"),
            "files[*]": _A("sha256", "by path: the digest it measured"),
            "not_ok[*]": _A("text", "files that it did not find as it expected, with its reason"),
            "emitted_at": _A("text", "its own time stamp", state=True),
            **_CHANGED,
        },
    ),
    "requests": Kind(
        "file_facts",
        "the requests and answers of a run, one JSON object a line",
        "file",
        {
            "file": _P("path", "the JSONL file", required=True),
            "sizes": _P("names", "the prompt sizes that a complete run has, in tokens"),
            "repetitions": _P("int", "how often a complete run has each size; fewer are no answer yet"),
        },
        {
            "count": _A("int", "records"),
            "sizes[*]": _A("int", "by exact prompt tokens: repetitions"),
            "settings[*]": _A("json", "by request field: its value; a list of the values where requests differ"),
            "hashes[*]": _A("text", "corpus, order, header, salt_prefix: the digest; a list where requests differ"),
            "prompts[*]": _A("sha256", "by SIZE/REPETITION: the prompt's digest"),
            "salts[*]": _A("sha256", "by SIZE/REPETITION: the salt's digest"),
            "answers[*]": _A("json", "by answer field (cached_tokens, ...): as settings"),
            "duplicates[*]": _A("text", "SIZE/REPETITION recorded more than once, with the lines"),
            **_CHANGED,
        },
    ),
    "container": Kind(
        "image_facts",
        "a container and the image it runs, over the engine's socket",
        "name",
        {
            "name": _P("text", "the container's name", required=True),
            "socket": _P("path", "the engine's socket (default /run/docker.sock)"),
        },
        {
            "running": _A("bool", "the engine says it runs"),
            "image.reference": _A("text", "the image as the container was started with it"),
            "image.tag": _A("text", "the tag in that reference"),
            "image.content": _A("sha256", "layer diff ids and canonical config of the image that runs"),
            "image.layers": _A("list[text]", "layer diff ids in order"),
            "image.config": _A("sha256", "canonical config: platform, Env, Cmd, Entrypoint, User, WorkingDir"),
            "image.labels[*]": _A("text", "labels of the image"),
            "image.platform": _A("text", "os/architecture"),
            "image.id": _A("text", "the engine's id; its meaning depends on the store"),
            "image.repo_digests": _A("list[text]", "digests a registry knows it by, sorted"),
            "image.store": _A("text", "graphdriver or containerd"),
            "image.tag_names_running": _A("bool", "the tag still names the image that runs"),
            "mounts[*].source": _A("path", "by destination: what is mounted"),
            "mounts[*].type": _A("text", "bind, volume, tmpfs"),
            "mounts[*].writable": _A("bool", "mounted for writing"),
            "changes[*]": _A("text", "paths the container itself changed against its image: added, modified, deleted"),
            "env[*]": _A("text", "the container's configured environment"),
            "command": _A("list[text]", "entry point and command"),
            "user": _A("text", "configured user"),
            "network_mode": _A("text", "host, none, bridge, ..."),
            "privileged": _A("bool", "started privileged"),
            "restart_count": _A("int", "restarts since it was created", state=True),
            "oom_killed": _A("bool", "the engine saw an out-of-memory kill", state=True),
            "id": _A("text", "container id", state=True),
            "pid": _A("int", "its main process", state=True),
            "started_at": _A("text", "the engine's start time", state=True),
        },
    ),
    "containers": Kind(
        "image_facts",
        "which containers run on the host",
        "socket",
        {"socket": _P("path", "the engine's socket (default /run/docker.sock)")},
        {"running[*]": _A("text", "by name: the image as listed")},
    ),
    "engine_log": Kind(
        "image_facts",
        "the container's log since its start, through the engine, bounded",
        "container",
        {
            "container": _P("text", "the container's name", required=True),
            "socket": _P("path", "the engine's socket (default /run/docker.sock)"),
            "values": _P("patterns", "by name: a pattern whose one group is the value"),
            "markers": _P("patterns", "by name: a pattern that shows it"),
            "tail": _P("int", "lines to ask for (default 20000)"),
        },
        {
            "values[*]": _A("text", "by name: the value of the last line that shows it"),
            "markers[*]": _A("bool", "by name: shown since the container's start"),
            "nccl.devices": _A("list[text]", "devices that NCCL's log line enumerates, with port, in its order"),
            "nccl.network": _A("text", "the network NCCL says it uses"),
            "nccl.out_of_band": _A("text", "interface of the out-of-band connection"),
            "lines": _A("int", "lines read", state=True),
            "first_at": _A("text", "time of the first line", state=True),
        },
    ),
    "process": Kind(
        "process_facts",
        "a running process: argument vector, environment, executable, libraries",
        "container",
        {
            "container": _P("text", "in this container; alone: its main process"),
            "unit": _P("text", "the main process of this unit"),
            "pid_file": _P("path", "the process whose id stands in this file"),
            "program": _P("text", "the one whose program (or script) has this file name"),
            "socket": _P("path", "the engine's socket (default /run/docker.sock)"),
            "libraries": _P("names", "stems of mapped libraries to hash and count, such as libnccl"),
        },
        {
            **_ARGUMENTS,
            "program": _A("text", "argument 0, or the script where that is an interpreter"),
            "interpreter": _A("list[text]", "the interpreter and its options, where the program is a script or module"),
            "exe.path": _A("path", "executable, as its own root sees it"),
            "exe.sha256": _A("sha256", "its bytes"),
            "exe.deleted": _A("bool", "replaced or removed since it was started"),
            "env[*]": _A("text", "initial environment"),
            "env_source": _A("text", "process, or ancestor where a title wiped its own"),
            "libraries[*][*]": _A("sha256", "by stem, by path: sha256 of the mapped file"),
            "library_counts[*]": _A("int", "by stem: different files mapped"),
            "deleted_libraries[*]": _A("text", "mapped files that are gone from disk"),
            "cwd": _A("path", "working directory"),
            "user": _A("text", "numeric effective user id"),
            "container": _A("text", "id of the container its control group names", state=True),
            "pid": _A("int", "process id", state=True),
            "started_at": _A("float", "start time, seconds since the epoch", state=True),
        },
    ),
    "unit": Kind(
        "unit_facts",
        "a systemd unit: its files, and what systemd has loaded",
        "name",
        {"name": _P("text", "the unit", required=True), "user": _P("text", "a user's unit: the user's name")},
        {
            "file.fragment": _A("path", "the unit file that wins"),
            "file.dropins": _A("list[text]", "drop-in files in the order in which they apply"),
            "file.masked": _A("bool", "masked"),
            "file.digests[*]": _A("sha256", "by path: bytes of fragment and drop-ins"),
            "file.exec.program": _A("path", "program of the (last) ExecStart"),
            **{f"file.exec.{name}": attribute for name, attribute in _ARGUMENTS.items()},
            "file.environment[*]": _A("text", "Environment= after all drop-ins"),
            "file.environment_files": _A("list[text]", "EnvironmentFile= after all drop-ins"),
            "file.settings[*]": _A("text", "other settings, by Section.Key; repeated ones joined by a newline"),
            "loaded.load_state": _A("text", "loaded, not-found, masked, error, bad-setting"),
            "loaded.active_state": _A("text", "active, inactive, failed, ..."),
            "loaded.sub_state": _A("text", "running, exited, dead, ..."),
            "loaded.unit_file_state": _A("text", "enabled, disabled, static, ..."),
            "loaded.fragment": _A("path", "the file systemd loaded"),
            "loaded.dropins": _A("list[text]", "drop-ins systemd loaded"),
            "loaded.needs_reload": _A("bool", "files changed since systemd loaded them"),
            "loaded.exec.program": _A("path", "program of the loaded ExecStart"),
            "loaded.exec.command": _A("text", "the loaded ExecStart, joined by blanks as systemd prints it"),
            "loaded.environment[*]": _A("text", "loaded Environment="),
            "loaded.main_pid": _A("int", "main process", state=True),
            "loaded.invocation_id": _A("text", "this start of the unit", state=True),
            "loaded.restarts": _A("int", "automatic restarts", state=True),
            **_CHANGED,
        },
    ),
    "units": Kind(
        "unit_facts",
        "which units of a name pattern are active",
        "pattern",
        {"pattern": _P("text", "a glob of unit names", required=True)},
        {"active[*]": _A("text", "by unit: its sub-state")},
    ),
    "gpu": Kind(
        "gpu_facts",
        "GPUs: identity, links, clocks",
        "samples",
        {"samples": _P("int", "clock samples to take (default 3)")},
        {
            "uuids": _A("list[text]", "UUIDs, sorted"),
            "gpus[*].name": _A("text", "by UUID: product"),
            "gpus[*].bus": _A("text", "by UUID: PCI address, normalised"),
            "gpus[*].video_bios": _A("text", "by UUID: VBIOS version"),
            "driver": _A("text", "kernel driver version"),
            "links[*]": _A("text", "by UUID+UUID (sorted): connection in the topology matrix (NV4, PHB, ...)"),
            "persistence[*]": _A("text", "by UUID: persistence mode"),
            "persistence_modes": _A("list[text]", "the different persistence modes, sorted"),
            "clocks.sm_mhz": _A("int", "highest SM clock over the samples of all GPUs"),
            "clocks.samples[*][**]": _A("json", "by UUID: the samples in MHz", state=True),
            "processes[*]": _A("int", "by program file name: compute processes"),
            "temperature_c[*]": _A("int", "by UUID", state=True),
        },
    ),
    "fabric": Kind(
        "nccl_facts",
        "RDMA devices, their netdevs and addresses, and NCCL's merged settings",
        "process",
        {
            "process": _P("process", "the process whose NCCL settings count"),
            "master": _P("text", "address whose route is looked up"),
        },
        {
            "devices[*].state": _A("text", "port state: ACTIVE, DOWN, ..."),
            "devices[*].physical_state": _A("text", "LinkUp, Disabled, ..."),
            "devices[*].link_layer": _A("text", "Ethernet or InfiniBand"),
            "devices[*].rate": _A("text", "as the kernel prints it"),
            "devices[*].netdev": _A("text", "its network interface"),
            "devices[*].pci": _A("text", "its PCI function"),
            "gids[*][*]": _A("text", "by device, by `GID TYPE`: its netdev"),
            "gid_index[*][*]": _A("int", "by device, by `GID TYPE`: index", state=True),
            "netdevs[*].mtu": _A("int", "MTU"),
            "netdevs[*].speed_mbps": _A("int", "negotiated speed"),
            "netdevs[*].operational_state": _A("text", "up, down, ..."),
            "netdevs[*].addresses": _A("list[text]", "IPv4 addresses, sorted"),
            "netdevs[*].hardware_address": _A("text", "MAC address"),
            "route.interface": _A("text", "interface of the route to the master address"),
            "nccl.settings[*].value": _A("text", "by variable: the merged value"),
            "nccl.settings[*].origin": _A("text", "process, or the configuration file"),
            "nccl.devices": _A("list[text]", "device:port that NCCL_IB_HCA selects, sorted"),
            "nccl.socket_interfaces": _A("list[text]", "interfaces that NCCL_SOCKET_IFNAME selects, sorted"),
        },
    ),
    "jit": Kind(
        "jit_facts",
        "a just-in-time cache tree, by the rules of its kind",
        "cache",
        {
            "cache": _P("text", "triton, inductor, vllm, flashinfer, deepgemm, tilelang or cuda", required=True),
            "path": _P("path", "where the cache lies"),
            "variable": _P("text", "or: the variable of the process that says where"),
            "inside": _INSIDE,
        },
        {
            "variable": _A("text", "value of the variable"),
            "path": _A("path", "the tree that was hashed"),
            "mount": _A("path", "the mount point the tree lies on, as the process sees it"),
            "digest": _A("sha256", "over the entries that are identity"),
            "count": _A("int", "entries that are identity"),
            "entries[*]": _A("text", "by relative path: sha256"),
            "volatile[*]": _A("int", "by reason: files left out", state=True),
            **_CHANGED,
        },
    ),
    "host": Kind(
        "host_facts",
        "the machine: ids, kernel, driver, memory, temperatures, kernel log",
        "log_since",
        {"log_since": _P("process", "count kernel log lines since this process started (default: since boot)")},
        {
            "machine_id": _A("text", "machine id"),
            "boot_id": _A("text", "id of this boot", state=True),
            "host_key": _A("text", "fingerprint of the machine's SSH host key"),
            "hostname": _A("text", "kernel's host name"),
            "kernel": _A("text", "kernel release"),
            "architecture": _A("text", "machine architecture"),
            "driver": _A("text", "NVIDIA kernel module version"),
            "cma_total": _A("bytes", "CmaTotal"),
            "memory.total": _A("bytes", "MemTotal"),
            "memory.available": _A("bytes", "MemAvailable", state=True),
            "memory.free": _A("bytes", "MemFree", state=True),
            "temperature_c[*]": _A("int", "by thermal zone", state=True),
            "kernel_log.xid[*]": _A("text", "Xid and NVRM lines, by sequence number", state=True),
            "kernel_log.oom_kills[*]": _A("text", "out-of-memory kills, by sequence number", state=True),
        },
    ),
}
