"""Environment files in their dialects: what is told, what is not, and why; never a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from plugins.module_utils._env_assignment import Assignment
from plugins.module_utils._env_file import DIALECTS, commands, deciding, malformed, parse, settings, unlisted
from plugins.module_utils._observation import Unparsable

CASES = Path(__file__).resolve().parents[1] / "cases" / "env_file"
FOLDERS = sorted(path.parent for path in CASES.glob("*/input.env"))


def told(text: str, dialect: str = "shell") -> dict[str, str]:
    """Give the values that can be told, by name."""
    return {name: setting["value"] for name, setting in settings(parse(text, dialect)).items() if "value" in setting}


def one(text: str, dialect: str = "shell") -> Assignment:
    """Give what decides the setting X."""
    return deciding(parse(text, dialect))["X"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case(folder: Path) -> None:
    expected: dict[str, Any] = yaml.safe_load((folder / "expected.yml").read_text(encoding="utf-8"))
    found = parse((folder / "input.env").read_bytes().decode("utf-8"), expected["dialect"])
    assert settings(found) == expected["settings"]
    assert list(settings(found)) == list(expected["settings"]), "in the order of the file"
    assert malformed(found) == expected.get("malformed", {})
    assert unlisted(found) == expected.get("unlisted", "")
    assert commands(found) == expected.get("commands", [])
    assert {name: deciding(found)[name].why for name in expected.get("why", {})} == expected.get("why", {})


def test_the_recorded_request_of_the_container_client_agrees() -> None:
    folder = CASES / "container-as-the-client-reads-it"
    sent = yaml.safe_load((folder / "expected.yml").read_text(encoding="utf-8"))["sent"]
    for name, value in told((folder / "input.env").read_bytes().decode(), "container").items():
        assert f"{name}={value}" in sent


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("X=plain", "plain"),
        ("X=", ""),
        ("X=a#b", "a#b"),
        ("X=a # b", "a"),
        ("X='a  $b \"c\"'", 'a  $b "c"'),
        ('X="a \\$b \\"c\\" \\\\ \\n"', 'a $b "c" \\ \\n'),
        ("X=\"x\"y'z'", "xyz"),
        ("X=a\\ b\\\\c", "a b\\c"),
        ("X=a\\\nb", "ab"),
        ('X="a\\\nb"', "ab"),
        ("X='a\\\nb'", "a\\\nb"),
        ('X="a\nb"', "a\nb"),
        ("X=1\r\n", "1\r"),
        ("export X=1", "1"),
        ("  X=1;", "1"),
        ("Y=1; X=2", "2"),
        ("Y=1 X=2", "2"),
        ("X=1\nX=2", "2"),
        ("X=1\nX+=2", "12"),
        ("A=1\nX=$A", "1"),
        ("A=1\nX=${A}2", "12"),
        ('A=1\nX="$A 2"', "1 2"),
        ("A=1\nA=2\nX=$A", "2"),
        ("A=1\nX=${A:-d}", "1"),
        ("A=\nX=${A:-d}", "d"),
        ("A=\nX=${A-d}", ""),
        ("A=1\nX=${A:+yes}", "yes"),
        ("A=\nX=${A:+yes}", ""),
        ("A=\nX=${A+yes}", "yes"),
        ("unset A\nX=${A:-d}", "d"),
        ("unset A\nX=$A", ""),
        ("unset X\nX=1", "1"),
        ("X=a$", "a$"),
        ("X={a,b}", "{a,b}"),
        ("X=*", "*"),
        ("X=a=b", "a=b"),
        ("X=ü'ß'", "üß"),
        ("set -euo pipefail\nX=1", "1"),
        ("echo X=2\nX=1", "1"),
        ("# X=2\nX=1\n# X='3", "1"),
        ("export -- X=1", "1"),
        ("export 'X=a b'", "a b"),
        ("readonly X=1", "1"),
        (": 'it is' # fine\nX=1", "1"),
        ('X=1\necho "$X"', "1"),
    ],
)
def test_a_shells_literals(text: str, value: str) -> None:
    assert one(text) == Assignment("X", value, "literal", False, one(text).line, "")


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("X=${X:-d}", "d", "unless the launch environment sets X"),
        ('X="${X:-d e}"', "d e", "unless the launch environment sets X"),
        ("X=${X:-}", "", "unless the launch environment sets X"),
        ("X=${X-d}", "d", "unless the launch environment sets X, even to nothing"),
        ("X=${X:=d}", "d", "unless the launch environment sets X"),
        (": ${X:=d}", "d", "unless the launch environment sets X"),
        (': "${X=d}"', "d", "unless the launch environment sets X, even to nothing"),
        ("X=a${Y:-b}c", "abc", "unless the launch environment sets Y"),
        ("X=${Y:-${Z:-d}}", "d", "unless the launch environment sets Y"),
        ("A=1\nX=${X:-$A}", "1", "unless the launch environment sets X"),
        ("X=${X:-d}\nX=${X:-e}", "d", "unless the launch environment sets X"),
        ("X=${X:-}\nX=${X:-e}", "e", "unless the launch environment sets X"),
        ('X=${X:-\'{"a":"}"}\'}', '{"a":"}"}', "unless the launch environment sets X"),
        ('X="${X:-{\\"a\\":1}}"', '{"a":1}', "unless the launch environment sets X"),
    ],
)
def test_a_shells_defaults(text: str, value: str, why: str) -> None:
    found = one(text)
    assert (found.value, found.kind, found.overridable, found.why) == (value, "default", True, why)


@pytest.mark.parametrize(
    "right",
    [
        "$HOME/x",
        "${HOME}",
        "$(hostname)",
        "`hostname`",
        "$((1+1))",
        "${A%x}",
        "${#A}",
        "${!A}",
        "$1",
        "$?",
        "~/x",
        "a:~/x",
        "$'a'",
        '$"a"',
        "(a b)",
        "$UNSET",
        "${X:?must be set}",
        "${UNSET:+x}",
        "${UID:-5}",
        "<(true)",
        "$RANDOM",
        "\x01",
    ],
)
def test_what_would_have_to_run_or_be_known_is_undecidable(right: str) -> None:
    found = one(f"A=1\n\nX={right}\n")
    assert (found.value, found.kind, found.line) == ("", "undecidable", 3)
    assert found.why
    assert "value" not in settings(parse(f"X={right}", "shell"))["X"]


def test_a_reference_to_a_default_is_undecidable() -> None:
    assert one("A=${A:-1}\nX=$A").kind == "undecidable"
    assert one("A=${A:-1}\nX=$A").overridable


@pytest.mark.parametrize(
    "line",
    [
        "X=2 &",
        "X=2 | cat",
        "true && X=2",
        "! X=2",
        "if true; then X=2; fi",
        "while false; do X=2; done",
        "(X=2)",
        "{ X=2; }",
        "for X in 2; do :; done",
        "case a in a) X=2;; esac",
        "f() { X=2; }",
        "read X",
        "printf -v X 2",
        "let X=2",
        "((X=2))",
        "declare X=2",
        "X=2 >/dev/null",
        "some-program X",
        "[[ -n a ]] && X=2",
        ": $((X=2))",
        "some-program ${X:=2}",
        "cat <<E\n${X:=2}\nE",
        "export X={a,b}",
        "X=(2)",
        "time X=2",
        "[[ X=2 -eq 2 ]]",
        "typeset -i X",
        "mapfile X",
        "getopts a X",
    ],
)
def test_a_line_that_runs_something_makes_undecidable_what_it_names(line: str) -> None:
    text = f"X=1\nOTHER=1\n{line}\n"
    if ":=" in line:
        text = text.replace("X=1\n", "")
    assert one(text).kind == "undecidable"
    assert told(text)["OTHER"] == "1"
    assert unlisted(parse(text, "shell")) == ""


@pytest.mark.parametrize(
    "line",
    [
        ". ./other",
        "source other",
        "eval x",
        "$COMMAND",
        'export "$NAME=1"',
        'printf -v "$NAME" x',
        "read $NAME",
        "command x",
        "f() { :; }\nf",
        "declare $NAME",
        "builtin x",
        "unset $NAME",
        'readonly "$NAME"',
    ],
)
def test_a_line_that_can_change_anything_leaves_only_what_is_assigned_later(line: str) -> None:
    found = parse(f"X=1\nOTHER=1\n{line}\nOTHER=2\n", "shell")
    assert told(f"X=1\nOTHER=1\n{line}\nOTHER=2\n") == {"OTHER": "2"}
    assert settings(found)["X"]["kind"] == "undecidable"
    assert "line " in unlisted(found)


@pytest.mark.parametrize(
    "line",
    [
        "return",
        "exit 1",
        "exec true",
        "trap 'X=2' DEBUG",
        "alias a=b",
        "shopt -s extglob",
        "set -n",
        "set -o posix",
        "fi",
        ")",
        "if true",
        "X='",
        'X="${Y',
        "X=$(echo",
        "X=`",
        "A[0]=1",
        "POSIXLY_CORRECT=1",
        "readonly X\nX=2",
        "X=${}",
        "X=${X Y}",
        "X=$[1]",
        'X="${X:-it\'s}"',
        "X=$(case a in a) echo;; esac)",
        "coproc x",
        "X=a\\\n$\\\nb",
        "A='Y=1'; X=$((A))",
        "${!A:=1}",
        "a <<E\nx",
        "X=" + "${X:-" * 60 + "}" * 60,
        "X=" + "$(" * 60 + ")" * 60,
        "{ " * 60,
        "in",
        "]]",
        "for 1 in a; do :; done",
        "case a b",
        "set $OPTIONS",
        "f() echo",
        "function f",
        "x | | y",
        "; X=1",
        "X=1 ;; ",
        "for ((;;",
        "[[ a",
        "> ;",
        "unset X; readonly X; unset X",
    ],
)
def test_what_a_shell_refuses_or_nobody_follows_leaves_nothing_certain(line: str) -> None:
    text = f"OTHER=1\n{line}\nX=2\nOTHER=2\n"
    found = parse(text, "shell")
    assert told(text) == {}
    assert unlisted(found)


def test_reasons_hold_no_values() -> None:
    text = "X=se cret\nY='geheim\nA=pass$(word)\n"
    for dialect in DIALECTS:
        for item in parse(text, dialect):
            assert not any(part in item.why for part in ("cret", "geheim", "pass", "word)"))


def test_what_is_no_file_of_this_kind() -> None:
    with pytest.raises(Unparsable, match="line 2 holds a NUL byte"):
        parse("A=1\nB=\0", "shell")
    with pytest.raises(Unparsable, match="more than an environment file has"):
        parse("#" * (2 << 20), "shell")
    with pytest.raises(Unparsable, match="no dialect"):
        parse("A=1", "dotenv")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('X="a\\nb\\tc\\"d\\\\"', 'a\nb\tc"d\\'),
        ("X='multi\nline' # c", "multi\nline"),
        ("A=1\nX=${A}-${B:-2}", "1-2"),
        ("A=\nX=${A:-d}", "d"),
        ("A=\nX=${A-d}", ""),
        ("X.Y=1\nX=a b  # c", "a b"),
        ("X=back\\slash", "back\\slash"),
    ],
)
def test_compose_values(text: str, value: str) -> None:
    assert told(text, "compose")["X"] == value


@pytest.mark.parametrize(
    "text",
    [
        "X=#c",
        "X=a\t#c",
        "X=a\\$b",
        'X="a\\qb"',
        "X='it\\'s'",
        'X="a\r\nb"',
        "exportX=1\nX=$exportX",
        "X=${A:?e}",
        "X=$",
        "X=$B",
        "X-Y=1\nX",
        "X=${A:-${B}}",
        'X="$B"',
    ],
)
def test_compose_is_undecidable_where_versions_differ(text: str) -> None:
    assert one(text, "compose").kind == "undecidable"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X=1\n# c \\\nX=2\n", {}),
        ("X=1\\\r\n", {"X": "1"}),
        ("X=a\x07\n", {}),
        ('X="a" b\n', {"X": "ab"}),
        ("; X=1\nX=2", {"X": "2"}),
        ("X=a\\", {"X": "a"}),
        ('X="a\\', {"X": "a"}),
    ],
)
def test_systemd_values(text: str, expected: dict[str, str]) -> None:
    assert told(text, "systemd") == expected


def test_container_line_length() -> None:
    assert told("X=" + "v" * 65533, "container")["X"] == "v" * 65533
    assert told("X=" + "v" * 65534, "container") == {}


TEXTS = st.text(st.sampled_from("AX1 =\\'\"$`{}()[]:-+~#;&|<>\n\r\té"), max_size=60)


@given(text=TEXTS | st.text(st.characters(exclude_characters="\0"), max_size=60), dialect=st.sampled_from(DIALECTS))
@hypothesis_settings(max_examples=400, deadline=None)
def test_any_text_is_parsed(text: str, dialect: str) -> None:
    found = parse(text, dialect)
    lines = text.count("\n") + 1
    for item in found:
        assert 1 <= item.line <= lines
        assert item.kind in ("literal", "default", "undecidable", "malformed")
        assert item.kind == "literal" or item.why
        assert item.kind in ("literal", "default") or item.value == ""
    assert set(settings(found)) == set(deciding(found))
    assert found == parse(text, dialect)


@given(value=st.text(st.characters(exclude_characters="\0\x01\x7f'", exclude_categories=["Cs"])))
def test_single_quotes_keep_every_value_for_a_shell(value: str) -> None:
    assert told(f"A=0\nX='{value}'\nB=0") == {"A": "0", "X": value, "B": "0"}


@given(text=TEXTS, value=st.text(st.sampled_from("ab01./,"), max_size=8))
def test_a_later_plain_assignment_wins_or_nothing_is_told(text: str, value: str) -> None:
    for dialect in ("shell", "compose"):
        found = told(f"{text}\nX={value}\n", dialect)
        # An open quote or a backslash before it makes the last line part of something else.
        assert found.get("X") in (None, value) or "\n" in found["X"] or "X=" in text


@given(lines=st.lists(st.sampled_from(["# c", "", "  # it's", "\t"]), max_size=5), dialect=st.sampled_from(DIALECTS))
def test_comments_and_empty_lines_change_nothing(lines: list[str], dialect: str) -> None:
    plain = {"X": "1", "Y": "a b" if dialect != "shell" else "ab"}
    body = [f"{name}={value}" for name, value in plain.items()]
    text = "\n".join([*lines, body[0], *lines, body[1], *lines])
    assert told(text, dialect) == plain
