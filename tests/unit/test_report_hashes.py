"""Hashes made short: never alike where they differ, never longer than they were."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinproof.report.hashes import abbreviate_in, abbreviations, hashes_in

A = "be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd"
B = "0b6e71e638abd5abce2db433965bb5ff523cbbe92ed7ae54324a50ccaeffa19a"
HEX = st.text("0123456789abcdef", min_size=32, max_size=64)


@st.composite
def near(draw: st.DrawFn) -> list[str]:
    """Hashes of which many share long parts."""
    base = draw(HEX)
    places = draw(st.lists(st.tuples(st.integers(0, len(base) - 1), st.sampled_from("0123456789abcdef")), max_size=6))
    return [base, *(base[:place] + digit + base[place + 1 :] for place, digit in places)]


@given(st.lists(HEX, max_size=5) | near())
@example([A, A[:-1] + "c"])
@example([A, A[:40]])
def test_short_forms_are_as_different_as_the_hashes(hashes: list[str]) -> None:
    short = abbreviations(hashes)
    assert set(short) == set(hashes)
    assert len(set(short.values())) == len(set(hashes))
    assert all(len(form) <= len(whole) for whole, form in short.items())
    assert abbreviations(reversed(hashes)) == short


@given(HEX)
def test_a_single_hash_is_its_first_digits(digits: str) -> None:
    assert abbreviations([digits]) == {digits: digits[:12] + "…"}


@pytest.mark.parametrize(
    ("hashes", "short"),
    [
        ([A, B], ["be2c1436fa9f…", "0b6e71e638ab…"]),
        ([A, A[:-1] + "c"], ["be2c14…3bd", "be2c14…3bc"]),
        ([A, A[:20] + "f" + A[21:]], ["be2c14…98e1b1da…", "be2c14…98f1b1da…"]),
        ([A, A], ["be2c1436fa9f…", "be2c1436fa9f…"]),
        ([A, A[:10] + "00" + A[12:]], ["be2c14…fa9f9e66…", "be2c14…fa009e66…"]),
    ],
)
def test_short_forms(hashes: list[str], short: list[str]) -> None:
    forms = abbreviations(hashes)
    assert [forms[whole] for whole in hashes] == short


def test_hashes_in_a_text_are_told_apart_from_each_other_and_from_another_text() -> None:
    text = f"sha256:{A} is not {A[:-1]}c"
    assert abbreviate_in(text) == "sha256:be2c14…3bd is not be2c14…3bc"
    assert abbreviate_in(A, [A[:-1] + "c"]) == "be2c14…3bd"
    assert abbreviate_in(A, [B]) == "be2c1436fa9f…"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GPU-c4e7a371-d8a8-ebf0-918c-da3e38c87a93",
        "fb68c52",
        "abcdef0123456789abcdef012345678",
        f"x{A}",
        f"{A}z",
        A.upper(),
        "20261201T101500Z-5f3a9c1e",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert hashes_in(text) == []
    assert abbreviate_in(text) == text


@given(st.text(max_size=80))
def test_a_text_is_never_made_longer(text: str) -> None:
    assert len(abbreviate_in(text)) <= len(text)


def test_an_ellipsis_of_three_characters_keeps_to_the_length_too() -> None:
    hashes = [A[:32], A[:31] + "0", A[:15] + "0" + A[16:32]]
    short = abbreviations(hashes, "...")
    assert len(set(short.values())) == 3
    assert all(len(form) <= 32 for form in short.values())
