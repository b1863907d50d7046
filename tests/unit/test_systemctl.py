"""Reading what systemctl prints."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._observation import Denied, LookError, NoTool, Unparsable
from plugins.module_utils._systemctl import (
    PROPERTIES,
    answered,
    parse_command,
    parse_environment,
    parse_list,
    parse_number,
    parse_show,
    parse_words,
    parse_yes_no,
)
from plugins.module_utils._tools import ToolAnswer

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy

COMMAND = "{{ path={0} ; argv[]={1} ; {2} ; start_time=[{3}] ; stop_time=[n/a] ; pid=4242 ; code=(null) ; status=0/0 }}"


# -- answers ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("code", "out", "err", "kind"),
    [
        (1, b"", b"System has not been booted with systemd as init system (PID 1). Can't operate.", NoTool),
        (1, b"System has not been booted with systemd", b"", NoTool),
        (1, b"", b"Failed to connect to bus: No medium found", NoTool),
        (1, b"", b"Failed to get properties: Access denied", Denied),
        (4, b"", b"Unit name is not valid", Unparsable),
        (1, b"", b"", Unparsable),
    ],
)
def test_answers_without_data(code: int, out: bytes, err: bytes, kind: type[LookError]) -> None:
    with pytest.raises(kind, match="systemctl: "):
        answered(ToolAnswer(code, out, err))


def test_a_warning_beside_data_does_not_spoil_it() -> None:
    assert answered(ToolAnswer(0, b"Id=a\n", b"Warning: changed on disk")) == "Id=a\n"


# -- show ------------------------------------------------------------------------
def test_properties_in_any_order() -> None:
    found = parse_show("LoadState=loaded\nEnvironment=A=1 B==\nId=a.service\nDropInPaths=\n")
    assert found == {"LoadState": ["loaded"], "Environment": ["A=1 B=="], "Id": ["a.service"], "DropInPaths": [""]}


def test_several_commands_and_values_with_line_ends() -> None:
    found = parse_show("ExecStart={ one\ntwo= }\nExecStart={ three }\nId=a\nLoadState=loaded\n")
    assert found["ExecStart"] == ["{ one\ntwo= }", "{ three }"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "Id=a\n",
        "LoadState=loaded\n",
        "Id=\nLoadState=loaded\n",
        "words\nId=a\nLoadState=loaded\n",
        "Id=a\nLoadState=loaded\nLoadState=not-found\n",
        "Id=a\nLoadState=loaded\n\nId=b\nLoadState=loaded\n",
    ],
)
def test_answers_that_are_none(text: str) -> None:
    with pytest.raises(Unparsable, match="systemctl show"):
        parse_show(text)


@pytest.mark.parametrize(
    ("program", "argv", "flags"),
    [
        ("/bin/a", "/bin/a", "ignore_errors=no"),
        ("/bin/a", "/bin/a x ; ignore_errors=no ; start_time=[x] ; y=z", "ignore_errors=yes"),
        ("/bin/a", 'zero --json {"a": [1, 2]} }', "flags=no-env-expand"),
        ("/bin/a", "/bin/a two\nlines", "ignore_errors=no"),
        ("/bin/a", "", "ignore_errors=no"),
    ],
)
@pytest.mark.parametrize("start", ["n/a", "Sat 2026-09-12 10:11:12 KST", ""])
def test_commands(program: str, argv: str, flags: str, start: str) -> None:
    found = parse_command(COMMAND.format(program, argv, flags, start))
    assert (found.program, found.joined) == (program, argv)


@pytest.mark.parametrize("text", ["", "{ }", "{ path=/bin/a ; argv[]=/bin/a }", "/bin/a", "[unprintable]"])
def test_what_is_no_command(text: str) -> None:
    with pytest.raises(Unparsable, match="ExecStart"):
        parse_command(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("/a/b.conf /c/d.conf", ["/a/b.conf", "/c/d.conf"]),
        ('"/a b.conf"', ["/a b.conf"]),
        (r'"A=\$x \`y\` \"z\" \\"', ['A=$x `y` "z" \\']),
        (r'"A=1\n2\t3\001"', ["A=1\n2\t3\x01"]),
    ],
)
def test_lists(text: str, words: list[str]) -> None:
    assert parse_words(text, "X") == words


@pytest.mark.parametrize("text", ["[unprintable]", "a [unprintable] b", '"a', "a\\"])
def test_lists_that_can_not_be_told(text: str) -> None:
    with pytest.raises(Unparsable, match="X"):
        parse_words(text, "X")


def test_environment() -> None:
    assert parse_environment('A=1 B= "C=x y" D=a=b') == {"A": "1", "B": "", "C": "x y", "D": "a=b"}
    for text in ("A", "=1", "A=1 B"):
        with pytest.raises(Unparsable):
            parse_environment(text)


def test_scalars() -> None:
    assert (parse_yes_no("yes", "X"), parse_yes_no("no", "X"), parse_number("0", "X")) == (True, False, 0)
    for text in ("", "YES", "1"):
        with pytest.raises(Unparsable, match="X"):
            parse_yes_no(text, "X")
    for text in ("", "-1", "x", "[not set]", "²"):
        with pytest.raises(Unparsable, match="X"):
            parse_number(text, "X")


# -- list-units ---------------------------------------------------------------------
def test_active_units() -> None:
    text = "a.service loaded active running Words of it\nb@1.service loaded active exited \n"
    assert parse_list(text) == {"a.service": "running", "b@1.service": "exited"}
    assert parse_list("") == {}


@pytest.mark.parametrize(
    "text",
    [
        "a.service\n",
        "a.service loaded failed failed x\n",
        "0 loaded units listed.\n",
        "a.service loaded active x y\n" * 2,
    ],
)
def test_lists_of_units_that_are_none(text: str) -> None:
    with pytest.raises(Unparsable, match="list-units"):
        parse_list(text)


# -- any text -----------------------------------------------------------------------
LINES = st.lists(st.sampled_from([f"{name}=" for name in PROPERTIES]) | st.text(max_size=10), max_size=8)


@QUICK
@given(LINES.map("\n".join))
def test_any_answer_is_read_or_refused(text: str) -> None:
    for read in (parse_show, parse_list, parse_environment, parse_command):
        try:
            read(text)  # type: ignore[operator]
        except Unparsable:
            continue


@QUICK
@given(st.dictionaries(st.from_regex(r"[A-Z]{1,4}", fullmatch=True), st.text(alphabet="ab \"\\$`'\n\té", max_size=8)))
def test_an_environment_comes_back_from_how_it_is_printed(values: dict[str, str]) -> None:
    special = {"\n": r"\n", "\t": r"\t", "\\": r"\\", '"': r"\"", "$": r"\$", "`": r"\`"}
    words = ['"' + f"{name}={value}".translate(str.maketrans(special)) + '"' for name, value in values.items()]
    assert parse_environment(" ".join(words)) == values
