"""Time stamps of engines, with zero to nine fractional digits."""

from __future__ import annotations

import contextlib
import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._observation import Unparsable
from plugins.module_utils._rfc3339 import STAMP, nanoseconds


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-12-01T03:27:13Z", 1796095633 * 10**9),
        ("2026-12-01T03:27:13.632828988Z", 1796095633632828988),
        ("2026-12-01T03:27:13.6Z", 1796095633600000000),
        ("2026-12-01T12:27:13.6+09:00", 1796095633600000000),
        ("2026-11-30T23:57:13.6-03:30", 1796095633600000000),
    ],
)
def test_gives_nanoseconds(stamp: str, expected: int) -> None:
    assert nanoseconds(stamp, "x") == expected
    assert re.fullmatch(STAMP, stamp)


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "0001-01-01T00:00:00Z",
        "2026-12-01 03:27:13Z",
        "2026-12-01T03:27:13",
        "2026-13-01T03:27:13Z",
        "2026-12-01T24:00:00Z",
        "2026-12-01T03:27:13.Z",
        "2026-12-01T03:27:13.1234567890Z",
        "٢٠٢٦-12-01T03:27:13Z",
    ],
)
def test_refuses_what_is_no_time_of_a_start(stamp: str) -> None:
    with pytest.raises(Unparsable, match=r"container x: '"):
        nanoseconds(stamp, "container x")


@given(st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2100, 1, 1)))
def test_agrees_with_the_library(moment: datetime.datetime) -> None:
    aware = moment.replace(tzinfo=datetime.UTC)
    stamp = aware.isoformat().replace("+00:00", "Z")
    micro = (aware - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)
    assert nanoseconds(stamp, "x") == micro * 1000


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_unparsable(stamp: str) -> None:
    with contextlib.suppress(Unparsable):
        assert isinstance(nanoseconds(stamp, "x"), int)
