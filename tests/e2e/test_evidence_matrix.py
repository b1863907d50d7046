"""For every probe: absent, unreadable, hanging, malformed, empty, huge and moving sources.

Absent is evidence; everything else is the lack of it. Whatever happens to one
source, the run ends inside its deadline, nothing crashes, the reason names what
failed, and looks that read other sources keep their verdicts.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pinproof.manifest.model import Probe
from pinproof.observations import HostFacts, Observation
from pinproof.replica.restart import restart
from pinproof.verdicts import Decision, Verdict
from tests.e2e import probing
from tests.e2e.hanging import hanging_folder
from tests.e2e.playbooks import pinproof
from tests.e2e.probing import MANIFEST, Site, probe
from tests.e2e.spoiled_sources import subject

CASES = [(item.name, item.on[0]) for item in probing.load().probes.values()]
HUGE = 64 << 20
DEADLINE_S = 0.6

# Looks at bytes whatever they say: other bytes are a difference, not a failed look.
BYTES_ONLY = {"files", "file", "tree", "jit"}
# A file of no bytes is what these sources may hold.
EMPTY_IS_AN_ANSWER = {"tree", "jit", "units", "unit", "process"}  # an empty unit is masked, an empty argv a zombie's
# Text of any kind is an answer, so that what it says is a difference.
ANY_TEXT_IS_AN_ANSWER = {"fabric", "process", "unit", "units", "env_file", "derivation"}
LINKS = {"link"}
# One file of several that only make sense together: without it the whole can not be told.
HALF_A_SOURCE = ("source", "clone", "units", "engine_log", "host", "gpu", "containers")
WRITTEN_BY_SERVICE = ("status.json", "verify_runtime.json")


@pytest.fixture(scope="module", name="open_site")
def _open_site() -> Iterator[Site]:
    """A replica that an ordinary user can reach, which pytest's own folders are not."""
    folder = Path(tempfile.mkdtemp(prefix="pinproof-evidence-"))
    folder.chmod(0o755)
    root = folder / "replica"
    manifest = probing.load()
    assert pinproof("replica", "build", "--state", "production", "--root", str(root)).code == 0
    baseline = probing.baseline_of(probing.probe_all(manifest, root))
    assert pinproof("replica", "build", "--state", "experiment", "--root", str(root)).code == 0
    # What only its owner may read on a host (homes, environments) is read by an ordinary user here.
    subprocess.run(["chmod", "-R", "a+rX", str(root)], check=True)
    for host in manifest.hosts:
        restart(root, host)
    site = Site(root, manifest, baseline, probing.probe_all(manifest, root))
    assert site.judge().decision is Decision.RECONCILED
    assert site.judge(probing.probe_all(manifest, root, prefix=probing.UNPRIVILEGED)).decision is Decision.RECONCILED
    yield site
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Seen:
    """What became of a probe, and of the pins on it, once its source was spoiled."""

    observation: Observation
    changed: dict[str, tuple[Verdict, str]]
    others: set[str]
    took_s: float

    @property
    def verdicts(self) -> set[Verdict]:
        return {verdict for verdict, _ in self.changed.values()}

    @property
    def reasons(self) -> str:
        faults = " ".join(fault.why for fault in self.observation.faults.values())
        return " ".join([self.observation.why, faults, *(why for _, why in self.changed.values())])


def look(site: Site, name: str, host: str, prefix: list[str] | None = None, folder: Path | None = None) -> Seen:
    """Look at the host once more and tell what changed against the clean look.

    `folder` is what became unreachable as a whole; what reads anything in it stands or falls with it.
    """
    inside = "/" + str(folder.relative_to(site.root / host)) + "/" if folder else ""
    sharing = sharing_sources(site.clean[host], name, inside)
    deadlines = dict.fromkeys(sharing | {name}, DEADLINE_S) if folder else {}
    begin = time.monotonic()
    facts = probe(site.manifest, site.root, host, deadlines=deadlines, prefix=prefix)
    took = time.monotonic() - begin
    assert set(facts.observations) == set(site.clean[host].observations), "every probe has an observation"
    return compared(site, name, facts, stand_on(site, sharing), took)


def look_only(site: Site, name: str, host: str) -> Seen:
    """Look by this probe alone, the others as they were."""
    seen = probe(site.manifest, site.root, host, only={name}).observations
    facts = replace(site.clean[host], observations={**site.clean[host].observations, **seen})
    return compared(site, name, facts, set(), 0.0)


def compared(site: Site, name: str, facts: HostFacts, sharing: set[str], took_s: float) -> Seen:
    """Tell what changed against the clean look."""
    before = {(pin.id, pin.on): pin for row in site.clean_outcome.rows for pin in row.pins}
    after = {(pin.id, pin.on): pin for row in site.judge({facts.host: facts}).rows for pin in row.pins}
    changed = {key: pin for key, pin in after.items() if pin.verdict is not before[key].verdict}
    return Seen(
        observation=facts.observations[name],
        changed={
            f"{pin.id} on {pin.on}": (pin.verdict, pin.why) for pin in changed.values() if probe_of(pin.at) == name
        },
        others={probe_of(pin.at) for pin in changed.values()} - sharing - {name},
        took_s=took_s,
    )


def probe_of(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def sharing_sources(facts: HostFacts, name: str, folder: str) -> set[str]:
    """Name the probes that read anything this probe reads, or anything in a folder."""
    mine = {path for item in facts.observations[name].source for path in names_of(item)}
    return {
        other
        for other, seen in facts.observations.items()
        for item in seen.source
        for path in names_of(item)
        if path in mine or (folder and path.startswith(folder))
    }


def stand_on(site: Site, names: set[str]) -> set[str]:
    """Add the probes whose bytes only count with the start of a process among these."""
    return names | {item.name for item in site.manifest.probes.values() if {item.loaded_by, item.written_since} & names}


def names_of(path: str) -> set[str]:
    """Give the names that a file has in a host's tree: inside a process' root it is the container's, or the host's."""
    parts = path.split("/")
    if path.startswith("/proc/") and len(parts) > 4 and parts[3] == "root":
        return {"/containers/dsv41/" + "/".join(parts[4:]), "/" + "/".join(parts[4:])}
    return {path}


def started_anew(root: Path, host: str, path: Path) -> None:
    """Start the service after a change of what it runs on, so that the spoiled source shows and not the change."""
    inside = "/" + str(path.relative_to(root / host))
    if not inside.startswith(("/proc/", "/sys/", "/run/", "/dev/")) and path.name not in WRITTEN_BY_SERVICE:
        restart(root, host)


@contextlib.contextmanager
def spoiled(root: Path, host: str, path: Path, change: Callable[[Path], object]) -> Iterator[None]:
    """Change a source, and put it back as it was afterwards."""
    target = str(path.readlink()) if path.is_symlink() else ""
    data, mode = (b"", 0) if target else (path.read_bytes(), path.stat().st_mode)
    change(path)
    started_anew(root, host, path)
    try:
        yield
    finally:
        if target:
            path.unlink(missing_ok=True)
            path.symlink_to(target)
        else:
            path.write_bytes(data)  # in place where it is still there: other names of the file stay its names
            path.chmod(mode)
        started_anew(root, host, path)


@contextlib.contextmanager
def taken_away(root: Path, host: str, path: Path) -> Iterator[None]:
    """Move a file or folder out of the tree, and back."""
    aside = root / "taken-away"
    path.rename(aside)
    started_anew(root, host, path)
    try:
        yield
    finally:
        aside.rename(path)
        started_anew(root, host, path)


def assert_told(seen: Seen, name: str, host: str) -> None:
    """A failed look holds its pins and says who, where and why; the others keep their verdicts."""
    assert seen.changed, f"nothing changed for {name}: the spoiled source was not missed"
    assert seen.verdicts == {Verdict.HOLD}, seen.changed
    for verdict, why in seen.changed.values():
        assert verdict is Verdict.HOLD
        assert name in why
        assert host in why
    assert not seen.others
    assert "Traceback" not in seen.reasons


@pytest.mark.parametrize(("name", "host"), CASES)
def test_absent_is_evidence(open_site: Site, name: str, host: str) -> None:
    item = open_site.manifest.probes[name]
    path = subject(item, open_site.root / host)
    gone = path.parent if item.kind == "process" else path
    with taken_away(open_site.root, host, gone):
        seen = look(open_site, name, host)
    assert not seen.others
    assert_absent(item, seen)


def assert_absent(item: Probe, seen: Seen) -> None:
    assert seen.changed
    if item.kind in ("emission", "requests"):
        assert seen.verdicts == {Verdict.HOLD}, "the record was never made: its apparatus is missing"
    elif item.kind in HALF_A_SOURCE:
        assert seen.verdicts <= {Verdict.HOLD, Verdict.MISMATCH}
    else:
        assert Verdict.MISMATCH in seen.verdicts


@pytest.mark.parametrize(("name", "host"), CASES)
def test_unreadable_is_no_evidence(open_site: Site, name: str, host: str) -> None:
    item = open_site.manifest.probes[name]
    path = subject(item, open_site.root / host)
    guarded = path.parent if item.kind in LINKS else path
    mode = guarded.stat().st_mode
    guarded.chmod(0)
    started_anew(open_site.root, host, guarded)
    try:
        seen = look(open_site, name, host, prefix=probing.UNPRIVILEGED)
    finally:
        guarded.chmod(mode)
        started_anew(open_site.root, host, guarded)
    assert_told(seen, name, host)
    assert "denied" in seen.reasons


@pytest.mark.parametrize(("name", "host"), CASES)
def test_hanging_is_no_evidence(open_site: Site, name: str, host: str) -> None:
    folder = subject(open_site.manifest.probes[name], open_site.root / host).parent.resolve()
    with hanging_folder(folder):
        seen = look(open_site, name, host, folder=folder)
    assert_told(seen, name, host)
    assert "no answer within" in seen.reasons
    assert seen.took_s < 60


@pytest.mark.parametrize(("name", "host"), [case for case in CASES if probing.load().probes[case[0]].kind not in LINKS])
@pytest.mark.parametrize("content", ["malformed", "empty", "huge"])
def test_spoiled_content_is_no_evidence(open_site: Site, name: str, host: str, content: str) -> None:
    item = open_site.manifest.probes[name]
    path = subject(item, open_site.root / host)
    with spoiled(open_site.root, host, path, lambda found: spoil(found, content)):
        seen = look(open_site, name, host)
    assert not seen.others
    if content == "malformed" and item.kind in BYTES_ONLY | ANY_TEXT_IS_AN_ANSWER:
        assert seen.verdicts & {Verdict.MISMATCH, Verdict.REFUSED, Verdict.HOLD}, "other bytes are a difference"
    elif content == "empty" and item.kind in EMPTY_IS_AN_ANSWER:
        assert seen.verdicts & {Verdict.MISMATCH, Verdict.HOLD}, "no bytes are a difference"
    else:
        assert_told(seen, name, host)


def spoil(path: Path, content: str) -> None:
    if content == "malformed":
        path.write_bytes(b"\xff\xfe{[<\0\n=garbage\r\n" * 3)
    elif content == "empty":
        path.write_bytes(b"")
    else:
        with path.open("r+b") as out:
            out.truncate(HUGE)


@pytest.mark.parametrize(("name", "host"), [case for case in CASES if probing.load().probes[case[0]].kind not in LINKS])
def test_moving_is_no_evidence(open_site: Site, name: str, host: str) -> None:
    path = subject(open_site.manifest.probes[name], open_site.root / host)
    mover = subprocess.Popen([sys.executable, "-c", "import os,sys\nwhile True: os.utime(sys.argv[1])", str(path)])
    try:
        seen = look_only(open_site, name, host)
    finally:
        mover.kill()
        mover.wait()
        started_anew(open_site.root, host, path)
    assert seen.verdicts <= {Verdict.HOLD}, seen.changed
    # Or it moved just before: then its bytes are newer than the process, or could be read in between.
    assert "unstable" in seen.reasons or "changed after" in seen.reasons or not seen.changed


@pytest.mark.parametrize(("name", "host"), [case for case in CASES if probing.load().probes[case[0]].kind in LINKS])
def test_a_link_that_is_none_or_leads_nowhere(open_site: Site, name: str, host: str) -> None:
    path = subject(open_site.manifest.probes[name], open_site.root / host)

    def make_plain(found: Path) -> None:
        found.unlink()
        found.write_text("not a link")

    def make_dangling(found: Path) -> None:
        found.unlink()
        found.symlink_to("nowhere")

    with spoiled(open_site.root, host, path, make_plain):
        plain = look(open_site, name, host)
    with spoiled(open_site.root, host, path, make_dangling):
        dangling = look(open_site, name, host)
    assert Verdict.MISMATCH in plain.verdicts, "it leads to itself, and not to where it should"
    assert Verdict.MISMATCH in dangling.verdicts, "it leads nowhere"


def test_every_probe_of_the_manifest_is_in_the_matrix() -> None:
    assert MANIFEST.is_file()
    assert {name for name, _ in CASES} == set(probing.load().probes)
    assert len(CASES) >= 35
