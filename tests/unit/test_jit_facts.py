"""The collector of just-in-time caches: the rules of each kind, where a cache lies, and caches that move."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._jit_rules import RULES
from plugins.module_utils._jit_scan import scan
from plugins.module_utils._mounts import mount_of, mount_points
from plugins.module_utils._observation import (
    Absent,
    Incomparable,
    LookError,
    NotAttempted,
    Observation,
    Unparsable,
    Unstable,
)
from plugins.module_utils._root import HostRoot
from plugins.modules.jit_facts import DOCUMENTATION, collect

from pinproof.catalogue import KINDS
from pinproof.paths import split_within
from tests.unit.file_roots import DenyingRoot, MovingRoot, case_names, run_case, write_process, write_tree

QUICK = settings(max_examples=60, deadline=None)  # the machine may be busy

TICK = 0.03
KEY = "2XJ5KQ4RWEHZPA3VYTM7DLBNOCFG6S"


def sha(data: str) -> str:
    return hashlib.sha256(data.encode()).hexdigest()


def look(root: HostRoot, **params: Any) -> Observation:
    observation = collect({"probe": "p", "kind": "jit", "params": params, "now": time.time()}, root)
    for area in (*observation.identity, *observation.state, *(split_within(path)[0] for path in observation.faults)):
        assert KINDS["jit"].attribute((area,)) is not None, area
    assert json.loads(json.dumps(observation.as_dict(), allow_nan=False)) == observation.as_dict()
    return observation


@pytest.mark.parametrize("name", case_names("jit_facts"))
def test_cases(name: str, tmp_path: Path) -> None:
    observed, expected = run_case("jit_facts", name, tmp_path, collect)
    assert observed == expected


def test_the_documentation_has_every_kind_of_cache_and_parameter() -> None:
    options = yaml.safe_load(DOCUMENTATION)["options"]
    assert set(options["cache"]["choices"]) == set(RULES)
    assert set(options) == {"kind", *KINDS["jit"].parameters}


# -- rules -----------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "relative", "reason"),
    [
        ("triton", f"{KEY}/k.cubin", ""),
        ("triton", f"{KEY}/k.json", ""),
        ("triton", f"{KEY}/__triton_launcher.so", ""),
        ("triton", f"{KEY}/__grp__k.json", "carries paths"),
        ("triton", f"{KEY}/tmp.pid_12_3f/k.cubin", "being written"),
        ("triton", f"{KEY}/k.cubin.tmp.pid_12_99", "being written"),
        ("triton", f"{KEY}/lock", "lock"),
        ("triton", "lock/k.cubin", ""),
        ("triton", "x.lock/k.cubin", ""),
        ("inductor", "ab/cabc.py", ""),
        ("inductor", "ab/cabc.best_config", "carries times"),
        ("inductor", "locks/cabc.lock", "lock"),
        ("inductor", "ab/.77.140.tmp", "being written"),
        ("inductor", "fxgraph/ab/fab/xyz", ""),
        ("inductor", "ab/c.pkl", "pickle, not written alike twice"),
        ("inductor", f"triton/0/{KEY}/__grp__k.json", "carries paths"),
        ("vllm", "torch_compile_cache/0123456789/rank_0_0/backbone/computation_graph.py", ""),
        ("vllm", "torch_aot_compile/ab/rank_0_0/model", ""),
        ("vllm", "torch_compile_cache/0123456789/rank_0_0/inductor_cache/ab/c.best_config", "carries times"),
        ("vllm", f"torch_compile_cache/0123456789/rank_0_0/triton_cache/{KEY}/k.cubin", ""),
        ("flashinfer", "0.6.18.post1/121a/cached_ops/op/op.so", ""),
        ("flashinfer", "121a/generated/op/op.cu", ""),
        ("flashinfer", "121a/cached_ops/op/build.ninja", "carries paths"),
        ("flashinfer", "121a/cached_ops/op/.ninja_log", "carries times"),
        ("flashinfer", "121a/cached_ops/op/.ninja_deps", "carries times"),
        ("flashinfer", "121a/cached_ops/op/op.o", "intermediate of a build"),
        ("flashinfer", "121a/cached_ops/op/op.cuda.o", "intermediate of a build"),
        ("flashinfer", "121a/cached_ops/engine.o/op.so", ""),
        ("flashinfer", "121a/op.lock", "lock"),
        ("deepgemm", "kernel.fp8.ab12/kernel.cubin", ""),
        ("deepgemm", "tmp/1f-2e/kernel.cu", "being written"),
        ("tilelang", "ab/kernel.so", ""),
        ("tilelang", "tmp/ab/kernel.so", "being written"),
        ("cuda", "0/1/blob", "the driver's own index and blobs"),
    ],
)
def test_rules(kind: str, relative: str, reason: str) -> None:
    assert RULES[kind].reason(relative) == reason


@QUICK
@given(st.sampled_from(sorted(RULES)), st.text(min_size=1, max_size=30))
def test_every_name_has_a_place_in_every_cache(kind: str, relative: str) -> None:
    rules = RULES[kind]
    assert isinstance(rules.reason(relative), str)
    assert rules.is_known(relative) in (True, False)


@pytest.mark.parametrize("kind", sorted(set(RULES) - {"cuda"}))
def test_a_new_kind_of_file_is_identity_and_is_told(tmp_path: Path, kind: str) -> None:
    write_tree(tmp_path / "c", {"ab/new.wasm": "x"})
    observation = look(HostRoot(str(tmp_path)), cache=kind, path="/c")
    assert observation.identity["entries"] == {"ab/new.wasm": sha("x")}
    assert observation.notes == [
        f"1 files are of a kind that the rules for {kind} do not know and count as identity, first ab/new.wasm"
    ]


# -- reading ---------------------------------------------------------------
@pytest.fixture(name="cache")
def _cache(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {
            f"var/triton/{KEY}/k.cubin": "cubin",
            f"var/triton/{KEY}/k.json": "{}",
            f"var/triton/{KEY}/__grp__k.json": '{"child_paths": {}}',
            f"var/triton/{KEY}/tmp.pid_7_ab/k.cubin": "half",
            f"var/triton/{KEY}/lock": "",
        },
    )


def test_identity_is_hashed_and_the_rest_counted(cache: Path) -> None:
    observation = look(HostRoot(str(cache)), cache="triton", path="/var/triton")
    lines = f"{sha('cubin')}  {KEY}/k.cubin\n{sha('{}')}  {KEY}/k.json\n"
    assert observation.identity == {
        "path": "/var/triton",
        "entries": {f"{KEY}/k.cubin": sha("cubin"), f"{KEY}/k.json": sha("{}")},
        "digest": sha(lines),
        "count": 2,
    }
    assert observation.state["volatile"] == {"being written": 1, "carries paths": 1, "lock": 1}
    assert observation.faults == {
        "mount": {
            "status": "incomparable",
            "why": "a mount point is told as a process sees it; name one by 'inside'",
        }
    }
    assert observation.evidence == "file"
    assert observation.scope == {"rules": "triton"}


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "lock").write_text("1"),
        lambda top: (top / "tmp.pid_8_cd").mkdir(),
        lambda top: (top / "__grp__k.json").write_text('{"child_paths": {"k": "/elsewhere/k"}}'),
        lambda top: (top / "tmp.pid_7_ab/k.cubin").unlink(),
    ],
)
def test_what_is_volatile_is_no_identity(cache: Path, change: Callable[[Path], Any]) -> None:
    before = look(HostRoot(str(cache)), cache="triton", path="/var/triton")
    time.sleep(TICK)
    change(cache / "var/triton" / KEY)
    after = look(HostRoot(str(cache)), cache="triton", path="/var/triton")
    assert after.identity == before.identity
    assert after.state["changed_at"] == before.state["changed_at"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda top: (top / "k.cubin").write_text("other"), "changed while it was read"),
        (lambda top: (top / "k.cubin").unlink(), "changed while it was read"),
        (lambda top: ((top / "k.json").unlink(), (top / "new.ptx").write_text("x")), "changed while it was read"),
        (lambda top: (top / "new.ptx").write_text("x"), r"grew while it was read \(1 new, first .*/new.ptx\)"),
    ],
)
def test_a_cache_that_moves_is_unstable_and_growth_is_told_apart(
    cache: Path, change: Callable[[Path], Any], why: str
) -> None:
    time.sleep(TICK)
    root = MovingRoot(cache, "digest", lambda: change(cache / "var/triton" / KEY))
    with pytest.raises(Unstable, match=f"^/var/triton: {why}"):
        look(root, cache="triton", path="/var/triton")


def test_volatile_files_may_come_and_go_meanwhile(cache: Path) -> None:
    def work() -> None:
        write_tree(cache, {f"var/triton/{KEY}/tmp.pid_9_ef/k.ptx": "x"})
        (cache / f"var/triton/{KEY}/lock").unlink()

    observation = look(MovingRoot(cache, "digest", work), cache="triton", path="/var/triton")
    assert observation.identity["count"] == 2


def test_what_cannot_be_read_leaves_no_digest(cache: Path) -> None:
    os.mkfifo(cache / f"var/triton/{KEY}/k.ptx")
    root = DenyingRoot(cache, f"/var/triton/{KEY}/k.json", f"/var/triton/{KEY}/tmp.pid_7_ab")
    observation = look(root, cache="triton", path="/var/triton")
    assert {path: fault["status"] for path, fault in observation.faults.items() if path != "mount"} == {
        f"entries[{KEY}/k.json]": "denied",
        f"entries[{KEY}/k.ptx]": "unparsable",
        "digest": "unparsable",
        "count": "unparsable",
    }
    assert observation.identity["entries"] == {f"{KEY}/k.cubin": sha("cubin")}


@pytest.mark.parametrize(
    ("files", "kind", "error", "why"),
    [
        ({}, "triton", Absent, "/c: not there"),
        ({"c/K/lock": ""}, "triton", Unparsable, "/c: holds nothing that is identity, 1 files in all"),
        ({"c/K/.keep/x": "-> y"}, "cuda", None, ""),
        ({"c": "a file"}, "triton", Unparsable, "/c: is not a folder"),
    ],
)
def test_no_cache(tmp_path: Path, files: dict[str, str], kind: str, error: type[LookError] | None, why: str) -> None:
    write_tree(tmp_path, files)
    if error is None:
        assert look(HostRoot(str(tmp_path)), cache=kind, path="/c").status == "ok"
    else:
        with pytest.raises(error, match=f"^{why}"):
            look(HostRoot(str(tmp_path)), cache=kind, path="/c")


def test_the_drivers_cache_is_present_and_incomparable(tmp_path: Path) -> None:
    write_tree(tmp_path, {"nv/index": "i", "nv/1/2/blob": "b"})
    observation = look(HostRoot(str(tmp_path)), cache="cuda", path="/nv")
    assert observation.identity == {"path": "/nv"}
    assert observation.state["volatile"] == {"the driver's own index and blobs": 2}
    assert {path: fault["status"] for path, fault in observation.faults.items()} == dict.fromkeys(
        ("entries", "digest", "count", "mount"), "incomparable"
    )
    (tmp_path / "void").mkdir()
    with pytest.raises(Unparsable, match=r"^/void: is empty$"):
        look(HostRoot(str(tmp_path)), cache="cuda", path="/void")


def test_links_in_a_cache_are_identity_by_target(cache: Path) -> None:
    write_tree(cache, {f"var/triton/{KEY}/k.so": "-> /usr/lib/k.so"})
    found = scan(HostRoot(str(cache)), "/var/triton", RULES["triton"])
    assert found.entries[f"{KEY}/k.so"] == "link:/usr/lib/k.so"


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"cache": "numba", "path": "/c"}, "no rules for a cache of kind 'numba'; there are cuda, deepgemm"),
        ({"cache": "triton"}, "needs either 'path' or 'variable'"),
        ({"cache": "triton", "path": "/c", "variable": "X", "inside": {"program": "vllm"}}, "and not both"),
        ({"cache": "triton", "variable": "TRITON_CACHE_DIR"}, "'variable' needs 'inside'"),
    ],
)
def test_a_look_that_does_not_say_where(tmp_path: Path, params: dict[str, Any], why: str) -> None:
    with pytest.raises(Unparsable, match=why):
        look(HostRoot(str(tmp_path)), **params)


# -- of a process ----------------------------------------------------------
MOUNTS = (
    "67 44 0:50 / / rw,relatime - overlay overlay rw\n"
    "80 67 254:0 /srv/cache /var/cache/dsv41 rw,relatime master:1 - ext4 /dev/vda rw\n"
    "81 67 254:0 /x /var/cache/dsv rw,relatime - ext4 /dev/vda rw\n"
)


def of_process(tmp_path: Path, environ: dict[str, str] | bytes, mounts: str = MOUNTS) -> Observation:
    write_tree(tmp_path, {f"containers/rank0/var/cache/dsv41/triton/{KEY}/k.cubin": "cubin"})
    selector = write_process(tmp_path, environ=environ, mounts=mounts)
    root = HostRoot(str(tmp_path), recorded=True)
    return look(root, cache="triton", variable="TRITON_CACHE_DIR", inside=selector)


def test_a_cache_where_the_process_says(tmp_path: Path) -> None:
    observation = of_process(tmp_path, {"TRITON_CACHE_DIR": "/var/cache/dsv41/triton/"})
    assert observation.identity["variable"] == "/var/cache/dsv41/triton/"
    assert observation.identity["path"] == "/var/cache/dsv41/triton"
    assert observation.identity["mount"] == "/var/cache/dsv41"
    assert observation.identity["entries"] == {f"{KEY}/k.cubin": sha("cubin")}
    assert observation.evidence == "process"
    assert observation.faults == {}


def test_a_link_inside_leads_onto_another_mount(tmp_path: Path) -> None:
    write_tree(tmp_path, {"containers/rank0/cache": "-> /var/cache/dsv41/triton"})
    observation = of_process(tmp_path, {"TRITON_CACHE_DIR": "/cache"})
    assert observation.identity["variable"] == "/cache"
    assert observation.identity["path"] == "/var/cache/dsv41/triton"
    assert observation.identity["mount"] == "/var/cache/dsv41"


@pytest.mark.parametrize(
    ("environ", "error", "why"),
    [
        ({"PATH": "/bin"}, Absent, "TRITON_CACHE_DIR: not set .* the default, ~/.triton/cache"),
        ({"TRITON_CACHE_DIR": ""}, Unparsable, "TRITON_CACHE_DIR is '' in process 4711: not an absolute path"),
        ({"TRITON_CACHE_DIR": "~/cache"}, Unparsable, "not an absolute path"),
        ({"TRITON_CACHE_DIR": "cache"}, Unparsable, "not an absolute path"),
        ({"TRITON_CACHE_DIR": "/none"}, Absent, "/none: not there"),
        (b"\0" * 64, Incomparable, "process 4711 wrote over its environment"),
        (b"TRITON_CACHE_DIR=/a\0TRITON_CACHE_DIR=/b\0", Incomparable, "with two values"),
    ],
)
def test_a_process_that_does_not_say(
    tmp_path: Path, environ: dict[str, str] | bytes, error: type[LookError], why: str
) -> None:
    with pytest.raises(error, match=why):
        of_process(tmp_path, environ)


@pytest.mark.parametrize("mounts", ["", "not a mount\n", "81 67 254:0 /x /var/cache/dsv rw - ext4 /dev/vda rw\n"])
def test_mounts_that_do_not_tell_are_a_fault(tmp_path: Path, mounts: str) -> None:
    observation = of_process(tmp_path, {"TRITON_CACHE_DIR": "/var/cache/dsv41/triton"}, mounts)
    assert observation.faults["mount"]["status"] == "unparsable"
    assert observation.identity["count"] == 1


def test_a_path_inside_a_process_root(tmp_path: Path) -> None:
    write_tree(tmp_path, {"containers/rank0/var/cache/dsv41/fi/op.so": "so", "var/cache/dsv41/fi/op.so": "host's"})
    selector = write_process(tmp_path, mounts=MOUNTS)
    root = HostRoot(str(tmp_path), recorded=True)
    observation = look(root, cache="flashinfer", path="/var/cache/dsv41/fi", inside=selector)
    assert observation.identity["entries"] == {"op.so": sha("so")}
    assert observation.identity["mount"] == "/var/cache/dsv41"
    assert "variable" not in observation.identity


def test_a_lane_of_files_only_reads_no_process(tmp_path: Path) -> None:
    with pytest.raises(NotAttempted):
        look(HostRoot(str(tmp_path), lane="files"), cache="triton", variable="X", inside={"program": "vllm"})


# -- mounts ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "mount"),
    [
        (b"/var/cache/dsv41/triton", "/var/cache/dsv41"),
        (b"/var/cache/dsv41", "/var/cache/dsv41"),
        (b"/var/cache/dsv41x", "/"),
        (b"/var/cache/dsv/x", "/var/cache/dsv"),
        (b"/", "/"),
        (b"/mnt/a b/c", "/mnt/a b"),
        (b"/mnt/tab\there\\x", "/mnt/tab\there\\\\x"),
    ],
)
def test_the_mount_of_a_path(path: bytes, mount: str) -> None:
    lines = MOUNTS + (
        "90 67 0:1 / /mnt/a\\040b rw - tmpfs tmpfs rw\n"
        "91 67 0:1 / /mnt/tab\\011here\\134x rw shared:1 master:2 - tmpfs tmpfs rw\n"
    )
    assert mount_of(path, mount_points(lines.encode(), "/m")) == mount


@QUICK
@given(
    st.lists(st.binary(min_size=1, max_size=10).filter(lambda raw: b"\0" not in raw and b"/" not in raw), max_size=4)
)
def test_any_mount_point_is_found_again(names: list[bytes]) -> None:
    point = b"/" + b"/".join(names)
    escaped = b"".join(b"\\%03o" % byte if byte in b" \t\n\\" else bytes([byte]) for byte in point)
    line = b"80 67 0:1 / " + escaped + b" rw - tmpfs tmpfs rw\n"
    assert mount_points(line, "/m") == [point]


@QUICK
@given(st.binary(max_size=120))
def test_any_bytes_are_mounts_or_a_look_error(data: bytes) -> None:
    try:
        assert isinstance(mount_points(data, "/m"), list)
    except LookError as error:
        assert error.why.startswith("/m: line ")  # noqa: PT017 - mounts are as good
