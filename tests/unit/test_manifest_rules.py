"""The rules by which parts of a manifest depend on each other."""

from __future__ import annotations

import pytest

from pinproof.catalogue import KINDS
from pinproof.manifest.errors import Wrong
from pinproof.manifest.model import Bound, Closed, Is, IsAbsent, Leg, Prescribed, SameAcross, Start
from pinproof.manifest.patterns import refuse_pattern
from pinproof.manifest.placeholders import refuse_placeholder
from pinproof.manifest.targets import attribute_of
from tests.unit.manifest_texts import EXPERIMENT, SHA256, load, load_check, load_pin, problems_of, text_of

FLOOR = "{at: machine.memory.available, at_least: {%s}}"


# -- authorities -------------------------------------------------------------


@pytest.mark.parametrize(
    ("authorities", "scope", "limits", "in_force"),
    [
        ("{id: a}", "", "a: 1 B", "a"),
        ("{id: a}, {id: b, supersedes: a}", "", "a: 1 B, b: 2 B", "b"),
        ("{id: a}, {id: b, supersedes: a}", "", "b: 2 B, a: 1 B", "b"),
        ("{id: b, supersedes: a}, {id: a}", "", "a: 1 B, b: 2 B", "b"),
        ("{id: a}, {id: b, supersedes: a, scope: low}", "low", "a: 1 B, b: 2 B", "b"),
        ("{id: a}, {id: b, supersedes: a, scope: low}", "high", "a: 1 B, b: 2 B", "a"),
        ("{id: a}, {id: b, supersedes: a, scope: low}", "", "a: 1 B, b: 2 B", "a"),
        ("{id: a}, {id: b, supersedes: a}, {id: c, supersedes: b}", "", "a: 1 B, b: 2 B, c: 3 B", "c"),
        ("{id: a}, {id: b, supersedes: a}, {id: c, supersedes: b}", "", "a: 1 B, c: 3 B", "c"),
        ("{id: a}, {id: b, supersedes: a}", "", "a: 1 B", "a"),
        ("{id: a}, {id: b, supersedes: a, scope: low}, {id: c, supersedes: a, scope: high}", "high",
         "a: 1 B, b: 2 B, c: 3 B", "c"),
    ],
)  # fmt: skip
def test_the_authority_in_force(authorities: str, scope: str, limits: str, in_force: str) -> None:
    head = f"authorities: [{authorities}]\n" + (f"scope: {scope}\n" if scope else "")
    check = load_check(FLOOR % limits, head=head)
    assert isinstance(check, Bound)
    assert check.authority == in_force
    assert check.limit == dict(check.limits)[in_force]
    assert len(check.limits) == limits.count(":")


@pytest.mark.parametrize(
    ("authorities", "scope", "limits"),
    [
        ("{id: a}, {id: b}", "", "a: 1 B, b: 2 B"),
        ("{id: a, scope: low}, {id: b, scope: low}", "low", "a: 1 B, b: 2 B"),
        ("{id: a}, {id: b, supersedes: a}, {id: c, supersedes: a}", "", "a: 1 B, b: 2 B, c: 3 B"),
        ("{id: a}, {id: m, supersedes: a, scope: low}, {id: c, supersedes: m}", "high", "a: 1 B, c: 2 B"),
    ],
)
def test_a_limit_that_two_authorities_set_is_a_mistake(authorities: str, scope: str, limits: str) -> None:
    head = f"authorities: [{authorities}]\n" + (f"scope: {scope}\n" if scope else "")
    (problem,) = problems_of(text_of(FLOOR % limits, head=head))
    assert "neither supersedes the other" in problem


def test_a_limit_without_authority_is_its_own() -> None:
    check = load_check("{at: gpu.clocks.sm_mhz, at_most: 2150}")
    assert check == Bound(False, (("", 2150),), "")
    assert isinstance(check, Bound)
    assert isinstance(check.limit, int)


# -- closed maps -------------------------------------------------------------


def allowed(*pins: str, tail: str = "") -> set[str]:
    """Give the keys that the first pin, which closes a map, lets through."""
    (closed,) = [check for check in load(text_of(*pins, tail=tail)).rows[0].pins[0].checks if isinstance(check, Closed)]
    return set(closed.allowed)


@pytest.mark.parametrize(
    "pin",
    [
        "{at: engine.env, id: other, is: {KEY: x}}",
        "{at: engine.env, id: other, per_host: {head: {KEY: x}, peer: {KEY: y}}}",
        "{at: engine.env, id: other, baseline_is: {KEY: x}}",
        "{at: engine.env.KEY, is: x}",
        "{at: engine.env.KEY, absent: true}",
        "{at: engine.env.KEY, same_as: baseline}",
    ],
)
def test_a_closed_map_lets_through_what_a_pin_lists(pin: str) -> None:
    assert allowed("{at: engine.env, closed: '*', is: {OWN: x}}", pin) == {"OWN", "KEY"}


def test_a_closed_map_lets_through_what_may_differ() -> None:
    assert allowed("{at: engine.env, closed: '*'}", tail=EXPERIMENT) == {"RUN_LABEL"}


def test_a_deeper_pin_lists_the_key_above_it() -> None:
    deeper = "{at: 'serve.mounts[/srv].source', is: /srv}"
    assert allowed("{at: serve.mounts, closed: '*'}", deeper, "{at: engine.env.A, is: x}") == {"/srv"}


def test_other_probes_and_other_maps_list_nothing() -> None:
    pins = "{at: serve.env.A, is: x}", "{at: engine.argv.b, is: x}", "{at: engine.env, id: all, same_as: baseline}"
    assert allowed("{at: engine.env, closed: '*'}", *pins) == set()


def test_two_pins_may_list_a_key_each_for_its_hosts() -> None:
    pins = "{at: engine.env.A, id: one, on: head, is: x}", "{at: engine.env.A, id: two, on: peer, absent: true}"
    assert allowed("{at: engine.env, closed: '*'}", *pins) == {"A"}


def test_a_key_listed_on_some_hosts_is_a_mistake_only_where_the_map_is_closed() -> None:
    pin = "{at: engine.env.A, on: head, is: x}"
    assert problems_of(text_of("{at: engine.env, closed: '*'}", pin))
    assert not problems_of(text_of("{at: engine.env, closed: 'B*'}", pin))
    assert not problems_of(text_of("{at: engine.env, on: head, closed: '*'}", pin))


# -- what a probe is told to look for ----------------------------------------


@pytest.mark.parametrize(
    ("probe", "pin", "told"),
    [
        ("p: {on: head, source: ~/d}", "{at: p.tags.v1, absent: true}", "'tags'"),
        ("p: {on: head, source: {repo: ~/d, files: [a]}}", "{at: p.same_as_revision.a, is: true}", "'revision'"),
        (
            "p: {on: head, source: {repo: ~/d, files: [a]}}",
            "{at: p.files.a.blob_sha256, same_as: baseline}",
            "'revision'",
        ),
        ("p: {on: head, source: ~/d}", "{at: p.revision, absent: true}", "'revision'"),
        (
            "p: {on: head, clone: {repo: ~/d, revision: 21bed31}}",
            "{at: p.settings.A.value, absent: true}",
            "'env_files'",
        ),
        ("p: {on: head, engine_log: c}", "{at: p.markers.disarmed, absent: true}", "'markers'"),
        ("p: {on: head, engine_log: c}", "{at: p.values, absent: true}", "'values'"),
        ("p: {on: head, process: c}", "{at: p.libraries, absent: true}", "'libraries'"),
        ("p: {on: head, fabric: {}}", "{at: p.route.interface, absent: true}", "'master'"),
        ("p: {on: head, fabric: {}}", "{at: p.nccl.settings, absent: true}", "'process'"),
        ("p: {on: head, jit: {cache: triton, path: /c}}", "{at: p.variable, absent: true}", "'variable'"),
    ],
)
def test_absence_of_what_is_never_looked_for_cannot_be_pinned(probe: str, pin: str, told: str) -> None:
    found = problems_of(text_of(pin, probes=f"  {probe}\n"))
    assert len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_attribute_of_every_kind_is_found_by_its_pattern(kind: str) -> None:
    for pattern, attribute in KINDS[kind].attributes.items():
        segments = tuple(
            segment for segment in pattern.replace("[**]", ".x.y").replace("[*]", ".x").split(".") if segment
        )
        assert attribute_of(kind, segments) == attribute
    assert attribute_of(kind, ("no-such-thing",)) is None


# -- the experiment ----------------------------------------------------------


def test_legs_and_starts_hold_their_settings_as_texts() -> None:
    experiment = load(text_of("{at: serve.user, is: root}", tail=EXPERIMENT)).experiment
    assert experiment is not None
    assert experiment.legs == (Leg("off-1", {"replay": "0"}), Leg("on", {"replay": "1"}))
    assert experiment.starts[0] == Start("diagnostic", ("off-1", "on"), {"audit": "1"})


def test_what_is_prescribed_is_typed_by_the_attribute() -> None:
    check = load_check("{at: serve.restart_count, prescribed_by: leg.replay}", tail=EXPERIMENT)
    assert check == Prescribed("leg", "replay", {"off-1": 0, "on": 1})


# -- pins --------------------------------------------------------------------


def test_the_default_id_is_row_and_path() -> None:
    assert load_pin("{at: 'serve.mounts[/srv/x].source', is: /srv/x}").id == "row/serve.mounts[/srv/x].source"


def test_an_id_of_its_own_replaces_it() -> None:
    assert load_pin("{at: serve.user, id: who, is: root}").id == "who"


def test_a_pin_is_on_its_probes_hosts_or_fewer() -> None:
    assert load_pin("{at: serve.user, is: root}").on == ("head", "peer")
    assert load_pin("{at: serve.user, on: [peer, head], is: root}").on == ("head", "peer")
    assert load_pin("{at: machine.kernel, on: [worker, ranks], is: x}").on == ("head", "peer", "worker")


def test_the_baseline_is_on_the_first_host_where_there_is_no_coordinator() -> None:
    pin = load_pin("{at: baseline.usable, is: true}")
    assert (pin.on, pin.checks) == (("head",), (Is(True),))


def test_hosts_stands_for_the_hosts_of_the_pin() -> None:
    check = load_check("{at: machine.kernel, on: ranks, same_across: hosts}")
    assert check == SameAcross("hosts", ("head", "peer"))


def test_checks_come_in_one_order_whatever_was_written_first() -> None:
    one = load_pin("{at: serve.user, is: root, same_as: baseline, same_across: ranks}")
    other = load_pin("{same_across: ranks, same_as: baseline, at: serve.user, is: root}")
    assert one.checks == other.checks


def test_a_thing_may_be_absent_now_and_there_in_the_baseline() -> None:
    pin = load_pin("{at: serve.env.OLD, absent: true, baseline_is: x}")
    assert isinstance(pin.checks[0], IsAbsent)


def test_an_empty_text_is_expected_under_its_key_only() -> None:
    assert load_check("{at: serve.env, is: {SET_AND_EMPTY: ''}}") == Is({"SET_AND_EMPTY": ""})
    assert problems_of(text_of("{at: serve.env.SET_AND_EMPTY, is: ''}"))


# -- placeholders and patterns -----------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["rocepXsYfZ", "enpXs0", "enP2pXs0f1np1", "mlx5_X", "<HOST>", "TODO", "x TBD y", "CHANGE_ME", "a" * 64, "0" * 40,
     f"sha256:{'f' * 64}", "192.0.2.1", "o1rdma://203.0.113.9:18620", "2001:db8::1", "worker.example.com"],
)  # fmt: skip
def test_placeholders_are_known(text: str) -> None:
    with pytest.raises(Wrong):
        refuse_placeholder(text, "")


@pytest.mark.parametrize(
    "text",
    ["rocep1s0f1", "roceP2p1s0f1", "enP2p1s0f1np1", "enable_XLA", "10.100.16.1", "1192.0.2.1", "10.192.0.2",
     "example.company", "myexample.com", SHA256, "0000:0000:0000:0000:0000:ffff:0a64:1001 RoCE v2", "MAX", "a<b>c"],
)  # fmt: skip
def test_real_values_are_not_taken_for_placeholders(text: str) -> None:
    refuse_placeholder(text, "")


def test_files_that_are_empty_by_custom_may_have_the_digest_of_nothing() -> None:
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    refuse_placeholder(nothing, "engine/__init__.py")
    load(text_of(f"{{at: weights.files, is: {{__init__.py: {{sha256: {SHA256}}}}}}}"))
    with pytest.raises(Wrong, match="digest of nothing"):
        refuse_placeholder(nothing, "engine/model.py")


@pytest.mark.parametrize("pattern", ["a", r"\[k1\] engaged", "(?:a|b)c", r"[*+]+x", r"a\++", "[]+]+x", "a+?b"])
def test_patterns_that_a_host_can_use(pattern: str) -> None:
    refuse_pattern(pattern, groups=None)


@pytest.mark.parametrize("pattern", ["", ".*", "a?", "(", "a{2,1}", "a++", "(?>a)b", "x*+y", "[[a]", "^", "a|"])
def test_patterns_that_it_cannot_use_or_that_show_nothing(pattern: str) -> None:
    with pytest.raises(Wrong):
        refuse_pattern(pattern, groups=None)
