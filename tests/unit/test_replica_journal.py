"""Changing a tree and taking everything back, mounts included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pinproof.replica.journal import Journal, twins
from pinproof.replica.tree import Tree
from tests.unit.replica_snapshots import contents

K1 = "/srv/dsv41-k1/a.bin"
INSIDE = "/containers/dsv41/opt/dsv41/k1/a.bin"


@pytest.fixture(name="journal")
def _journal(tmp_path: Path) -> Journal:
    tree = Tree(tmp_path)
    tree.write("/etc/machine-id", "abc\n", 0o444)
    tree.write("/opt/tree/one/a.py", "a = 1\n")
    tree.write("/opt/tree/b.bin", b"\0\xff\n", 0o755)
    tree.link("/opt/current", "tree")
    tree.write(K1, "pair")
    tree.mount("/srv/dsv41-k1", "/containers/dsv41/opt/dsv41/k1")
    return Journal(tree)


CHANGES: dict[str, Callable[[Journal], object]] = {
    "write": lambda journal: journal.write("/etc/machine-id", "other\n"),
    "shorter": lambda journal: journal.write("/opt/tree/b.bin", b""),
    "new": lambda journal: journal.write("/opt/deep/er/new.txt", "new"),
    "append": lambda journal: journal.append("/opt/tree/b.bin", b"\0"),
    "remove": lambda journal: journal.remove("/opt/tree/one/a.py"),
    "remove link": lambda journal: journal.remove("/opt/current"),
    "turn link": lambda journal: journal.link("/opt/current", "elsewhere"),
    "link over a file": lambda journal: journal.link("/opt/tree/b.bin", "/dev/null"),
    "rename": lambda journal: journal.rename("/opt/tree", "/opt/moved/tree"),
    "copy": lambda journal: journal.copy_folder("/opt", "/copy"),
    "substitute": lambda journal: journal.substitute("/opt/tree/one/a.py", "1$", "2"),
    "mounted write": lambda journal: journal.write(K1, "other pair"),
    "mounted new": lambda journal: journal.write("/srv/dsv41-k1/b.bin", "b"),
    "mounted remove": lambda journal: journal.remove(INSIDE),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_undone(journal: Journal, name: str) -> None:
    before = contents(journal.tree.root)
    CHANGES[name](journal)
    assert contents(journal.tree.root) != before
    assert journal.touched
    journal.undo()
    assert contents(journal.tree.root) == before
    assert journal.real(K1).samefile(journal.real(INSIDE))


def test_all_changes_together_are_undone_in_reverse(journal: Journal) -> None:
    before = contents(journal.tree.root)
    for name in ("write", "append", "mounted write", "mounted new", "turn link", "copy", "rename", "mounted remove"):
        CHANGES[name](journal)
    journal.undo()
    assert contents(journal.tree.root) == before
    journal.undo()
    assert contents(journal.tree.root) == before


def test_what_is_mounted_changes_under_both_names(journal: Journal) -> None:
    journal.append(INSIDE, b"!")
    assert journal.read(K1) == b"pair!"
    journal.write("/srv/dsv41-k1/b.bin", "b")
    assert journal.read("/containers/dsv41/opt/dsv41/k1/b.bin") == b"b"
    journal.remove(K1)
    assert not journal.exists(INSIDE)


def test_a_link_is_not_followed_when_it_is_removed(journal: Journal) -> None:
    journal.remove("/opt/current")
    assert journal.exists("/opt/tree/b.bin")
    assert not journal.exists("/opt/current")


def test_nothing_to_substitute_is_told(journal: Journal) -> None:
    with pytest.raises(LookupError, match="nothing matches"):
        journal.substitute("/etc/machine-id", "^zzz$", "y")
    with pytest.raises(FileNotFoundError):
        journal.append("/etc/nothing", b"")


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/etc/passwd", ("/etc/passwd",)),
        (K1, (K1, INSIDE)),
        (INSIDE, (INSIDE, K1)),
        ("/srv/dsv41-k1x/a", ("/srv/dsv41-k1x/a",)),
        ("/srv/dsv41/x", ("/srv/dsv41/x", "/containers/dsv41/srv/dsv41/x")),
        ("/containers/dsv41/opt/dsv41/engine/x", ("/containers/dsv41/opt/dsv41/engine/x",)),
    ],
)
def test_twins_are_the_names_of_one_mounted_file(path: str, names: tuple[str, ...]) -> None:
    assert twins(path) == names
