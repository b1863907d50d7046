"""Records of requests: what all agree on is told as that, differences as differences, and nothing is passed over."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._observation import LookError, NoTool, Observation, Unparsable
from plugins.module_utils._records import MISSING, common, look_requests, parse, summarise
from plugins.module_utils._root import HostRoot

QUICK = settings(max_examples=60, deadline=None)  # the machine may be busy

SETTINGS: dict[str, Any] = {
    "endpoint": "/v1/chat/completions",
    "complete": True,
    "max_tokens": 1500,
    "thinking": True,
    "effort": "high",
    "effort_percent": 75,
    "temperature": 1,
    "top_p": 1,
    "seed": 42,
    "priority": 10,
}


def record(size: int = 150000, repetition: int = 1) -> dict[str, Any]:
    return {
        "request": {**SETTINGS, "prompt_tokens": size},
        "repetition": repetition,
        "corpus_sha256": "1" * 64,
        "order_sha256": "2" * 64,
        "header_sha256": "3" * 64,
        "salt_prefix_sha256": "4" * 64,
        "prompt_sha256": f"{size:064x}",
        "salt_sha256": f"{repetition:064x}",
        "answer": {"cached_tokens": 0, "completion_tokens": 1500 - repetition},
    }


def all_six() -> list[dict[str, Any]]:
    return [record(size, repetition) for size in (150000, 300000) for repetition in (1, 2, 3)]


def lines(records: list[Any]) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in records)


def observe(records: list[Any]) -> Observation:
    observation = Observation("file", "test")
    summarise(parse(lines(records), "/r"), observation)
    return observation


def test_six_records_that_agree() -> None:
    observation = observe(all_six())
    assert observation.identity == {
        "count": 6,
        "sizes": {"150000": 3, "300000": 3},
        "settings": SETTINGS,
        "hashes": {"corpus": "1" * 64, "order": "2" * 64, "header": "3" * 64, "salt_prefix": "4" * 64},
        "answers": {"cached_tokens": 0},
        "prompts": {f"{size}/{n}": f"{size:064x}" for size in (150000, 300000) for n in (1, 2, 3)},
        "salts": {f"{size}/{n}": f"{n:064x}" for size in (150000, 300000) for n in (1, 2, 3)},
        "duplicates": {},
    }
    assert observation.state["answers"] == {"completion_tokens": [1499, 1498, 1497]}
    assert observation.faults == {}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1, 1], 1),
        ([1, 2, 1], [1, 2]),
        ([2, 1], [2, 1]),
        ([1, 1.0], [1, 1.0]),
        ([1, True], [1, True]),
        (["1", 1], ["1", 1]),
        ([0, None], [0, None]),
        ([["a"], ["a"]], [["a"]]),
        ([["a", "b"], ["a", "b"]], [["a", "b"]]),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], {"a": 1, "b": 2}),
    ],
)
def test_values_that_agree_or_differ(values: list[Any], told: Any) -> None:
    result = common([{"x": value} for value in values])
    assert json.dumps(result, sort_keys=True) == json.dumps({"x": told}, sort_keys=True)


def test_a_list_all_agree_on_is_not_a_list_of_differences() -> None:
    agreed = common([{"stop": ["a", "b"]}, {"stop": ["a", "b"]}])
    differ = common([{"stop": "a"}, {"stop": "b"}])
    assert agreed != differ


def test_a_field_that_some_lack_is_told() -> None:
    assert common([{"x": 1}, {}, {"x": 1, "y": 2}]) == {"x": [1, MISSING], "y": [MISSING, 2]}
    assert common([{}, {}]) == {}


@pytest.mark.parametrize(
    ("path", "value", "area", "name"),
    [
        (("request", "temperature"), 0.7, "settings", "temperature"),
        (("request", "complete"), 1, "settings", "complete"),
        (("request", "stream"), True, "settings", "stream"),
        (("corpus_sha256",), "f" * 64, "hashes", "corpus"),
        (("order_sha256",), "f" * 64, "hashes", "order"),
        (("header_sha256",), "f" * 64, "hashes", "header"),
        (("salt_prefix_sha256",), "f" * 64, "hashes", "salt_prefix"),
        (("prompt_sha256",), "f" * 64, "prompts", "300000/2"),
        (("salt_sha256",), "f" * 64, "salts", "300000/2"),
        (("answer", "cached_tokens"), 128, "answers", "cached_tokens"),
    ],
)
def test_one_changed_leaf_is_one_changed_attribute(path: tuple[str, ...], value: Any, area: str, name: str) -> None:
    before = observe(all_six()).identity
    records = all_six()
    part: Any = records[4]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    after = observe(records).identity
    assert [key for key in before if before[key] != after[key]] == [area]
    assert [key for key in after[area] if after[area][key] != before[area].get(key)] == [name]


@pytest.mark.parametrize(
    ("path", "area", "told"),
    [
        (("corpus_sha256",), "hashes", {"corpus": [MISSING, "1" * 64]}),
        (("request", "seed"), "settings", {"seed": [MISSING, 42]}),
        (("answer", "cached_tokens"), "answers", {"cached_tokens": [MISSING, 0]}),
    ],
)
def test_one_missing_leaf_is_told_as_missing(path: tuple[str, ...], area: str, told: dict[str, Any]) -> None:
    before = observe(all_six()).identity
    records = all_six()
    part: Any = records[0]
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    after = observe(records).identity
    assert after == {**before, area: {**before[area], **told}}


def test_completion_tokens_are_no_identity() -> None:
    records = all_six()
    records[0]["answer"]["completion_tokens"] = 7
    assert observe(records).identity == observe(all_six()).identity


def test_a_repetition_recorded_twice_is_told_with_its_lines() -> None:
    observation = observe([*all_six(), record(150000, 2)])
    assert observation.identity["count"] == 7
    assert observation.identity["sizes"] == {"150000": 4, "300000": 3}
    assert observation.identity["duplicates"] == {"150000/2": "lines 2, 7"}
    assert observation.faults == {}


def test_a_repetition_recorded_twice_with_two_prompts_has_no_prompt() -> None:
    other = {**record(150000, 2), "prompt_sha256": "e" * 64}
    observation = observe([*all_six(), other])
    assert "150000/2" not in observation.identity["prompts"]
    assert observation.faults["prompts[150000/2]"]["status"] == "incomparable"
    assert observation.identity["salts"]["150000/2"] == f"{2:064x}"


def without(name: str) -> dict[str, Any]:
    item = record()
    del item[name]
    return item


def within(name: str, **fields: Any) -> dict[str, Any]:
    item = record()
    item[name] = {**item[name], **fields}
    return item


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ([], "is a list, not an object"),
        (without("request"), "'request' is not there"),
        (without("answer"), "'answer' is not there"),
        (without("repetition"), "'repetition' is not there"),
        (without("prompt_sha256"), "'prompt_sha256' is not there"),
        (without("salt_sha256"), "'salt_sha256' is not there"),
        ({**record(), "request": []}, "'request' is not there, or not an object"),
        ({**record(), "answer": None}, "'answer' is not there, or not an object"),
        ({**record(), "repetition": 0}, "'repetition' is not"),
        ({**record(), "repetition": True}, "'repetition' is not"),
        ({**record(), "repetition": "1"}, "'repetition' is not"),
        ({**record(), "repetition": 1.0}, "'repetition' is not"),
        ({**record(), "corpus_sha256": "abc"}, "'corpus_sha256' is not"),
        ({**record(), "salt_sha256": "A" * 64}, "'salt_sha256' is not"),
        (within("request", prompt_tokens="150000"), "'request.prompt_tokens' is not"),
        (within("answer", prompt_tokens=150003), "asked with 150000 prompt tokens, and its answer counts 150003"),
        (within("answer", prompt_tokens=150000.0), "and its answer counts 150000.0"),
    ],
)
def test_malformed_records_are_refused_by_file_and_line(line: Any, why: str) -> None:
    with pytest.raises(Unparsable, match=f"^/up2/r.jsonl: line 2: .*{why}"):
        parse(lines([record(), line, record(300000)]), "/up2/r.jsonl")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "holds no record"),
        (b"\n", "line 1: is empty"),
        (lines([record()]) + b"\n" + lines([record()]), "line 2: is empty"),
        (lines([record()]) + b'{"request"', "line 2: not JSON.*no end of line: still being written"),
        (lines([record()]) + b"{}}\n", "line 2: not JSON"),
        (b'{"repetition": 1, "repetition": 2}\n', 'line 1: the key "repetition" is given twice'),
        (b"\xff\n", "line 1: byte 0 is not UTF-8"),
        (b"[" * 500 + b"\n", "line 1: nested more"),
    ],
)
def test_files_that_are_no_records(data: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=f"^/r: {why}"):
        parse(data, "/r")


@QUICK
@given(st.binary(max_size=120))
def test_any_bytes_are_records_or_a_look_error(data: bytes) -> None:
    try:
        assert parse(data, "/r")
    except LookError as error:
        assert error.why.startswith("/r: ")  # noqa: PT017 - records are as good


@QUICK
@given(st.data())
def test_a_spoiled_record_is_a_record_or_a_look_error(data: st.DataObject) -> None:
    item = copy.deepcopy(record())
    part = data.draw(st.sampled_from([item, item["request"], item["answer"]]))
    key = data.draw(st.sampled_from(sorted(part)))
    part[key] = data.draw(st.sampled_from([None, 0, -1, 1.5, True, "x", [], [1], {}, {"a": []}]))
    try:
        observation = Observation("file", "test")
        summarise(parse(lines([record(), item]), "/r"), observation)
        json.dumps(observation.as_dict(), allow_nan=False)
    except LookError as error:
        assert error.why.startswith("/r: line 2: ")  # noqa: PT017


@QUICK
@given(st.permutations(all_six()))
def test_the_order_of_records_that_agree_is_nothing(records: list[dict[str, Any]]) -> None:
    assert observe(records).identity == observe(all_six()).identity


def test_records_of_a_run_not_made_are_no_evidence(tmp_path: Path) -> None:
    with pytest.raises(NoTool, match=r"/r.jsonl: not there; the run's requests have not been recorded"):
        look_requests({"file": "/r.jsonl"}, HostRoot(str(tmp_path)))


def test_records_on_a_host(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(lines(all_six()))
    observation = look_requests({"file": "/r.jsonl"}, HostRoot(str(tmp_path)))
    assert observation.evidence == "file"
    assert observation.identity["count"] == 6
    assert set(observation.state) == {"changed_at", "answers"}


@pytest.mark.parametrize(("kept", "held"), [(6, []), (5, ["count", "sizes[300000]"]), (3, ["count", "sizes[300000]"])])
def test_a_missing_repetition_is_no_answer_yet(tmp_path: Path, kept: int, held: list[str]) -> None:
    records = [record(size, repetition) for size in (150000, 300000) for repetition in (1, 2, 3)][:kept]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(item) + "\n" for item in records))
    params = {"file": "/r.jsonl", "sizes": ["150000", "300000"], "repetitions": 3}
    observation = look_requests(params, HostRoot(str(tmp_path)))
    assert sorted(observation.faults) == held
    assert observation.identity["sizes"]["150000"] == 3
    assert ("count" in observation.identity) is (not held)
