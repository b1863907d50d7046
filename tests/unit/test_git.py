"""Repositories: where they are, what git is asked and how, and answers that cannot be trusted."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils import _git, _git_tree, _tools
from plugins.module_utils._git import Repository, TreeEntry
from plugins.module_utils._git_tree import tree_state
from plugins.module_utils._observation import Absent, Denied, NotAttempted, NoTool, Timeout, Unparsable
from plugins.module_utils._root import HostRoot

from tests.unit.git_repositories import Work

OID = "1" * 40
GIT = shutil.which("git")


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "r")
    work.commit(a="1\n")
    return work


def opened(tree: Path, path: str = "/r", **options: str) -> Repository:
    return Repository(HostRoot(str(tree), **options), path)


@pytest.fixture(name="fake")
def _fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git of our own in front of the real one, by the script that the test writes there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(_tools, "PATH", f"{folder}:{_tools.PATH}")
    return folder / "git"


def answers(fake: Path, script: str) -> None:
    fake.write_text("#!/bin/sh\n" + script)
    fake.chmod(0o755)


# -- where it is -----------------------------------------------------------
def test_what_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="/r"):
        opened(tmp_path)
    (tmp_path / "r").mkdir()
    with pytest.raises(Unparsable, match="is not a git repository"):
        opened(tmp_path)
    (tmp_path / "r/.git").mkdir()
    with pytest.raises(Unparsable, match=r"/r/\.git is not a git repository"):
        opened(tmp_path)
    (tmp_path / "f").write_text("x")
    with pytest.raises(Unparsable, match="is not a folder"):
        opened(tmp_path, "/f")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("gitdir: ../real\n", ""),
        ("gitdir: /real", ""),
        ("gitdir: /gone\n", "not there"),
        ("elsewhere\n", "does not say"),
    ],
)
def test_a_pointer_to_the_repository(tmp_path: Path, work: Work, text: str, error: str) -> None:
    (work.path / ".git").rename(tmp_path / "real")
    (work.path / ".git").write_text(text)
    if error:
        with pytest.raises((Absent, Unparsable), match=error):
            opened(tmp_path)
    else:
        assert (opened(tmp_path).git_dir, opened(tmp_path).work_tree) == ("/real", "/r")
        assert opened(tmp_path).head()[0] == "main"


def test_links_to_it_are_followed_inside_the_tree(tmp_path: Path, work: Work) -> None:
    (tmp_path / "link").symlink_to("/r")
    assert opened(tmp_path, "/link").work_tree == "/r"
    assert opened(tmp_path, "/link").head() == ("main", work.git("rev-parse", "HEAD"))


# -- what is asked, and how ------------------------------------------------
def test_every_call_is_held_back(tmp_path: Path, work: Work, fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_FSMONITOR"):
        monkeypatch.setenv(name, "/from/our/own/environment")
    log = tmp_path / "log"
    answers(fake, f'echo "$@" >> {log}\nenv > {log}.env\nexec {GIT} "$@"\n')
    repository = opened(tmp_path)
    tree_state(repository)
    head = repository.head()[1]
    repository.blob(repository.commit(head), "a")
    calls = log.read_text().splitlines()
    commands = set()
    for call in calls:
        words = call.split(" ")
        assert {"core.fsmonitor=", "core.hooksPath=/dev/null", "core.untrackedCache=false", "safe.directory=*"} <= set(
            words
        )
        assert "--no-optional-locks" in words
        assert words[words.index("--git-dir") + 1] == f"{work.path}/.git"
        commands.add(words[words.index("--work-tree") + 2])
    assert commands == {"config", "status", "ls-files", "symbolic-ref", "rev-parse", "cat-file"}
    environment = dict(line.split("=", 1) for line in (tmp_path / "log.env").read_text().splitlines() if "=" in line)
    assert {name: value for name, value in environment.items() if name.startswith("GIT_")} == {
        name: value for name, value in _git.ENVIRONMENT.items() if name.startswith("GIT_")
    }
    assert environment["GIT_OPTIONAL_LOCKS"] == "0"
    assert environment["HOME"] == "/nonexistent"


def test_nothing_is_run_where_only_files_may_be_read(tmp_path: Path, work: Work) -> None:
    with pytest.raises(NotAttempted):
        opened(tmp_path, lane="files").head()


def test_without_git(tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tools, "PATH", str(tmp_path))
    with pytest.raises(NoTool, match="git: not installed"):
        opened(tmp_path).head()


def test_a_git_that_hangs(tmp_path: Path, work: Work, fake: Path) -> None:
    answers(fake, "exec /bin/sleep 5\n")
    repository = opened(tmp_path)
    repository.root.end = time.monotonic() + 0.4
    with pytest.raises(Timeout, match="git: no answer"):
        repository.head()


@pytest.mark.parametrize(
    ("script", "error", "text"),
    [
        ("echo 'fatal: bad thing' >&2; exit 128", Unparsable, "/r: git symbolic-ref ended with 128: fatal: bad thing"),
        ("exit 3", Unparsable, "ended with 3: it said nothing"),
        ("echo 'error: x: Permission denied' >&2; exit 128", Denied, "read it as its owner"),
    ],
)
def test_failures_say_what_git_said(
    tmp_path: Path, work: Work, fake: Path, script: str, error: type[Exception], text: str
) -> None:
    answers(fake, script + "\n")
    with pytest.raises(error, match=text):
        opened(tmp_path).head()


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("status", "1 .M N... 100644\\0"),
        ("status", "2 R. N... 100644 100644 100644 a b R100 new\\0old\\0"),
        ("status", "? new\\0"),
        ("ls-files", "H 100644 0\\ta\\0"),
        ("ls-files", "H\\0"),
    ],
)
def test_answers_in_another_format(tmp_path: Path, work: Work, fake: Path, command: str, output: str) -> None:
    answers(fake, f'case "$*" in *" {command} "*) printf \'{output}\'; exit 0;; esac\nexec {GIT} "$@"\n')
    with pytest.raises(Unparsable, match="another format"):
        tree_state(opened(tmp_path))


def test_a_folder_that_git_may_not_read_is_not_empty(tmp_path: Path, work: Work, fake: Path) -> None:
    """Git warns, goes on, and ends with 0."""
    warn = "echo \"warning: could not open directory 'x/': Permission denied\" >&2"
    answers(fake, f'case "$*" in *--others*) {warn};; esac\nexec {GIT} "$@"\n')
    state = tree_state(opened(tmp_path))
    assert isinstance(state.untracked_untold, Denied)
    assert state.untracked == {}
    assert state.modified == {}


def test_many_untracked_files(tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_git_tree, "UNTRACKED_LIMIT", 2)
    for name in "xyz":
        work.write(name, "")
    assert "3 untracked files" in str(tree_state(opened(tmp_path)).untracked_untold)


def test_names_that_are_not_utf8(tmp_path: Path, work: Work) -> None:
    for raw in (b"r/odd\xff", b"r/dir\xfe/x"):
        place = tmp_path / os.fsdecode(raw)
        place.parent.mkdir(exist_ok=True)
        place.write_text("1\n")
    work.commit("odd names")
    (work.path / os.fsdecode(b"odd\xff")).write_text("2\n")
    assert tree_state(opened(tmp_path)).modified == {"odd\\xff": ".M"}
    repository = opened(tmp_path)
    assert repository.blob(repository.head()[1], os.fsdecode(b"dir\xfe/x")) == b"1\n"


# -- objects ---------------------------------------------------------------
def test_trees_and_blobs(tmp_path: Path, work: Work) -> None:
    work.write("folder/deep", "deep\n", 0o755)
    (work.path / "link").symlink_to("a")
    head = work.commit("more")
    repository = opened(tmp_path)
    found = repository.entries(repository.tree_of(head))
    assert {name: entry.mode for name, entry in found.items()} == {
        b"a": "100644",
        b"folder": "40000",
        b"link": "120000",
    }
    assert found[b"a"] == TreeEntry("100644", work.git("rev-parse", "HEAD:a"))
    assert repository.blob(head, "folder/deep") == b"deep\n"
    for name, error, text in [
        ("b", Absent, "/r: b at .*: not there"),
        ("a/b", Absent, "not there"),
        ("folder/b", Absent, "not there"),
        ("folder", Unparsable, "is a folder"),
        ("link", Unparsable, "is a symbolic link"),
    ]:
        with pytest.raises(error, match=text):
            repository.blob(head, name)


@pytest.mark.parametrize("body", ["100644 a", "100644 a\\0", "a\\0" + "x" * 20, "100644 \\0" + "x" * 20])
def test_a_damaged_tree(tmp_path: Path, work: Work, fake: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    answers(fake, f"printf '{body}'\n")
    monkeypatch.setattr(_git.hashlib, "new", lambda *_, **__: type("H", (), {"hexdigest": lambda self: OID})())
    with pytest.raises(Unparsable, match=r"tree 1+ is damaged"):
        opened(tmp_path).entries(OID)


def test_an_object_with_another_id_is_refused(tmp_path: Path, work: Work, fake: Path) -> None:
    answers(fake, "echo something\n")
    with pytest.raises(Unparsable, match="does not have its own id"):
        opened(tmp_path).read("blob", OID)
    with pytest.raises(Unparsable, match="is no object id"):
        opened(tmp_path).read("blob", "--textconv")


def test_a_missing_object_is_told_from_one_that_cannot_be_read(tmp_path: Path, work: Work, fake: Path) -> None:
    assert opened(tmp_path).kind_of(OID) == ""
    answers(
        fake, "echo 'error: inflate: data stream error' >&2; echo 'fatal: could not get object info' >&2; exit 128\n"
    )
    with pytest.raises(Unparsable, match="inflate"):
        opened(tmp_path).kind_of(OID)


@pytest.mark.parametrize("text", ["", "123", "main", "HEAD", "12345g", "1" * 65, "-v", "1234..", "1234^", "v1.0"])
def test_what_is_no_revision(tmp_path: Path, work: Work, text: str) -> None:
    with pytest.raises(Unparsable, match="is no commit id"):
        opened(tmp_path).commit(text)


def test_too_many_candidates(tmp_path: Path, work: Work, fake: Path) -> None:
    answers(fake, "i=0; while [ $i -lt 70 ]; do echo $i; i=$((i+1)); done\n")
    with pytest.raises(Unparsable, match="abbreviates 70 objects"):
        opened(tmp_path).commit("1234")


# -- references ------------------------------------------------------------
@pytest.mark.parametrize(
    "name",
    [
        "",
        "-d",
        "a b",
        "a..b",
        "a~1",
        "a^{}",
        "a:b",
        "a?",
        "a*",
        "a[b",
        "a\\b",
        "a@{1}",
        "a/",
        "/.a",
        "a//b",
        "a.",
        "x\x7f",
    ],
)
def test_what_is_no_tag(tmp_path: Path, work: Work, name: str) -> None:
    with pytest.raises(Unparsable, match="is no name of a tag"):
        opened(tmp_path).tag(name)


def test_tags_are_never_guessed(tmp_path: Path, work: Work) -> None:
    head = work.git("rev-parse", "HEAD")
    work.git("branch", "refs/tags/prod")
    work.git("branch", "prod")
    work.git("tag", "prod/1")
    with pytest.raises(Absent, match="no tag prod"):
        opened(tmp_path).tag("prod")
    assert opened(tmp_path).tag("prod/1") == head
    work.git("tag", "blob", work.git("rev-parse", "HEAD:a"))
    with pytest.raises(Unparsable, match="tag blob leads to blob"):
        opened(tmp_path).tag("blob")
    (work.path / ".git/refs/tags/broken").write_text("nothing\n")
    with pytest.raises(Unparsable, match="broken ref"):
        opened(tmp_path).tag("broken")
    (work.path / ".git/refs/tags/gone").write_text("1" * 40 + "\n")
    with pytest.raises(Unparsable):
        opened(tmp_path).tag("gone")


def test_a_tag_of_a_tag_of_a_tag(tmp_path: Path, work: Work) -> None:
    work.git("tag", "-a", "t0", "-m", "x")
    for number in range(12):
        work.git("tag", "-a", f"t{number + 1}", "-m", "x", f"t{number}")
    assert opened(tmp_path).tag("t5") == work.git("rev-parse", "HEAD")
    with pytest.raises(Unparsable, match="and so on"):
        opened(tmp_path).tag("t12")


@given(name=st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"]), max_size=8))
def test_every_name_that_is_let_through_stays_below_tags(name: str) -> None:
    """What git would take for an expression or a pattern is no name."""
    if _git._TAG_NAME.fullmatch(name):
        assert name
        assert not set(name) & set(" ~^:?*[\\")
        assert ".." not in name
        assert "@{" not in name
        assert not name.startswith("-")
