"""Spoiling: for every pin of the manifest real bytes change, in the right place, and come back."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinproof.errors import UsageError
from pinproof.manifest import load_manifest_file
from pinproof.manifest.model import Manifest
from pinproof.replica import engine, engine_log, hosts, site
from pinproof.replica.build import build
from pinproof.replica.drift import TABLES, pin_named, spoil, spoilable
from pinproof.replica.restart import restart
from pinproof.replica.site import Arm
from pinproof.replica.spoilers import CannotSpoil
from pinproof.replica.tree import Tree
from tests.unit.replica_snapshots import Watched, contents, differing, is_restamped
from tests.unit.test_replica_build import changed, start_of

MANIFEST = load_manifest_file(Path(__file__).resolve().parents[2] / "inventory/manifests/up2-low-cap.yml")
SPOILABLE = [(pin.id, host) for pin, host in spoilable(MANIFEST)]

# Where the bytes of each kind of probe lie.
PLACES: dict[str, tuple[str, ...]] = {
    "source": ("home/operator/dsv41-deploy",),
    "clone": ("home/operator/clones/dsv41-deploy",),
    "derivation": ("home/operator/dsv41-up2",),
    "link": ("home/operator/dsv41-offload",),
    "file": ("home/operator/dsv41-offload",),
    "files": ("srv/", "containers/dsv41/"),
    "tree": ("containers/dsv41/opt/dsv41", "home/operator/dsv41-offload", "srv/dspark"),
    "json": ("srv/dsv41", "containers/dsv41/srv/dsv41"),
    "status": ("var/lib/dspark-worker",),
    "sums": ("srv/dsv41-k1", "containers/dsv41/opt/dsv41/k1"),
    "emission": ("var/log/dsv41", "containers/dsv41/var/log/dsv41"),
    "jit": ("var/cache/dsv41", "containers/dsv41/var/cache/dsv41", "proc/"),
    "requests": ("home/operator/up2",),
    "container": ("run/docker.sock",),
    "containers": ("run/docker.sock",),
    "engine_log": ("run/docker.sock",),
    "process": ("proc/", "containers/dsv41/", "home/operator/dsv41-offload"),
    "fabric": ("sys/", "proc/", "containers/dsv41/etc/nccl.conf"),
    "gpu": ("run/recorded-tools/nvidia-smi", "proc/driver/nvidia"),
    "unit": ("etc/systemd", "usr/lib/systemd", "root/", "run/recorded-tools/systemctl"),
    "units": ("run/recorded-tools/systemctl",),
    "host": ("etc/", "proc/", "dev/kmsg"),
}


@pytest.fixture(scope="module", name="root")
def _root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("drift") / "replica"
    build(root, Arm("experiment", "off-1", "measured"))
    return root


@pytest.fixture(scope="module", name="watched")
def _watched(root: Path) -> Iterator[dict[str, Watched]]:
    """Every host's tree as it was built; when all is done, each is as it was."""
    found = {host: Watched(root / host) for host in site.HOSTS}
    yield found
    for tree in found.values():
        assert {path for path in tree.differing() if not is_restamped(path)} == set()


@pytest.fixture(name="spoiled")
def _spoiled(root: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """Spoil the pin that the test names as (id, host, key), and take it back."""
    pin_id, host, key = request.param
    done = spoil(root, MANIFEST, pin_id, host, key)
    yield root / host, done.description
    done.undo()


def environment_of(tree: Path, program: str = "vllm") -> dict[str, str]:
    for entry in (tree / "proc").glob("[0-9]*"):
        if program in [word.rpartition("/")[2] for word in (entry / "cmdline").read_text().split("\0")[:2]]:
            return dict(item.split("=", 1) for item in (entry / "environ").read_text().split("\0")[:-1])
    raise LookupError(program)


# -- every pin --------------------------------------------------------------------
def test_every_pin_of_run_scope_can_be_spoiled() -> None:
    of_run = {(pin.id, host) for _, pin in MANIFEST.pins() if not pin.of_experiment for host in pin.on}
    assert of_run - set(SPOILABLE) == {("production-rollback/baseline.usable", "coordinator")}
    assert set(TABLES) == set(PLACES)


@pytest.mark.parametrize(("pin_id", "host"), SPOILABLE)
def test_spoiling_changes_the_pins_own_bytes_and_comes_back(
    root: Path, watched: dict[str, Watched], pin_id: str, host: str
) -> None:
    own_tree = watched[host]
    done = spoil(root, MANIFEST, pin_id, host)
    moved = own_tree.differing()
    own = {path for path in moved if not is_restamped(path)}
    kind = MANIFEST.probes[pin_named(MANIFEST, pin_id).at.probe].kind
    assert done.description
    assert own or {path for path in moved if path.startswith(PLACES[kind])}, "no byte of the pin's own was changed"
    assert [path for path in own if not path.startswith(PLACES[kind])] == []
    done.undo()
    assert {path for path in own_tree.differing() if not is_restamped(path)} == set()


@pytest.mark.parametrize("pin_id", ["k1/k1_files.missing", "code.entries", "remote-worker/worker_tree.entries"])
def test_a_service_starts_over_what_was_changed(root: Path, pin_id: str) -> None:
    pin = next(pin for _, pin in MANIFEST.pins() if pin.id.endswith(pin_id))
    host, program = (pin.on[0], "dspark-worker") if pin.on == ("x86host",) else (pin.on[0], "vllm")
    written = (
        root
        / host
        / ("var/lib/dspark-worker/status.json" if host == "x86host" else "var/log/dsv41/verify_runtime.json")
    )
    begin = time.time()
    done = spoil(root, MANIFEST, pin.id, host)
    for _ in range(2):
        start = start_of(root / host, program)
        newest = max(changed(path) for path in (root / host / "srv").rglob("*"))
        assert begin < start <= changed(written)
        assert newest < start
        done.undo()


def test_nothing_is_restarted_for_what_shows_at_once(root: Path) -> None:
    before = start_of(root / "sparkhead", "vllm")
    done = spoil(root, MANIFEST, "k1/engine.env", "sparkhead")
    assert start_of(root / "sparkhead", "vllm") == before
    done.undo()
    assert start_of(root / "sparkhead", "vllm") == before


# -- what single spoilers do --------------------------------------------------------
@pytest.mark.parametrize(
    ("spoiled", "name", "value"),
    [
        (("k1/engine.env", "sparkpeer", None), "K1_PAIR", "4"),
        (("k1/engine.env", "sparkpeer", "K1_ALIAS"), "K1_ALIAS", "0"),
        (("k1/engine.env", "sparkpeer", "K1_FOO"), "K1_FOO", "1"),
        (("speculation/engine.env.DSV41_K_OVERRIDE", "sparkhead", None), "DSV41_K_OVERRIDE", "1"),
        (("allowed-differences/engine.env.DSV41_REPLAY", "sparkhead", None), "DSV41_REPLAY", "1"),
        (("no-bypass", "sparkhead", None), "VLLM_FORCE_UNSAFE", "1"),
        (("env-closed", "sparkhead", None), "DSV41_UNLISTED", "1"),
        (("worker-transport-cost/engine.env.DSV41_WORKER_ROUND_MS", "sparkhead", None), "DSV41_WORKER_ROUND_MS",
         "28.79,31.86,34.44,37.76,41.56,43.69"),
    ],
    indirect=["spoiled"],
)  # fmt: skip
def test_one_variable_differs(spoiled: tuple[Path, str], name: str, value: str) -> None:
    tree, description = spoiled
    found = environment_of(tree)
    clean = {**site.container_environment(hosts.rank_named(tree.name), Arm("experiment", "off-1", "measured"))}  # type: ignore[arg-type]
    assert {key for key in found if found[key] != clean.get(key)} - {"HOSTNAME", "HOME"} == {name}
    assert found[name] == value
    assert f"{name}={value}" in description
    inspected = json.loads((tree / engine.answer_path(engine.INSPECT).lstrip("/")).read_text())
    assert f"{name}={value}" in inspected["Config"]["Env"]


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        (("context-kv-pool/engine.argv.max-model-len", "sparkhead", None), b"--max-model-len\x00327681\x00"),
        (("argv-closed", "sparkhead", None), b"--unlisted\x00other\x00"),
        (("other-experiments/engine.argv.kv-transfer-config", "sparkhead", None), b"--kv-transfer-config\x00other\x00"),
        (("speculation/engine.json.speculative-config", "sparkhead", "extra"), b'"extra":true}\x00'),
        (("proxy/proxy.argv", "sparkhead", "respawns"), b"--respawns\x004\x00"),
    ],
    indirect=["spoiled"],
)
def test_one_argument_differs(spoiled: tuple[Path, str], words: bytes) -> None:
    lines = [path.read_bytes() for path in (spoiled[0] / "proc").glob("[0-9]*/cmdline")]
    assert sum(words in line for line in lines) == 1


@pytest.mark.parametrize(
    ("spoiled", "path"),
    [
        (("hosts-distinct/machine.machine_id", "coordinator", None), "etc/machine-id"),
        (("hosts-distinct/machine.boot_id", "sparkpeer", None), "proc/sys/kernel/random/boot_id"),
        (("hosts-distinct/machine.host_key", "x86host", None), "etc/ssh/ssh_host_ed25519_key.pub"),
    ],
    indirect=["spoiled"],
)
def test_two_names_are_one_machine(spoiled: tuple[Path, str], path: str) -> None:
    tree, _ = spoiled
    same = [host for host in site.HOSTS if (tree.parent / host / path).read_bytes() == (tree / path).read_bytes()]
    assert len(same) == 2


@pytest.mark.parametrize(
    ("spoiled", "text"),
    [
        (("continuity/since_engine.kernel_log.xid", "sparkhead", None), "Xid (PCI:000f:01:00)"),
        (("continuity/since_worker.kernel_log.oom_kills", "x86host", None), "Out of memory: Killed process"),
    ],
    indirect=["spoiled"],
)
def test_the_kernel_logs_after_the_start(spoiled: tuple[Path, str], text: str) -> None:
    tree, _ = spoiled
    line = (tree / "dev/kmsg").read_text().splitlines()[-1]
    boot = int(re.search(r"^btime (\d+)$", (tree / "proc/stat").read_text(), re.MULTILINE).group(1))  # type: ignore[union-attr]
    logged = boot + int(line.split(",")[2]) / 1e6
    assert text in line
    assert start_of(tree, "dspark-worker" if tree.name == "x86host" else "vllm") < logged <= time.time()


@pytest.mark.parametrize("variant", ["K1_PAIR", "MAX_BATCH"])
def test_the_abbreviation_leads_to_another_commit(root: Path, variant: str) -> None:
    clone = root / "coordinator/home/operator/clones/dsv41-deploy"
    git = ["git", "-c", "safe.directory=*", "-C", str(clone)]
    pin_id = next(pin.id for _, pin in MANIFEST.pins() if pin.at.segments == ("settings", variant, "value"))
    clean = subprocess.run([*git, "rev-parse", "21bed31"], capture_output=True, check=True).stdout
    done = spoil(root, MANIFEST, pin_id, "coordinator")
    found = subprocess.run([*git, "rev-parse", "21bed31"], capture_output=True, check=True).stdout
    flaws = subprocess.run([*git, "fsck", "--strict", "--no-dangling"], capture_output=True, check=True).stdout
    done.undo()
    assert found.startswith(b"21bed31")
    assert found != clean
    assert flaws == b""
    assert subprocess.run([*git, "rev-parse", "21bed31"], capture_output=True, check=True).stdout == clean


@pytest.mark.parametrize(
    ("spoiled", "gone", "there"),
    [
        (("engram-production-difference/engine_log.markers.engram_remote_active", "sparkpeer", None),
         "remote active", "o1 shim"),
        (("levers-engaged/engine_log.markers", "sparkhead", "throttle_engaged"), "[throttle] engaged", "[k1] engaged"),
        (("levers-engaged/engine_log.markers.lever_disarmed", "sparkhead", None), "nothing", "[throttle] disarmed"),
        (("context-kv-pool/engine_log.values.kv_pool_tokens", "sparkhead", None),
         "2,502,600 tokens", "2,131,968 tokens"),
        (("target-tp-fabric/engine_log.nccl.network", "sparkhead", None), "Using network IB", "Using network Socket"),
    ],
    indirect=["spoiled"],
)  # fmt: skip
def test_the_log_says_something_else(spoiled: tuple[Path, str], gone: str, there: str) -> None:
    logs = hosts.find_logs(Tree(spoiled[0]))
    assert len(logs) == 1
    lines = [text for _, text in engine_log.texts(logs[0].read_bytes())]
    assert not any(gone in line for line in lines)
    assert sum(there in line for line in lines) == 1


def test_spoiling_two_things_and_taking_them_back_in_turn(root: Path) -> None:
    before = contents(root / "sparkhead")
    first = spoil(root, MANIFEST, "k1/k1_files.extra", "sparkhead")
    second = spoil(root, MANIFEST, "context-kv-pool/engine_log.values.kv_pool_tokens", "sparkhead")
    second.undo()
    first.undo()
    assert {path for path in differing(before, contents(root / "sparkhead")) if not is_restamped(path)} == set()
    assert len(hosts.find_logs(Tree(root / "sparkhead"))) == 1


# -- what is refused ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("pin_id", "host", "why"),
    [
        ("production-rollback/baseline.usable", "coordinator", "about the archive"),
        ("argv-equal-across-legs", "sparkhead", "judged between runs"),
    ],
)
def test_what_cannot_be_spoiled_says_why(root: Path, pin_id: str, host: str, why: str) -> None:
    with pytest.raises(CannotSpoil, match=why):
        spoil(root, MANIFEST, pin_id, host)


@pytest.mark.parametrize(
    ("pin_id", "host", "why"),
    [
        ("k1/engine.evn", "sparkhead", "nearest: k1/engine.env"),
        ("k1/engine.env", "x86host", "it is on sparkhead, sparkpeer"),
    ],
)
def test_a_wrong_name_is_told(root: Path, pin_id: str, host: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        spoil(root, MANIFEST, pin_id, host)


def test_bytes_that_are_not_there_are_told_and_nothing_stays(root: Path) -> None:
    before = contents(root / "sparkhead")
    with pytest.raises(CannotSpoil, match="holds no such bytes"):
        spoil(root, MANIFEST, "production-rollback/deploy.files", "sparkhead", "nothing.env")
    assert contents(root / "sparkhead") == before


def test_an_attribute_without_a_spoiler_is_told(root: Path) -> None:
    pin = pin_named(MANIFEST, "image-engine-kernels/serve.running")
    wanted = dataclasses.replace(pin, at=dataclasses.replace(pin.at, segments=("user",)))
    rows = tuple(
        dataclasses.replace(row, pins=tuple(wanted if item is pin else item for item in row.pins))
        for row in MANIFEST.rows
    )
    with pytest.raises(CannotSpoil, match=r"spoils no container at serve\.user"):
        spoil(root, dataclasses.replace(MANIFEST, rows=rows), pin.id, "sparkhead")


def test_a_restart_moves_every_source_of_the_start(root: Path) -> None:
    before = start_of(root / "sparkpeer", "vllm")
    start = restart(root, "sparkpeer")
    assert start is not None
    assert before < start.seconds == pytest.approx(start_of(root / "sparkpeer", "vllm"), abs=1e-6)
    log = root / "sparkpeer" / engine.answer_path(engine.log_request(start.engine_ns())).lstrip("/")
    assert hosts.find_logs(Tree(root / "sparkpeer")) == [log]
    emitted = json.loads((root / "sparkpeer/var/log/dsv41/verify_runtime.json").read_text())["emitted_at"]
    assert start.engine_ns() // 10**9 <= int(time.time())
    assert emitted > time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start.seconds))
    assert restart(root, "coordinator") is None


def test_the_manifest_is_the_one_that_is_spoiled() -> None:
    assert isinstance(MANIFEST, Manifest)
    assert len(SPOILABLE) > 300


@pytest.mark.parametrize(("pin_id", "host"), [item for item in SPOILABLE if item[0].startswith("hosts-distinct")])
def test_other_hosts_are_not_touched(watched: dict[str, Watched], root: Path, pin_id: str, host: str) -> None:
    done = spoil(root, MANIFEST, pin_id, host)
    touched = [name for name, tree in watched.items() if {path for path in tree.differing() if not is_restamped(path)}]
    done.undo()
    assert touched == [host]
