"""Words, quotes and escapes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._unit_words import BadQuoting, take_escape, take_word, take_word_leniently

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy


def split(text: str, lenient: bool = False) -> list[str]:
    words, position = [], 0
    while True:
        word, position = (take_word_leniently if lenient else take_word)(text, position)
        if word is None:
            return words
        words.append(word)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \t ", []),
        ("a b\tc", ["a", "b", "c"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ("a'b c'd", ["ab cd"]),
        ("'' \"\"", ["", ""]),
        ('"it\'s" \'say "x"\'', ["it's", 'say "x"']),
        (r"a\sb \x41 \101 \u00e9 \U0001F600", ["a b", "A", "A", "é", "😀"]),
        (r"'\'' '\\'", ["'", "\\"]),
        (r"\n\t", ["\n\t"]),
        (r"\xc3\xa9", ["é"]),
        (r"\xff", ["\udcff"]),
        ("é ü", ["é", "ü"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split(text) == words
    assert split(text, lenient=True) == words


@pytest.mark.parametrize(
    ("text", "lenient"),
    [(r"\q", [r"\q"]), (r"a\x0 b", [r"a\x0", "b"]), (r"\000", [r"\000"]), (r"\777", [r"\777"]), ("a\\", ["a\\"])],
)
def test_escapes_that_are_none_stay_as_written_where_that_is_lenient(text: str, lenient: list[str]) -> None:
    assert split(text, lenient=True) == lenient
    with pytest.raises(BadQuoting):
        split(text)


@pytest.mark.parametrize("text", ["'a", '"a b', "a 'b", "'a\\"])
def test_quotes_must_end(text: str) -> None:
    with pytest.raises(BadQuoting):
        split(text, lenient=True)


def test_extra_characters_stand_for_themselves() -> None:
    assert take_word(r"a\$b", 0, extra="$") == ("a$b", 4)
    assert take_escape("$", 0) is None


@QUICK
@given(st.text(max_size=60))
def test_any_text_splits_or_is_refused(text: str) -> None:
    for lenient in (False, True):
        try:
            words = split(text, lenient)
        except BadQuoting:
            continue
        assert sum(map(len, words)) <= len(text)


@QUICK
@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10), max_size=6
    )
)
def test_quoted_words_come_back(words: list[str]) -> None:
    special = {"\n": r"\n", "\\": r"\\", '"': r"\""}
    line = " ".join('"' + "".join(special.get(letter, letter) for letter in word) + '"' for word in words)
    assert split(line) == words
