"""GPUs: every case is a host as it is, and what is observed of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from plugins.module_utils import _smi
from plugins.module_utils._observation import Timeout, Unparsable
from plugins.module_utils._root import HostRoot
from plugins.module_utils._tools import ToolAnswer
from plugins.modules.gpu_facts import collect

from tests.unit.collector_cases import CASES, build, cases, expected, observe

UUID = "GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
HEAD = "index, uuid, pci.bus_id, name, persistence_mode, clocks.current.sm [MHz], temperature.gpu\n"


def request(**params: Any) -> dict[str, Any]:
    return {"probe": "p", "kind": "gpu", "params": params, "now": 0.0}


def spark(tree: Path) -> Path:
    build(tree, yaml.safe_load((CASES / "gpu_facts/one-gpu-of-a-spark/input.yml").read_text()))
    return tree


@pytest.mark.parametrize("folder", cases("gpu_facts"))
def test_case(folder: Path, tmp_path: Path) -> None:
    assert observe("gpu_facts", folder, tmp_path) == expected(folder)


@pytest.mark.parametrize("samples", [0, -1, 51])
def test_a_number_of_samples_that_makes_no_sense(samples: int, tmp_path: Path) -> None:
    with pytest.raises(Unparsable, match="samples"):
        collect(request(samples=samples), HostRoot(str(spark(tmp_path)), recorded=True))


class Asked:
    """Answers in place of nvidia-smi; a callable answer is made anew each time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any]) -> None:
        self.calls: list[str] = []
        self._answers = answers
        monkeypatch.setattr(_smi, "ask", self.ask)
        monkeypatch.setattr(_smi.time, "sleep", lambda seconds: self.calls.append(f"sleep {seconds}"))

    def ask(self, root: HostRoot, argv: list[str]) -> ToolAnswer:
        self.calls.append(argv[1])
        answer = self._answers[argv[1].partition("=")[0]]
        answer = answer() if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        return ToolAnswer(0, answer.encode(), b"")


def row(clock: str) -> str:
    return HEAD + f"0, {UUID}, 0000000F:01:00.0, NVIDIA GB10, Enabled, {clock}, 61\n"


def test_the_highest_of_the_samples_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = iter(["2100 MHz", "2205 MHz", "1900 MHz", "2150 MHz"])
    asked = Asked(
        monkeypatch, {"--query-gpu": lambda: row(next(clocks)), "--query-compute-apps": "gpu_uuid, pid, process_name\n"}
    )
    observation = collect(request(samples=4), HostRoot(str(spark(tmp_path))))
    assert observation.identity["clocks"] == {"sm_mhz": 2205}
    assert observation.state["clocks"]["samples"] == {UUID: [2100, 2205, 1900, 2150]}
    assert asked.calls.count("sleep 0.15") == 3


def test_a_sample_that_fails_leaves_the_highest_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is missing could have been the highest."""
    clocks = iter(["2100 MHz", "[Unknown Error]", "1900 MHz"])
    Asked(
        monkeypatch, {"--query-gpu": lambda: row(next(clocks)), "--query-compute-apps": "gpu_uuid, pid, process_name\n"}
    )
    observation = collect(request(samples=3), HostRoot(str(spark(tmp_path))))
    assert observation.identity["clocks"] == {}
    assert observation.faults["clocks.sm_mhz"]["status"] == "unparsable"
    assert observation.state["clocks"]["samples"] == {UUID: [2100]}


def test_a_tool_that_hung_once_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch, {"--query-gpu": Timeout("nvidia-smi: no answer before the deadline, left to itself")})
    began = time.monotonic()
    observation = collect(request(samples=5), HostRoot(str(spark(tmp_path))))
    assert len(asked.calls) == 1
    assert time.monotonic() - began < 5
    assert observation.identity["uuids"] == [UUID]
    assert {observation.faults[path]["status"] for path in ("clocks", "persistence", "processes")} == {"timeout"}


def test_a_tool_that_hangs_later_costs_only_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([row("2100 MHz"), Timeout("nvidia-smi: no answer")])
    asked = Asked(monkeypatch, {"--query-gpu": lambda: next(answers)})
    observation = collect(request(samples=5), HostRoot(str(spark(tmp_path))))
    assert [call for call in asked.calls if not call.startswith("sleep")] == [
        f"--query-gpu={','.join(_smi.FIELDS)}"
    ] * 2
    assert observation.identity["persistence_modes"] == ["Enabled"]
    assert observation.faults["clocks.sm_mhz"]["status"] == "timeout"
    assert observation.faults["processes"]["status"] == "timeout"
