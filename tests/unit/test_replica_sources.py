"""What the replica's machines tell besides processes: fabric, GPUs, units, files, ids."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import urllib.parse
from pathlib import Path

import pytest

from pinproof.replica import (
    caches,
    checkpoint,
    container_root,
    engine,
    machine,
    network,
    nvidia,
    requests,
    site,
    sysfs,
    systemd,
)
from pinproof.replica.build import build
from pinproof.replica.content import sha256
from pinproof.replica.site import Arm

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", name="root")
def _root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("formats") / "replica"
    build(root, Arm("experiment", "off-1", "measured"))
    return root


@pytest.fixture(name="head")
def _head(root: Path) -> Path:
    return root / "sparkhead"


# -- the fabric -------------------------------------------------------------------
def test_unused_gid_slots_are_zero_and_have_no_type(root: Path) -> None:
    for rank in site.RANKS:
        for function in sysfs.functions(rank):
            port = root / rank.name / f"sys/class/infiniband/{function.device}/ports/1"
            slots = {path.name: path.read_text().strip() for path in (port / "gids").iterdir()}
            used = {index for index, gid in slots.items() if gid != sysfs.NO_GID}
            assert used == {path.name for path in (port / "gid_attrs/types").iterdir()}
            assert used == {path.name for path in (port / "gid_attrs/ndevs").iterdir()}
            versions = [(port / f"gid_attrs/types/{index}").read_text() for index in sorted(used, key=int)]
            assert versions == ["IB/RoCE v1\n", "RoCE v2\n"] * (2 if function.up else 1)
            assert len(slots) == sysfs.GID_SLOTS


def test_ranks_hold_their_addresses_at_other_indices() -> None:
    tables = [
        {gid: index for index, gid, kind in sysfs.gid_table(sysfs.functions(rank)[1], rank.gid_hole) if kind}
        for rank in site.RANKS
    ]
    assert tables[0]["0000:0000:0000:0000:0000:ffff:0a64:1001"] == 3
    assert tables[1]["0000:0000:0000:0000:0000:ffff:0a64:1002"] == 5


@pytest.mark.parametrize(
    ("address", "gid"),
    [
        ("10.100.16.1", "0000:0000:0000:0000:0000:ffff:0a64:1001"),
        ("10.202.28.2", "0000:0000:0000:0000:0000:ffff:0aca:1c02"),
    ],
)
def test_addresses_as_gids(address: str, gid: str) -> None:
    assert sysfs.mapped_gid(address) == gid


def test_link_local_gids_flip_the_second_bit() -> None:
    assert sysfs.link_local_gid("4c:bb:47:2a:91:c1") == "fe80:0000:0000:0000:4ebb:47ff:fe2a:91c1"


def test_a_device_leads_to_its_function_and_interface(head: Path) -> None:
    device = head / "sys/class/infiniband/roceP2p1s0f1"
    assert (device / "device").resolve().name == "0002:01:00.1"
    assert [path.name for path in (device / "device/net").iterdir()] == ["enP2p1s0f1np1"]
    assert (head / "sys/class/net/enP2p1s0f1np1").resolve() == (device / "device/net/enP2p1s0f1np1").resolve()
    assert (head / "sys/class/net/enP2p1s0f0np0/speed").read_text() == "-1\n"


def test_routes_and_addresses_are_in_the_kernels_formats(root: Path) -> None:
    for host in site.HOSTS:
        lines = (root / host / "proc/net/route").read_text().splitlines()
        assert {len(line) for line in lines} == {127}
        assert " ".join(lines[0].split()) == "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT"
        assert all(
            re.fullmatch(r"\w+(\t[0-9A-F]{8}){2}\t000[13]\t0\t0\t\d+\t[0-9A-F]{8}\t0\t0\t0 *", line)
            for line in lines[1:]
        )
        trie = (root / host / "proc/net/fib_trie").read_text()
        assert f"|-- {site.MACHINES[host].management}\n              /32 host LOCAL\n" in trie
        assert trie.startswith("Main:\n  +-- 0.0.0.0/0 3 0 5\n")
    assert network.little_endian("10.100.16.1") == "0110640A"


# -- GPUs and units ---------------------------------------------------------------
def test_gpu_answers_have_as_many_cells_as_their_head(root: Path) -> None:
    for host in ("sparkhead", "sparkpeer", "x86host"):
        for command in (nvidia.QUERY, nvidia.PROCESSES):
            rows = (root / host / nvidia.answer_path(command).lstrip("/")).read_text().splitlines()
            assert len({row.count(", ") for row in rows}) == 1
            assert len(rows) >= 2
        information = list((root / host / "proc/driver/nvidia/gpus").glob("*/information"))
        uuids = {re.search(r"^GPU UUID: +(\S+)$", path.read_text(), re.MULTILINE).group(1) for path in information}  # type: ignore[union-attr]
        listed = (root / host / nvidia.answer_path(nvidia.LIST).lstrip("/")).read_text()
        assert uuids == set(re.findall(r"\(UUID: (\S+)\)", listed))


def test_the_pair_is_joined_by_nvlink(root: Path) -> None:
    text = (root / "x86host" / nvidia.answer_path(nvidia.TOPOLOGY).lstrip("/")).read_text()
    assert text.startswith("\x1b[4m\tGPU0\tGPU1\tCPU Affinity")
    assert "\nGPU0\t X \tNV4\t" in text
    assert "\nGPU1\tNV4\t X \t" in text


def test_bus_addresses_are_spelled_as_each_tool_does() -> None:
    assert nvidia.smi_bus("000f:01:00.0") == "0000000F:01:00.0"
    assert "Bus Location:    000f:01:00.0\n" in nvidia.information(nvidia.gpus_of_rank(site.SPARKHEAD)[0], 0)


def test_the_worker_unit_tells_what_the_worker_runs(root: Path) -> None:
    tree = root / "x86host"
    shown = (tree / systemd.show_path(site.WORKER_UNIT).lstrip("/")).read_text()
    facts = dict(line.partition("=")[::2] for line in shown.splitlines())
    words = (tree / f"proc/{facts['MainPID']}/cmdline").read_text().split("\0")[:-1]
    assert f"argv[]={' '.join(words)} ;" in facts["ExecStart"]
    assert (tree / f"proc/{facts['MainPID']}/cgroup").read_text() == f"0::/system.slice/{site.WORKER_UNIT}\n"
    unit = (tree / facts["FragmentPath"].lstrip("/")).read_text().replace("\\\n", " ")
    assert words == re.search(r"^ExecStart=(.+)$", unit, re.MULTILINE).group(1).split()  # type: ignore[union-attr]
    dropin = (tree / facts["DropInPaths"].lstrip("/")).read_text()
    assert f'"CUDA_VISIBLE_DEVICES={",".join(site.WORKER_GPUS)}"' in dropin


# -- bytes ------------------------------------------------------------------------
def test_the_composed_list_is_of_the_files_that_lie_there(root: Path) -> None:
    listed = (PROJECT / "inventory/manifests/up2-composed.sha256").read_text()
    assert listed == container_root.composed_list()
    for rank in site.RANKS:
        tree = root / rank.name / "containers/dsv41"
        for line in listed.splitlines():
            assert sha256((tree / line[67:]).read_bytes()) == line[:64]
        emitted = json.loads((tree / "var/log/dsv41/verify_runtime.json").read_text())
        assert [f"{item['sha256']}  {item['path']}" for item in emitted["files"]] == listed.splitlines()
        assert emitted["rank"] == rank.rank


def test_checkpoint_metadata_names_what_is_there(head: Path) -> None:
    folder = head / "srv/dsv41/legal-v2a"
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    files = set(index["weight_map"].values())
    assert files == {path.name for path in folder.glob("*.safetensors")}
    for name in files:
        data = (folder / name).read_bytes()
        size = int.from_bytes(data[:8], "little")
        ends = [tensor["data_offsets"][1] for tensor in json.loads(data[8 : 8 + size]).values()]
        assert max(ends) + 8 + size == len(data)
    assert len(checkpoint.K1_FILES) == 13


def test_caches_hold_volatile_files_and_differ_between_ranks(root: Path) -> None:
    found = {}
    for rank in site.RANKS:
        folder = root / rank.name / caches.CACHE.lstrip("/")
        found[rank.name] = {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }
    names = found["sparkhead"]
    for part in ("__grp__", "tmp.pid_", "/lock", ".ninja_log", "build.ninja", ".best_config"):
        assert any(part in name for name in names), part
    cubins = [name for name in names if name.endswith(".cubin") and "triton" in name]
    assert all(found["sparkpeer"][name] != names[name] for name in cubins)
    assert re.fullmatch(r"[A-Z2-7]{52}", caches.triton_key("x"))


def test_request_digests_are_of_the_material_beside_them(root: Path) -> None:
    folder = root / "coordinator" / requests.FOLDER.lstrip("/")
    records = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    for name in ("corpus", "order", "header", "salt_prefix"):
        assert {record[f"{name}_sha256"] for record in records} == {sha256((folder / f"{name}.txt").read_bytes())}
    assert (
        len({record["prompt_sha256"] for record in records}) == len({record["salt_sha256"] for record in records}) == 6
    )
    points = [f"{record['request']['prompt_tokens']}/{record['repetition']}" for record in records]
    assert points == (folder / "order.txt").read_text().split()


# -- machines ---------------------------------------------------------------------
def test_machines_are_distinct_and_their_keys_are_keys(root: Path, tmp_path: Path) -> None:
    for path in ("etc/machine-id", "proc/sys/kernel/random/boot_id", "etc/ssh/ssh_host_ed25519_key.pub"):
        assert len({(root / host / path).read_text() for host in site.HOSTS}) == len(site.HOSTS)
    for host in site.HOSTS:
        kind, blob, comment = (root / host / "etc/ssh/ssh_host_ed25519_key.pub").read_text().split()
        data = base64.b64decode(blob, validate=True)
        assert (kind, comment) == ("ssh-ed25519", f"root@{host}")
        assert data[:19] == b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
        assert len(data) == 51
        if shutil.which("ssh-keygen"):
            key = root / host / "etc/ssh/ssh_host_ed25519_key.pub"
            subprocess.run(["ssh-keygen", "-l", "-f", str(key)], check=True, capture_output=True)


def test_memory_lies_between_the_two_floors(root: Path) -> None:
    for rank in site.RANKS:
        text = (root / rank.name / "proc/meminfo").read_text()
        available = int(re.search(r"^MemAvailable: +(\d+) kB$", text, re.MULTILINE).group(1))  # type: ignore[union-attr]
        assert 3 << 20 < available < 5 << 20
        assert f"MemAvailable:   {available:8d} kB\n" in machine.meminfo(rank.machine)


def test_recorded_requests_are_files_named_by_their_request(head: Path) -> None:
    names = {urllib.parse.unquote(path.name) for path in (head / "run/docker.sock").iterdir()}
    assert {"/info", "/containers/json", "/containers/dsv41/json", "/containers/dsv41/changes"} <= names
    assert {f"/images/{engine.IMAGE_ID}/json", f"/images/{site.IMAGE}/json"} <= names
    assert all(len(path.name) < 255 for path in (head / "run").rglob("*"))
