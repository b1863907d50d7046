"""JSON counts only where every reader reads it alike."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._strict_json import canonical, loads

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)
    )
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a":1,"a":1}', '{"b":{"a":1,"a":2}}', "NaN", "[-Infinity]", "1e400", '"\\udc80"', "[" * 200000, "1 2"],
)
def test_refuses_what_programs_read_in_different_ways(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        loads(text)


@given(VALUES)
def test_reads_what_was_written(value: Any) -> None:
    assert loads(json.dumps(value)) == value


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), VALUES, max_size=5))
def test_canonical_text_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    turned = dict(reversed(list(value.items())))
    assert canonical(turned) == canonical(value)
    assert loads(canonical(value)) == value


def test_canonical_tells_types_apart() -> None:
    assert len({canonical(item) for item in (1, 1.0, "1", True, None, [1], {"1": None})}) == 7
    with pytest.raises(ValueError, match=r"\S"):
        canonical(math.nan)
