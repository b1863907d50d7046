"""Which files make up a unit. The rules as a whole are compared with systemd in tests/conformance."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugins.module_utils._accounts import Account
from plugins.module_utils._observation import Absent, Unparsable
from plugins.module_utils._root import HostRoot
from plugins.module_utils._unit_name import UnitName
from plugins.module_utils._unit_paths import UnitFiles, UnitFinder, search_path

from tests.unit.file_roots import write_tree

ETC, RUN, LIB = "etc/systemd/system", "run/systemd/system", "usr/lib/systemd/system"


def find(tree: Path, name: str, account: Account | None = None) -> UnitFiles:
    root = HostRoot(str(tree))
    return UnitFinder(root, search_path(root, account)).find(UnitName.parse(name))


def test_the_highest_folder_wins(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{LIB}/a.service": "x", f"{RUN}/a.service": "x"})
    assert find(tmp_path, "a.service").fragment == "/run/systemd/system/a.service"
    write_tree(tmp_path, {f"{ETC}/a.service": "x"})
    assert find(tmp_path, "a.service").fragment == "/etc/systemd/system/a.service"
    write_tree(tmp_path, {"run/systemd/transient/a.service": "x"})
    assert find(tmp_path, "a.service").fragment == "/run/systemd/transient/a.service"


def test_what_set_property_wrote_counts(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{ETC}/a.service": "x", "etc/systemd/system.control/a.service.d/50-MemoryMax.conf": "x"})
    assert find(tmp_path, "a.service").dropins == ("/etc/systemd/system.control/a.service.d/50-MemoryMax.conf",)


@pytest.mark.parametrize("merged", [True, False])
def test_lib_is_one_folder_with_usr_lib_where_it_is_a_link(tmp_path: Path, merged: bool) -> None:
    write_tree(tmp_path, {f"{LIB}/a.service": "x", f"{LIB}/a.service.d/1.conf": "x"})
    if merged:
        write_tree(tmp_path, {"lib": "-> usr/lib"})
    else:
        write_tree(tmp_path, {"lib/systemd/system/a.service": "x"})
    found = find(tmp_path, "a.service")
    assert found.fragment == ("/usr/lib/systemd/system/a.service" if merged else "/lib/systemd/system/a.service")
    assert found.dropins == ("/usr/lib/systemd/system/a.service.d/1.conf",)


@pytest.mark.parametrize(
    ("files", "masked"),
    [
        ({f"{ETC}/a.service": "-> /dev/null"}, True),
        ({f"{ETC}/a.service": "-> ../../../dev/null"}, True),
        ({f"{ETC}/a.service": "-> /srv/mask", "srv/mask": "-> /dev/null"}, True),
        ({f"{ETC}/a.service": ""}, True),
        ({f"{ETC}/a.service": "x"}, False),
        ({f"{ETC}/a.service": "-> /srv/a.service", "srv/a.service": "x"}, False),
        ({f"{ETC}/a.service": "x", f"{LIB}/a.service": "-> /dev/null"}, False),
    ],
)
def test_masks(tmp_path: Path, files: dict[str, str | bytes], masked: bool) -> None:
    found = find(write_tree(tmp_path, files), "a.service")
    assert found.masked is masked
    assert found.fragment == "/etc/systemd/system/a.service"


def test_an_alias_has_the_files_of_what_it_leads_to_and_its_own_dropins(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            f"{LIB}/real.service": "x",
            f"{ETC}/alias.service": "-> /usr/lib/systemd/system/real.service",
            f"{ETC}/second.service": "-> alias.service",
            f"{ETC}/alias.service.d/1.conf": "x",
            f"{ETC}/second.service.d/2.conf": "x",
            f"{ETC}/wrong.timer": "-> /usr/lib/systemd/system/real.service",
        },
    )
    for name in ("real.service", "alias.service", "second.service"):
        found = find(tmp_path, name)
        assert (str(found.name), found.fragment) == ("real.service", "/usr/lib/systemd/system/real.service")
        assert found.dropins == (
            "/etc/systemd/system/alias.service.d/1.conf",
            "/etc/systemd/system/second.service.d/2.conf",
        )
    with pytest.raises(Absent):
        find(tmp_path, "wrong.timer")


def test_two_aliases_with_a_dropin_of_one_name_are_told(tmp_path: Path) -> None:
    """Which of them systemd takes depends on nothing that a file says."""
    files: dict[str, str | bytes] = {f"{ETC}/real.service": "x"}
    for alias in ("b", "c"):
        files |= {f"{ETC}/{alias}.service": "-> real.service", f"{ETC}/{alias}.service.d/1.conf": "x"}
    found = find(write_tree(tmp_path, files), "real.service")
    assert found.notes == ("1.conf: a drop-in of this name exists for two aliases of real.service",)


def test_a_loop_of_aliases_is_told(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{ETC}/a.service": "-> b.service", f"{ETC}/b.service": "-> a.service"})
    with pytest.raises(Unparsable, match="loop"):
        find(tmp_path, "a.service")


def test_an_instance_has_a_file_of_its_own_before_its_template(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{ETC}/a@.service": "x", f"{LIB}/a@1.service": "x"})
    assert find(tmp_path, "a@1.service").fragment == "/usr/lib/systemd/system/a@1.service"
    assert find(tmp_path, "a@2.service").fragment == "/etc/systemd/system/a@.service"
    with pytest.raises(Unparsable, match="template"):
        find(tmp_path, "a@.service")


def test_a_users_units(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "etc/systemd/user/a.service": "x",
            f"{ETC}/b.service": "x",
            "run/user/7/systemd/user/c.service": "x",
            "home/x/.config/systemd/user/a.service.d/1.conf": "x",
        },
    )
    account = Account("x", 7, 7, "/home/x")
    found = find(tmp_path, "a.service", account)
    assert found.fragment == "/etc/systemd/user/a.service"
    assert found.dropins == ("/home/x/.config/systemd/user/a.service.d/1.conf",)
    assert find(tmp_path, "c.service", account).fragment == "/run/user/7/systemd/user/c.service"
    with pytest.raises(Absent):
        find(tmp_path, "b.service", account)


def test_no_unit_file_says_where_it_was_looked_for(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{ETC}/other.service": "x", f"{ETC}/a.service.d/1.conf": "x"})
    with pytest.raises(Absent, match=r"a\.service: no unit file in /etc/systemd/system"):
        find(tmp_path, "a.service")
    with pytest.raises(Absent, match="any folder of the search path"):
        find(tmp_path / "nowhere", "a.service")


def test_a_link_to_a_file_that_is_gone_is_absent(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{ETC}/a.service": "-> /srv/gone.service"})
    with pytest.raises(Absent, match="/srv"):
        find(tmp_path, "a.service")
