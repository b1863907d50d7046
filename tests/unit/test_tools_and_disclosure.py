"""Tools are asked with fixed words and never killed; values that no pin names stay on the host."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils import _tools
from plugins.module_utils._disclosure import Disclosure
from plugins.module_utils._observation import NotAttempted, NoTool, Timeout, Unparsable
from plugins.module_utils._root import HostRoot

KEY = "ab" * 32


@pytest.fixture(name="bin_folder")
def _bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_tools, "PATH", str(tmp_path))
    return tmp_path


def script(folder: Path, text: str) -> None:
    (folder / "nvidia-smi").write_text("#!/bin/sh\n" + text)
    (folder / "nvidia-smi").chmod(0o755)


def test_a_tool_answers_with_its_code(bin_folder: Path) -> None:
    script(bin_folder, 'echo "$1 $LC_ALL"; echo oops >&2; exit 9\n')
    assert _tools.ask(HostRoot(), ["nvidia-smi", "-L"]) == _tools.ToolAnswer(9, b"-L C\n", b"oops\n")


def test_a_missing_tool_is_told(bin_folder: Path) -> None:
    with pytest.raises(NoTool, match="not installed"):
        _tools.ask(HostRoot(), ["nvidia-smi"])


def test_a_tool_that_ignores_its_end_is_left_alone(bin_folder: Path) -> None:
    script(bin_folder, "trap '' TERM\n/bin/sleep 3\n")
    begin = time.monotonic()
    with pytest.raises(Timeout, match="left to itself"):
        _tools.ask(HostRoot(), ["nvidia-smi"], timeout=0.3)
    assert time.monotonic() - begin < 2


def test_a_grandchild_that_keeps_the_output_open_is_no_answer(bin_folder: Path) -> None:
    script(bin_folder, "/bin/sleep 3 &\necho done\n")
    with pytest.raises(Timeout):
        _tools.ask(HostRoot(), ["nvidia-smi"], timeout=0.3)


def test_the_looks_own_deadline_bounds_the_tool(bin_folder: Path) -> None:
    script(bin_folder, "/bin/sleep 3\n")
    root = HostRoot()
    root.end = time.monotonic() + 0.5
    with pytest.raises(Timeout):
        _tools.ask(root, ["nvidia-smi"], timeout=60)


def test_output_is_bounded(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tools, "OUTPUT_LIMIT", 1000)
    script(bin_folder, "/bin/cat /dev/zero\n")
    with pytest.raises(Unparsable, match="more than 1000 bytes"):
        _tools.ask(HostRoot(), ["nvidia-smi"], timeout=5)


def test_other_programs_are_never_run() -> None:
    with pytest.raises(ValueError, match="not one of our tools"):
        _tools.ask(HostRoot(), ["sh", "-c", "true"])


def test_the_files_lane_runs_no_tool() -> None:
    with pytest.raises(NotAttempted):
        _tools.ask(HostRoot(lane="files"), ["git", "--version"])


def test_recorded_answers(tmp_path: Path) -> None:
    root = HostRoot(str(tmp_path), recorded=True)
    with pytest.raises(NoTool):
        _tools.ask(root, ["nvidia-smi", "-L"])
    folder = tmp_path / "run/recorded-tools/nvidia-smi"
    folder.mkdir(parents=True)
    with pytest.raises(Unparsable, match="no answer to these arguments"):
        _tools.ask(root, ["nvidia-smi", "-L"])
    (folder / "-L").write_bytes(b"GPU 0\n")
    (folder / "-L.exit").write_text("15\n")
    assert _tools.ask(root, ["nvidia-smi", "-L"]) == _tools.ToolAnswer(15, b"GPU 0\n", b"")
    (folder / "-L.exit").write_text("x")
    with pytest.raises(Unparsable, match="not a number"):
        _tools.ask(root, ["nvidia-smi", "-L"])


@given(st.lists(st.text(min_size=1), max_size=4))
def test_a_recorded_name_is_one_file_name(arguments: list[str]) -> None:
    name = _tools.recorded_name([text.encode("utf-8", "replace").decode() for text in arguments])
    assert "/" not in name
    assert "\0" not in name
    assert name


def test_only_named_values_leave_the_host() -> None:
    disclosure = Disclosure.of({"disclose": {"plain": ["K1_*", "PATH"], "key": KEY}})
    assert disclosure.value("K1_PAIR", "3") == "3"
    hidden = disclosure.value("HF_TOKEN", "hf_secret")
    assert hidden.startswith("keyed:")
    assert "secret" not in hidden
    assert hidden == disclosure.value("OTHER", "hf_secret"), "equal values can be told equal"
    assert hidden != Disclosure(["K1_*"], "cd" * 32).value("HF_TOKEN", "hf_secret"), "only under one key"


def test_nothing_is_plain_by_default() -> None:
    assert Disclosure.of({}).value("PATH", "/bin").startswith("keyed:")
