"""`ansible-playbook verify.yml --check` as a user runs it: always a verdict, and never a byte on a host."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.playbooks import BIN, PROJECT, Place, row, verdicts_of

pytestmark = pytest.mark.xdist_group("playbook")


def snapshot(root: Path) -> dict[str, tuple[Any, ...]]:
    """Everything about every file that a write could change, its times included."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        found[str(path)] = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, content)
    return found


@pytest.mark.parametrize("check", [["--check"], []])
def test_the_replica_reconciles_and_nothing_is_written_there(place: Place, check: list[str]) -> None:
    before = snapshot(place.replica)
    ended = place.run("ansible-playbook", "verify.yml", *check)
    assert ended.code == 0, ended.all
    lines = [line for line in ended.out.splitlines() if line.strip()]
    assert any(line.startswith("RECONCILED") for line in lines)
    assert "RECONCILED" in lines[-1]
    assert "authorises no staging and no change" in lines[-1]
    verdict = place.verdict()
    assert verdict["decision"] == "RECONCILED"
    assert set(verdicts_of(verdict).values()) <= {"MATCH", "DRIFT"}
    assert len(verdict["rows"]) == 31
    assert snapshot(place.replica) == before


def test_the_archived_run_is_whole(place: Place) -> None:
    place.verify()
    run = (place.archive / "latest").resolve()
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    hosts = ("sparkhead", "sparkpeer", "x86host", "coordinator")
    assert names == {
        "manifest.yml",
        "report.md",
        "run.json",
        "verdict.json",
        "SHA256SUMS",
        *(f"facts/{host}.json" for host in hosts),
    }
    for path in run.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    for host in hosts:
        facts = json.loads((run / f"facts/{host}.json").read_text())
        assert {item["run"] for item in facts["observations"]} == {run.name}
    assert os.system(f"cd {run} && sha256sum --quiet --strict -c SHA256SUMS") == 0


def test_counts_are_those_of_the_declared_pins(place: Place) -> None:
    place.verify()
    verdict = place.verdict()
    listed = Counter(pin["verdict"] for item in verdict["rows"] for pin in item["pins"])
    assert {name: count for name, count in verdict["counts"].items() if count} == dict(listed)
    assert len({(pin["id"], pin["on"]) for item in verdict["rows"] for pin in item["pins"]}) == sum(listed.values())
    assert verdict["judged_by_compare"]


def test_a_limit_leaves_the_others_not_run(place: Place) -> None:
    ended = place.verify("--limit", "x86host")
    assert ended.code != 0
    verdict = place.verdict()
    assert verdict["decision"] == "HOLD"
    assert {pin["verdict"] for item in verdict["rows"] for pin in item["pins"] if pin["on"] == "sparkhead"} == {
        "NOT_RUN"
    }
    assert row(verdict, "worker-gpus")["verdict"] == "MATCH"
    assert any("sparkhead" in cause["text"] for cause in verdict["causes"])


@pytest.mark.parametrize("arguments", [["--tags", "nothing"], ["--skip-tags", "gather"]])
def test_tags_leave_everything_not_run(place: Place, arguments: list[str]) -> None:
    ended = place.verify(*arguments)
    assert ended.code != 0
    verdict = place.verdict()
    assert verdict["decision"] == "HOLD"
    assert {
        pin["verdict"] for item in verdict["rows"] for pin in item["pins"] if not pin["at"].startswith("baseline")
    } == {"NOT_RUN"}


def test_skipping_the_judgement_itself_is_no_success(place: Place) -> None:
    ended = place.verify("--skip-tags", "always")
    assert ended.code == 3
    assert "NO VERDICT" in ended.err


def test_a_limit_that_matches_nothing_is_no_success(place: Place) -> None:
    ended = place.verify("--limit", "x86hots")
    assert ended.code != 0
    assert "RECONCILED" not in ended.out


def test_all_hosts_unreachable_is_a_verdict(place: Place) -> None:
    ended = place.verify(
        variables={"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_timeout": 3}
    )
    assert ended.code != 0
    verdict = place.verdict()
    assert verdict["decision"] == "HOLD"
    assert len([cause for cause in verdict["causes"] if "can't be reached" in cause["text"]]) >= 4
    assert "Traceback" not in ended.all


def test_an_interpreter_that_is_none_is_a_verdict(place: Place) -> None:
    ended = place.verify(variables={"ansible_python_interpreter": "/bin/cat"})
    assert ended.code != 0
    assert place.verdict()["decision"] == "HOLD"
    assert "Traceback" not in ended.all


def test_a_bad_manifest_is_refused_before_any_host_is_contacted(place: Place, tmp_path: Path) -> None:
    contacted = tmp_path / "contacted"
    case = PROJECT / "tests/cases/manifest_errors"
    bad = sorted(case.glob("*/manifest.yml"))[0]
    ended = place.verify(
        variables={
            "pinproof_manifest": str(bad),
            "ansible_connection": "ssh",
            "ansible_ssh_common_args": f"-o ProxyCommand='touch {contacted}'",
        }
    )
    assert ended.code != 0
    assert f"{bad}:" in ended.all
    assert not contacted.exists()


def test_a_lane_without_access_opens_no_connection(place: Place, tmp_path: Path) -> None:
    contacted = tmp_path / "contacted"
    ended = place.verify(
        variables={
            "pinproof_lane": "none",
            "ansible_connection": "ssh",
            "ansible_ssh_common_args": f"-o ProxyCommand='touch {contacted}'",
        }
    )
    assert ended.code != 0
    assert not contacted.exists()
    verdict = place.verdict()
    pins = [pin for item in verdict["rows"] for pin in item["pins"] if not pin["at"].startswith("baseline")]
    assert {pin["verdict"] for pin in pins} == {"NOT_RUN"}
    assert any("no access" in cause["text"] for cause in verdict["causes"])
    assert verdict["lane"] == "none on sparkhead, sparkpeer, x86host, coordinator"


@pytest.mark.parametrize(
    ("host", "module", "arguments"),
    [
        ("sparkhead", "source_facts", "kind=source repo=~/dsv41-deploy"),
        ("x86host", "file_facts", "kind=link path=~/dsv41-offload/prod/dspark-worker/current"),
        ("sparkhead", "image_facts", "kind=container name=dsv41"),
        ("sparkhead", "process_facts", "container=dsv41 program=vllm"),
        ("x86host", "unit_facts", "kind=unit name=dspark-worker-tp2.service"),
        ("x86host", "gpu_facts", ""),
        ("sparkhead", "nccl_facts", """process='{"container": "dsv41", "program": "vllm"}'"""),
        ("sparkhead", "jit_facts", "cache=triton path=/var/cache/dsv41/triton"),
        ("sparkpeer", "host_facts", ""),
    ],
)
def test_each_collector_answers_by_hand(place: Place, host: str, module: str, arguments: str) -> None:
    ended = place.run("ansible", host, "-m", module, *(["-a", arguments] if arguments else []))
    assert ended.code == 0, ended.all
    observation = json.loads(ended.out[ended.out.index("{") :])["ansible_facts"][module]
    assert observation["status"] == "ok"
    assert observation["identity"]


@pytest.mark.parametrize(
    ("module", "arguments", "words"),
    [
        ("file_facts", "", "needs kind="),
        ("file_facts", "kind=lnik path=/x", "not 'lnik'"),
        ("file_facts", "kind=link", "needs path="),
        ("file_facts", "kind=link path=/x pth=/y", "has no 'pth'"),
        ("gpu_facts", "samples=many", "whole number"),
        ("nccl_facts", "process=dsv41", "must be a JSON object"),
    ],
)
def test_a_look_by_hand_says_what_is_wrong_with_it(place: Place, module: str, arguments: str, words: str) -> None:
    ended = place.run("ansible", "x86host", "-m", module, *(["-a", arguments] if arguments else []))
    assert ended.code != 0
    assert words in ended.all
    assert "Traceback" not in ended.all


def test_every_module_has_its_page(place: Place) -> None:
    modules = sorted(path.stem for path in (PROJECT / "plugins/modules").glob("*.py") if path.stem != "__init__")
    done = subprocess.run(
        [str(BIN / "ansible-doc"), "-t", "module", "--json", *modules],
        cwd=PROJECT,
        env={**os.environ, "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg")},
        capture_output=True,
        text=True,
        check=True,
    )
    pages = json.loads(done.stdout)
    assert set(pages) == set(modules)
    for name, page in pages.items():
        assert page["doc"]["short_description"], name
        assert page["doc"]["attributes"]["check_mode"]["support"] == "full", name
        assert page["examples"].strip(), name
        assert page["return"], name
