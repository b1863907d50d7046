"""JSON without liberties: every one is refused, and nothing crashes the reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._json_files import DEPTH_LIMIT, parse_json, type_name
from plugins.module_utils._observation import Unparsable

QUICK = settings(max_examples=60, deadline=None)  # the machine may be busy

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@QUICK
@given(values)
def test_what_json_writes_is_read_back(value: object) -> None:
    text = json.dumps(value)
    assert json.dumps(parse_json(text.encode(), "/f")) == text


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_unparsable(data: bytes) -> None:
    try:
        parse_json(data, "/f")
    except Unparsable as error:
        assert error.why.startswith("/f: ")  # noqa: PT017 - a value is as good


@QUICK
@given(st.text(alphabet='[]{}",:\\u0dDn1e9 ', max_size=60))
def test_nearly_json_is_a_value_or_unparsable(text: str) -> None:
    try:
        json.dumps(parse_json(text.encode(), "/f"), ensure_ascii=False).encode()
    except Unparsable as error:
        assert error.why.startswith("/f: ")  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"a": 1, "b": {"x": 1, "x": 2}}', 'the key "x" is given twice'),
        (b'{"a": 1, "\\u0061": 1}', 'the key "a" is given twice'),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[1e999]", "1e999 is too great"),
        (b"[" + b"9" * 5000 + b"]", "too many digits"),
        (b'["\\ud800"]', "half a character"),
        (b'{"\\udfff": 1}', "half a character"),
        (b'["\xff"]', "byte 2 is not UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON, line 1 column 1"),
        (b'{"a": 1,\n "b": }', "not JSON, line 2 column 7"),
        (b'{"a": 1} {"b": 2}', "Extra data"),
        (b"[1,]", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'["a\nb"]', "control character"),
        (b"", "not JSON"),
        (b"[" * (DEPTH_LIMIT + 1) + b"]" * (DEPTH_LIMIT + 1), "nested more than 200 deep"),
        (b"[" * 100000, "nested more than 200 deep"),
        (b'{"a":' * 100000, "nested more than 200 deep"),
    ],
)
def test_liberties_are_refused(text: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=f"(?i)^/srv/x.json: .*{why}"):
        parse_json(text, "/srv/x.json")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b' {"a": [1, 1.0, true, null, "1"]}\r\n', {"a": [1, 1.0, True, None, "1"]}),
        (b'"\\ud83d\\ude00"', "\N{GRINNING FACE}"),
        (b"12345678901234567890123456789", 12345678901234567890123456789),
        (b'["[[[[\\"{{{{"]', ['[[[["{{{{']),
        (b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT, None),
    ],
)
def test_plain_json_is_read(text: bytes, value: object) -> None:
    parsed = parse_json(text, "/f")
    assert value is None or (parsed == value and repr(parsed) == repr(value))


def test_brackets_in_an_unclosed_text_take_no_time() -> None:
    with pytest.raises(Unparsable, match="not JSON"):
        parse_json(b'"' + b'\\"[' * 500_000, "/f")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("", "text"),
        ([], "a list"),
        ({}, "an object"),
    ],
)
def test_types_have_names(value: object, name: str) -> None:
    assert type_name(value) == name
