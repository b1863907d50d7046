"""Spelling paths inside observations, and looking users up in a tree's own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._accounts import Account, account_named, account_of, group_name
from plugins.module_utils._observation import Absent, Incomparable
from plugins.module_utils._root import HostRoot
from plugins.module_utils._segments import within

from pinproof.paths import split_within
from pinproof.paths import within as controllers
from tests.unit.file_roots import write_tree

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        (("loaded",), "loaded"),
        (("gpus", "GPU-1", "name"), "gpus.GPU-1.name"),
        (("file", "digests", "/etc/a.b"), "file.digests[/etc/a.b]"),
        (("gids", "d", "fe80::1 RoCE v2"), "gids.d[fe80::1 RoCE v2]"),
        (("devices", "mlx5_0:2", "state"), "devices[mlx5_0:2].state"),
        (("a", "[x]", "b"), "a"),
        (("a", "", "b"), "a"),
    ],
)
def test_spelling(segments: tuple[str, ...], path: str) -> None:
    assert within(*segments) == path


NAMES = st.text(alphabet="aB0_-+./: é", min_size=1, max_size=6)


@QUICK
@given(st.tuples(st.sampled_from(["a", "b_c", "d-e"]), NAMES, NAMES))
def test_the_controller_reads_what_is_spelled(segments: tuple[str, ...]) -> None:
    assert within(*segments) == controllers(segments)
    assert split_within(within(*segments)) == segments


def test_users_and_groups(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "etc/passwd": "# comment\nroot:x:0:0:root:/root:/bin/sh\n+::::::\n"
            "op:x:1000:100:O,p:/home/op:/bin/sh\nbad:x:y:0:::\n",
            "etc/group": "root:x:0:\nusers:x:100:op,x\n",
        },
    )
    root = HostRoot(str(tmp_path))
    assert account_named(root, "op") == account_of(root, 1000) == Account("op", 1000, 100, "/home/op")
    assert group_name(root, 100) == "users"
    for look in (lambda: account_named(root, "bad"), lambda: account_of(root, 7), lambda: group_name(root, 7)):
        with pytest.raises(Incomparable, match="/etc/"):
            look()


def test_a_tree_without_a_user_database(tmp_path: Path) -> None:
    with pytest.raises(Absent):
        account_of(HostRoot(str(tmp_path)), 0)
