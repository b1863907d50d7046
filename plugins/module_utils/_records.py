# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of a run's requests, one JSON object a line.

This module util is private to the collectors. A record is:

    {"request": {"endpoint": "/v1/chat/completions", "complete": true, "prompt_tokens": 150000,
                 "max_tokens": 1500, "thinking": true, "effort": "high", "effort_percent": 75,
                 "temperature": 1, "top_p": 1, "seed": 42, "priority": 10},
     "repetition": 1,
     "corpus_sha256": "<64 hex>", "order_sha256": "<64 hex>", "header_sha256": "<64 hex>",
     "salt_prefix_sha256": "<64 hex>", "prompt_sha256": "<64 hex>", "salt_sha256": "<64 hex>",
     "answer": {"cached_tokens": 0, "completion_tokens": 1500}}

`request`, its `prompt_tokens`, `repetition` (from 1), `prompt_sha256`,
`salt_sha256` and `answer` must be there. Other fields of `request` are settings,
whatever they are called; fields beside these are the recorder's own and not read.

What all records agree on is told as that value; where they differ, as the list
of the different values in the order in which they first appear, with
"(missing)" for a record without the field. A value that is itself a list and
that all agree on is told as a list of that one list, so that it cannot be taken
for values that differ.
"""

from __future__ import annotations

import json
import typing as t

from ._emission import SHA256
from ._json_files import parse_json, type_name
from ._names import leaf
from ._observation import Absent, Incomparable, NoTool, Observation, Unparsable
from ._reading import read_whole
from ._root import HostRoot

RECORDS_LIMIT = 16 << 20
MISSING = "(missing)"
HASHES = ("corpus", "order", "header", "salt_prefix")
ANSWER_IDENTITY = ("cached_tokens",)
# Free to differ between repetitions of the same request.
ANSWER_STATE = ("completion_tokens", "prompt_tokens", "finish_reason")


class Record(t.NamedTuple):
    """One checked record: the line it stands on, and its size and repetition as a key."""

    line: int
    key: str
    size: int
    settings: dict[str, t.Any]
    hashes: dict[str, t.Any]
    prompt: str
    salt: str
    answer: dict[str, t.Any]


def look_requests(params: dict[str, t.Any], root: HostRoot) -> Observation:
    """Look at the records of a run. Raises NoTool where there are none: a run that was not made is not drift."""
    path = params["file"]
    try:
        reading = read_whole(root, path, RECORDS_LIMIT)
    except Absent as error:
        raise NoTool("%s; the run's requests have not been recorded there" % error) from None
    observation = Observation("file", "request records read")
    summarise(parse(reading.data, path), observation)
    observation.state["changed_at"] = reading.written_at
    hold_incomplete(observation, params.get("sizes", []), params.get("repetitions", 0))
    return observation


def hold_incomplete(observation: Observation, sizes: list[str], repetitions: int) -> None:
    """Take tallies of a run that is not complete for no answer: what is missing may still be measured."""
    recorded = observation.identity["sizes"]
    for size in sizes:
        if recorded.get(size, 0) < repetitions:
            why = "%d of %d repetitions of %s prompt tokens are recorded" % (recorded.get(size, 0), repetitions, size)
            error = Incomparable("%s; record the others, then verify again" % why)
            recorded.pop(size, None)
            observation.identity.pop("count", None)
            for path in (leaf("sizes", size), "count"):
                observation.fault(path, error)


def parse(data: bytes, what: str) -> list[Record]:
    """Parse records; `what` names the file in errors. Raises Unparsable naming file and line."""
    lines = data.split(b"\n")
    finished = lines[-1] == b""
    if finished:
        lines.pop()
    if not lines:
        raise Unparsable("%s: holds no record" % what)
    records = []
    for number, line in enumerate(lines, 1):
        place = "%s: line %d" % (what, number)
        if not line.strip():
            raise Unparsable("%s: is empty" % place)
        try:
            records.append(_record(parse_json(line, place), number, place))
        except Unparsable as error:
            if number == len(lines) and not finished:
                raise Unparsable("%s; it has no end of line: still being written?" % error.why) from None
            raise
    return records


def _record(value: t.Any, number: int, place: str) -> Record:
    if not isinstance(value, dict):
        raise Unparsable("%s: is %s, not an object" % (place, type_name(value)))
    settings = dict(_object(value, "request", place))
    answer = _object(value, "answer", place)
    size = _number(settings.pop("prompt_tokens", None), "request.prompt_tokens", place)
    repetition = _number(value.get("repetition"), "repetition", place)
    counted = answer.get("prompt_tokens", size)
    if json.dumps(counted) != str(size):
        told = json.dumps(counted)[:40]
        raise Unparsable("%s: asked with %d prompt tokens, and its answer counts %s" % (place, size, told))
    hashes = {
        name: _digest(value[name + "_sha256"], name + "_sha256", place) for name in HASHES if name + "_sha256" in value
    }
    return Record(
        line=number,
        key="%d/%d" % (size, repetition),
        size=size,
        settings=settings,
        hashes=hashes,
        prompt=_digest(value.get("prompt_sha256"), "prompt_sha256", place),
        salt=_digest(value.get("salt_sha256"), "salt_sha256", place),
        answer=answer,
    )


def _object(value: dict[str, t.Any], name: str, place: str) -> dict[str, t.Any]:
    part = value.get(name)
    if not isinstance(part, dict):
        raise Unparsable("%s: '%s' is not there, or not an object" % (place, name))
    return part


def _number(value: t.Any, name: str, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Unparsable("%s: '%s' is not there, or not a whole number from 1" % (place, name))
    return value


def _digest(value: t.Any, name: str, place: str) -> str:
    if not isinstance(value, str) or not SHA256.fullmatch(value):
        raise Unparsable("%s: '%s' is not there, or not 64 hex digits in lower case" % (place, name))
    return value


def summarise(records: list[Record], observation: Observation) -> None:
    """Add what records come to, to an observation."""
    sizes: dict[str, int] = {}
    lines: dict[str, list[int]] = {}
    for record in records:
        sizes[str(record.size)] = sizes.get(str(record.size), 0) + 1
        lines.setdefault(record.key, []).append(record.line)
    answers = [record.answer for record in records]
    observation.identity = {
        "count": len(records),
        "sizes": sizes,
        "settings": common([record.settings for record in records]),
        "hashes": common([record.hashes for record in records]),
        "answers": common(answers, ANSWER_IDENTITY),
        "duplicates": {
            key: "lines %s" % ", ".join(str(line) for line in numbers)
            for key, numbers in lines.items()
            if len(numbers) > 1
        },
    }
    observation.state["answers"] = common(answers, ANSWER_STATE)
    for area, values in (
        ("prompts", [(record.key, record.prompt) for record in records]),
        ("salts", [(record.key, record.salt) for record in records]),
    ):
        _by_key(observation, area, values)


def _by_key(observation: Observation, area: str, values: list[tuple[str, str]]) -> None:
    """Tell one digest for each size and repetition; of one recorded twice with two digests, neither."""
    digests: dict[str, set[str]] = {}
    for key, value in values:
        digests.setdefault(key, set()).add(value)
    observation.identity[area] = {key: min(found) for key, found in digests.items() if len(found) == 1}
    for key, found in digests.items():
        if len(found) > 1:
            why = "%s: %s is recorded more than once, with different digests" % (area, key)
            observation.fault(leaf(area, key), Incomparable(why))


def common(objects: list[dict[str, t.Any]], only: t.Sequence[str] = ()) -> dict[str, t.Any]:
    """Say by field what the objects agree on, or the different values they have; `only` these fields where given."""
    names = only or list(dict.fromkeys(name for item in objects for name in item))
    result = {}
    for name in names:
        # By their JSON text: 1, 1.0 and true are three values.
        values = {_spelled(item, name): item.get(name, MISSING) for item in objects}
        if any(name in item for item in objects):
            result[name] = _agreed(list(values.values()))
    return result


def _spelled(item: dict[str, t.Any], name: str) -> str:
    return json.dumps(item[name], sort_keys=True) if name in item else MISSING


def _agreed(values: list[t.Any]) -> t.Any:
    if len(values) > 1 or isinstance(values[0], list):
        return values
    return values[0]
