"""What assignments come to: commands, environment, settings; and specifiers in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._accounts import Account
from plugins.module_utils._observation import Incomparable, LookError, NotAttempted, Unparsable
from plugins.module_utils._root import HostRoot
from plugins.module_utils._specifiers import Specifiers
from plugins.module_utils._unit_commands import parse_commands
from plugins.module_utils._unit_file import parse
from plugins.module_utils._unit_name import UnitName
from plugins.module_utils._unit_paths import UnitFiles
from plugins.module_utils._unit_settings import Settings, settle

from tests.unit.file_roots import write_tree

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy


def specifiers(tree: Path, name: str = "a-b@c\\x2dd.service", asked: str = "", **root: str) -> Specifiers:
    unit = UnitName.parse(name)
    files = UnitFiles(unit, UnitName.parse(asked or name), "/etc/systemd/system/x.service", False, (), ())
    return Specifiers(HostRoot(str(tree), **root), files, None)


def settled(text: str, tree: Path = Path("/nowhere")) -> Settings:
    return settle(parse(text.encode(), "/u").assignments, ("Unit", "Install", "Service"), specifiers(tree))


# -- commands ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "commands"),
    [
        ("/bin/a", [["/bin/a"]]),
        ("/bin/a -x 'y z'", [["/bin/a", "-x", "y z"]]),
        ("-/bin/a x", [["/bin/a", "x"]]),
        ("@/bin/a zero x", [["/bin/a", "x"]]),
        ("-@/bin/a zero", [["/bin/a"]]),
        ("+/bin/a", [["/bin/a"]]),
        ("!!/bin/a", [["/bin/a"]]),
        (":/bin/a $X", [["/bin/a", "$X"]]),
        ("a x", [["a", "x"]]),
        ("//bin/./a", [["/bin/a"]]),
        ("/bin/a ; /bin/b c", [["/bin/a"], ["/bin/b", "c"]]),
        ("/bin/a \\; b", [["/bin/a", ";", "b"]]),
        ("/bin/a ';' b", [["/bin/a", ";", "b"]]),
        ("/bin/a b;c", [["/bin/a", "b;c"]]),
        ("/bin/a ;", [["/bin/a"]]),
        ("/bin/a \\q", [["/bin/a", "\\q"]]),
        ("/bin/a ''", [["/bin/a", ""]]),
        ("", []),
    ],
)
def test_commands(value: str, commands: list[list[str]]) -> None:
    assert parse_commands(value, lambda word: word) == commands


@pytest.mark.parametrize(
    "value", ["bin/a", "-", "@", "/bin/", "/bin/..", "'/bin/a b", "@/bin/a", '"/bin/\'a"', "/bin/a 'x", "/bin/a ; b/c"]
)
def test_commands_that_systemd_refuses(value: str) -> None:
    with pytest.raises(Unparsable, match="ExecStart="):
        parse_commands(value, lambda word: word)


@QUICK
@given(st.text(alphabet="/a-@:+!; '\"\\%$", max_size=30))
def test_any_value_is_commands_or_is_refused(value: str) -> None:
    try:
        commands = parse_commands(value, lambda word: word)
    except Unparsable:
        return
    assert all(command and command[0] for command in commands)


# -- lists that add up, and resets ------------------------------------------------
def test_an_empty_assignment_takes_back_what_came_before() -> None:
    found = settled(
        "[Service]\nExecStart=/bin/a\nExecStart=\nExecStart=/bin/b\n"
        "Environment=A=1 B=2\nEnvironment=\nEnvironment=C=3\n"
        "EnvironmentFile=/x\nEnvironmentFile=\nExecStartPre=/p\nExecStartPre=\n"
    )
    assert found.commands == [["/bin/b"]]
    assert found.environment == {"C": "3"}
    assert found.environment_files == []
    assert found.others == {}


def test_settings_that_add_up_and_settings_of_which_the_last_counts() -> None:
    found = settled(
        "[Unit]\nAfter=a\nAfter=b\nDescription=x\nDescription=y\n[Service]\nType=simple\nType=\nRestart=no\nRestart=always\n"
    )
    assert found.others == {"Unit.After": "a\nb", "Unit.Description": "y", "Service.Restart": "always"}


def test_sections_of_another_kind_are_passed_over() -> None:
    found = settled("[Timer]\nOnBootSec=1\n[X-Site]\nA=1\n[Service]\nX-B=1\nUser=u\n")
    assert found.others == {"Service.User": "u"}
    assert found.notes == ["/u:2: a section of another name, passed over"]


def test_environment_words() -> None:
    found = settled('[Service]\nEnvironment=A=1 "B=x y" C= 9=no D-E=no plain F=a=b\nEnvironment=A=2 "G=\\x41"\n')
    assert found.environment == {"A": "2", "B": "x y", "C": "", "F": "a=b", "G": "A"}
    assert found.notes == ["/u:2: Environment=: passed over: a word that is no assignment"]


def test_environment_after_bad_quoting_is_passed_over_as_systemd_does() -> None:
    found = settled("[Service]\nEnvironment=A=1 'B=2\nEnvironment=C=3 D=\\q E=4\n")
    assert found.environment == {"A": "1", "C": "3"}
    assert len(found.notes) == 2


def test_a_control_character_is_no_value() -> None:
    assert settled("[Service]\nEnvironment=A=\\x01 B=\\n C=\\xff\n").environment == {"B": "\n"}


def test_environment_files_with_and_without_mark() -> None:
    found = settled("[Service]\nEnvironmentFile=-/etc//a/./b\nEnvironmentFile=rel\nEnvironmentFile=/c d\n")
    assert found.environment_files == ["-/etc/a/b", "/c d"]
    assert found.notes == ["/u:3: EnvironmentFile=: passed over: not an absolute path"]


def test_a_refused_command_is_kept_though_a_reset_follows() -> None:
    """Systemd reads no further in that file: nothing of the outcome can be relied on."""
    found = settled("[Service]\nExecStart=bin/a\nExecStart=\nExecStart=/bin/b\n")
    assert found.refused is not None
    assert found.refused.why.startswith("/u:2: ExecStart=")


def test_one_undecided_variable_does_not_lose_the_others() -> None:
    found = settled("[Service]\nEnvironment=A=1 B=%s C=3\nEnvironment=D=%o\nEnvironment=D=4\n")
    assert isinstance(found.environment, dict)
    assert {name: value for name, value in found.environment.items() if isinstance(value, str)} == {
        "A": "1", "C": "3", "D": "4",
    }  # fmt: skip
    assert isinstance(found.environment["B"], Incomparable)
    assert "/u:2: %s" in found.environment["B"].why


def test_an_undecided_name_leaves_all_undecided() -> None:
    assert isinstance(settled("[Service]\nEnvironment=A=1 %s=1\n").environment, Incomparable)


def test_an_undecided_list_is_decided_again_after_a_reset() -> None:
    found = settled("[Service]\nExecStart=/bin/%s\nEnvironmentFile=/%o\n")
    assert isinstance(found.commands, LookError)
    assert isinstance(found.environment_files, LookError)
    found = settled(
        "[Service]\nExecStart=/bin/%s\nExecStart=\nExecStart=/bin/b\nEnvironmentFile=/%o\nEnvironmentFile=\n"
    )
    assert (found.commands, found.environment_files, found.refused) == ([["/bin/b"]], [], None)


# -- specifiers ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("100%%", "100%"),
        ("%", "%"),
        ("a%-b% c", "a%-b% c"),
        ("%n|%N|%p|%P|%j", "a-b@c\\x2dd.service|a-b@c\\x2dd|a-b|a/b|b"),
        ("%i|%I|%f", "c\\x2dd|c-d|/c-d"),
        ("%u:%U:%g:%G:%h", "root:0:root:0:/root"),
        ("%S/x %t %E %C %L", "/var/lib/x /run /etc /var/cache /var/log"),
        ("%y %Y", "/etc/systemd/system/x.service /etc/systemd/system"),
        ("%H %l %m %b %v %a", "head.example head 0123 aabb 6.14 arm64"),
    ],
)
def test_specifiers(text: str, plain: str, tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "etc/machine-id": "0123\n",
            "proc/sys/kernel/hostname": "head.example\n",
            "proc/sys/kernel/osrelease": "6.14\n",
            "proc/sys/kernel/arch": "aarch64\n",
            "proc/sys/kernel/random/boot_id": "aa-bb\n",
        },
    )
    assert specifiers(tmp_path).expand(text) == plain


@pytest.mark.parametrize("text", ["%s", "%Z", "%1", "%o", "%d", "%m", "%a"])
def test_a_specifier_that_is_not_told_is_never_guessed(text: str, tmp_path: Path) -> None:
    with pytest.raises(Incomparable, match="%"):
        specifiers(tmp_path).expand(f"/x/{text}/y")


def test_the_name_of_an_alias_depends_on_what_was_loaded_first(tmp_path: Path) -> None:
    with pytest.raises(Incomparable, match="loaded first"):
        specifiers(tmp_path, "real.service", asked="alias.service").expand("%n")
    assert specifiers(tmp_path, "real.service", asked="alias.service").expand("%h") == "/root"


def test_the_lane_bounds_specifiers_too(tmp_path: Path) -> None:
    with pytest.raises(NotAttempted, match="%H"):
        specifiers(tmp_path, lane="files").expand("%H")


def test_a_users_specifiers(tmp_path: Path) -> None:
    write_tree(tmp_path, {"etc/group": "g:x:8:\n"})
    unit = UnitName.parse("a.service")
    files = UnitFiles(unit, unit, "/etc/systemd/user/a.service", False, (), ())
    user = Specifiers(HostRoot(str(tmp_path)), files, Account("x", 7, 8, "/home/x"))
    assert user.expand("%u %U %g %G %h %t") == "x 7 g 8 /home/x /run/user/7"
    for letter in "CELSTV":
        with pytest.raises(Incomparable):
            user.expand("%" + letter)


@QUICK
@given(st.text(alphabet="%abnNpiIuUhSCqzZ09 -é", max_size=30))
def test_any_text_expands_or_is_undecided(text: str) -> None:
    try:
        expanded = specifiers(Path("/nowhere")).expand(text)
    except LookError:
        return
    assert "%" in text or expanded == text
