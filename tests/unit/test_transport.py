"""The program on standard input: answers to every look, whatever one of them does, and nothing left behind."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pinproof.errors import ObservationError
from pinproof.observations import Observation
from pinproof.transport.answer import read_answer, unanswered
from pinproof.transport.program import _sources, _used_utilities, host_program

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
RUN = "20261201T000000Z-0badcafe"

COLLECTOR = """
from __future__ import annotations
import os, signal, sys, time
from ..module_utils._observation import Absent, Observation
from ..module_utils._root import HostRoot

def collect(request, root):
    act = request["kind"]
    if act == "hang":
        root.touched.append("/srv/stale")
        time.sleep(60)
    if act == "hang_hard":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(4)
    if act == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "crash":
        return {}[1]
    if act == "absent":
        raise Absent("/x: not there")
    if act == "memory":
        return bytearray(1 << 40)
    if act == "endless":
        def nest(n):
            return nest(n + 1)
        return nest(0)
    observation = Observation("file", "read")
    if act == "bytes":
        observation.identity["name\\udcff"] = os.fsdecode(b"caf\\xe9")
        return observation
    if act == "nan":
        observation.identity["x"] = float("nan")
        return observation
    if act == "print":
        print("noise"); sys.stderr.write("noise")
    observation.identity["text"] = root.read("/etc/hostname").decode()
    return observation
"""


@pytest.fixture(name="plugins")
def _plugins(tmp_path: Path) -> Path:
    shutil.copytree(PLUGINS / "module_utils", tmp_path / "module_utils", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/test_facts.py").write_text(COLLECTOR)
    return tmp_path


def payload(*kinds: str, deadline: float = 5.0, **more: Any) -> dict[str, Any]:
    return {
        "run": RUN,
        "host": "x86host",
        "root": "",
        "recorded": False,
        "user": "",
        "lane": "full",
        "deadline_s": 20.0,
        "disclose": {"plain": [], "key": "00"},
        "probes": [
            {"probe": kind, "collector": "test_facts", "kind": kind, "params": {}, "deadline_s": deadline}
            for kind in kinds
        ],
        **more,
    }


def send(
    sent: dict[str, Any], plugins: Path, interpreter: str = sys.executable, cwd: Path | None = None
) -> dict[str, Any]:
    done = subprocess.run(
        [interpreter, "-I", "-S", "-B", "-"],
        input=host_program(sent, plugins),
        capture_output=True,
        timeout=40,
        check=False,
        cwd=cwd,
    )
    assert done.stderr == b"", done.stderr.decode()
    return read_answer(done.stdout.decode("ascii"), sent["run"])


def interpreters() -> list[str]:
    found = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    usable = [str(path) for path in found if int(path.parts[-3].split(".")[1]) >= 8]
    return [sys.executable, *(path for path in usable if path != sys.executable)]


@pytest.mark.parametrize("interpreter", interpreters())
def test_every_interpreter_on_the_machine_answers(plugins: Path, interpreter: str) -> None:
    answer = send(payload("good", "absent", "crash"), plugins, interpreter)
    statuses = {item["probe"]: item["status"] for item in answer["observations"]}
    assert statuses == {"good": "ok", "absent": "absent", "crash": "unparsable"}
    assert answer["observations"][0]["source"] == ["/etc/hostname"]


def test_one_bad_look_costs_the_others_nothing(plugins: Path) -> None:
    kinds = ("hang", "die", "crash", "memory", "endless", "nan", "absent", "print", "bytes", "good", "hang_hard")
    begin = time.monotonic()
    answer = send(payload(*kinds, deadline=1.0), plugins)
    took = time.monotonic() - begin
    seen = {item["probe"]: item for item in answer["observations"]}
    assert list(seen) == list(kinds), "one observation a request, in their order"
    assert {kind: item["status"] for kind, item in seen.items()} == {
        "hang": "timeout",
        "die": "unparsable",
        "crash": "unparsable",
        "memory": "unparsable",
        "endless": "unparsable",
        "nan": "unparsable",
        "absent": "absent",
        "print": "ok",
        "bytes": "ok",
        "good": "ok",
        "hang_hard": "timeout",
    }
    assert "last look: /srv/stale" in seen["hang"]["why"]
    assert "died without an answer" in seen["die"]["why"]
    assert "KeyError: 1" in seen["crash"]["why"]
    assert "memory" in seen["memory"]["why"]
    assert "recursion" in seen["endless"]["why"]
    assert seen["bytes"]["identity"] == {"name\\xff": "caf\\xe9"}
    assert took < 6
    for item in answer["observations"]:
        Observation.from_json(item)


def test_the_hosts_deadline_ends_everything(plugins: Path) -> None:
    sent = payload("hang", "good", deadline=60.0, deadline_s=1.0)
    sent["probes"] = [*sent["probes"][:1], *({**sent["probes"][0], "probe": f"hang{i}"} for i in range(6))]
    begin = time.monotonic()
    answer = send(sent, plugins)
    assert time.monotonic() - begin < 4
    assert [item["status"] for item in answer["observations"]] == ["timeout"] * 7
    assert "not started before the host's deadline" in answer["observations"][-1]["why"]


def test_a_lane_without_access_looks_at_nothing(plugins: Path) -> None:
    answer = send(payload("good", lane="none"), plugins)
    assert answer["observations"][0]["status"] == "not_attempted"


def test_no_file_is_made_on_the_host(plugins: Path, tmp_path: Path) -> None:
    home = tmp_path / "cwd"
    home.mkdir()
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    tmp_before = set(Path("/tmp").iterdir())
    send(payload("good", "crash"), plugins, cwd=home)
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
    assert not {
        name for name in set(Path("/tmp").iterdir()) - tmp_before if "pinproof" in name.name or "ansible" in name.name
    }


def test_greetings_of_a_login_shell_are_told_apart() -> None:
    text = json.dumps({"schema": 1, "run": RUN})
    assert read_answer(f"Welcome!\n<pinproof {RUN} {len(text)}>\n{text}\n</pinproof>\nbye", RUN)["run"] == RUN


@pytest.mark.parametrize(
    ("stdout", "why"),
    [
        ("", "no answer"),
        ("Welcome!\n", "no answer"),
        ("<pinproof other 2>\n{}\n</pinproof>\n", "for run other"),
        (f'<pinproof {RUN} 99>\n{{"schema": 1', "cut short"),
        (f"<pinproof {RUN} 2>\n{{}}\n</pinproof>\n", "another schema"),
        (f"<pinproof {RUN} 2>\n[]\n</pinproof>\n", "another schema"),
    ],
)
def test_what_is_no_answer_is_told(stdout: str, why: str) -> None:
    with pytest.raises(ObservationError, match=why):
        read_answer(stdout, RUN)


def test_a_host_without_answer_still_has_every_observation() -> None:
    requests = payload("good", "absent")["probes"]
    answer = unanswered(requests, "x86host", RUN, "unreachable", "no route to host", "2026-12-01T00:00:00.000000Z")
    seen = [Observation.from_json(item) for item in answer["observations"]]
    assert [(item.probe, item.status, item.why) for item in seen] == [
        ("good", "unreachable", "no route to host"),
        ("absent", "unreachable", "no route to host"),
    ]


def _imports_by_parser(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            module = (node.module or "").removeprefix("module_utils").removeprefix(".")
            names.update([module] if module else [alias.name for alias in node.names])
    return names


@pytest.mark.parametrize(
    "path", sorted([*PLUGINS.glob("modules/*_facts.py"), *PLUGINS.glob("module_utils/_*.py")]), ids=lambda p: p.name
)
def test_imports_found_by_pattern_are_those_of_the_parser(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert set(_used_utilities(text)) - {"__future__", "annotations"} == _imports_by_parser(text)


def test_only_what_is_needed_is_sent(plugins: Path) -> None:
    sent = _sources(plugins, ["test_facts"])
    assert "pinproof_probe.module_utils._root" in sent
    assert "pinproof_probe.module_utils._tools" not in sent
