"""The verdict of a row: its worst pin, and HOLD at least while its evidence is weaker than it requires."""

from __future__ import annotations

from pinproof.manifest.model import Pin, Row
from pinproof.outcome import PinVerdict, RowVerdict
from pinproof.reconcile.pins import BASELINE_PROBE, judge_pin, run_scope
from pinproof.reconcile.scene import Case, Place, Seed
from pinproof.verdicts import Evidence, Verdict, worst

_NOT_PROOF_OF = {
    Evidence.FILE: "of bytes on disk",
    Evidence.LOADED: "of what is loaded",
    Evidence.PROCESS: "of process bytes",
    Evidence.NATIVE: "of native qualification",
}


def judge_row(case: Case, row: Row) -> tuple[RowVerdict, list[Seed]]:
    """Judge every pin of a row on every host it is on."""
    judged = [(pin, *judge_on(case, row, pin, host)) for pin in row.pins if run_scope(pin) for host in pin.on or ("",)]
    verdicts = tuple(verdict for _, verdict, _ in judged)
    verdict = worst(item.verdict for item in verdicts)
    best = _best_evidence(case, [(pin, item) for pin, item, _ in judged])
    short = _short(row, best)
    why = _why(verdicts, verdict)
    if short:
        verdict = max(verdict, Verdict.HOLD)
        why = f"{why}. {short}" if why else short
    evidence = None if not best or None in best.values() else min(item for item in best.values() if item is not None)
    result = RowVerdict(row.id, row.setting, verdict, evidence, row.requires, why, verdicts)
    return result, [seed for _, _, seed in judged if seed is not None]


def judge_on(case: Case, row: Row, pin: Pin, host: str) -> tuple[PinVerdict, Seed | None]:
    """Judge a pin on one host; a pin on no host at all is held, never dropped."""
    if host:
        return judge_pin(Place(case, row, pin, host))
    why = "the pin is on no host. To settle: put it on a host that its probe looks at"
    return PinVerdict(pin.id, str(pin.at), "", Verdict.HOLD, None, None, None, (), why, ""), None


def _why(verdicts: tuple[PinVerdict, ...], verdict: Verdict) -> str:
    if not verdicts:
        return "no pin of this row can be judged by a single run. To settle: pin something of run scope"
    if verdict is Verdict.MATCH:
        return ""
    deciding = [item for item in verdicts if item.verdict is verdict]
    first = deciding[0]
    return f"{len(deciding)} of {len(verdicts)} {verdict.name}: {first.id} on {first.on}: {first.why}"


def _best_evidence(case: Case, judged: list[tuple[Pin, PinVerdict]]) -> dict[str, Evidence | None]:
    """Give by host the best evidence among pins that match or drift.

    Left out are hosts where nothing was asked (NOT_RUN says it already), and,
    where others remain, hosts that are asked for the source or the baseline only:
    these are weak by nature, and on other hosts than what they describe.
    """
    asked = {item.on for _, item in judged if item.verdict is not Verdict.NOT_RUN}
    of_now = {item.on for pin, item in judged if item.on in asked and not _is_of_source(case, pin)}
    best: dict[str, Evidence | None] = dict.fromkeys(sorted(of_now or asked))
    for _, item in judged:
        if item.on in best and item.verdict <= Verdict.DRIFT and item.evidence is not None:
            best[item.on] = max(best[item.on] or Evidence.SOURCE, item.evidence)
    return best


def _is_of_source(case: Case, pin: Pin) -> bool:
    probe = case.manifest.probes.get(pin.at.probe)
    return pin.at.probe == BASELINE_PROBE or (probe is not None and probe.kind == "clone")


def _short(row: Row, best: dict[str, Evidence | None]) -> str:
    """Say where the matching evidence falls short of what the row requires; "" where it does not."""
    weak: dict[Evidence, list[str]] = {}
    for host, evidence in best.items():
        if evidence is not None and evidence < row.requires:
            weak.setdefault(evidence, []).append(host)
    if not weak:
        return ""
    said = " and ".join(f"only {evidence.word} evidence on {', '.join(hosts)}" for evidence, hosts in weak.items())
    lowest = min(weak).word
    return (
        f"{said}, {row.requires.word} is required: {lowest} evidence is not proof {_NOT_PROOF_OF[row.requires]}. "
        "To settle: let the pins of that level be seen, from a lane that allows it"
    )
