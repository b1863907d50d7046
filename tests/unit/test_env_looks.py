"""Looks at environment files: settings and derivations, with what stays on the host and what cannot be told."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._disclosure import Disclosure
from plugins.module_utils._env_looks import look_derivation, look_env_file
from plugins.module_utils._observation import Absent, Observation, Unparsable
from plugins.module_utils._root import HostRoot

from pinproof.observations import Observation as Judged
from pinproof.paths import split_within
from pinproof.replica import deploy_files

ALL = Disclosure(["*"], "ab" * 16)


def env_file(tree: Path, text: str, dialect: str = "shell", disclosure: Disclosure = ALL) -> Observation:
    (tree / "x.env").write_bytes(text.encode())
    return look_env_file({"file": "/x.env", "dialect": dialect}, HostRoot(str(tree)), disclosure)


def derivation(
    tree: Path, base: str, derived: str, dialect: str = "shell", disclosure: Disclosure = ALL
) -> Observation:
    (tree / "base.env").write_bytes(base.encode())
    (tree / "derived.env").write_bytes(derived.encode())
    params = {"base": "/base.env", "derived": "/derived.env", "dialect": dialect}
    return look_derivation(params, HostRoot(str(tree)), disclosure)


def derivation_again(tree: Path) -> Observation:
    params = {"base": "/base.env", "derived": "/derived.env", "dialect": "shell"}
    return look_derivation(params, HostRoot(str(tree)), ALL)


def as_judged(observation: Observation) -> Judged:
    """Give the observation as the controller holds it."""
    about: dict[str, Any] = {"probe": "p", "host": "h", "run": "r", "source": [], "observed_at": "", "took_ms": 1}
    return Judged.from_json({**observation.as_dict(), **about})


def test_an_environment_file(tmp_path: Path) -> None:
    text = "A=1\nB=${B:-2}\nC=$(hostname)\nD = 4\n"
    observation = env_file(tmp_path, text)
    assert observation.evidence == "file"
    assert observation.identity == {
        "settings": {
            "A": {"value": "1", "kind": "literal", "overridable": False},
            "B": {"value": "2", "kind": "default", "overridable": True},
            "C": {"kind": "undecidable", "overridable": False},
            "D": {"kind": "malformed", "overridable": False},
        },
        "malformed": {"4": "a blank before `=`: a shell runs a command of that name"},
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    assert observation.state["settings"] == {"A": {"line": 1}, "B": {"line": 2}, "C": {"line": 3}, "D": {"line": 4}}
    assert observation.state["changed_at"] == pytest.approx((tmp_path / "x.env").stat().st_ctime)
    assert observation.faults == {
        "settings.C.value": {"status": "unparsable", "why": "line 3: a command would have to run"},
        "settings.D.value": {"status": "unparsable", "why": "line 4: " + observation.identity["malformed"]["4"]},
    }
    assert observation.notes == [
        "the launch environment may override B",
        "commands run on line 4: a shell function among them could change other settings",
    ]


def test_values_that_no_pin_names_stay_on_the_host(tmp_path: Path) -> None:
    observation = env_file(tmp_path, "K1_PAIR=3\nTOKEN=geheim\n", disclosure=Disclosure(["K1_*"], "ab" * 16))
    found = observation.identity["settings"]
    assert found["K1_PAIR"]["value"] == "3"
    assert found["TOKEN"]["value"].startswith("keyed:")
    assert "geheim" not in str(observation.as_dict())


def test_nothing_of_a_malformed_or_derived_file_leaks(tmp_path: Path) -> None:
    closed = Disclosure([], "ab" * 16)
    observation = env_file(tmp_path, "A=ge heim\nB='secret\n", disclosure=closed)
    assert not any(part in str(observation.as_dict()) for part in ("heim", "secret"))
    both = derivation(
        tmp_path, "A=$(geheim)\nB=secret\nC=x\n", "A=$(geheim2)\nB='secret'\nD=secret\n", disclosure=closed
    )
    assert not any(part in str(both.as_dict()) for part in ("heim", "secret"))


@pytest.mark.parametrize(
    ("dialect", "text", "why"),
    [
        ("shell", "# nothing\n", "/x.env: sets nothing"),
        ("shell", "echo hello\n", "/x.env: sets nothing"),
        ("container", "", "/x.env: is empty"),
        ("shell", "A=\0", "/x.env: line 1 holds a NUL byte"),
        ("bash", "A=1", "/x.env: 'bash' is no dialect"),
    ],
)
def test_a_file_that_tells_nothing(tmp_path: Path, dialect: str, text: str, why: str) -> None:
    with pytest.raises(Unparsable) as error:
        env_file(tmp_path, text, dialect)
    assert error.value.why.startswith(why)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(Absent, match=r"/x\.env"):
        look_env_file({"file": "/x.env", "dialect": "shell"}, HostRoot(str(tmp_path)), ALL)
    (tmp_path / "x.env").write_bytes(b"A=\xff\n")
    with pytest.raises(Unparsable, match="byte 2 is not UTF-8"):
        look_env_file({"file": "/x.env", "dialect": "shell"}, HostRoot(str(tmp_path)), ALL)


def test_what_is_not_listed_may_be_set_all_the_same(tmp_path: Path) -> None:
    """A file that reads another one proves no setting absent, and still tells what it assigns afterwards."""
    observation = env_file(tmp_path, "A=1\n. ./other\nB=2\n")
    assert observation.faults["settings[*]"]["why"] == "line 2 reads another file"
    judged = as_judged(observation)
    assert judged.faults_at(("settings", "SECRET", "value"))
    assert judged.faults_at(("settings", "SECRET"))
    assert judged.faults_at(("settings",))
    assert judged.faults_at(("settings", "A", "value"))
    assert not judged.faults_at(("settings", "B", "value"))
    assert not judged.faults_at(("sha256",))


@pytest.mark.parametrize("dialect", ["container", "compose"])
def test_a_refused_file_tells_nothing_for_certain(tmp_path: Path, dialect: str) -> None:
    judged = as_judged(env_file(tmp_path, "A=1\n?=2\n =x\n", dialect))
    assert judged.value(("settings", "A", "kind")) == "undecidable"
    assert judged.faults_at(("settings", "A", "value"))
    assert judged.faults_at(("settings", "B", "value"))


def test_every_fault_path_can_be_read_by_the_controller(tmp_path: Path) -> None:
    observation = env_file(tmp_path, "A[0]=1\nA[0]=2\nB.C\nD E=1\n", "container")
    assert {split_within(path) for path in observation.faults} == {
        ("settings",),
        ("settings", "B.C", "value"),
        ("settings", "*"),
    }


def test_the_low_cap_file_derives_from_the_composed_wrapper(tmp_path: Path) -> None:
    observation = derivation(tmp_path, deploy_files.UP2_ENV, deploy_files.UP2_LOW_K1_ENV)
    assert observation.identity["added"] == {"UP2_LOW_CAP": "1"}
    assert observation.identity["removed"] == {}
    assert observation.identity["changed"] == {"K1_INDEXER_FACTOR": {"base": "8", "derived": "4"}}
    assert observation.identity["kept"]["DSV41_CHECKPOINT"] == "/srv/dsv41/legal-v2a"
    assert observation.faults == {}
    assert observation.notes == []
    assert observation.state["changed_at"] == pytest.approx((tmp_path / "derived.env").stat().st_ctime)


@pytest.mark.parametrize(
    ("base", "derived", "area", "entry"),
    [
        ("X=1", "Y=1", "added", {"Y": "1"}),
        ("X=1", "Y=1", "removed", {"X": "1"}),
        ("X=1", "X=2", "changed", {"X": {"base": "1", "derived": "2"}}),
        ("X=1", "X='1'", "changed", {"X": {"base": "1", "derived": "'1'"}}),
        ("X=1", "X=${X:-1}", "changed", {"X": {"base": "1", "derived": "${X:-1}"}}),
        ("X=1", "X=${X:-2}", "changed", {"X": {"base": "1", "derived": "2"}}),
        ("X=1", "X=2\nX=1", "kept", {"X": "1"}),
        ("X=1", "X=1 # c", "kept", {"X": "1"}),
        ("X=${X:-1}", "X=${X:-1}", "kept", {"X": "1"}),
        ("X=$(a)", "X=$(b)", "changed", {"X": {"base": "$(a)", "derived": "$(b)"}}),
        ("X=$(a)", "X=$(a)", "changed", {}),
        ("X=$(a)", "X=$(a)", "kept", {}),
        ("A=1\nX=1", "A=1\nX=1\nunset X", "removed", {"X": "1"}),
    ],
)
def test_what_differs(tmp_path: Path, base: str, derived: str, area: str, entry: dict[str, Any]) -> None:
    assert derivation(tmp_path, base, derived).identity[area] == entry


@pytest.mark.parametrize(
    ("base", "derived", "faults"),
    [
        ("X=$(a)", "X=$(a)", {"kept.X"}),
        ("X=$(a)", "X=$(b)", {"kept.X", "changed.X"}),
        ("X=1", "X=$(b)", {"kept.X", "changed.X"}),
        ("X=1", "X=1\nY=$(b)", {"added.Y"}),
        ("X=1\nY=$(b)", "X=1", {"removed.Y"}),
        ("X=1", ". ./base.env\nX=1", {"added[*]", "removed[*]", "changed[*]", "kept[*]"}),
    ],
)
def test_what_cannot_be_told_is_neither_kept_nor_unchanged(
    tmp_path: Path, base: str, derived: str, faults: set[str]
) -> None:
    observation = derivation(tmp_path, base, derived)
    assert set(observation.faults) == faults
    assert {fault["status"] for fault in observation.faults.values()} == {"unparsable"}


def test_spellings_are_noted(tmp_path: Path) -> None:
    observation = derivation(tmp_path, "A=1\nB=2\n", "A='1'\nB=${B:-3}\n")
    assert observation.notes == [
        "the same value in another spelling: A",
        "overridable by the launch environment in one file only, or not to be told: B",
    ]


@pytest.mark.parametrize("missing", ["base.env", "derived.env"])
def test_both_files_must_be_there(tmp_path: Path, missing: str) -> None:
    derivation(tmp_path, "A=1", "A=1")
    (tmp_path / missing).unlink()
    with pytest.raises(Absent, match=re.escape(missing)):
        look_derivation(
            {"base": "/base.env", "derived": "/derived.env", "dialect": "shell"}, HostRoot(str(tmp_path)), ALL
        )


VALUES = st.dictionaries(st.sampled_from("ABCDE"), st.sampled_from("123"), min_size=1)


@given(base=VALUES, derived=VALUES)
def test_every_key_is_in_exactly_one_place(
    tmp_path_factory: pytest.TempPathFactory, base: dict[str, str], derived: dict[str, str]
) -> None:
    texts = ["".join(f"{name}={value}\n" for name, value in values.items()) for values in (base, derived)]
    found = derivation(tmp_path_factory.mktemp("d"), texts[0], texts[1], "systemd").identity
    assert found["added"] == {name: derived[name] for name in derived.keys() - base.keys()}
    assert found["removed"] == {name: base[name] for name in base.keys() - derived.keys()}
    both = base.keys() & derived.keys()
    assert found["kept"] == {name: base[name] for name in both if base[name] == derived[name]}
    assert set(found["changed"]) == {name for name in both if base[name] != derived[name]}
