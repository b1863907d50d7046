"""Trees: every entry counts, nothing is followed, and what moves or cannot be read is never a digest."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plugins.module_utils import _trees
from plugins.module_utils._names import original
from plugins.module_utils._observation import Absent, Denied, Unparsable, Unstable
from plugins.module_utils._root import HostRoot
from plugins.module_utils._shadows import shadows
from plugins.module_utils._trees import digest_of, hash_entries, read_tree, walk

from tests.unit.file_roots import DenyingRoot, MovingRoot, write_tree

TICK = 0.03


def sha(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    write_tree(
        tmp_path / "opt/engine",
        {"__init__.py": "", "a.py": "one", "sub/b.so": b"\x7fELF", "sub/c.py": "-> ../a.py", "lib": "-> /usr/lib"},
    )
    return tmp_path


def test_files_by_digest_and_links_by_target(tree: Path) -> None:
    found = read_tree(HostRoot(str(tree)), "/opt/engine")
    assert found.entries == {
        "__init__.py": sha(""),
        "a.py": sha("one"),
        "lib": "link:/usr/lib",
        "sub/b.so": sha(b"\x7fELF"),
        "sub/c.py": "link:../a.py",
    }
    assert found.bytes == 7
    assert found.faults == {}


def test_the_digest_is_documented(tree: Path) -> None:
    lines = [
        f"{sha('')}  __init__.py\n",
        f"{sha('one')}  a.py\n",
        f"link:{sha('/usr/lib')}  lib\n",
        sha(b"\x7fELF") + "  sub/b.so\n",
        f"link:{sha('../a.py')}  sub/c.py\n",
    ]
    assert read_tree(HostRoot(str(tree)), "/opt/engine").digest == sha("".join(lines))


def test_a_link_is_followed_only_at_the_top(tree: Path) -> None:
    (tree / "opt/current").symlink_to("engine")
    (tree / "opt/engine/again").symlink_to(".")
    root = HostRoot(str(tree))
    assert read_tree(root, "/opt/current").entries == read_tree(root, "/opt/engine").entries
    assert read_tree(root, "/opt/current").entries["again"] == "link:."


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda top: (top / "a.py").write_text("One"), {"a.py"}),
        (lambda top: (top / "sub/new.pyc").write_bytes(b""), {"sub/new.pyc"}),
        (lambda top: (top / "__init__.py").unlink(), {"__init__.py"}),
        (lambda top: (top / "sub/b.so").rename(top / "b.so"), {"sub/b.so", "b.so"}),
        (lambda top: ((top / "lib").unlink(), (top / "lib").symlink_to("/usr/lib64")), {"lib"}),
        (lambda top: ((top / "lib").unlink(), (top / "lib").write_text("/usr/lib")), {"lib"}),
    ],
)
def test_one_change_is_one_difference(tree: Path, change: Callable[[Path], Any], difference: set[str]) -> None:
    root = HostRoot(str(tree))
    before = read_tree(root, "/opt/engine")
    change(tree / "opt/engine")
    after = read_tree(root, "/opt/engine")
    assert {name for name, _ in set(before.entries.items()) ^ set(after.entries.items())} == difference
    assert after.digest != before.digest


def test_names_that_are_not_utf8_stay_apart(tmp_path: Path) -> None:
    top = tmp_path / "t"
    top.mkdir()
    for raw in (b"a\xff", b"a\\xff", b"a\xfe", "ä".encode(), b"new\nline"):
        Path(os.fsdecode(os.fsencode(str(top)) + b"/" + raw)).write_bytes(raw)
    found = read_tree(HostRoot(str(tmp_path)), "/t")
    assert {original(name): value for name, value in found.entries.items()} == {
        raw: sha(raw) for raw in (b"a\xff", b"a\\xff", b"a\xfe", "ä".encode(), b"new\nline")
    }


def test_special_files_are_faults_and_leave_no_digest(tree: Path) -> None:
    os.mkfifo(tree / "opt/engine/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tree / "opt/engine/sub")
        try:
            server.bind("s")
        finally:
            os.chdir(here)
    found = read_tree(HostRoot(str(tree)), "/opt/engine")
    assert {name: error.why for name, error in found.faults.items()} == {
        "pipe": "/opt/engine/pipe: is a FIFO; its bytes cannot be compared",
        "sub/s": "/opt/engine/sub/s: is a socket; its bytes cannot be compared",
    }
    assert found.digest == ""
    assert found.entries["a.py"] == sha("one")


def test_what_is_denied_is_a_fault_of_its_own(tree: Path) -> None:
    found = read_tree(DenyingRoot(tree, "/opt/engine/a.py", "/opt/engine/sub"), "/opt/engine")
    assert {name: error.status for name, error in found.faults.items()} == {"a.py": "denied", "sub": "denied"}
    assert set(found.entries) == {"__init__.py", "lib"}
    assert found.digest == ""


def test_a_denied_top_is_a_denied_tree(tree: Path) -> None:
    with pytest.raises(Denied):
        read_tree(DenyingRoot(tree, "/opt/engine"), "/opt/engine")


@pytest.mark.parametrize(
    "move",
    [
        lambda top: (top / "new").write_text("x"),
        lambda top: (top / "a.py").write_text("two"),
        lambda top: (top / "sub/b.so").unlink(),
        lambda top: ((top / "lib").unlink(), (top / "lib").symlink_to("/lib")),
        lambda top: os.mkfifo(top / "pipe"),
        lambda top: ((top / "x").write_text(""), (top / "x").unlink()),
        lambda top: (top / "empty").mkdir(),
    ],
)
def test_a_tree_that_moves_is_unstable(tree: Path, move: Callable[[Path], Any]) -> None:
    time.sleep(TICK)
    with pytest.raises(Unstable, match=r"^/opt/engine: changed while it was read \("):
        read_tree(MovingRoot(tree, "digest", lambda: move(tree / "opt/engine")), "/opt/engine")


@pytest.mark.parametrize("move", [lambda top: (top / "new").write_text("x"), lambda top: (top / "a.py").unlink()])
def test_a_tree_that_moves_while_it_is_listed_is_unstable(tree: Path, move: Callable[[Path], Any]) -> None:
    time.sleep(TICK)
    with pytest.raises(Unstable, match=r"^/opt/engine: changed while it was read \("):
        read_tree(MovingRoot(tree, "listdir", lambda: move(tree / "opt/engine")), "/opt/engine")


@pytest.mark.parametrize(
    ("path", "error", "why"),
    [
        ("/opt/none", Absent, "not there"),
        ("/opt/engine/a.py", Unparsable, "is not a folder"),
        ("/opt/empty", Unparsable, "is empty"),
        ("/opt/hollow", Unparsable, "is empty"),
    ],
)
def test_no_tree(tree: Path, path: str, error: type[Exception], why: str) -> None:
    (tree / "opt/empty").mkdir()
    (tree / "opt/hollow/in/in").mkdir(parents=True)
    with pytest.raises(error, match=f"^{path}: {why}$"):
        read_tree(HostRoot(str(tree)), path)


def test_ignored_names_are_left_out_and_counted(tree: Path) -> None:
    write_tree(tree / "opt/engine", {"__pycache__/a.pyc": "x", "sub/__pycache__/c.pyc": "y", "run.log": "z"})
    found = read_tree(HostRoot(str(tree)), "/opt/engine", ["__pycache__", "*.log"])
    assert set(found.entries) == {"__init__.py", "a.py", "lib", "sub/b.so", "sub/c.py"}
    assert found.left_out == 3
    with pytest.raises(Unparsable, match="empty but for what `ignore` leaves out"):
        read_tree(HostRoot(str(tree)), "/opt/engine", ["*"])


def test_the_bounds_say_what_to_do(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = HostRoot(str(tree))
    with pytest.raises(Unparsable, match=r"4 entries, more than the 3 this look reads"):
        walk(root, "/opt/engine", limit=3)
    with pytest.raises(Unparsable, match="more than the 5 names this look reads; leave some out"):
        walk(root, "/opt/engine", limit=5)
    assert len(walk(root, "/opt/engine", limit=6).entries) == 5
    with pytest.raises(Unparsable, match="7 bytes, more than the 6 this look hashes; leave large files out"):
        hash_entries(root, "/opt/engine", walk(root, "/opt/engine").entries, 6)
    monkeypatch.setattr(_trees, "DIGEST_LIMIT", 3)
    found = read_tree(root, "/opt/engine")
    assert list(found.faults) == ["sub/b.so"]


def test_a_name_removed_after_a_time_shows_in_the_change(tree: Path) -> None:
    before = time.time()
    assert read_tree(HostRoot(str(tree)), "/opt/engine").changed_at < before
    time.sleep(TICK)
    (tree / "opt/engine/sub/b.so").unlink()
    assert read_tree(HostRoot(str(tree)), "/opt/engine").changed_at > before


def test_a_folder_with_names_left_out_does_not_count_as_changed(tree: Path) -> None:
    before = time.time()
    time.sleep(TICK)
    write_tree(tree / "opt/engine", {"__pycache__/a.pyc": "x"})
    assert read_tree(HostRoot(str(tree)), "/opt/engine", ["__pycache__"]).changed_at < before
    assert read_tree(HostRoot(str(tree)), "/opt/engine").changed_at > before


file_names = st.binary(min_size=1, max_size=6).filter(
    lambda raw: not set(raw) & set(b"\0/") and raw not in (b".", b"..")
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(file_names, st.binary(max_size=3), min_size=1, max_size=8), st.data())
def test_any_names_in_any_order_and_one_changed_leaf(
    tmp_path_factory: pytest.TempPathFactory, files: dict[bytes, bytes], data: st.DataObject
) -> None:
    def write(names: list[bytes]) -> tuple[HostRoot, bytes]:
        top = os.fsencode(str(tmp_path_factory.mktemp("tree"))) + b"/t"
        os.mkdir(top)  # noqa: PTH102 - names are bytes
        for name in names:
            with open(top + b"/" + name, "wb") as handle:  # noqa: PTH123
                handle.write(files[name])
        return HostRoot(os.fsdecode(top[:-2])), top

    one, top = write(list(files))
    other, _ = write(data.draw(st.permutations(list(files))))
    before = read_tree(one, "/t")
    assert (before.entries, before.digest) == (read_tree(other, "/t").entries, read_tree(other, "/t").digest)
    assert {original(name): value for name, value in before.entries.items()} == {
        name: sha(content) for name, content in files.items()
    }
    changed = data.draw(st.sampled_from(sorted(files)))
    with open(top + b"/" + changed, "ab") as handle:  # noqa: PTH123
        handle.write(b"+")
    after = read_tree(one, "/t")
    assert [original(name) for name in before.entries if after.entries[name] != before.entries[name]] == [changed]
    assert after.digest != before.digest


def test_a_digest_tells_names_from_targets() -> None:
    def entry(target: str | None) -> _trees.Entry:
        return _trees.Entry((), 0, 0.0, target)

    one = digest_of({"b  c": entry("a")}, {"b  c": "link:a"})
    other = digest_of({"c": entry("a  b")}, {"c": "link:a  b"})
    assert one != other


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ({"engine.py": ""}, {"engine.py": "Python module"}),
        ({"engine.pyc": ""}, {"engine.pyc": "compiled Python module"}),
        ({"engine.so": ""}, {"engine.so": "extension module"}),
        (
            {"engine.cpython-312-x86_64-linux-gnu.so": "", "engine.abi3.so": ""},
            {"engine.cpython-312-x86_64-linux-gnu.so": "extension module", "engine.abi3.so": "extension module"},
        ),
        ({"x.pth": ""}, {"x.pth": "path file, read when an interpreter starts"}),
        ({"sitecustomize.py": ""}, {"sitecustomize.py": "Python module, imported when an interpreter starts"}),
        ({"usercustomize/__init__.py": ""}, {"usercustomize": "folder, imported when an interpreter starts"}),
        ({"engine.py": "-> nowhere"}, {"engine.py": "Python module"}),
        ({"sitecustomize": "-> nowhere", "usercustomize": "a file"}, {}),
        ({"engine2.py": "", "engine.txt": "", "other/engine.py": "", "my.engine.so": "", "libengine.so": ""}, {}),
    ],
)
def test_what_lies_beside_a_tree(tree: Path, beside: dict[str, str], found: dict[str, str]) -> None:
    write_tree(tree / "opt", beside)
    assert shadows(HostRoot(str(tree)), "/opt/engine", "/opt/engine") == found


def test_the_stem_of_a_trees_name_counts_too(tree: Path) -> None:
    write_tree(tree / "opt", {"kernels.v2/a": "", "kernels/a": "", "kernels.py": "", "kernels.v2.py": ""})
    assert shadows(HostRoot(str(tree)), "/opt/kernels.v2", "/opt/kernels.v2") == {
        "kernels": "folder",
        "kernels.py": "Python module",
        "kernels.v2.py": "Python module",
    }


def test_both_folders_of_a_linked_tree_are_looked_at(tree: Path) -> None:
    write_tree(tree, {"app/engine": "-> ../opt/engine", "app/engine.so": "", "opt/sitecustomize.py": ""})
    assert shadows(HostRoot(str(tree)), "/app/engine", "/opt/engine") == {
        "engine.so": "extension module",
        "/opt/sitecustomize.py": "Python module, imported when an interpreter starts",
    }


def test_a_tree_that_is_the_whole_root_has_nothing_beside(tree: Path) -> None:
    assert shadows(HostRoot(str(tree)), "/", "/") == {}
