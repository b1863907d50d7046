"""Failures that tools of this kind have shipped, each as a test on the real commands and the real probe program.

What is not tested here is tested elsewhere:

=====================================================  ===============================================================
failure                                                tested in
=====================================================  ===============================================================
a pin on a missing probe, a row without pins           unit/test_manifest_mistakes.py (cases pin_on_missing_probe, ...)
a misspelt row, leg, start, command                    unit/test_cli_archive.py, test_cli_verify.py, test_cli.py
empty JSON, another schema or site as a capture        unit/test_archive_baseline.py
collectors where there is nothing to collect           unit/test_gpu_facts.py, e2e/test_evidence_matrix.py
errors of collectors are swallowed                     unit/test_transport.py, e2e/test_evidence_matrix.py
verdicts get lost: declared is not the sum             e2e/test_playbook.py, unit/test_reconcile_rows.py
FAIL in the text, exit 0                               unit/test_cli_verify.py, e2e/test_drift_matrix.py
a file changed or added after the checksums            unit/test_archive_verify.py, test_cli_archive.py
one manifest, two digests                              unit/test_manifest_digest.py, test_manifest_cli.py
newer manifest version, wrong kind of digest           unit/test_manifest_mistakes.py, test_manifest_expectations.py
placeholders, the digest of nothing                    unit/test_manifest_rules.py, test_reading.py, test_file_facts.py
substrings of names and paths                          unit/test_reconcile_checks.py, test_reconcile_compare.py
limit and tags pass by leaving out                     e2e/test_playbook.py
unreachable told as something else                     e2e/test_playbook.py, unit/test_reconcile_rows.py
two runs in one second, leftovers, full disks          unit/test_archive_publish.py (and here)
deepdiff hides a difference                            unit/test_reconcile_compare.py, test_reconcile_explain.py
YAML guesses, duplicate keys                           unit/test_manifest_nodes.py, test_manifest_expectations.py
an empty expectation asserts nothing                   unit/test_manifest_expectations.py, test_manifest_rules.py
a byte on the host, a task that could write one        e2e/test_playbook.py, unit/test_policy.py, test_transport.py
git writes its index or runs what a repository says    conformance/test_git.py, unit/test_replica_git.py
settings that fail in silence, undocumented actions    unit/test_policy.py
the runner's environment, files, return code, ident    unit/test_cli_verify.py
an interpreter that is none                            e2e/test_playbook.py
=====================================================  ===============================================================
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from pinproof.ansible.plain import plain
from pinproof.archive import Archive
from pinproof.manifest import load_manifest
from pinproof.observations import HostFacts, Observation
from pinproof.outcome import Arm
from pinproof.reconcile import reconcile
from pinproof.transport.answer import read_answer
from pinproof.transport.program import host_program
from pinproof.transport.requests import HostAccess, payload
from pinproof.verdicts import Decision, Verdict
from tests.e2e.playbooks import BIN, PROJECT, Ended, pinproof, row, verdicts_of
from tests.e2e.probing import KEY, PLUGINS, RUN, UNPRIVILEGED

VERDICT_LINES = ("RECONCILED", "HOLD", "STOP")
PASSWD = "operator:x:1000:1000::{home}:/bin/sh\n"


@dataclass(frozen=True)
class Small:
    """A site of one host, a small file tree, with an archive of its own."""

    folder: Path

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.yml"

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    def write(self, path: str, text: str) -> None:
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text)

    def inventory(self, host: str = "one", **variables: str) -> str:
        """Write the inventory and name it."""
        settings = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "pinproof_root": str(self.tree),
            "pinproof_user": "operator",
            "pinproof_manifest": str(self.manifest),
            "pinproof_archive": str(self.archive),
            **variables,
        }
        file = self.folder / "hosts.yml"
        file.write_text(yaml.safe_dump({"all": {"hosts": {host: settings}}}))
        return str(file)

    def run(self, command: str, *arguments: str, inventory: str = "") -> Ended:
        """Run `pinproof verify` or `pinproof capture` here."""
        words = ["-i", inventory or self.inventory(), "--manifest", str(self.manifest), "--archive", str(self.archive)]
        return pinproof(command, *words, *arguments)

    def play(
        self, *arguments: str, inventory: str = "", cwd: Path = PROJECT, environment: dict[str, str] | None = None
    ) -> Ended:
        """Run `ansible-playbook verify.yml` here."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        done = subprocess.run(
            [str(BIN / "ansible-playbook"), "verify.yml", "-i", inventory or self.inventory(), *arguments],
            cwd=cwd,
            env={**kept, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def runs(self) -> list[str]:
        return sorted(path.name for path in self.archive.iterdir() if path.is_dir() and not path.is_symlink())

    def verdict(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.archive / "latest/verdict.json").read_text())
        return data


def manifest_text(probes: str, rows: str, name: str = "small") -> str:
    return f"manifest: {name}\nversion: 1\nscope: small\nhosts: [one]\nprobes:\n{probes}\nrows:\n{rows}\n"


def row_text(name: str, pin: str) -> str:
    return f"  - {{id: {name}, setting: {name}, requires: file, pins: [{pin}]}}"


SETTINGS = "  settings: {on: one, file: ~/settings}"


@pytest.fixture(name="small")
def _small(tmp_path: Path) -> Small:
    site = Small(tmp_path)
    site.write("etc/passwd", PASSWD.format(home="/home/operator"))
    site.write("home/operator/settings", "PAIR=3\n")
    site.manifest.write_text(manifest_text(SETTINGS, row_text("pair", "{at: settings.text, is: PAIR=3}")))
    return site


def look(requests: list[dict[str, Any]], root: str = "", prefix: list[str] | None = None) -> HostFacts:
    """Run the real probe program; each request is a probe's name, collector, kind and params."""
    full = [{"deadline_s": 10.0, **request} for request in requests]
    sent = payload("one", RUN, HostAccess(root, bool(root), "operator" if root else ""), full, ["*"], KEY)
    done = subprocess.run(
        [*(prefix or []), sys.executable, "-I", "-S", "-B", "-"],
        input=host_program(sent, PLUGINS),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == b"", done.stderr.decode(errors="replace")
    seen = [Observation.from_json(item) for item in read_answer(done.stdout.decode("ascii"), RUN)["observations"]]
    assert [item.probe for item in seen] == [request["probe"] for request in requests]
    return HostFacts("one", contacted=True, why="", observations={item.probe: item for item in seen})


def judge(manifest: str, facts: HostFacts) -> tuple[Decision, dict[str, Verdict]]:
    loaded = load_manifest(manifest, "small.yml", lambda _: "")
    outcome = reconcile(loaded, {"one": facts}, None, run=RUN, lane="full", arm=Arm("", "", ""))
    return outcome.decision, {item.id: item.verdict for item in outcome.rows}


# -- what was never asked ---------------------------------------------------------------------


def test_a_misspelt_host_beside_a_good_one_is_wrong_usage(small: Small) -> None:
    """A name in a filter that fits nothing is dropped in silence, and the rest passes."""
    ended = small.run("verify", "--limit", "one,tow")
    assert ended.code == 64
    assert "one,tow" in ended.err
    assert not small.archive.exists() or small.runs() == []


@pytest.mark.parametrize("text", ["all: {hosts: {}}\n", "all: {hosts: [\n"], ids=["no hosts", "no YAML"])
def test_an_inventory_that_gives_no_hosts_is_a_bad_inventory(small: Small, text: str) -> None:
    """A play over no hosts ends with 0, and the runner calls it successful."""
    inventory = small.folder / "bad.yml"
    inventory.write_text(text)
    ended = small.run("verify", inventory=str(inventory))
    assert ended.code == 78
    assert "no verdict: the inventory" in ended.err
    assert not any(line.startswith(VERDICT_LINES) for line in ended.out.splitlines())


def test_an_inventory_of_other_hosts_reconciles_nothing(small: Small) -> None:
    """The play runs on hosts that the manifest does not name: all green, nothing checked."""
    ended = small.play(inventory=small.inventory(host="two"))
    assert ended.code != 0
    verdict = small.verdict()
    assert verdict["decision"] == "HOLD"
    assert verdicts_of(verdict) == {"pair": "NOT_RUN"}


def test_a_playbook_without_hosts_is_no_success(small: Small) -> None:
    """`skipping: no hosts matched`, exit 0."""
    inventory = small.folder / "none.yml"
    inventory.write_text("all: {hosts: {}}\n")
    ended = small.play(inventory=str(inventory))
    assert ended.code == 3
    assert "NO VERDICT" in ended.err


def test_a_world_writable_checkout_is_no_success(small: Small) -> None:
    """Ansible ignores the configuration of a world-writable folder; settings that fail in silence are gone then."""
    checkout = small.folder / "checkout"
    checkout.mkdir()
    for name in ("ansible.cfg", "plugins", "roles", "playbooks", "inventory", "verify.yml"):
        (checkout / name).symlink_to(PROJECT / name)
    checkout.chmod(0o777)
    ended = small.play(cwd=checkout)
    assert ended.code != 0
    assert "world writable" in ended.all
    assert "RECONCILED" not in ended.out
    assert not small.archive.exists()


def test_another_output_of_ansible_hides_no_mismatch(small: Small) -> None:
    """Without the project's callback a run that does not reconcile ends with 0."""
    small.write("home/operator/settings", "PAIR=4\n")
    assert small.play(environment={"ANSIBLE_STDOUT_CALLBACK": "minimal"}).code != 0
    assert small.verdict()["decision"] == "STOP"


# -- what was judged --------------------------------------------------------------------------


def test_the_first_row_differs_and_a_look_fails_and_all_rows_are_judged(small: Small) -> None:
    """One failing phase skips the later ones; a collector's error is logged and swallowed; FAIL, and exit 0."""
    small.write("home/operator/settings", "PAIR=4\n")
    small.write("srv/broken.json", '{"cut": ')
    small.write("srv/good.json", '{"pair": 3}')
    probes = [SETTINGS, *(f"  {name}: {{on: one, json: /srv/{name}.json}}" for name in ("broken", "good", "gone"))]
    rows = [
        row_text("first", "{at: settings.text, is: PAIR=3}"),
        row_text("second", "{at: broken.value.pair, absent: true}"),
        row_text("third", "{at: good.value.pair, is: 3}"),
        row_text("fourth", "{at: gone.value.pair, is: 3}"),
    ]
    small.manifest.write_text(manifest_text("\n".join(probes), "\n".join(rows)))
    ended = small.run("verify")
    assert ended.code == 2, ended.all
    verdict = small.verdict()
    assert verdicts_of(verdict) == {"first": "MISMATCH", "second": "HOLD", "third": "MATCH", "fourth": "MISMATCH"}
    assert sum(verdict["counts"].values()) == 4
    assert [line for line in ended.out.splitlines() if line.strip()][-1].startswith("STOP: ")
    facts = json.loads((small.archive / "latest/facts/one.json").read_text())
    assert [item["probe"] for item in facts["observations"]] == ["settings", "broken", "good", "gone"]


def test_what_looks_like_a_template_is_text_everywhere(small: Small) -> None:
    """A manifest loaded as a variable is templated, and so are facts from hosts: code of theirs would run here.

    The same run shows that nothing is put into the host's temporary folder, and a label that comes tagged from an
    inventory.
    """
    ran = small.folder / "ran"
    line = f"{{{{ lookup('pipe', 'touch {ran}') }}}}"
    small.write("home/operator/settings", f"{line}\n")
    small.manifest.write_text(
        manifest_text(
            SETTINGS,
            f"  - id: unit\n    setting: 'docker inspect -f {{{{.ID}}}}'\n    requires: file\n"
            f'    pins: [{{at: settings.text, is: "{line}"}}]',
        )
    )
    remote = small.folder / "remote"
    ended = small.run("verify", inventory=small.inventory(ansible_remote_tmp=str(remote), pinproof_label="of a file"))
    assert ended.code == 0, ended.all
    (pin,) = row(small.verdict(), "unit")["pins"]
    assert pin["observed"] == pin["expected"] == line
    assert "{{.ID}}" in ended.out
    archived = (small.archive / "latest/manifest.yml").read_text()
    assert load_manifest(archived, "manifest.yml", lambda _: "").digest == small.verdict()["manifest"]["digest"]
    assert json.loads((small.archive / "latest/run.json").read_text())["arm"]["label"] == "of a file"
    assert not ran.exists()
    assert not remote.exists()


def test_tagged_values_become_plain_at_the_boundary() -> None:
    """Values from Ansible equal plain ones, and yet deepdiff tells their types apart and YAML refuses them."""
    from ansible.parsing.dataloader import DataLoader

    given = DataLoader().load("{pair: three, list: [{deep: text}]}")
    assert type(given["pair"]) is not str, "the trap is gone: ansible gives plain data by now"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_dump(given["pair"])
    made = plain(given)
    assert made == given
    assert yaml.safe_load(yaml.safe_dump(made)) == made
    assert {type(item) for item in (made, made["pair"], made["list"], made["list"][0]["deep"])} == {dict, str, list}


def test_facts_of_an_earlier_run_are_never_judged(small: Small) -> None:
    """A cache keeps facts: a run that looks at nothing passes on what an earlier one saw."""
    cache = small.folder / "cache"
    caching = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(cache)}
    assert small.play(environment=caching).code == 0
    assert list(cache.iterdir()), "the trap is gone: nothing was cached"
    ended = small.play("--skip-tags", "gather", environment=caching)
    assert ended.code != 0
    assert verdicts_of(small.verdict()) == {"pair": "HOLD"}
    assert "another run" in ended.out


def test_a_manifest_is_no_baseline(small: Small) -> None:
    """Any YAML is accepted as a capture."""
    pins = "{at: settings.text, is: PAIR=3}, {at: settings.sha256, same_as: baseline}"
    small.manifest.write_text(manifest_text(SETTINGS, row_text("pair", pins)))
    ended = small.run("verify", "--baseline", str(small.manifest))
    assert ended.code == 3, ended.all
    verdict = small.verdict()
    assert verdicts_of(verdict) == {"pair": "HOLD"}
    (cause,) = verdict["causes"]
    assert cause["id"] == "baseline"
    assert f"{small.manifest} can't be used: it is a manifest, not a captured run" in cause["text"]


# -- what is kept -----------------------------------------------------------------------------


@pytest.fixture(name="full_disk")
def _full_disk(small: Small) -> Iterator[Path]:
    """An archive on a disk that has room to open a run, and none to keep it."""
    small.archive.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small.archive)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no right to mount a small file system")
    yield small.archive
    subprocess.run(["umount", "--lazy", str(small.archive)], check=True)


def test_evidence_that_can_not_be_kept_is_no_verdict(small: Small, full_disk: Path) -> None:
    """Evidence can't be written: a warning, the verdict all the same, and exit 0."""
    rows = [row_text(f"pair-{number}", "{at: settings.text, is: PAIR=3}") for number in range(200)]
    small.manifest.write_text(manifest_text(SETTINGS, "\n".join(rows)))
    ended = small.run("verify")
    assert ended.code == 1, ended.all
    assert "looks answered" in ended.out, "the run was opened, and the host was looked at"
    assert not any(line.startswith(VERDICT_LINES) for line in ended.out.splitlines())
    assert "No space left" in ended.err
    assert [item.state for item in Archive(full_disk).runs()] == ["interrupted"]


def test_two_runs_at_once_are_two_runs(small: Small) -> None:
    """Two runs in one second overwrite each other."""
    inventory = small.inventory()
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(small.run, "verify", inventory=inventory) for _ in range(2)]
        assert [item.result().code for item in both] == [0, 0]
    assert len(small.runs()) == 2
    checked = pinproof("archive", "verify", "--archive", str(small.archive))
    assert checked.code == 0, checked.all
    assert "INTACT: 2 runs" in checked.out


def test_a_folder_with_anything_in_it_is_refused(small: Small) -> None:
    """What a dry run or an earlier attempt left is packed by a later run."""
    folder = small.archive / RUN
    folder.mkdir(parents=True)
    (folder / "leftover").write_text("of an earlier attempt\n")
    ended = small.play("-e", f"pinproof_run={RUN}")
    assert ended.code == 3
    assert "NO VERDICT" in ended.err
    assert str(folder) in ended.err
    assert [path.name for path in folder.iterdir()] == ["leftover"]
    assert small.runs() == [RUN]


def test_an_interrupted_run_is_never_read_as_a_verdict(small: Small) -> None:
    """A run that was cut short leaves files that a later command takes for its result."""
    inventory = small.inventory(ansible_python_interpreter="/bin/sleep 59 #")
    words = ["-i", inventory, "--manifest", str(small.manifest), "--archive", str(small.archive)]
    running = subprocess.Popen(
        [str(BIN / "pinproof"), "verify", *words], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: small.archive.exists() and bool(list(small.archive.glob(".*.partial"))))
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=20)
    assert running.returncode == 130
    listed = pinproof("runs", "--archive", str(small.archive))
    assert "interrupted" in listed.out
    for command in (["show"], ["explain", "pair"]):
        ended = pinproof(*command, "--archive", str(small.archive))
        assert ended.code == 64
        assert "no verification" in ended.err
    (run,) = Archive(small.archive).runs()
    assert pinproof("show", run.run, "--archive", str(small.archive)).code not in (0, 2, 3)
    assert pinproof("archive", "verify", "--archive", str(small.archive)).code == 1, "there is no complete run"


def until(done: Callable[[], bool], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


# -- what a look says -------------------------------------------------------------------------


def test_a_machine_without_gpus_attests_nothing() -> None:
    """A collector runs where there is no GPU, succeeds, and is attested; without the tool "nothing runs" passes."""
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("this machine has GPUs")
    facts = look([{"probe": "gpu", "collector": "gpu_facts", "kind": "gpu", "params": {"samples": 1}}])
    assert facts.observations["gpu"].status not in ("ok", "absent")
    assert "nvidia" in facts.observations["gpu"].why
    manifest = manifest_text("  gpu: {on: one, gpu: {}}", row_text("idle", "{at: gpu.processes, absent: true}"))
    assert judge(manifest, facts) == (Decision.HOLD, {"idle": Verdict.HOLD})


def test_a_missing_tool_is_no_proof_of_absence(small: Small) -> None:
    """A tool is missing, so that "no listener" passes."""
    facts = look(
        [{"probe": "others", "collector": "unit_facts", "kind": "units", "params": {"pattern": "vllm-*"}}],
        root=str(small.tree),
    )
    assert facts.observations["others"].status == "no_tool"
    assert "systemctl" in facts.observations["others"].why
    manifest = manifest_text(
        "  others: {on: one, units: vllm-*}", row_text("alone", "{at: others.active, absent: true}")
    )
    assert judge(manifest, facts) == (Decision.HOLD, {"alone": Verdict.HOLD})


@pytest.fixture(name="engine_socket")
def _engine_socket() -> Iterator[Path]:
    """A socket on which nobody answers, in a folder that everybody can enter."""
    with tempfile.TemporaryDirectory(prefix="pinproof-engine-") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "docker.sock"
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as listening:
            listening.bind(str(path))
            listening.listen(8)
            yield path


def test_a_denied_engine_is_told_as_denied(engine_socket: Path) -> None:
    """A socket that one may not use is told as "image not found"."""
    engine_socket.chmod(0o660)
    params = {"name": "dsv41", "socket": str(engine_socket)}
    request = {"probe": "serve", "collector": "image_facts", "kind": "container", "params": params}
    facts = look([request], prefix=UNPRIVILEGED)
    seen = facts.observations["serve"]
    assert seen.status == "denied"
    assert "engine's group" in seen.why
    assert str(engine_socket) in seen.why
    manifest = manifest_text(
        f"  serve: {{on: one, container: {{name: dsv41, socket: {engine_socket}}}}}",
        row_text("unchanged", "{at: serve.changes, absent: true}"),
    )
    assert judge(manifest, facts) == (Decision.HOLD, {"unchanged": Verdict.HOLD})


@pytest.mark.parametrize("home", ["/home/operator", "/srv/people/op"])
def test_a_home_is_that_of_the_host_and_shown(small: Small, home: str) -> None:
    """A path is passed on verbatim though homes differ, and what was read cannot be told from the report."""
    small.write("etc/passwd", PASSWD.format(home=home))
    small.write(f"{home}/settings".lstrip("/"), "PAIR=3\n")
    kinds = [("file", {"path": "~/settings"}), ("env_file", {"file": "~/settings", "dialect": "shell"})]
    facts = look(
        [{"probe": kind, "collector": "file_facts", "kind": kind, "params": params} for kind, params in kinds],
        root=str(small.tree),
    )
    for kind, seen in facts.observations.items():
        assert seen.status == "ok", f"{kind}: {seen.why}"
        assert f"{home}/settings" in seen.source
        assert not [path for path in seen.source if "~" in path]
    assert facts.observations["file"].identity["resolved"] == f"{home}/settings"


# -- what stays on a host ---------------------------------------------------------------------


def test_reading_leaves_the_times_of_access(small: Small) -> None:
    """Every read moves the time of access: bytes on the host's disk."""
    long_ago, later = time.time() - 9e6, time.time() - 8e6
    names = [small.tree / "home/operator/settings", small.tree / "srv/code/x.py", small.tree / "srv/code"]
    small.write("srv/code/x.py", "x = 1\n")
    for path in names:
        os.utime(path, (long_ago, later))
    before = [path.stat().st_atime_ns for path in names]
    facts = look(
        [
            {"probe": "settings", "collector": "file_facts", "kind": "file", "params": {"path": "~/settings"}},
            {"probe": "code", "collector": "file_facts", "kind": "tree", "params": {"path": "/srv/code"}},
        ],
        root=str(small.tree),
    )
    assert {item.status for item in facts.observations.values()} == {"ok"}
    assert [path.stat().st_atime_ns for path in names] == before


def test_a_look_ends_though_nobody_waits_for_it(engine_socket: Path) -> None:
    """A deadline of the controller's returns there, and leaves the remote process running."""
    params = {"name": "dsv41", "socket": str(engine_socket)}
    request = {"probe": "serve", "collector": "image_facts", "kind": "container", "params": params, "deadline_s": 1.0}
    sent = payload("one", RUN, HostAccess(), [request], [], KEY)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        asked.stdin.write(host_program(sent, PLUGINS))
        asked.stdin.close()
        until(lambda: bool(children(asked.pid)))
        looks = children(asked.pid)
        asked.kill()
        assert asked.stdout.read() == b""
    until(lambda: not any(runs(pid) for pid in looks), 5.0)


def children(pid: int) -> list[int]:
    return [int(item) for item in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
