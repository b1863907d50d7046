"""Lists of sums: read back as written, refused by line where they are not whole."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._observation import LookError, Unparsable
from plugins.module_utils._sums import listing_line, parse, tagged_line

QUICK = settings(max_examples=60, deadline=None)  # the machine may be busy

A = "a" * 64
B = "0123456789abcdef" * 4

components = st.binary(min_size=1, max_size=8).filter(
    lambda raw: not set(raw) & set(b"\0/") and raw not in (b".", b"..")
)
names = st.lists(components, min_size=1, max_size=3).map(b"/".join).filter(lambda name: name != b"-")
writers = st.sampled_from([listing_line, tagged_line])


def digest(name: bytes) -> str:
    return hashlib.sha256(name).hexdigest()


@QUICK
@given(st.lists(st.tuples(names, writers), min_size=1, max_size=8, unique_by=lambda item: item[0]))
def test_what_is_written_is_read_back(items: list[tuple[bytes, object]]) -> None:
    data = b"".join(write(digest(name), name) for name, write in items)  # type: ignore[operator]
    assert parse(data, "/l") == {name: digest(name) for name, _ in items}


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes_are_a_list_or_a_look_error(data: bytes) -> None:
    try:
        assert parse(data, "/l")
    except LookError as error:
        assert error.why.startswith("/l: ")  # noqa: PT017 - a list is as good


@QUICK
@given(
    st.lists(st.sampled_from([A.encode(), b"  ", b" *", b"\\", b"\n", b"\r", b"SHA256 (", b") = ", b"x", b"/", b".."]))
)
def test_nearly_lists_are_lists_or_look_errors(parts: list[bytes]) -> None:
    try:
        for name in parse(b"".join(parts), "/l"):
            assert b".." not in name.split(b"/")
            assert not name.startswith(b"/")
    except LookError as error:
        assert error.why.startswith("/l: ")  # noqa: PT017


@QUICK
@given(st.lists(names, min_size=1, max_size=6, unique=True), st.data())
def test_the_order_of_lines_is_nothing_and_one_changed_digest_is_one_difference(
    listed: list[bytes], data: st.DataObject
) -> None:
    before = parse(b"".join(listing_line(digest(name), name) for name in listed), "/l")
    shuffled = data.draw(st.permutations(listed))
    assert parse(b"".join(listing_line(digest(name), name) for name in shuffled), "/l") == before
    changed = data.draw(st.sampled_from(listed))
    after = parse(b"".join(listing_line(A if name == changed else digest(name), name) for name in listed), "/l")
    assert [name for name in before if before[name] != after[name]] == [changed]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"{A}  k1/a.so", b"k1/a.so"),
        (f"{A} *k1/a.so", b"k1/a.so"),
        (f"{A}   lead", b" lead"),
        (f"{A}  *star", b"*star"),
        (f"{A} **star", b"*star"),
        (f"{A}  trailing ", b"trailing "),
        (f"{A}  ./k1//a.so", b"k1/a.so"),
        (f"{A}  raw\\nback", b"raw\\nback"),
        (f"\\{A}  a\\nb\\\\c\\rd", b"a\nb\\c\rd"),
        (f"\\{A} *a\\nb", b"a\nb"),
        (f"SHA256 (a (1).so) = {A}", b"a (1).so"),
        (f"SHA256 (a) = {B}) = {A}", f"a) = {B}".encode()),
        (f"\\SHA256 (a\\nb) = {A}", b"a\nb"),
        (f"{A.upper()}  upper", b"upper"),
        (f"{A}  mid\rdle", b"mid\rdle"),
        (f"{A}  -", None),
        (f"{A}  ./-", b"-"),
    ],
)
def test_lines(line: str, name: bytes | None) -> None:
    if name is None:
        with pytest.raises(Unparsable, match="standard input"):
            parse(line.encode(), "/l")
    else:
        assert parse(line.encode(), "/l") == {name: A}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"{A}  name\r", "ends in a carriage return"),
        (f"SHA256 (name) = {A}\r", "ends in a carriage return"),
        (f"{A} name", "is neither"),
        (f"{A}\tname", "is neither"),
        (f"{A}  ", "is neither"),
        (f"  {A}  name", "is neither"),
        (f"{A[:-1]}g  name", "is neither"),
        (f"{A[:-1]}  name", "has a digest of 63 hex digits"),
        (f"{A}{A}  name", "has a digest of 128 hex digits"),
        ("d41d8cd98f00b204e9800998ecf8427e  name", "has a digest of 32 hex digits"),
        (f"SHA512 (name) = {A}{A}", "is of SHA512, not SHA256"),
        ("MD5 (name) = d41d8cd98f00b204e9800998ecf8427e", "is of MD5, not SHA256"),
        (f"SHA256 (name)  =  {A}", "is neither"),
        (f"SHA256 () = {A}", "is neither"),
        (f"\\{A}  a\\tb", r"has an escape that sha256sum does not write: \\\\t"),
        (f"\\{A}  a\\", "has an escape"),
        (f"{A}  ../name", "leads out of the folder"),
        (f"{A}  a/../../name", "leads out of the folder"),
        (f"{A}  /etc/passwd", "leads out of the folder"),
        (f"{A}  .", "which is no file"),
        (f"{A}  folder/", "which is no file"),
        ("", "is empty"),
        ("not a list at all", "is neither"),
    ],
)
def test_malformed_lines_are_refused_by_number(line: str, why: str) -> None:
    text = f"{B}  first\n# a comment\n{line}\n{B}  last\n"
    with pytest.raises(Unparsable, match=f"^/srv/K1.sha256: line 3: .*{why}"):
        parse(text.encode(), "/srv/K1.sha256")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{A}  a\n{A}  b\n{B}  a\n", "line 3 names a again, after line 1"),
        (f"{A}  a\n{A} *./a\n", "line 2 names a again, after line 1"),
        (f"{A}  a\0{A}  b\0", "holds NUL bytes"),
        ("", "lists no file"),
        ("# nothing\n", "lists no file"),
        ("#\n" * 20001, "20001 lines, more than the 20000"),
    ],
)
def test_lists_that_are_no_lists(text: str, why: str) -> None:
    with pytest.raises(Unparsable, match=f"^/l: {why}"):
        parse(text.encode(), "/l")


def test_a_list_without_its_last_newline_is_whole() -> None:
    assert parse(f"{A}  a\n{B}  b".encode(), "/l") == {b"a": A, b"b": B}
