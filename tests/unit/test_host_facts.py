"""Machines: every case is a host as it is, and what is observed of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from plugins.module_utils import _kmsg
from plugins.module_utils._root import HostRoot
from plugins.modules import host_facts

from tests.unit.collector_cases import cases, expected, observe
from tests.unit.file_roots import write_tree


@pytest.mark.parametrize("folder", cases("host_facts"))
def test_case(folder: Path, tmp_path: Path) -> None:
    assert observe("host_facts", folder, tmp_path) == expected(folder)


def test_this_machine_itself() -> None:
    """Whatever it lacks is a fault of its own, and what it has is told."""
    observation = host_facts.collect({"probe": "p", "kind": "host", "params": {}, "now": time.time()}, HostRoot())
    assert observation.status == "ok"
    assert observation.identity["memory"]["total"] > observation.state["memory"]["free"] > 0
    assert observation.identity["kernel"]
    assert observation.identity["architecture"]
    told = {*observation.identity, *observation.state, *observation.faults}
    assert {"machine_id", "boot_id", "host_key", "hostname", "memory", "kernel_log"} <= told


def test_time_in_suspend_makes_the_start_earlier_by_the_logs_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log's clock stands still meanwhile: an error after the start would seem to be before it."""
    monkeypatch.setattr(host_facts, "suspended_s", lambda: 40.0)
    monkeypatch.setattr(host_facts, "read_log", lambda root: _kmsg.Log((_kmsg.Record(0, 0.0, "a"), XID), None))
    write_tree(
        tmp_path,
        {
            "run/x.pid": "7\n",
            "proc/stat": f"btime {int(time.time()) - 100}\n",
            "proc/7/stat": "7 (x) S 1 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 5000 0 0\n",
            "proc/7/cgroup": "0::/\n",
        },
    )
    request = {"probe": "p", "kind": "host", "params": {"log_since": {"pid_file": "/run/x.pid"}}, "now": time.time()}
    observation = host_facts.collect(request, HostRoot(str(tmp_path)))
    assert observation.state["kernel_log"]["xid"] == {"3": XID.text}


XID = _kmsg.Record(3, 15.0, "NVRM: Xid (PCI:000f:01:00): 79, GPU has fallen off the bus.")
