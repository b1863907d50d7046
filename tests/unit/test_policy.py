"""What the project promises about itself: playbooks only look, collectors only read, layers stay apart."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
OUR_ACTIONS = {"open_run", "gather", "reconcile", "capture"}
OTHER_ACTIONS = {"ansible.builtin.import_role", "ansible.builtin.import_playbook", "ansible.builtin.import_tasks"}
KEYWORDS = {"name", "register", "run_once", "tags", "when", "vars"}
HOST_SIDE = sorted([*PROJECT.glob("plugins/modules/*.py"), *PROJECT.glob("plugins/module_utils/*.py")])
CONTROLLER = sorted(PROJECT.glob("python/pinproof/**/*.py"))

# Calls by which a process can change something, and who may make them nevertheless, for which reason.
CHANGING = {
    "os": {
        "remove", "unlink", "rename", "renames", "replace", "rmdir", "removedirs", "mkdir", "makedirs", "mkfifo",
        "mknod", "link", "symlink", "chmod", "chown", "lchown", "fchmod", "fchown", "utime", "truncate", "ftruncate",
        "setxattr", "removexattr", "system", "popen", "execv", "execve", "execvp", "execvpe", "spawnv", "posix_spawn",
        "kill", "write", "putenv", "mount", "umount", "setns", "unshare", "fork", "killpg", "open",
    },
    "shutil": {"rmtree", "copy", "copyfile", "copytree", "move", "chown", "copymode", "copystat", "copy2"},
    "pathlib": {"Path"},
    "subprocess": {"run", "call", "check_call", "check_output", "Popen", "getoutput"},
    "socket": {"socket", "create_connection"},
    "ctypes": {"CDLL", "cdll"},
    "builtins": {"open", "exec", "eval", "compile", "input"},
    "tempfile": {"mkstemp", "NamedTemporaryFile", "TemporaryDirectory", "mkdtemp", "TemporaryFile"},
}  # fmt: skip
ALLOWED = {
    ("_root.py", "os.open"),  # read-only flags
    ("_program.py", "os.open"),  # /dev/null, in place of the connection
    ("_program.py", "os.fork"),  # a child for each look
    ("_program.py", "os.killpg"),  # asks a child of its own to end
    ("_tools.py", "subprocess.Popen"),  # fixed argument vectors of three tools
    ("_tools.py", "os.killpg"),  # asks a tool of its own to end
    ("_engine.py", "socket.socket"),  # AF_UNIX, GET only
    ("host_facts.py", "os.open"),  # /dev/kmsg, read-only
    ("_kmsg.py", "os.open"),  # /dev/kmsg, read-only
}


def _playbooks() -> list[Path]:
    return sorted([PROJECT / "verify.yml", *PROJECT.glob("playbooks/*.yml")])


def _task_files() -> list[Path]:
    return sorted([*PROJECT.glob("roles/*/tasks/*.yml"), *PROJECT.glob("roles/*/handlers/*.yml")])


def _forbidden_actions(task: dict[str, Any]) -> set[str]:
    return set(task) - KEYWORDS - OUR_ACTIONS - OTHER_ACTIONS


def test_there_is_something_to_check() -> None:
    assert len(_playbooks()) >= 3
    assert len(_task_files()) >= 3
    assert len(HOST_SIDE) >= 15


@pytest.mark.parametrize("path", _playbooks(), ids=lambda p: p.name)
def test_playbooks_hold_read_only_actions_only(path: Path) -> None:
    for play in yaml.safe_load(path.read_text()):
        if "ansible.builtin.import_playbook" in play:
            assert set(play) == {"name", "ansible.builtin.import_playbook"}
            continue
        assert play["check_mode"] is True
        assert play["gather_facts"] is False
        assert set(play) == {"name", "hosts", "gather_facts", "check_mode", "tasks"}
        for task in play["tasks"]:
            assert not _forbidden_actions(task)


@pytest.mark.parametrize("path", _task_files(), ids=lambda p: f"{p.parts[-3]}/{p.name}")
def test_roles_hold_read_only_actions_only(path: Path) -> None:
    for task in yaml.safe_load(path.read_text()):
        assert not _forbidden_actions(task)


@pytest.mark.parametrize(
    "task",
    [
        {"name": "x", "ansible.builtin.command": "true"},
        {"name": "x", "shell": "true"},
        {"name": "x", "raw": "true"},
        {"name": "x", "gather": {}, "check_mode": False},
        {"name": "x", "gather": {}, "async": 10},
        {"name": "x", "gather": {}, "delegate_to": "x"},
        {"name": "x", "local_action": "gather"},
    ],
)
def test_the_policy_refuses_what_could_change_a_host(task: dict[str, Any]) -> None:
    assert _forbidden_actions(task)


def _changing_calls(text: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func
        if isinstance(name, ast.Name) and name.id in CHANGING["builtins"]:
            found.add(f"builtins.{name.id}")
        if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
            module = name.value.id
            if name.attr in CHANGING.get(module, set()):
                found.add(f"{module}.{name.attr}")
    return found


@pytest.mark.parametrize("path", HOST_SIDE, ids=lambda p: p.name)
def test_collectors_only_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert {call for call in _changing_calls(text) if (path.name, call) not in ALLOWED} == set()
    assert "ctypes" not in text or path.name.startswith("_confine")


@pytest.mark.parametrize(
    "text", ["import os\nos.remove('x')", "open('x', 'w')", "import subprocess\nsubprocess.run(['x'])"]
)
def test_the_policy_finds_a_collector_that_writes(text: str) -> None:
    assert _changing_calls(text)


@pytest.mark.parametrize("path", HOST_SIDE, ids=lambda p: p.name)
def test_collectors_use_the_standard_library_only(path: Path) -> None:
    import sys

    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))):
        if isinstance(node, ast.Import):
            assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert (node.module or "").split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("path", CONTROLLER, ids=lambda p: str(p.relative_to(PROJECT / "python/pinproof")))
def test_the_controller_never_imports_plugins(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        assert not any(name.split(".")[0] == "plugins" for name in names)


def test_every_action_has_a_documented_module() -> None:
    actions = {path.stem for path in PROJECT.glob("plugins/action/*.py")} - {"__init__"}
    modules = {path.stem for path in PROJECT.glob("plugins/modules/*.py")} - {"__init__"}
    assert actions == modules
    for name in sorted(modules):
        text = (PROJECT / "plugins/modules" / f"{name}.py").read_text(encoding="utf-8")
        documentation = yaml.safe_load(text.split('DOCUMENTATION = r"""')[1].split('"""')[0])
        assert documentation["module"] == name
        assert documentation["attributes"]["check_mode"]["support"] == "full"


def test_settings_that_fail_in_silence_are_set() -> None:
    import configparser

    settings = configparser.ConfigParser()
    settings.read(PROJECT / "ansible.cfg")
    defaults = settings["defaults"]
    assert (PROJECT / defaults["inventory"]).is_dir()
    assert (PROJECT / defaults["callback_plugins"] / f"{defaults['stdout_callback']}.py").is_file()
    assert defaults["fact_caching"] == "memory"
    assert defaults["no_target_syslog"] == "True"
    assert defaults["host_key_checking"] == "True"
    assert settings["inventory"]["host_pattern_mismatch"] == "error"
    assert settings["inventory"]["any_unparsed_is_failed"] == "True"
    assert settings["connection"]["pipelining"] == "True"
