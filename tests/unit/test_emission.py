"""What the engine's verifier emitted: whole and in its format, or not evidence."""

from __future__ import annotations

import copy
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._emission import NO_REASON, look_emission, parse
from plugins.module_utils._observation import LookError, NoTool, Unparsable
from plugins.module_utils._root import HostRoot

QUICK = settings(max_examples=60, deadline=None)  # the machine may be busy

A, B = "a" * 64, "b" * 64
GOOD: dict[str, Any] = {
    "tool": "verify_runtime",
    "emitted_at": "2026-10-24T09:15:00Z",
    "rank": 1,
    "files": [
        {"path": "/opt/a.py", "sha256": A, "ok": True},
        {"path": "/opt/b.py", "sha256": B, "ok": True, "why": ""},
    ],
}


def spoiled(*keys: Any, value: Any = None, drop: bool = False) -> bytes:
    data: Any = copy.deepcopy(GOOD)
    part = data
    for key in keys[:-1]:
        part = part[key]
    if drop:
        del part[keys[-1]]
    else:
        part[keys[-1]] = value
    return json.dumps(data).encode()


def test_a_whole_emission() -> None:
    emission = parse(json.dumps(GOOD).encode(), "/e")
    assert (emission.tool, emission.rank, emission.emitted_at) == ("verify_runtime", 1, "2026-10-24T09:15:00Z")
    assert emission.files == {"/opt/a.py": A, "/opt/b.py": B}
    assert emission.not_ok == {}


@pytest.mark.parametrize(
    ("entry", "not_ok"),
    [
        ({"ok": False, "why": "differs from the manifest"}, "differs from the manifest"),
        ({"ok": False}, NO_REASON),
        ({"ok": False, "why": ""}, NO_REASON),
        ({"ok": True, "why": "fine"}, None),
    ],
)
def test_files_that_are_not_ok(entry: dict[str, Any], not_ok: str | None) -> None:
    data = spoiled("files", 0, value={"path": "/opt/a.py", "sha256": A, **entry})
    assert parse(data, "/e").not_ok.get("/opt/a.py") == not_ok


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-10-24T09:15:00Z", 1792833300.0),
        ("2026-10-24T11:15:00.250+02:00", 1792833300.25),
        ("2026-10-24T05:15:00,5-0400", 1792833300.5),
    ],
)
def test_times_with_their_zone(text: str, seconds: float) -> None:
    assert parse(spoiled("emitted_at", value=text), "/e").emitted_at_s == seconds


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"[]", "is a list, not an object"),
        (b"{", "not JSON"),
        (spoiled("tool", drop=True), "has no 'tool'"),
        (spoiled("rank", drop=True), "has no 'rank'"),
        (spoiled("files", drop=True), "has no 'files'"),
        (spoiled("extra", value=1), "unknown field 'extra'"),
        (spoiled("tool", value=""), "'tool' is not"),
        (spoiled("rank", value=True), "'rank' is not"),
        (spoiled("rank", value=-1), "'rank' is not"),
        (spoiled("rank", value="1"), "'rank' is not"),
        (spoiled("files", value=[]), "'files' is not a list of files, or is empty"),
        (spoiled("files", value={"/opt/a.py": A}), "'files' is not a list"),
        (spoiled("emitted_at", value="2026-10-24T09:15:00"), "not a time with its zone"),
        (spoiled("emitted_at", value="2026-13-24T09:15:00Z"), "not a time with its zone"),
        (spoiled("emitted_at", value="yesterday"), "not a time with its zone"),
        (spoiled("emitted_at", value=1792314900), "not a time with its zone"),
        (spoiled("files", 1, value="/opt/b.py"), r"files\[1\]: is text, not an object"),
        (spoiled("files", 1, "path", drop=True), r"files\[1\]: has no 'path'"),
        (spoiled("files", 1, "path", value=""), r"files\[1\]: 'path' is not a path"),
        (spoiled("files", 1, "path", value="/opt/a.py"), r"files\[1\]: covers /opt/a.py again"),
        (spoiled("files", 1, "sha256", value=A[:40]), r"files\[1\]: 'sha256' is not 64"),
        (spoiled("files", 1, "sha256", value=A.upper()), r"files\[1\]: 'sha256' is not 64"),
        (spoiled("files", 1, "ok", value="true"), r"files\[1\]: 'ok' is text, neither true nor false"),
        (spoiled("files", 1, "ok", value=1), r"files\[1\]: 'ok' is a number"),
        (spoiled("files", 1, "why", value=None), r"files\[1\]: 'why' is null"),
        (spoiled("files", 1, "okay", value=True), r"files\[1\]: unknown field 'okay'"),
        (json.dumps(GOOD).replace('"rank": 1', '"rank": 1, "rank": 0').encode(), 'key "rank" is given twice'),
    ],
)
def test_anything_else_is_refused_with_its_place(data: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=f"^/var/log/v.json: .*{why}"):
        parse(data, "/var/log/v.json")


@QUICK
@given(
    st.recursive(
        st.sampled_from([None, True, "x", 1, A, "/opt/a.py"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["tool", "emitted_at", "rank", "files", "path", "sha256", "ok", "why"]),
                inner,
                max_size=8,
            )
        ),
        max_leaves=16,
    )
)
def test_any_json_is_an_emission_or_a_look_error(value: Any) -> None:
    try:
        assert parse(json.dumps(value).encode(), "/e").files
    except LookError as error:
        assert error.why.startswith("/e: ")  # noqa: PT017 - an emission is as good


@QUICK
@given(st.permutations(GOOD["files"]), st.sampled_from(["path", "sha256", "ok"]), st.integers(0, 1))
def test_order_is_nothing_and_one_changed_leaf_is_one_changed_attribute(
    files: list[dict[str, Any]], leaf: str, index: int
) -> None:
    before = parse(json.dumps({**GOOD, "files": files}).encode(), "/e")
    assert before == parse(json.dumps(GOOD).encode(), "/e")
    changed = copy.deepcopy(files)
    changed[index][leaf] = {"path": "/opt/z.py", "sha256": "c" * 64, "ok": False}[leaf]
    after = parse(json.dumps({**GOOD, "files": changed}).encode(), "/e")
    assert [after.files != before.files, after.not_ok != before.not_ok] == [leaf != "ok", leaf == "ok"]


def write(tmp_path: Path, emitted_at: str) -> HostRoot:
    (tmp_path / "v.json").write_text(json.dumps({**GOOD, "emitted_at": emitted_at}))
    return HostRoot(str(tmp_path))


def test_an_emission_that_was_never_made_is_no_evidence(tmp_path: Path) -> None:
    with pytest.raises(NoTool, match=r"/v.json: not there; the engine's verifier has emitted nothing there"):
        look_emission({"file": "/v.json"}, HostRoot(str(tmp_path)))


def test_a_copy_of_an_old_emission_is_an_old_emission(tmp_path: Path) -> None:
    observation = look_emission({"file": "/v.json"}, write(tmp_path, "2020-01-01T00:00:00Z"))
    assert observation.evidence == "native"
    assert observation.state == {"emitted_at": "2020-01-01T00:00:00Z", "changed_at": 1577836800.0}
    assert observation.notes == ["emitted by rank 1"]


def test_an_old_file_is_an_old_emission_whatever_it_says(tmp_path: Path) -> None:
    root = write(tmp_path, "2090-01-01T00:00:00Z")
    os.utime(tmp_path / "v.json", (1e9, 1e9))
    assert look_emission({"file": "/v.json"}, root).state["changed_at"] == 1e9
    (tmp_path / "v.json").touch()
    assert look_emission({"file": "/v.json"}, root).state["changed_at"] == pytest.approx(time.time(), abs=5)
