"""Each machine of the replica as a whole: its files, a start on it, and what is written after the start."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pinproof.replica import (
    caches,
    checkpoint,
    container_root,
    deploy_files,
    engine,
    engine_log,
    git_repository,
    machine,
    network,
    nvidia,
    proc,
    requests,
    site,
    sysfs,
    systemd,
    worker,
)
from pinproof.replica.clock import Start
from pinproof.replica.site import HOME, Arm, Rank
from pinproof.replica.tree import Tree

DEPLOY = f"{HOME}/dsv41-deploy"
CLONE = f"{HOME}/clones/dsv41-deploy"
WRAPPERS = f"{HOME}/dsv41-up2"


def write_files(tree: Tree, name: str) -> None:
    """Write everything of a machine that no start changes."""
    rank = rank_named(name)
    described = site.MACHINES[name]
    machine.write_files(tree, described, fabric=rank is not None)
    network.write_network(tree, described, rank)
    sysfs.write_management(tree, described)
    if rank is not None:
        _write_rank(tree, rank)
    elif name == site.X86HOST.name:
        _write_worker_host(tree)
    else:
        sysfs.write_thermal(tree, {"x86_pkg_temp": 47000})
        git_repository.write_clone(tree, CLONE)
        requests.write_requests(tree)


def _write_rank(tree: Tree, rank: Rank) -> None:
    sysfs.write_fabric(tree, rank)
    sysfs.write_thermal(tree, {"acpitz": 61300 + rank.rank * 900, "nvme-composite": 44850})
    gpus = nvidia.gpus_of_rank(rank)
    nvidia.write_driver(tree, gpus, "aarch64")
    nvidia.record(tree, gpus, tuple(function.device for function in sysfs.functions(rank)))
    sysfs.write_driver_module(tree, site.DRIVER)
    systemd.write_clock_cap(tree, rank.name)
    checkpoint.write_checkpoint(tree)
    checkpoint.write_k1(tree)
    caches.write_caches(tree, rank)
    tree.folder("/var/log/dsv41")
    container_root.write_image(tree)
    container_root.write_mounts(tree)
    engine.record_image(tree, rank)
    if rank is site.SPARKHEAD:
        git_repository.write_work_tree(tree, DEPLOY)
        tree.write(f"{WRAPPERS}/UP2.env", deploy_files.UP2_ENV)
        tree.write(f"{WRAPPERS}/UP2-low-k1.env", deploy_files.UP2_LOW_K1_ENV)


def _write_worker_host(tree: Tree) -> None:
    sysfs.write_thermal(tree, {"x86_pkg_temp": 52000, "nvme-composite": 39850})
    gpus = nvidia.gpus_of_worker()
    nvidia.write_driver(tree, gpus, "x86_64")
    nvidia.record(tree, gpus, ())
    sysfs.write_driver_module(tree, site.DRIVER)
    worker.write_files(tree)


def rank_named(name: str) -> Rank | None:
    """Give the rank of this name, None for another machine."""
    return next((rank for rank in site.RANKS if rank.name == name), None)


def write_boot(tree: Tree, name: str, start: Start) -> None:
    """Write what a boot brings: the clock, and the machine's own processes."""
    machine.write_clock(tree, start)
    for process in proc.host_processes(start.ticks, bool(site.MACHINES[name].driver)):
        proc.write_process(tree, process)


def write_start(tree: Tree, name: str, arm: Arm, start: Start) -> None:
    """Write what a start of the machine's service brings; nothing on the coordinator."""
    rank = rank_named(name)
    if rank is not None:
        _start_engine(tree, rank, arm, start)
    elif name == site.X86HOST.name:
        worker.write_start(tree, start)


def _start_engine(tree: Tree, rank: Rank, arm: Arm, start: Start) -> None:
    running = engine.Running.of(rank, arm, start)
    remove_start(tree)
    for process in engine_processes(rank, arm, running):
        proc.write_process(tree, process)
    engine.record_container(tree, rank, arm, running)
    stream = engine_log.stream(engine_log.lines(rank, running.pid), running.started_ns)
    tree.write(engine.answer_path(engine.log_request(running.started_ns)), stream)
    nvidia.record_processes(tree, [(rank.gpu, running.pid, site.PYTHON)])


def engine_processes(rank: Rank, arm: Arm, running: engine.Running) -> list[proc.Process]:
    """Give the container's processes, and the shim outside that holds them."""
    holder = _shim(running)
    main = proc.Process(
        pid=running.pid,
        parent=holder.pid,
        ticks=running.start.ticks,
        argv=(site.PYTHON, "/opt/dsv41/venv/bin/vllm", *site.engine_arguments(rank)),
        environment=_process_environment(rank, arm),
        exe=container_root.BASE_PYTHON,
        cgroup=f"/system.slice/docker-{running.id}.scope",
        mapped=container_root.ENGINE_MAPPED,
        mountinfo=proc.container_mountinfo(running.id),
        root=site.CONTAINER_ROOT,
        cwd="/opt/dsv41",
        inner=1,
        threads=214,
        comm="vllm",
        mount_namespace=4026533127,
    )
    proxy = replace(
        main,
        pid=running.pid + 144,
        parent=running.pid,
        argv=(site.PROXY, *site.words(site.PROXY_ARGUMENTS)),
        exe=site.PROXY,
        mapped=container_root.PROXY_MAPPED,
        inner=145,
        threads=4,
        comm="",
    )
    return [holder, main, proxy]


def _shim(running: engine.Running) -> proc.Process:
    program = "/usr/bin/containerd-shim-runc-v2"
    return proc.Process(
        pid=running.pid - 25,
        parent=1,
        ticks=running.start.ticks - 4,
        argv=(program, "-namespace", "moby", "-id", running.id, "-address", "/run/containerd/containerd.sock"),
        environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        exe=program,
        cgroup="/system.slice/containerd.service",
        mountinfo=proc.host_mountinfo(),
    )


def _process_environment(rank: Rank, arm: Arm) -> dict[str, str]:
    """Give a process' environment as the engine makes it: PATH and host name first, the home last."""
    configured = site.container_environment(rank, arm)
    first = {"PATH": configured["PATH"], "HOSTNAME": rank.name}
    return {**first, **configured, "HOME": "/root"}


def remove_start(tree: Tree) -> None:
    """Remove the processes and the log of the engine's start before."""
    known = {str(process.pid) for process in proc.host_processes(1 << 40, driver=True)}
    folder = tree.real("/proc")
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        if entry.name.isdecimal() and entry.name not in known:
            proc.remove_process(tree, int(entry.name))
    for log in find_logs(tree):
        log.unlink()


def find_logs(tree: Tree) -> list[Path]:
    """Find the recorded logs of the engine's container."""
    prefix = re.escape(Path(engine.answer_path(engine.LOG_PREFIX)).name)
    folder = tree.real(engine.SOCKET)
    return [entry for entry in sorted(folder.iterdir()) if re.match(prefix, entry.name)] if folder.is_dir() else []


def write_after_start(tree: Tree, name: str, start: Start) -> None:
    """Write what a running service writes itself."""
    rank = rank_named(name)
    if rank is not None:
        container_root.write_emission(tree, rank, start)
    elif name == site.X86HOST.name:
        worker.write_status(tree)
