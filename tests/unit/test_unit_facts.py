"""Units: every case is a host as it is, and what is observed of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plugins.module_utils._observation import LookError, Unparsable, Unstable
from plugins.module_utils._root import HostRoot
from plugins.modules.unit_facts import collect

from tests.unit.collector_cases import cases, expected, observe
from tests.unit.file_roots import MovingRoot, write_tree


def request(**params: str) -> dict[str, Any]:
    return {"probe": "p", "kind": "unit", "params": params, "now": 0.0, "disclose": {"plain": ["*"], "key": ""}}


@pytest.mark.parametrize("folder", cases("unit_facts"))
def test_case(folder: Path, tmp_path: Path) -> None:
    assert observe("unit_facts", folder, tmp_path) == expected(folder)


@pytest.mark.parametrize("name", ["worker", "worker@.service", "worker.conf", "", "-x", "a.service --user"])
def test_a_name_that_is_no_unit_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unparsable):
        collect(request(name=name), HostRoot(str(tmp_path), recorded=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "etc/systemd/system/a.service").write_text("[Service]\nExecStart=/bin/b\n"),
        lambda tree: write_tree(tree, {"etc/systemd/system/a.service.d/10.conf": "[Service]\n"}),
        lambda tree: (tree / "etc/systemd/system/a.service").unlink(),
        lambda tree: write_tree(tree, {"etc/systemd/system.control/a.service": "[Service]\n"}),
    ],
    ids=["rewritten", "drop-in added", "removed", "overridden"],
)
def test_files_that_move_while_they_are_read_are_no_evidence(change: Any, tmp_path: Path) -> None:
    write_tree(tmp_path, {"etc/systemd/system/a.service": "[Service]\nExecStart=/bin/a\n"})
    with pytest.raises(Unstable):
        collect(request(name="a.service"), MovingRoot(tmp_path, "read", lambda: change(tmp_path)))


def test_another_users_manager_is_not_asked(tmp_path: Path) -> None:
    """It would start a session of that user on the host."""
    write_tree(tmp_path, {"etc/passwd": "x:x:54321:1::/home/x:/bin/sh\n", "etc/systemd/user/a.service": "[Service]\n"})
    root = HostRoot(str(tmp_path))
    observation = collect(request(name="a.service", user="x"), root)
    assert observation.identity["file"]["fragment"] == "/etc/systemd/user/a.service"
    assert observation.faults["loaded"]["status"] == "denied"
    assert "log in as that user" in observation.faults["loaded"]["why"]
    assert not [item for item in root.touched if "systemctl" in item]


def test_an_unknown_user_is_told(tmp_path: Path) -> None:
    write_tree(tmp_path, {"etc/passwd": "x:x:54321:1::/home/x:/bin/sh\n"})
    with pytest.raises(LookError, match="no user 'y'"):
        collect(request(name="a.service", user="y"), HostRoot(str(tmp_path)))


def test_when_the_files_changed_is_the_latest_of_them(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "etc/systemd/system/a.service": "[Service]\nExecStart=/bin/a\n",
            "srv/a.conf": "[Service]\n",
            "etc/systemd/system/a.service.d/10.conf": "-> /srv/a.conf",
        },
    )
    observation = collect(request(name="a.service"), HostRoot(str(tmp_path), recorded=True))
    times = [
        path.lstat().st_ctime for path in (tmp_path / "srv/a.conf", tmp_path / "etc/systemd/system/a.service.d/10.conf")
    ]
    assert observation.state["changed_at"] == pytest.approx(max(times), abs=1e-3)


def test_an_empty_drop_in_is_told_and_has_no_digest(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {"etc/systemd/system/a.service": "[Service]\nExecStart=/bin/a\n", "etc/systemd/system/a.service.d/1.conf": ""},
    )
    observation = collect(request(name="a.service"), HostRoot(str(tmp_path), recorded=True))
    assert list(observation.identity["file"]["digests"]) == ["/etc/systemd/system/a.service"]
    assert observation.identity["file"]["exec"]["program"] == "/bin/a"
    assert observation.notes == ["/etc/systemd/system/a.service.d/1.conf: is empty"]


def test_no_value_leaves_the_host_unless_a_pin_names_it(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "etc/systemd/system/a.service": "[Unit]\nDescription=s3cret\n[Service]\nEnvironment=A=s3cret s3cret\n"
            "ExecStart=/bin/a -p s3cret --x=s3cret --x s3cret --j '[\"s3cret\"]' -- s3cret\nstray s3cret\n"
        },
    )
    asked = request(name="a.service")
    asked["disclose"] = {"plain": [], "key": "00"}
    observation = collect(asked, HostRoot(str(tmp_path), recorded=True))
    assert "s3cret" not in str(observation.as_dict())
    assert str(observation.as_dict()).count("keyed:") >= 6
