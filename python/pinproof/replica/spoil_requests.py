"""Spoiling the records of a run's requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pinproof.replica.content import sha256
from pinproof.replica.spoilers import Spoil, Table, other

Records = list[dict[str, Any]]


def _changed(change: Callable[[Records, Spoil], str]) -> Callable[[Spoil], str]:
    def spoiler(spoil: Spoil) -> str:
        path = spoil.path("file")
        records: Records = [json.loads(line) for line in spoil.journal.text(path).splitlines()]
        told = change(records, spoil)
        lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in records]
        spoil.journal.write(path, "".join(lines))
        return told

    return spoiler


def _setting(records: Records, spoil: Spoil) -> str:
    request = records[0]["request"]
    name = spoil.key or spoil.segments[1]
    request[name] = other(request[name]) if name in request else True
    return f"the first request was sent with {name} {request[name]}"


def _size(records: Records, spoil: Spoil) -> str:
    size = int(spoil.key) if spoil.key.isdecimal() else records[0]["request"]["prompt_tokens"]
    record = next((item for item in records if item["request"]["prompt_tokens"] == size), records[0])
    record["request"]["prompt_tokens"] = record["answer"]["prompt_tokens"] = size + 1
    return f"one request has {size + 1} prompt tokens"


def _digest(records: Records, spoil: Spoil) -> str:
    name = spoil.key or spoil.segments[1]
    records[-1][f"{name}_sha256"] = sha256(f"another {name}")
    return f"the last request was made of another {name}"


def _answer(records: Records, spoil: Spoil) -> str:
    name = spoil.key or spoil.segments[1]
    records[-1]["answer"][name] = 131072
    return f"the last answer counts {name} 131072"


def _one_more(records: Records, _spoil: Spoil) -> str:
    record = json.loads(json.dumps(records[-1]))
    record["repetition"] += 1
    record["salt_sha256"] = sha256("one salt more")
    record["prompt_sha256"] = sha256("one prompt more")
    records.append(record)
    return "one repetition more"


def _twice(records: Records, _spoil: Spoil) -> str:
    """Record one repetition under the number of another of the same size."""
    first = records[0]
    same = next(item for item in records[1:] if item["request"]["prompt_tokens"] == first["request"]["prompt_tokens"])
    same.update({name: first[name] for name in ("repetition", "salt_sha256", "prompt_sha256")})
    return f"repetition {first['repetition']} of {first['request']['prompt_tokens']} is recorded twice"


REQUESTS: Table = {
    "settings": _changed(_setting),
    "sizes": _changed(_size),
    "hashes": _changed(_digest),
    "answers": _changed(_answer),
    "count": _changed(_one_more),
    "duplicates": _changed(_twice),
}
