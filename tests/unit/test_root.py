"""Reading a tree: links stay inside it, failures are statuses, moving files are unstable."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest
from plugins.module_utils._observation import Absent, Denied, LookError, NotAttempted, Unparsable, Unstable
from plugins.module_utils._root import HostRoot, changed_at, optional


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(
        "root:x:0:0:root:/root:/bin/sh\noperator:x:1000:1000::/home/operator:/bin/sh\n"
    )
    (tmp_path / "srv/a").mkdir(parents=True)
    (tmp_path / "srv/a/f").write_text("inside")
    return tmp_path


@pytest.mark.parametrize(
    ("link", "target", "resolved"),
    [
        ("srv/l", "a/f", "/srv/a/f"),
        ("srv/l", "/srv/a/f", "/srv/a/f"),
        ("srv/l", "../../../../srv/a/f", "/srv/a/f"),
        ("srv/l", "./a/../a/f", "/srv/a/f"),
    ],
)
def test_links_are_resolved_inside_the_tree(tree: Path, link: str, target: str, resolved: str) -> None:
    (tree / link).symlink_to(target)
    root = HostRoot(str(tree))
    assert root.resolve("/" + link) == resolved
    assert root.read("/" + link) == b"inside"
    assert root.readlink("/" + link) == target


def test_an_absolute_link_never_leads_to_the_machines_own_file(tree: Path) -> None:
    (tree / "srv/hostname").symlink_to("/etc/hostname")
    with pytest.raises(Absent, match="/etc/hostname"):
        HostRoot(str(tree)).read("/srv/hostname")


def test_a_loop_of_links_is_told(tree: Path) -> None:
    (tree / "srv/x").symlink_to("y")
    (tree / "srv/y").symlink_to("x")
    with pytest.raises(Unparsable, match="loop"):
        HostRoot(str(tree)).read("/srv/x")


@pytest.mark.parametrize(
    ("user", "path", "expected"),
    [
        ("operator", "~/x", "/home/operator/x"),
        ("operator", "~", "/home/operator"),
        ("", "~root/x", "/root/x"),
        ("operator", "/abs", "/abs"),
    ],
)
def test_home_is_that_of_the_tree(tree: Path, user: str, path: str, expected: str) -> None:
    assert HostRoot(str(tree), user).expand(path) == expected


def test_an_unknown_home_is_told(tree: Path) -> None:
    with pytest.raises(Unparsable, match="no home for nobody"):
        HostRoot(str(tree)).expand("~nobody/x")


def test_a_relative_path_is_refused(tree: Path) -> None:
    with pytest.raises(Unparsable, match="not an absolute path"):
        HostRoot(str(tree)).read("srv/a/f")


def test_statuses_of_what_cannot_be_read(tree: Path) -> None:
    root = HostRoot(str(tree))
    os.mkfifo(tree / "srv/fifo")
    with pytest.raises(Absent):
        root.read("/srv/none")
    with pytest.raises(Absent):
        root.read("/srv/a/f/below-a-file")
    with pytest.raises(Unparsable, match="not a regular file"):
        root.read("/srv/a")
    with pytest.raises(Unparsable, match="not a regular file"):
        root.read("/srv/fifo")
    with pytest.raises(Unparsable, match="not a symbolic link"):
        root.readlink("/srv/a")
    assert optional(lambda: root.read("/srv/none")) is None
    assert not root.exists("/srv/none")


def test_sizes_are_bounded(tree: Path) -> None:
    (tree / "big").write_bytes(b"x" * 1001)
    with pytest.raises(Unparsable, match="1001 bytes, more than the 1000"):
        HostRoot(str(tree)).read("/big", limit=1000)
    (tree / "srv/b").mkdir()
    with pytest.raises(Unparsable, match="2 entries, more than the 1"):
        HostRoot(str(tree)).listdir("/srv", limit=1)


def test_text_must_be_text(tree: Path) -> None:
    (tree / "empty").write_bytes(b"")
    (tree / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(Unparsable, match="is empty"):
        HostRoot(str(tree)).text("/empty")
    with pytest.raises(Unparsable, match="byte 3 is not UTF-8"):
        HostRoot(str(tree)).text("/latin")


def test_a_digest_tells_its_generation(tree: Path) -> None:
    fact = HostRoot(str(tree)).digest("/srv/a/f")
    assert fact.sha256 == hashlib.sha256(b"inside").hexdigest()
    assert fact.size == 6
    assert fact.changed_at == changed_at((tree / "srv/a/f").stat())


def test_a_file_set_back_in_time_still_shows_its_change(tree: Path) -> None:
    os.utime(tree / "srv/a/f", (1, 1))
    assert HostRoot(str(tree)).digest("/srv/a/f").changed_at > 1_000_000_000


def _digest_often(root: HostRoot, path: str) -> None:
    for _ in range(50):
        root.digest(path)


def test_a_file_that_moves_while_it_is_read_is_unstable(tree: Path) -> None:
    path = tree / "moving"
    path.write_bytes(b"x" * (3 << 20))
    stop = threading.Event()

    def touch() -> None:
        while not stop.is_set():
            os.utime(path)

    mover = threading.Thread(target=touch)
    mover.start()
    try:
        with pytest.raises(Unstable, match="changed while it was read"):
            _digest_often(HostRoot(str(tree)), "/moving")
    finally:
        stop.set()
        mover.join()


def test_a_file_replaced_while_it_is_read_is_unstable(tree: Path) -> None:
    root = HostRoot(str(tree))
    (tree / "new").write_text("other!")
    with pytest.raises(Unstable):
        root._scan("/srv/a/f", 100, lambda _: (tree / "new").replace(tree / "srv/a/f"))


@pytest.mark.parametrize("path", ["/proc/1/environ", "/sys/class/net", "/proc/meminfo"])
def test_the_files_lane_admits_files_only(path: str) -> None:
    with pytest.raises(NotAttempted, match="files only"):
        HostRoot(lane="files").read(path)


def test_the_files_lane_admits_the_boot_id(tree: Path) -> None:
    assert HostRoot(lane="files").read("/proc/sys/kernel/random/boot_id")
    with pytest.raises(NotAttempted):
        HostRoot(lane="files").inside("/proc/1/root")


def test_an_inner_tree_is_that_of_the_container(tree: Path) -> None:
    (tree / "containers/c/etc").mkdir(parents=True)
    (tree / "containers/c/etc/nccl.conf").write_text("inner")
    (tree / "containers/c/link").symlink_to("/etc/nccl.conf")
    (tree / "proc/7").mkdir(parents=True)
    (tree / "proc/7/root").symlink_to("/containers/c")
    inner = HostRoot(str(tree), recorded=True).inside("/proc/7/root")
    assert inner.read("/link") == b"inner"
    assert "/proc/7/root/link" in inner.touched


def test_an_unprivileged_reader_is_denied(tree: Path) -> None:
    secret = tree / "secret"
    secret.write_text("x")
    secret.chmod(0)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setuid(65534)
            HostRoot(str(tree)).read("/secret")
        except Denied:
            code = 0
        except LookError:
            code = 2
        finally:
            os._exit(code)
    for folder in [tree, *tree.parents]:
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & 0o001:
            break  # unreachable below a private folder: denied there already
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
