"""The collector of files: every kind as the catalogue has it, here and inside a process' root."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from plugins.module_utils import _file_looks, _tree_looks
from plugins.module_utils._disclosure import Disclosure
from plugins.module_utils._observation import Absent, LookError, NotAttempted, NoTool, Observation, Unparsable, Unstable
from plugins.module_utils._reading import Reading
from plugins.module_utils._root import HostRoot
from plugins.modules import file_facts
from plugins.modules.file_facts import DOCUMENTATION, collect

from pinproof.catalogue import KINDS
from pinproof.paths import split_within
from tests.unit.file_roots import DenyingRoot, MovingRoot, case_names, run_case, write_process, write_tree

TICK = 0.03
MINE = sorted(name for name, kind in KINDS.items() if kind.collector == "file_facts")


def sha(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def look(root: HostRoot, kind: str, now: float | None = None, **params: Any) -> Observation:
    observation = collect(
        {"probe": "p", "kind": kind, "params": params, "now": now or time.time(), "disclose": {"plain": [], "key": ""}},
        root,
    )
    for area in (*observation.identity, *observation.state):
        assert KINDS[kind].attribute((area,)) is not None, area
    for path in (*observation.faults, *observation.levels):
        assert KINDS[kind].attribute(split_within(path)) is not None, path
    assert json.loads(json.dumps(observation.as_dict(), allow_nan=False)) == observation.as_dict()
    return observation


@pytest.mark.parametrize("name", case_names("file_facts"))
def test_cases(name: str, tmp_path: Path) -> None:
    observed, expected = run_case("file_facts", name, tmp_path, collect)
    assert observed == expected


def test_the_documentation_has_every_kind_and_parameter() -> None:
    documentation = yaml.safe_load(DOCUMENTATION)
    assert sorted(documentation["options"]["kind"]["choices"]) == MINE
    parameters = {name for kind in MINE for name in KINDS[kind].parameters}
    assert set(documentation["options"]) == parameters | {"kind"}


def test_a_kind_of_another_collector_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unparsable, match="no look of kind 'gpu'"):
        collect({"kind": "gpu", "params": {}, "now": 0.0}, HostRoot(str(tmp_path)))


@pytest.mark.parametrize("kind", ["env_file", "derivation"])
def test_environment_files_are_looked_at_with_what_may_be_disclosed(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(params: dict[str, Any], root: HostRoot, disclosure: Disclosure) -> Observation:
        observation = Observation("file", root.prefix)
        observation.identity = {"plain": disclosure.value("K1_PAIR", "3"), "not": disclosure.value("X", "3"), **params}
        return observation

    monkeypatch.setattr(file_facts, "look_" + kind, looked)
    request = {"kind": kind, "params": {"dialect": "shell"}, "now": 0.0, "disclose": {"plain": ["K1_*"], "key": "ab"}}
    identity = collect(request, HostRoot(str(tmp_path))).identity
    assert identity == {"plain": "3", "not": identity["not"], "dialect": "shell"}
    assert identity["not"].startswith("keyed:")


# -- link ------------------------------------------------------------------
@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {
            "prod/fb68c52/SOURCE_COMMIT": "fb68c52\n",
            "prod/current": "-> fb68c52",
            "srv/model/config.json": '{"a": 1}',
            "srv/model/tokenizer.json": "{}",
            "srv/model/sub/quant.json": "[]",
            "var/status.json": '{"tensor_parallel": 2, "hello": {"checkpoint": "be2c"}}',
        },
    )


def test_a_link_and_where_it_leads(tree: Path) -> None:
    assert look(HostRoot(str(tree)), "link", path="/prod/current").identity == {
        "target": "fb68c52",
        "resolved": "/prod/fb68c52",
        "name": "fb68c52",
    }


@pytest.mark.parametrize(
    ("target", "identity", "fault", "note"),
    [
        ("gone", {"target": "gone"}, None, "leads to something that is not there"),
        ("loop", {"target": "loop"}, "symbolic links form a loop", None),
        ("/", {"target": "/", "resolved": "/", "name": ""}, None, None),
    ],
)
def test_links_that_lead_elsewhere(
    tree: Path, target: str, identity: dict[str, str], fault: str | None, note: str | None
) -> None:
    (tree / "prod/loop").symlink_to("loop")
    (tree / "prod/link").symlink_to(target)
    observation = look(HostRoot(str(tree)), "link", path="/prod/link")
    assert observation.identity == identity
    assert {path: fault in error["why"] for path, error in observation.faults.items() if fault} == (
        {"resolved": True, "name": True} if fault else {}
    )
    assert [note in text for text in observation.notes if note] == ([True] if note else [])


def test_a_folder_in_the_place_of_a_link_has_no_target(tree: Path) -> None:
    observation = look(HostRoot(str(tree)), "link", path="/prod/fb68c52")
    assert observation.identity == {"resolved": "/prod/fb68c52", "name": "fb68c52"}
    assert observation.notes == ["/prod/fb68c52 is no symbolic link: a file or folder lies in its place"]


def test_a_link_that_is_not_there_is_absent(tree: Path) -> None:
    with pytest.raises(Absent):
        look(HostRoot(str(tree)), "link", path="/prod/none")


def test_a_link_turned_while_it_is_read_is_unstable(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = HostRoot(str(tree))
    targets = iter(["fb68c52", "0000000"])
    monkeypatch.setattr(root, "readlink", lambda path: next(targets))
    with pytest.raises(Unstable, match="turned elsewhere"):
        look(root, "link", path="/prod/current")


# -- file ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"fb68c52\n", "fb68c52"),
        (b"fb68c52", "fb68c52"),
        (b"fb68c52\n\n", "fb68c52\n"),
        (b"fb68c52\r\n", "fb68c52\r"),
        (b" fb68c52 \n", " fb68c52 "),
        (b"\n", ""),
        (b"a\nb\n", "a\nb"),
        (b"a" * 4096 + b"\n", "a" * 4096),
        (b"a" * 4097, None),
        (b"a" * 4097 + b"\n", None),
        (b"\xff\n", None),
    ],
)
def test_a_files_text_is_told_where_it_is_short(tmp_path: Path, content: bytes, text: str | None) -> None:
    (tmp_path / "f").write_bytes(content)
    (tmp_path / "f").chmod(0o4750)
    observation = look(HostRoot(str(tmp_path)), "file", path="/f")
    expected: dict[str, Any] = {"sha256": sha(content), "size": len(content), "mode": "4750", "resolved": "/f"}
    assert observation.identity == (expected if text is None else {**expected, "text": text})
    assert set(observation.faults) == ({"text"} if text is None else set())
    assert observation.evidence == "file"


def test_a_file_of_the_kernel_has_the_size_of_its_content(tmp_path: Path) -> None:
    # As in /proc: a stat of no bytes, and content all the same.
    root = HostRoot("")
    observation = look(root, "file", path="/proc/sys/kernel/ostype")
    assert observation.identity["text"] == "Linux"
    assert observation.identity["size"] == 6


@pytest.mark.parametrize(
    ("path", "error", "why"),
    [
        ("/none", Absent, "/none: not there"),
        ("/empty", Unparsable, "/empty: is empty"),
        ("/folder", Unparsable, "/folder: is not a regular file"),
        ("/pipe", Unparsable, "/pipe: is not a regular file"),
        ("relative", Unparsable, "relative: not an absolute path"),
    ],
)
def test_no_file(tmp_path: Path, path: str, error: type[LookError], why: str) -> None:
    write_tree(tmp_path, {"empty": "", "folder/f": "x"})
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(error, match=f"^{why}$"):
        look(HostRoot(str(tmp_path)), "file", path=path)


def test_a_file_replaced_between_two_reads_is_unstable(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one")
    with pytest.raises(Unstable):
        look(MovingRoot(tmp_path, "digest", lambda: (tmp_path / "f").write_text("two")), "file", path="/f")


# -- files -----------------------------------------------------------------
def test_files_of_a_folder(tree: Path) -> None:
    observation = look(HostRoot(str(tree)), "files", under="/srv/model", names=["config.json", "sub/quant.json"])
    assert observation.identity == {
        "resolved": "/srv/model",
        "files": {
            "config.json": {"sha256": sha('{"a": 1}'), "size": 8},
            "sub/quant.json": {"sha256": sha("[]"), "size": 2},
        },
    }
    assert observation.scope == {"files": ["config.json", "sub/quant.json"]}


def test_each_file_has_a_status_of_its_own(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tree, {"srv/model/empty.json": "", "srv/model/denied.json": "x", "srv/model/dir/x": "", "srv/out": "x"})
    (tree / "srv/model/loop").symlink_to("loop")
    names = ["config.json", "gone.json", "empty.json", "denied.json", "dir", "loop", "../out", "/srv/out", "a[0]"]
    observation = look(DenyingRoot(tree, "/srv/model/denied.json"), "files", under="/srv/model", names=names)
    assert list(observation.identity["files"]) == ["config.json"]
    assert {path: (fault["status"], fault["why"].split(": ")[-1]) for path, fault in observation.faults.items()} == {
        "files[empty.json]": ("unparsable", "is empty"),
        "files[denied.json]": ("denied", "permission denied (EACCES)"),
        "files[dir]": ("unparsable", "is not a regular file"),
        "files[loop]": ("unparsable", "symbolic links form a loop"),
        "files[../out]": ("unparsable", "leads out of /srv/model; name it as a file of its own"),
        "files[/srv/out]": ("unparsable", "leads out of /srv/model; name it as a file of its own"),
    }


def test_a_fault_of_a_name_with_brackets_is_a_fault_of_all(tree: Path) -> None:
    write_tree(tree, {"srv/model/a[0]": ""})
    observation = look(HostRoot(str(tree)), "files", under="/srv/model", names=["a[0]", "config.json"])
    assert list(observation.faults) == ["files"]


@pytest.mark.parametrize(("under", "error"), [("/srv/none", Absent), ("/srv/model/config.json", Unparsable)])
def test_no_folder_of_files(tree: Path, under: str, error: type[LookError]) -> None:
    with pytest.raises(error, match=under):
        look(HostRoot(str(tree)), "files", under=under, names=["a"])


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda top: (top / "tokenizer.json").write_text("[]"), True),
        (lambda top: (top / "gone.json").unlink(), True),
        (lambda top: (top / "sub/gone.json").unlink(), True),
        (lambda top: (top.rename(top.parent / "old"), shutil.copytree(top.parent / "old", top)), True),
        (lambda top: (top.rename(top.parent / "x"), (top.parent / "x").rename(top)), True),
        (lambda top: (top / "sub/beside").write_text(""), False),
    ],
)
def test_what_counts_as_a_change_of_files(tree: Path, change: Callable[[Path], Any], counts: bool) -> None:
    write_tree(tree, {"srv/model/gone.json": "x", "srv/model/sub/gone.json": "x"})
    started = time.time()
    time.sleep(TICK)
    change(tree / "srv/model")
    names = ["tokenizer.json", *(["gone.json"] if not (tree / "srv/model/gone.json").exists() else [])]
    names += ["sub/gone.json"] if not (tree / "srv/model/sub/gone.json").exists() else []
    observation = look(HostRoot(str(tree)), "files", under="/srv/model", names=names)
    assert (observation.state["changed_at"] > started) is counts


# -- tree ------------------------------------------------------------------
def test_a_tree_with_what_lies_beside_it(tree: Path) -> None:
    write_tree(tree, {"srv/model.py": "", "srv/model/sub/__pycache__/x.pyc": "x"})
    observation = look(HostRoot(str(tree)), "tree", path="/srv/model", ignore=["__pycache__"])
    assert observation.identity["count"] == 3
    assert observation.identity["bytes"] == 12
    assert observation.identity["resolved"] == "/srv/model"
    assert observation.identity["shadows"] == {"model.py": "Python module"}
    assert observation.notes == ["1 names are left out by `ignore`"]
    assert observation.scope == {"ignore": ["__pycache__"]}


def test_a_tree_that_cannot_be_read_whole_has_no_digest(tree: Path) -> None:
    os.mkfifo(tree / "srv/model/pipe")
    observation = look(HostRoot(str(tree)), "tree", path="/srv/model")
    assert set(observation.faults) == {"entries[pipe]", "digest", "count", "bytes"}
    assert set(observation.identity) == {"entries", "shadows", "resolved"}
    assert "1 of its entries could not be read, first /srv/model/pipe: is a FIFO" in observation.faults["digest"]["why"]


def test_very_many_faults_are_one(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tree_looks, "FAULT_LIMIT", 2)
    for name in ("p1", "p2", "p3"):
        os.mkfifo(tree / "srv/model" / name)
    observation = look(HostRoot(str(tree)), "tree", path="/srv/model")
    assert set(observation.faults) == {"entries", "digest", "count", "bytes"}
    assert "3 could not be read" in observation.faults["entries"]["why"]


def test_a_tree_whose_neighbours_cannot_be_listed(tree: Path) -> None:
    observation = look(DenyingRoot(tree, "/srv"), "tree", path="/srv/model")
    assert observation.faults["shadows"]["status"] == "denied"
    assert "shadows" not in observation.identity
    assert observation.identity["count"] == 3


# -- json, status ----------------------------------------------------------
def test_json_with_the_digest_of_its_bytes(tree: Path) -> None:
    observation = look(HostRoot(str(tree)), "json", file="/srv/model/config.json")
    assert observation.identity == {"value": {"a": 1}, "sha256": sha('{"a": 1}')}


def test_a_status_with_its_age(tree: Path) -> None:
    os.utime(tree / "var/status.json", (1e9, 1e9))
    observation = look(HostRoot(str(tree)), "status", now=1e9 + 12.5, file="/var/status.json")
    assert observation.identity == {"value": {"tensor_parallel": 2, "hello": {"checkpoint": "be2c"}}}
    assert observation.state == {"changed_at": 1e9, "age_s": 12.5}
    assert observation.notes == []


@pytest.mark.parametrize(("ahead", "noted"), [(4.0, False), (60.0, True)])
def test_a_status_ahead_of_the_clock(tree: Path, ahead: float, noted: bool) -> None:
    os.utime(tree / "var/status.json", (1e9, 1e9))
    observation = look(HostRoot(str(tree)), "status", now=1e9 - ahead, file="/var/status.json")
    assert observation.state["age_s"] == -ahead
    assert observation.notes == (["/var/status.json was last written 60 s ahead of this host's clock"] if noted else [])


@pytest.mark.parametrize("broken", ["", '{"tensor_', '{"a": 1}'])
def test_a_status_caught_while_it_is_rewritten_is_read_again(
    tree: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree / "var/status.json"
    whole = path.read_text()
    path.write_text(broken)
    monkeypatch.setattr(_file_looks, "STATUS_PAUSE_S", 0.0)
    observation = look(MovingRoot(tree, "read", lambda: path.write_text(whole)), "status", file="/var/status.json")
    assert observation.identity["value"]["tensor_parallel"] == 2


@pytest.mark.parametrize(("content", "why"), [("", "is empty"), ("{", "not JSON")])
def test_a_status_that_stays_broken_is_unparsable(
    tree: Path, content: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_file_looks, "STATUS_PAUSE_S", 0.0)
    (tree / "var/status.json").write_text(content)
    with pytest.raises(Unparsable, match=f"/var/status.json: {why}"):
        look(HostRoot(str(tree)), "status", file="/var/status.json")


# -- sums ------------------------------------------------------------------
@pytest.fixture(name="k1")
def _k1(tmp_path: Path) -> Path:
    files = {f"k{number}.so": f"kernel {number}" for number in range(13)}
    listing = "".join(f"{sha(text)}  {name}\n" for name, text in files.items())
    return write_tree(tmp_path, {f"k1/{name}": text for name, text in {**files, "K1.sha256": listing}.items()})


def sums(root: HostRoot, the_list: str = "/k1/K1.sha256") -> Observation:
    return look(root, "sums", list=the_list, under="/k1")


def test_all_that_is_listed_is_there_and_nothing_else(k1: Path) -> None:
    identity = sums(HostRoot(str(k1))).identity
    assert {key: identity[key] for key in identity if key != "listed"} == {
        "count": 13,
        "matching": 13,
        "missing": {},
        "extra": {},
        "differing": {},
    }
    assert identity["listed"]["k3.so"] == sha("kernel 3")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda top: (top / "k3.so").write_text("x"),
            {"differing": {"k3.so": {"listed": sha("kernel 3"), "actual": sha("x")}}},
        ),
        (
            lambda top: (top / "k3.so").write_text(""),
            {"differing": {"k3.so": {"listed": sha("kernel 3"), "actual": sha("")}}},
        ),
        (lambda top: (top / "k3.so").unlink(), {"missing": {"k3.so": sha("kernel 3")}}),
        (lambda top: write_tree(top, {"sub/k3.pyc": "x"}), {"extra": {"sub/k3.pyc": sha("x")}}),
        (lambda top: write_tree(top, {"link": "-> k3.so"}), {"extra": {"link": "link:k3.so"}}),
        (
            lambda top: ((top / "k3.so").unlink(), write_tree(top, {"k3.so": "-> gone"})),
            {"missing": {"k3.so": sha("kernel 3")}},
        ),
    ],
)
def test_one_change_is_one_difference_from_the_list(
    k1: Path, change: Callable[[Path], Any], expected: dict[str, Any]
) -> None:
    before = sums(HostRoot(str(k1))).identity
    change(k1 / "k1")
    after = sums(HostRoot(str(k1))).identity
    matching = 13 if "extra" in expected else 12
    assert after == {**before, "matching": matching, **expected}


def test_a_listed_link_is_what_it_leads_to(k1: Path) -> None:
    (k1 / "k1/k3.so").rename(k1 / "elsewhere.so")
    (k1 / "k1/k3.so").symlink_to("/elsewhere.so")
    observation = sums(HostRoot(str(k1)))
    assert observation.identity["matching"] == 13
    time.sleep(TICK)
    now = time.time()
    time.sleep(TICK)
    (k1 / "elsewhere.so").write_text("kernel 3")
    assert sums(HostRoot(str(k1))).state["changed_at"] > now


def test_a_file_that_cannot_be_read_is_neither_missing_nor_matching(k1: Path) -> None:
    observation = sums(DenyingRoot(k1, "/k1/k3.so"))
    assert "matching" not in observation.identity
    assert set(observation.faults) == {"matching", "differing[k3.so]", "missing[k3.so]"}
    assert observation.faults["differing[k3.so]"]["status"] == "denied"
    assert observation.identity["count"] == 13


def test_extra_files_that_cannot_be_read_are_faults(k1: Path) -> None:
    write_tree(k1, {"k1/extra": "x", "k1/closed/in": "x"})
    os.mkfifo(k1 / "k1/pipe")
    observation = sums(DenyingRoot(k1, "/k1/extra", "/k1/closed"))
    assert {path: fault["status"] for path, fault in observation.faults.items()} == {
        "extra[extra]": "denied",
        "extra[closed]": "denied",
        "extra[pipe]": "unparsable",
    }
    assert observation.identity["matching"] == 13


def test_bytes_in_all_are_bounded(k1: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tree_looks, "BYTES_LIMIT", 40)
    observation = sums(HostRoot(str(k1)))
    assert "9 bytes, more than the 6 this look reads" in observation.faults["matching"]["why"]


def test_a_list_outside_the_folder(k1: Path) -> None:
    (k1 / "k1/K1.sha256").rename(k1 / "K1.sha256")
    assert sums(HostRoot(str(k1)), "/K1.sha256").identity["extra"] == {}
    shutil.copy(k1 / "K1.sha256", k1 / "k1/K1.sha256")
    assert list(sums(HostRoot(str(k1)), "/K1.sha256").identity["extra"]) == ["K1.sha256"]


def test_without_the_list_the_folder_is_not_told_to_be_in_order(k1: Path) -> None:
    (k1 / "k1/K1.sha256").unlink()
    observation = sums(HostRoot(str(k1)))
    assert observation.identity == {}
    assert {path: fault["status"] for path, fault in observation.faults.items()} == dict.fromkeys(
        ("matching", "missing", "extra", "differing"), "incomparable"
    )


def test_without_the_folder_everything_is_missing(k1: Path) -> None:
    observation = look(HostRoot(str(k1)), "sums", list="/k1/K1.sha256", under="/k2")
    assert observation.identity["matching"] == 0
    assert observation.identity["missing"] == observation.identity["listed"]


@pytest.mark.parametrize(
    "move",
    [
        lambda top: (top / "new").write_text("x"),
        lambda top: (top / "k7.so").write_text("x"),
        lambda top: (top / "K1.sha256").write_text(f"{sha('kernel 1')}  k1.so\n"),
        lambda top: (top / "K1.sha256").unlink(),
    ],
)
def test_a_folder_or_list_that_moves_is_unstable(k1: Path, move: Callable[[Path], Any]) -> None:
    with pytest.raises(Unstable):
        sums(MovingRoot(k1, "digest", lambda: move(k1 / "k1")))


def test_a_malformed_list_is_unparsable(k1: Path) -> None:
    with (k1 / "k1/K1.sha256").open("a") as handle:
        handle.write("half a line\n")
    with pytest.raises(Unparsable, match=r"^/k1/K1.sha256: line 14: "):
        sums(HostRoot(str(k1)))


# -- inside ----------------------------------------------------------------
@pytest.fixture(name="inside")
def _inside(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    emission = {
        "tool": "verify_runtime",
        "emitted_at": "2026-10-24T09:15:00Z",
        "rank": 0,
        "files": [{"path": "/opt/a.py", "sha256": "a" * 64, "ok": True}],
    }
    write_tree(
        tmp_path,
        {
            "etc/f": "the host's\n",
            "containers/rank0/etc/f": "the container's\n",
            "containers/rank0/etc/link": "-> /etc/f",
            "containers/rank0/var/v.json": json.dumps(emission),
            "containers/rank0/var/sums": f"{sha('x')}  f\n",
            "containers/rank0/var/under/f": "x",
        },
    )
    return tmp_path, write_process(tmp_path)


def test_inside_a_process_root_links_lead_to_the_containers_files(inside: tuple[Path, dict[str, Any]]) -> None:
    tree, selector = inside
    root = HostRoot(str(tree), recorded=True)
    observation = look(root, "file", path="/etc/link", inside=selector)
    assert observation.identity["text"] == "the container's"
    assert observation.identity["resolved"] == "/etc/f"
    assert (observation.evidence, observation.method) == ("process", "file read through the process' root")
    assert look(root, "file", path="/etc/f").identity["text"] == "the host's"


@pytest.mark.parametrize(
    ("kind", "params", "evidence"),
    [
        ("files", {"under": "/etc", "names": ["f"]}, "process"),
        ("tree", {"path": "/etc"}, "process"),
        ("json", {"file": "/var/v.json"}, "process"),
        ("status", {"file": "/var/v.json"}, "process"),
        ("sums", {"list": "/var/sums", "under": "/var/under"}, "process"),
        ("emission", {"file": "/var/v.json"}, "native"),
    ],
)
def test_the_evidence_of_what_is_read_inside(
    inside: tuple[Path, dict[str, Any]], kind: str, params: dict[str, Any], evidence: str
) -> None:
    tree, selector = inside
    observation = look(HostRoot(str(tree), recorded=True), kind, inside=selector, **params)
    assert observation.evidence == evidence
    assert observation.faults == {}


def test_an_emission_is_native_wherever_it_is_read(inside: tuple[Path, dict[str, Any]]) -> None:
    tree, _ = inside
    assert look(HostRoot(str(tree)), "emission", file="/containers/rank0/var/v.json").evidence == "native"
    with pytest.raises(NoTool):
        look(HostRoot(str(tree)), "emission", file="/var/v.json")


@pytest.mark.parametrize(
    "end",
    [
        lambda tree: shutil.rmtree(tree / "proc/4711"),
        lambda tree: (tree / "containers/rank0").rename(tree / "containers/gone"),
        lambda tree: (shutil.rmtree(tree / "proc/4711"), write_process(tree, start_ticks=101)),
    ],
)
@pytest.mark.parametrize("path", ["/etc/f", "/etc/none"])
def test_a_process_that_ends_meanwhile_leaves_no_evidence(
    inside: tuple[Path, dict[str, Any]], end: Callable[[Path], Any], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, selector = inside
    really = _file_looks.hash_whole

    def ended_first(inner: HostRoot, where: str) -> Reading:
        end(tree)
        return really(inner, where)

    monkeypatch.setattr(_file_looks, "hash_whole", ended_first)
    with pytest.raises(Unstable, match="process 4711 ended"):
        look(HostRoot(str(tree), recorded=True), "file", path=path, inside=selector)


def test_no_such_process_is_absent(inside: tuple[Path, dict[str, Any]]) -> None:
    tree, _ = inside
    with pytest.raises(Absent, match="sglang"):
        look(HostRoot(str(tree), recorded=True), "file", path="/etc/f", inside={"program": "sglang"})


def test_a_lane_of_files_only_does_not_look_inside(inside: tuple[Path, dict[str, Any]]) -> None:
    tree, selector = inside
    root = HostRoot(str(tree), recorded=True, lane="files")
    with pytest.raises(NotAttempted):
        look(root, "file", path="/etc/f", inside=selector)
    assert look(root, "file", path="/etc/f").identity["text"] == "the host's"


def test_inside_a_real_process(tmp_path: Path) -> None:
    program = f"sleeper-{os.getpid()}"
    (tmp_path / "f").write_text("text\n")
    with subprocess.Popen([program, "60"], executable="/bin/sleep") as process:
        try:
            observation = look(HostRoot(), "file", path=str(tmp_path / "f"), inside={"program": program})
        finally:
            process.terminate()
    assert observation.identity["text"] == "text"
    assert observation.identity["resolved"] == str((tmp_path / "f").resolve())
    assert observation.evidence == "process"
