"""What the engine tells of a container's configuration, in all its spellings of nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._container_settings import changes, command, environment, leaf, mounts
from plugins.module_utils._observation import Unparsable

BIND = {"Type": "bind", "Source": "/srv/a", "Destination": "/opt/x/mnt", "Mode": "ro", "RW": False}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def test_leaf_is_strict_about_the_type() -> None:
    data = {"a": {"b": True, "c": 1}}
    assert leaf(data, ("a", "b"), bool) is True
    for where, kind in ((("a", "b"), int), (("a", "x"), str), (("a", "b", "c"), str), (("x",), dict)):
        with pytest.raises(Unparsable, match=r"the engine tells no \S"):
            leaf(data, where, kind)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"Path": "/bin/sleeper", "Args": ["--a", ""]}, ["/bin/sleeper", "--a", ""]),
        ({"Path": "vllm", "Args": []}, ["vllm"]),
        ({"Path": "vllm", "Args": None}, ["vllm"]),
        ({"Path": "vllm"}, ["vllm"]),
    ],
)
def test_command(data: dict[str, Any], expected: list[str]) -> None:
    assert command(data) == expected


@pytest.mark.parametrize("data", [{}, {"Path": None}, {"Path": "x", "Args": "y"}, {"Path": "x", "Args": [1]}])
def test_command_that_is_none(data: dict[str, Any]) -> None:
    with pytest.raises(Unparsable):
        command(data)


@pytest.mark.parametrize(
    ("entries", "values", "repeated"),
    [
        (None, {}, []),
        ([], {}, []),
        (["A=1", "B=", "C=x=y"], {"A": "1", "B": "", "C": "x=y"}, []),
        (["I=a", "J=1", "I=b"], {"I": "b", "J": "1"}, ["I"]),
        (["I=a", "I=a"], {"I": "a"}, ["I"]),
        (["NAME"], {}, []),
    ],
)
def test_environment(entries: Any, values: dict[str, str], repeated: list[str]) -> None:
    assert environment({"Config": {"Env": entries}}) == (values, repeated)


@pytest.mark.parametrize("data", [{}, {"Config": None}, {"Config": {"Env": "A=1"}}, {"Config": {"Env": [None]}}])
def test_environment_that_is_none(data: dict[str, Any]) -> None:
    with pytest.raises(Unparsable):
        environment(data)


@pytest.mark.parametrize(
    ("listed", "in_memory", "expected"),
    [
        (None, None, {}),
        ([], {}, {}),
        ([BIND], None, {"/opt/x/mnt": {"type": "bind", "source": "/srv/a", "writable": False}}),
        (
            [{"Type": "tmpfs", "Source": "", "Destination": "/tt", "RW": True}],
            {"/scratch": "size=1m,ro", "/run": ""},
            {
                "/tt": {"type": "tmpfs", "writable": True},
                "/scratch": {"type": "tmpfs", "writable": False},
                "/run": {"type": "tmpfs", "writable": True},
            },
        ),
    ],
)
def test_mounts(listed: Any, in_memory: Any, expected: dict[str, Any]) -> None:
    assert mounts({"Mounts": listed, "HostConfig": {"Tmpfs": in_memory}}) == expected


@pytest.mark.parametrize(
    "data",
    [
        {"Mounts": []},
        {"Mounts": [], "HostConfig": {"Tmpfs": ["/x"]}},
        {"Mounts": "x", "HostConfig": {}},
        {"Mounts": [BIND, BIND], "HostConfig": {}},
        {"Mounts": ["x"], "HostConfig": {}},
        {"Mounts": [{**BIND, "RW": "false"}], "HostConfig": {}},
        {"Mounts": [{**BIND, "Destination": ""}], "HostConfig": {}},
    ],
)
def test_mounts_that_are_none(data: dict[str, Any]) -> None:
    with pytest.raises(Unparsable):
        mounts(data)


@pytest.mark.parametrize(
    ("answer", "destinations", "expected"),
    [
        (None, [], {}),
        ([], [], {}),
        (
            [{"Path": "/a", "Kind": 0}, {"Path": "/a/b", "Kind": 1}, {"Path": "/c", "Kind": 2}],
            [],
            {"/a": "modified", "/a/b": "added", "/c": "deleted"},
        ),
        # what the engine makes for mounts
        (
            [{"Path": "/opt", "Kind": 0}, {"Path": "/opt/x", "Kind": 0}, {"Path": "/opt/x/mnt", "Kind": 1}],
            ["/opt/x/mnt"],
            {},
        ),
        # beside and below them, and what is gone
        (
            [
                {"Path": "/opt", "Kind": 0},
                {"Path": "/opt/y", "Kind": 1},
                {"Path": "/opt/x/mnt/z", "Kind": 1},
                {"Path": "/opt/x", "Kind": 2},
                {"Path": "/op", "Kind": 1},
            ],
            ["/opt/x/mnt", "/"],
            {"/opt/y": "added", "/opt/x/mnt/z": "added", "/opt/x": "deleted", "/op": "added"},
        ),
    ],
)
def test_changes(answer: Any, destinations: list[str], expected: dict[str, str]) -> None:
    assert changes(answer, destinations) == expected


@pytest.mark.parametrize(
    "answer", [{}, "x", [None], [{}], [{"Path": "/a"}], [{"Path": "/a", "Kind": 3}], [{"Path": "/a", "Kind": True}]]
)
def test_changes_that_are_none(answer: Any) -> None:
    with pytest.raises(Unparsable, match="change"):
        changes(answer, [])


def test_too_many_changes() -> None:
    with pytest.raises(Unparsable, match="20001 changes"):
        changes([{"Path": f"/{n}", "Kind": 1} for n in range(20001)], [])


@given(JSON)
def test_any_answer_is_read_or_unparsable(value: Any) -> None:
    data = value if isinstance(value, dict) else {"Mounts": value, "HostConfig": value, "Config": value, "Args": value}
    for look in (command, environment, mounts, lambda data: changes(value, [])):
        try:
            look(data)
        except Unparsable:
            continue
