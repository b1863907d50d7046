"""For every pin of the reference manifest, on every host it is on: spoil that one thing, and only it is told.

Real bytes of the replica are changed and the real probe program looks at them.
The list is computed from the manifest; no pin is exempt.
"""

from __future__ import annotations

import pytest

from pinproof.manifest.model import BaselineIs, Closed, DistinctAcross, Pin, SameAcross
from pinproof.outcome import Outcome, PinVerdict
from pinproof.replica.drift import spoil, spoilable
from pinproof.verdicts import Decision, Verdict
from tests.e2e import probing
from tests.e2e.playbooks import Place, row
from tests.e2e.probing import Site, probe

MANIFEST = probing.load()

# Taking these away takes what stands on them too: the container's processes, the unit's settings, a revision's blobs.
TAKE_MORE_WITH_THEM = {"serve.running", "worker.file.masked", "deploy.revision", "clone.revision"}
# Attributes that are digests, lists or tallies of whole files: another fact in the same file shows in them as well.
OF_WHOLE_FILES = {
    "count",
    "sizes",
    "digests",
    "dropins",
    "entries",
    "files",
    "sha256",
    "listed",
    "same_as_revision",
    "modified",
}


CASES = [pytest.param(pin.id, host, id=f"{pin.id}-{host}") for pin, host in spoilable(MANIFEST)]


def expected_verdicts(pin: Pin) -> set[Verdict]:
    if pin.drift:
        return {Verdict.DRIFT}
    if any(isinstance(check, DistinctAcross) for check in pin.checks):
        return {Verdict.HOLD}
    if all(isinstance(check, Closed) for check in pin.checks):
        return {Verdict.REFUSED}
    return {Verdict.MISMATCH, Verdict.REFUSED}


def verdicts(outcome: Outcome) -> dict[tuple[str, str], PinVerdict]:
    return {(pin.id, pin.on): pin for item in outcome.rows for pin in item.pins}


def changed_rows(before: Outcome, after: Outcome) -> dict[str, set[str]]:
    """Give the rows whose pins changed their verdict, with those pins' ids."""
    old, new = verdicts(before), verdicts(after)
    rows = {pin.id: item.id for item in after.rows for pin in item.pins}
    changed: dict[str, set[str]] = {}
    for key, pin in new.items():
        if pin.verdict is not old[key].verdict:
            changed.setdefault(rows[pin.id], set()).add(pin.id)
    return changed


def declares_same_fact(site: Site, touched: set[str], pin: Pin, other: Pin) -> bool:
    """Say whether the other pin is about the same bytes: the same path, or a whole file that holds it."""
    if other.at.probe == pin.at.probe:
        shorter, longer = sorted((pin.at.segments, other.at.segments), key=len)
        return longer[: len(shorter)] == shorter or bool(OF_WHOLE_FILES & set(other.at.segments))
    return any(
        touched & {inside_out(path) for path in site.clean[host].observations[other.at.probe].source}
        for host in other.on
        if host in site.clean and other.at.probe in site.clean[host].observations
    )


def inside_out(path: str) -> str:
    """Say a path inside the container as the replica's own path; engine requests as the file that answers them."""
    parts = path.split("/")
    return "/containers/dsv41/" + "/".join(parts[4:]) if path.startswith("/proc/") and parts[3:4] == ["root"] else path


@pytest.mark.parametrize(("pin_id", "host"), CASES)
def test_spoiling_one_thing_is_told_on_its_row(site: Site, pin_id: str, host: str) -> None:
    pins = {pin.id: pin for _, pin in MANIFEST.pins()}
    pin = pins[pin_id]
    own_row = next(item.id for item, mine in MANIFEST.pins() if mine.id == pin_id)
    before = site.clean_outcome
    spoiled = spoil(site.root, MANIFEST, pin_id, host)
    try:
        touched = set(spoiled.journal.touched)
        after = site.judge({host: probe(MANIFEST, site.root, host)})
    finally:
        spoiled.undo()
    verdict = verdicts(after)[(pin_id, host)]
    assert verdict.verdict in expected_verdicts(pin), f"{spoiled.description}: {verdict}"
    assert verdict.why
    assert before.decision is Decision.RECONCILED
    assert (after.decision is Decision.STOP) is (verdict.verdict >= Verdict.REFUSED)
    assert (after.decision is Decision.RECONCILED) is (verdict.verdict is Verdict.DRIFT)
    changed = changed_rows(before, after)
    assert own_row in changed
    if str(pin.at) in TAKE_MORE_WITH_THEM:
        return
    for other_row, ids in changed.items():
        for other in ids:
            same = declares_same_fact(site, touched, pin, pins[other]) or same_machines(pin, pins[other])
            assert other_row == own_row or same, f"{spoiled.description} also changed {other} on {other_row}"


def same_machines(pin: Pin, other: Pin) -> bool:
    """Hosts that are not distinct leave comparisons between them on HOLD."""
    distinct = any(isinstance(check, DistinctAcross) for check in pin.checks)
    return distinct and any(isinstance(check, SameAcross | DistinctAcross) for check in other.checks)


def test_nothing_is_left_spoiled(site: Site) -> None:
    for host in MANIFEST.hosts:
        pin = next(pin for pin, on in spoilable(MANIFEST) if on == host and not pin.drift)
        spoil(site.root, MANIFEST, pin.id, host).undo()
        assert site.judge({host: probe(MANIFEST, site.root, host)}).decision is Decision.RECONCILED


def test_no_pin_is_exempt() -> None:
    listed = {(pin.id, host) for pin, host in spoilable(MANIFEST)}
    declared = {(pin.id, host) for _, pin in MANIFEST.pins() if not pin.of_experiment for host in pin.on}
    assert {pin_id for pin_id, _ in declared - listed} == {"production-rollback/baseline.usable"}
    assert any(isinstance(check, BaselineIs) for _, pin in MANIFEST.pins() for check in pin.checks)


def test_without_the_baseline_rows_that_need_it_hold_for_one_cause(site: Site) -> None:
    outcome = site.judge(baseline=None)
    assert outcome.decision is Decision.HOLD
    assert [cause.id for cause in outcome.causes] == ["baseline"]
    held = {item.id for item in outcome.rows if item.verdict is Verdict.HOLD}
    assert {"production-rollback", "target-checkpoint", "image-engine-kernels"} <= held
    assert set(outcome.causes[0].rows) == held


TEN = spoilable(MANIFEST)[3 :: len(spoilable(MANIFEST)) // 10][:10]


@pytest.mark.xdist_group("playbook")
@pytest.mark.parametrize(("pin", "host"), [pytest.param(pin, host, id=f"{pin.id}-{host}") for pin, host in TEN])
def test_ten_of_them_through_the_playbook(place: Place, pin: Pin, host: str) -> None:
    spoiled = spoil(place.replica, MANIFEST, pin.id, host)
    try:
        ended = place.verify()
    finally:
        spoiled.undo()
    verdict = place.verdict()
    own_row = next(item.id for item, mine in MANIFEST.pins() if mine.id == pin.id)
    told = next(item for item in row(verdict, own_row)["pins"] if (item["id"], item["on"]) == (pin.id, host))
    assert Verdict[told["verdict"]] in expected_verdicts(pin)
    stops = Verdict[told["verdict"]] >= Verdict.REFUSED
    assert (ended.code != 0) is (Verdict[told["verdict"]] >= Verdict.HOLD)
    assert verdict["decision"] == ("STOP" if stops else "HOLD" if told["verdict"] == "HOLD" else "RECONCILED")
    assert "Traceback" not in ended.all
