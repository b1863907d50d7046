"""Decision, counts and summaries in words; captures; and one row or pin in full."""

from __future__ import annotations

import dataclasses

import pytest

from pinproof.completeness import Completeness
from pinproof.outcome import Arm, Cause, ExperimentPin, Outcome, RowVerdict, Supersession
from pinproof.report import capture, explain
from pinproof.report.words import (
    circumstances,
    closing,
    compare_line,
    counts_line,
    evidence_words,
    headline,
    is_short,
    row_summary,
    settlements,
    supersession_line,
    told_pins,
    with_units,
)
from pinproof.verdicts import Evidence, Verdict
from tests.unit.archive_builder import CAPTURE, RUN, hosts, outcome, pin_verdict, row_verdict, stopped

M, D, N, H, R, X = Verdict


def rows_of(*verdicts: Verdict) -> Outcome:
    return outcome(*[row_verdict(pin_verdict(verdict)) for verdict in verdicts])


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([M], "RECONCILED: 1 of 1 row matches"),
        ([M, M], "RECONCILED: 2 of 2 rows match"),
        ([M, D, M], "RECONCILED: 2 of 3 rows match, 1 drifts"),
        ([D, D], "RECONCILED: 2 of 2 rows drift"),
        ([M, N], "HOLD: 1 of 2 rows was not run"),
        ([H, N, N], "HOLD: 1 of 3 rows is on hold, 2 were not run"),
        ([H, H, M], "HOLD: 2 of 3 rows are on hold"),
        ([X, M, M], "STOP: 1 of 3 rows does not match"),
        ([X, X, R, H, N], "STOP: 2 of 5 rows do not match, 1 is refused, 1 is on hold, 1 was not run"),
        ([R, R, M], "STOP: 2 of 3 rows are refused"),
    ],
)
def test_the_first_line(verdicts: list[Verdict], said: str) -> None:
    named = [row.setting for row in rows_of(*verdicts).rows if row.verdict >= R]
    assert headline(rows_of(*verdicts)) == said + (f" ({', '.join(named)})" if named else "")
    assert closing(rows_of(*verdicts)) == f"{said}. This authorises no staging and no change."


def test_no_rows_are_said_to_be_none() -> None:
    none = dataclasses.replace(outcome(), rows=(), counts={}, decision=stopped().decision)
    assert headline(none) == "STOP: nothing was judged, there is not one row"


def test_counts_name_every_verdict() -> None:
    said = "3 pins judged: 1 MATCH, 0 DRIFT, 0 NOT_RUN, 1 HOLD, 0 REFUSED, 1 MISMATCH"
    assert counts_line(rows_of(M, H, X)) == said


def test_circumstances_leave_out_what_is_empty_but_never_the_baseline() -> None:
    bare = outcome(scope="", lane="", arm=Arm(), baseline="")
    assert [word for word, _ in circumstances(bare)] == ["run", "manifest", "baseline"]
    assert circumstances(bare)[-1] == ("baseline", "none")
    assert ("arm", "leg off-1, start measured") in circumstances(outcome())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lane-brief: at least 3221225472", "lane-brief: at least 3221225472 (3 GiB)"),
        ("at least 5368709120 and 1073741825", "at least 5368709120 (5 GiB) and 1073741825"),
        ("at least 3221225472 (3.00 GiB)", "at least 3221225472 (3.00 GiB)"),
        ("at most 2150", "at most 2150"),
    ],
)
def test_bytes_are_said_in_gib_too(text: str, said: str) -> None:
    assert with_units(text) == said


def test_supersessions_say_for_whom() -> None:
    one = Supersession("floor", "brief: at least 3", "recipe: at least 5", "low-cap")
    said = "floor: brief: at least 3 is in force for scope low-cap only; recipe: at least 5 is superseded"
    assert supersession_line(one) == said
    assert "is in force everywhere" in supersession_line(dataclasses.replace(one, scope=""))


def test_pins_of_other_runs_are_counted_in_one_line() -> None:
    pins = (ExperimentPin("a", "x", "r", "legs"), ExperimentPin("b", "x", "r", "bracket"))
    assert compare_line(outcome()) == ""
    assert compare_line(outcome(experiment=pins[:1])) == "1 pin is judged by compare, and not counted here"
    assert compare_line(outcome(experiment=pins)) == "2 pins are judged by compare, and not counted here"


def test_causes_are_settled_as_their_pins_say() -> None:
    cause = Cause("c", "text", "do something", ("image",), 3)
    whys = ["no. To settle: grant it", "no. To settle: grant it", "other. To settle: start it"]
    pins = [pin_verdict(H, cause="c", why=why) for why in whys]
    assert settlements(outcome(row_verdict(*pins)), cause) == ["grant it", "start it"]
    assert settlements(outcome(), cause) == ["do something"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (row_verdict(pin_verdict()), "1 pin"),
        (row_verdict(pin_verdict(), pin_verdict(notes=("a",))), "2 pins, 1 note"),
        (row_verdict(pin_verdict(X), pin_verdict(X), pin_verdict(D), pin_verdict()), "of 4 pins: 2 MISMATCH, 1 DRIFT"),
        (row_verdict(pin_verdict(H, cause="b"), pin_verdict(N, cause="a")), "of 2 pins: 1 by cause 2, 1 by cause 1"),
        (row_verdict(pin_verdict(H, cause="unknown")), "of 1 pin: 1 by cause ?"),
        (row_verdict(pin_verdict(), verdict=H, requires=Evidence.NATIVE), "of 1 pin: needs native evidence"),
        (row_verdict(pin_verdict(H), requires=Evidence.NATIVE), "of 1 pin: 1 HOLD, needs native evidence"),
        (row_verdict(), "of 0 pins: nothing to judge"),
    ],
)
def test_what_keeps_a_row_from_matching(row: RowVerdict, said: str) -> None:
    assert row_summary(row, {"a": "1", "b": "2"}) == said


def test_evidence_in_words() -> None:
    assert evidence_words(row_verdict(pin_verdict())) == "loaded"
    assert evidence_words(row_verdict(pin_verdict(), evidence=None)) == "-"
    short = row_verdict(pin_verdict(), requires=Evidence.PROCESS, verdict=H)
    assert evidence_words(short) == "loaded < process"
    assert is_short(short)
    assert not is_short(row_verdict(pin_verdict(H)))


def test_pins_that_came_to_the_same_on_several_hosts_are_told_once() -> None:
    two = [pin_verdict(X, on=host) for host in ("a", "b")]
    other = pin_verdict(X, on="c", observed="v7")
    groups = told_pins(row_verdict(*two, other, pin_verdict(), pin_verdict(H, cause="c")))
    assert [group.title for group in groups] == ["image/serve.image.tag on a, b", "image/serve.image.tag on c"]
    assert told_pins(row_verdict(pin_verdict(H, on="")))[0].title == "image/serve.image.tag"


def test_values_that_are_equal_to_python_are_not_grouped() -> None:
    one, two = pin_verdict(X, on="a", observed=1), pin_verdict(X, on="b", observed=True)
    assert len(told_pins(row_verdict(one, two))) == 2


# -- captures ----------------------------------------------------------------------


def test_a_capture_is_never_a_pass() -> None:
    whole = Completeness(3, 2, (), ("serve on a: env: denied: x",))
    shown = capture.terminal(whole, CAPTURE, "small", "archive/x", width=100)
    assert shown.split("\n")[0] == "CAPTURED: 3 looks on 2 hosts"
    assert "archived in archive/x" in shown
    assert "  serve on a: env: denied: x" in shown
    assert "RECONCILED" not in shown
    last = "CAPTURED: 3 looks on 2 hosts: captured, never a pass. This authorises no staging and no change."
    assert shown.split("\n")[-1] == last
    assert capture.markdown(whole, CAPTURE, "small", "t").split("\n")[-2] == f"**{last}**"


def test_a_capture_that_misses_something_names_it_and_escapes_it() -> None:
    some = Completeness(3, 2, ("serve on a: denied: \x1b[2J|`x`",), ())
    shown = capture.terminal(some, CAPTURE, "small", width=100, encoding="ascii", colour=True)
    assert "NOT CAPTURED in full: 1 of 3 looks without an answer" in shown
    assert "serve on a: denied: \\u001b[2J|`x`" in shown
    document = capture.markdown(some, CAPTURE, "small", "t")
    assert "- serve on a: denied: \\\\u001b\\[2J\\|\\`x\\`\n" in document


# -- explain -----------------------------------------------------------------------


FACTS = {item.host: item.facts() for item in hosts()}


def test_a_row_is_explained_with_all_its_pins_and_their_source() -> None:
    shown = explain.render(stopped(), FACTS, "image", width=100)
    assert shown == "\n".join(
        [
            "Image (image): MISMATCH",
            "  evidence  loaded evidence; a match requires loaded",
            "  why       1 of 1 MISMATCH",
            "",
            "image/serve.image.tag on sparkhead: MISMATCH, loaded evidence",
            "  path      serve.image.tag",
            '  expected  "v5"',
            '  observed  "v6"',
            '  differs   serve.image.tag: expected "v5", observed "v6"',
            "  source    /run/docker.sock GET /containers/dsv41/json",
            "  looked    engine, at 2026-12-01T10:15:01.000000Z, in 3.5 ms: ok",
            "  why       serve.image.tag on sparkhead is not what is pinned. To settle: find out which of them is",
            "            right",
            "  note      the tag was moved",
            "",
            "image/same: judged by compare, across legs, and not by a single run",
        ]
    )


def test_a_pin_is_explained_alone_with_its_cause() -> None:
    shown = explain.render(stopped(), FACTS, "gpus/worker_gpu.uuids", width=100)
    assert shown.split("\n")[0] == "gpus/worker_gpu.uuids on x86host: HOLD"
    assert "  observed  nothing" in shown
    assert "  source    none: not looked at" in shown
    assert "  cause     x86host can't be reached" in shown
    assert "Image" not in shown


def test_a_host_that_was_not_contacted_has_no_source() -> None:
    assert "none: the host was not contacted" in explain.render(stopped(), {}, "gpus")


def test_a_setting_names_its_row_too() -> None:
    assert explain.render(stopped(), FACTS, "Worker GPUs") == explain.render(stopped(), FACTS, "gpus")


def test_an_experiment_pin_is_explained_by_its_own_id() -> None:
    said = "image/same: judged by compare, across legs, and not by a single run"
    assert explain.render(stopped(), FACTS, "image/same") == said


def test_long_maps_are_shown_over_several_lines_and_in_full() -> None:
    observed = {f"K1_{number}": "\x1b" * 3 for number in range(40)}
    one = outcome(row_verdict(pin_verdict(X, expected={}, observed=observed)))
    shown = explain.render(one, FACTS, "image", width=80)
    assert shown.count('"\\u001b\\u001b\\u001b"') == 40
    assert all(line.isprintable() for line in shown.split("\n"))


def test_hashes_are_explained_in_full() -> None:
    digest = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"
    shown = explain.render(outcome(row_verdict(pin_verdict(observed=digest))), FACTS, "image", width=60)
    assert f'  observed  "{digest}"' in shown.split("\n")


def test_unknown_names_are_explained_by_nothing() -> None:
    assert explain.render(stopped(), FACTS, "imagine") == ""
    assert explain.names(stopped()) == [
        "image",
        "Image",
        "gpus",
        "Worker GPUs",
        "image/serve.image.tag",
        "gpus/worker_gpu.uuids",
        "image/same",
    ]
    assert explain.chosen(stopped(), RUN) == ([], [])
