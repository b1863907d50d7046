"""Work trees and clones as git really leaves them: what is told is what git says, and nothing moves or runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from plugins.module_utils._observation import Absent, LookError, Unparsable
from plugins.module_utils._root import HostRoot

from tests.unit.git_repositories import ENVIRONMENT, Work, look, snapshot

ENV_TEXT = "K1_PAIR=${K1_PAIR:-3}\nMAX_BATCH=4096\n"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "r")
    work.commit(dsv41_env=ENV_TEXT, serve_sh="#!/bin/sh\n")
    return work


# -- what git says ---------------------------------------------------------
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_clean_work_tree(tmp_path: Path, packed: bool, object_format: str) -> None:
    work = Work(tmp_path / "r", f"--object-format={object_format}")
    head = work.commit(dsv41_env=ENV_TEXT, serve_sh="#!/bin/sh\n")
    work.git("tag", "light")
    work.git("tag", "-a", "annotated", "-m", "x")
    work.git("tag", "-a", "nested", "-m", "x", "annotated")
    if packed:
        work.git("gc", "-q")
        work.git("pack-refs", "--all")
    observation = look(
        tmp_path, "source", "/r", revision=head[:7], tags=["light", "annotated", "nested", "none"], files=["dsv41.env"]
    )
    assert observation.identity == {
        "branch": "main",
        "head": head,
        "revision": head,
        "tags": {"light": head, "annotated": head, "nested": head},
        "modified": {},
        "untracked": {},
        "files": {"dsv41.env": {"sha256": sha256(ENV_TEXT), "blob_sha256": sha256(ENV_TEXT)}},
        "same_as_revision": {"dsv41.env": True},
    }
    assert observation.faults == {}
    assert observation.evidence == "file"
    assert observation.state["changed_at"] == pytest.approx((work.path / "dsv41.env").stat().st_ctime)


def test_a_bare_touch_is_no_change_and_leaves_the_index_alone(tmp_path: Path, work: Work) -> None:
    """The usual `git status` would write the index here; `look` compares every byte and time."""
    for name in ("dsv41.env", "serve.sh"):
        os.utime(work.path / name, (1_000_000_000, 1_000_000_000))
    assert look(tmp_path, "source", "/r").identity["modified"] == {}
    before = (work.path / ".git/index").read_bytes()
    work.git("status")
    assert (work.path / ".git/index").read_bytes() != before


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path, work: Work) -> None:
    place = work.path / "dsv41.env"
    info = place.stat()
    # Git compares whole seconds.
    time.sleep(1.02 - time.time() % 1)
    place.write_text(ENV_TEXT.replace("4096", "8192"))
    os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))
    work.git("config", "core.trustctime", "false")
    work.git("config", "core.checkStat", "minimal")
    observation = look(tmp_path, "source", "/r", files=["dsv41.env"])
    assert observation.identity["modified"] == {"dsv41.env": ".M"}
    assert observation.identity["same_as_revision"] == {"dsv41.env": False}


def test_everything_that_can_differ(tmp_path: Path, work: Work) -> None:
    work.commit(a="a\n", b="b\n", c="c\n", d="d\n", e="e\n", f="f\n")
    work.git("config", "core.fileMode", "false")
    work.git("config", "status.showUntrackedFiles", "no")
    work.write("a", "changed\n")
    work.write("b", "staged\n")
    work.git("add", "b")
    (work.path / "c").unlink()
    work.git("rm", "-q", "--cached", "d")
    (work.path / "e").chmod(0o755)
    (work.path / "f").unlink()
    (work.path / "f").symlink_to("a")
    work.write("new", "n\n")
    work.git("add", "new")
    work.write("with blank and \u00fc\\", "x")
    work.write("folder/deep", "x")
    work.write(".gitignore", "*.log\n")
    work.write("x.log", "ignored")
    work.git("mv", "serve.sh", "moved.sh")
    observation = look(tmp_path, "source", "/r")
    assert observation.identity["modified"] == {
        "a": ".M",
        "b": "M.",
        "c": ".D",
        "d": "D.",
        "e": ".M",
        "f": ".T",
        "new": "A.",
        "serve.sh": "D.",
        "moved.sh": "A.",
    }
    assert observation.identity["untracked"] == dict.fromkeys(
        ["d", "with blank and \u00fc\\\\", "folder/deep", ".gitignore"], "?"
    )
    assert observation.faults == {}


def test_a_conflict(tmp_path: Path, work: Work) -> None:
    work.git("checkout", "-q", "-b", "other")
    work.commit(dsv41_env="A=1\n")
    work.git("checkout", "-q", "main")
    work.commit(dsv41_env="A=2\n")
    subprocess.run(["git", "merge", "other"], cwd=work.path, env=ENVIRONMENT, capture_output=True)
    assert look(tmp_path, "source", "/r").identity["modified"] == {"dsv41.env": "UU"}


def test_line_ends_are_no_secret(tmp_path: Path, work: Work) -> None:
    work.git("config", "core.autocrlf", "true")
    work.write("dsv41.env", ENV_TEXT.replace("\n", "\r\n"))
    observation = look(tmp_path, "source", "/r", files=["dsv41.env"])
    assert observation.identity["modified"] == {"dsv41.env": ".M"}
    assert observation.identity["same_as_revision"] == {"dsv41.env": False}


def test_heads(tmp_path: Path, work: Work) -> None:
    head = work.git("rev-parse", "HEAD")
    work.git("checkout", "-q", "--detach")
    detached = look(tmp_path, "source", "/r")
    assert "branch" not in detached.identity
    assert detached.identity["head"] == head
    work.git("checkout", "-q", "-b", "exp/(odd)")
    assert look(tmp_path, "source", "/r").identity["branch"] == "exp/(odd)"
    work.git("checkout", "-q", "--orphan", "unborn")
    unborn = look(tmp_path, "source", "/r", files=["dsv41.env"])
    assert unborn.identity["branch"] == "unborn"
    assert "head" not in unborn.identity
    assert set(unborn.faults) == {"files[dsv41.env].blob_sha256", "same_as_revision[dsv41.env]"}
    assert {fault["status"] for fault in unborn.faults.values()} == {"absent"}
    (work.path / ".git/HEAD").write_text("ref: refs/heads/broken\n")
    (work.path / ".git/refs/heads/broken").write_text("0" * 39 + "1\n")
    with pytest.raises(Unparsable, match="HEAD leads to a commit that is not there"):
        look(tmp_path, "source", "/r")


def test_a_further_work_tree_a_shallow_clone_and_a_bare_one(tmp_path: Path, work: Work) -> None:
    first = work.git("rev-parse", "HEAD")
    second = work.commit(dsv41_env="A=2\n")
    work.git("worktree", "add", "-q", str(tmp_path / "further"), "-b", "side", first)
    work.git("clone", "-q", "--depth=1", f"file://{work.path}", str(tmp_path / "shallow"))
    work.git("clone", "-q", "--bare", str(work.path), str(tmp_path / "bare"))
    # As a replica's tree lies below a prefix, so does the path that the pointer names.
    pointer = (tmp_path / "further/.git").read_text()
    (tmp_path / "further/.git").write_text(pointer.replace(str(tmp_path), ""))
    further = look(tmp_path, "source", "/further", revision=second, files=["dsv41.env"])
    assert (further.identity["branch"], further.identity["head"]) == ("side", first)
    assert further.identity["same_as_revision"] == {"dsv41.env": False}
    assert further.identity["modified"] == {}
    shallow = look(tmp_path, "source", "/shallow", revision=first[:10])
    assert shallow.identity["head"] == second
    assert shallow.faults["revision"]["status"] == "absent"
    bare = look(tmp_path, "clone", "/bare", revision=first[:10], files=["dsv41.env"], env_files={"dsv41.env": "shell"})
    assert bare.identity["revision"] == first
    assert bare.identity["files"] == {"dsv41.env": {"sha256": sha256(ENV_TEXT)}}
    assert bare.identity["settings"]["K1_PAIR"] == {"value": "3", "kind": "default", "overridable": True}
    assert bare.evidence == "source"
    with pytest.raises(Unparsable, match="bare repository"):
        look(tmp_path, "source", "/bare")


def test_a_repository_of_a_folder_above_is_none(tmp_path: Path, work: Work) -> None:
    work.write("inside/file", "x")
    with pytest.raises(Unparsable, match="/r/inside: is not a git repository"):
        look(tmp_path, "source", "/r/inside")


# -- revisions -------------------------------------------------------------
def test_abbreviations(tmp_path: Path) -> None:
    """Two commits begin alike; branches, tags and blobs that are called or begin so play no part."""
    work = Work(tmp_path / "r")
    stream = "".join(
        f"commit refs/heads/main\ncommitter a <a@b> {1_700_000_000 + number} +0000\ndata 1\nx\n"
        for number in range(900)
    )
    work.git("fast-import", "--quiet", given=stream)
    commits = work.git("rev-list", "main").split()
    objects = work.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    starts = Counter(oid[:4] for oid in objects)
    shared = next(start for start, count in Counter(oid[:4] for oid in commits).items() if count > 1)
    single = next(oid for oid in commits if starts[oid[:4]] == 1)
    other = next(oid for oid in commits if oid != single)
    for kind in ("heads", "tags"):
        work.git("update-ref", f"refs/{kind}/{single[:7]}", other)
        work.git("update-ref", f"refs/{kind}/{single}", other)
    for text in (single, single[:7], single[:4], single[:9].upper()):
        assert look(tmp_path, "source", "/r", revision=text).identity["revision"] == single
    ambiguous = look(tmp_path, "source", "/r", revision=shared, files=["f"])
    assert "revision" not in ambiguous.identity
    assert ambiguous.faults["revision"]["status"] == "unparsable"
    assert f"{shared} is ambiguous: " in ambiguous.faults["revision"]["why"]
    assert {"files.f.blob_sha256", "same_as_revision.f"} <= set(ambiguous.faults)
    with pytest.raises(Unparsable, match="ambiguous"):
        look(tmp_path, "clone", "/r", revision=shared)
    with pytest.raises(Absent, match="no commit"):
        look(tmp_path, "clone", "/r", revision="0" * 40)


def test_a_blob_that_begins_like_a_commit_does_not_make_it_ambiguous(tmp_path: Path, work: Work) -> None:
    head = work.git("rev-parse", "HEAD")
    number = 0
    while True:
        text = f"{number}\n".encode()
        if hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest().startswith(head[:4]):
            break
        number += 1
    work.git("hash-object", "-w", "--stdin", given=text.decode())
    assert look(tmp_path, "source", "/r", revision=head[:4]).identity["revision"] == head


def test_replaced_objects_do_not_count(tmp_path: Path, work: Work) -> None:
    head = work.git("rev-parse", "HEAD")
    blob = work.git("rev-parse", "HEAD:dsv41.env")
    work.git("replace", blob, work.git("hash-object", "-w", "--stdin", given="K1_PAIR=4\n"))
    observation = look(tmp_path, "clone", "/r", revision=head, files=["dsv41.env"])
    assert observation.identity["files"] == {"dsv41.env": {"sha256": sha256(ENV_TEXT)}}


def test_an_object_that_was_exchanged_is_damage(tmp_path: Path, work: Work) -> None:
    blob = work.git("rev-parse", "HEAD:dsv41.env")
    other = work.git("hash-object", "-w", "--stdin", given="K1_PAIR=4\n")
    places = [work.path / ".git/objects" / oid[:2] / oid[2:] for oid in (blob, other)]
    places[0].chmod(0o644)
    places[0].write_bytes(places[1].read_bytes())
    observation = look(tmp_path, "clone", "/r", revision=work.git("rev-parse", "HEAD"), files=["dsv41.env"])
    assert observation.identity["files"] == {}
    assert observation.faults["files[dsv41.env]"]["status"] == "unparsable"


# -- what is hidden from git -----------------------------------------------
def test_files_that_the_index_says_not_to_look_at(tmp_path: Path, work: Work) -> None:
    work.git("update-index", "--assume-unchanged", "dsv41.env")
    work.git("update-index", "--skip-worktree", "serve.sh")
    work.write("dsv41.env", "K1_PAIR=4\n")
    work.write("serve.sh", "rm\n")
    observation = look(tmp_path, "source", "/r")
    assert observation.identity["modified"] == {}
    assert set(observation.faults) == {"modified[dsv41.env]", "modified[serve.sh]"}


def test_a_split_index_is_not_read_because_git_would_touch_it(tmp_path: Path, work: Work) -> None:
    work.git("update-index", "--split-index")
    observation = look(tmp_path, "source", "/r")
    assert observation.faults["modified"]["status"] == "unparsable"
    assert "--no-split-index" in observation.faults["modified"]["why"]
    shared = next((work.path / ".git").glob("sharedindex.*"))
    os.utime(shared, (1_000_000_000, 1_000_000_000))
    work.git("--no-optional-locks", "status")
    assert shared.stat().st_mtime != 1_000_000_000, "git left it alone: the refusal is not needed any more"


def test_submodules(tmp_path: Path, work: Work) -> None:
    inner = Work(tmp_path / "inner")
    inner.commit(f="1\n", g="1\n")
    work.git("submodule", "add", "-q", str(inner.path), "sub")
    work.commit("with submodule")
    assert look(tmp_path, "source", "/r").identity["modified"] == {}
    pointer = work.path / "sub/.git"
    assert pointer.is_file()
    work.write("sub/f", "changed\n")
    work.write("sub/new", "x\n")
    observation = look(tmp_path, "source", "/r")
    assert observation.identity["modified"] == {"sub/f": ".M"}
    assert observation.identity["untracked"] == {"sub/new": "?"}
    for command in (["add", "f"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *command], cwd=work.path / "sub", env=ENVIRONMENT, check=True)
    assert look(tmp_path, "source", "/r").identity["modified"] == {"sub": ".M"}
    pointer.write_text("gitdir: /nowhere\n")
    broken = look(tmp_path, "source", "/r")
    assert broken.faults["modified.sub"]["status"] in ("absent", "unparsable") or "modified" in broken.faults
    pointer.unlink()
    shutil.rmtree(work.path / "sub")
    (work.path / "sub").mkdir()
    assert look(tmp_path, "source", "/r").identity["modified"] == {}


# -- what would run --------------------------------------------------------
@pytest.fixture(name="trap")
def _trap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that leaves a mark when it runs, and passes its input on as a filter does."""
    folder = tmp_path_factory.mktemp("trap")
    program = folder / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/ran\nexec cat\n')
    program.chmod(0o755)
    return program


def set_traps(work: Work, trap: Path) -> None:
    """Name the program wherever a repository's configuration can name one."""
    hooks = trap.parent / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit", "reference-transaction"):
        shutil.copy(trap, hooks / name)
        shutil.copy(trap, work.path / ".git/hooks" / name)
    settings = {
        "core.fsmonitor": f"{trap} monitor",
        "core.hooksPath": f"{hooks}",
        "core.sshCommand": f"{trap} ssh",
        "core.gitProxy": f"{trap} proxy",
        "core.pager": f"{trap} pager",
        "core.editor": f"{trap} editor",
        "core.askPass": f"{trap}",
        "core.alternateRefsCommand": f"{trap} refs",
        "pager.status": f"{trap} pager",
        "credential.helper": f"!{trap} credential",
        "gpg.program": f"{trap}",
        "diff.external": f"{trap} diff",
        "diff.odd.textconv": f"{trap} textconv",
        "diff.odd.command": f"{trap} command",
        "uploadpack.packObjectsHook": f"{trap} pack",
        "alias.status": f"!{trap} alias",
        "filter.clean-only.clean": f"{trap} clean",
        "filter.clean-only.required": "true",
        "filter.process.process": f"{trap} process",
        "filter.process.smudge": f"{trap} smudge",
        "remote.origin.url": f"ext::{trap} fetch",
        "remote.origin.uploadpack": f"{trap} upload",
        "remote.origin.vcs": "odd",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "status.showUntrackedFiles": "all",
        "protocol.ext.allow": "always",
    }
    for key, value in settings.items():
        work.git("config", key, value)
    included = trap.parent / "included"
    included.write_text(f'[filter "included"]\n\tclean = {trap} included\n\trequired = true\n')
    work.git("config", f"includeIf.gitdir:{work.path}/.git.path", str(included))


def filtered(work: Work) -> None:
    """Give some files a filter, as LFS does."""
    lines = [
        "one.bin filter=clean\\ only diff=odd",
        "two.bin filter=process",
        "three.bin filter=included",
        "four.bin filter=lfs",
    ]
    work.write(".gitattributes", "\n".join(lines).replace("clean\\ only", "clean-only") + "\n")
    for name in ("one", "two", "three", "four"):
        work.write(f"{name}.bin", f"{name}\n")
    work.commit("filtered")


def test_nothing_that_the_repository_names_is_run(tmp_path: Path, work: Work, trap: Path) -> None:
    filtered(work)
    inner = Work(tmp_path / "inner")
    filtered(inner)
    work.git("submodule", "add", "-q", str(inner.path), "sub")
    head = work.commit("all")
    set_traps(work, trap)
    work.git("config", "filter.clean-only.clean", f"{trap} clean")
    work.git("config", "filter.clean-only.required", "true")
    inside = work.path / ".git/modules/sub/config"
    inside.write_text(
        inside.read_text() + (work.path / ".git/config").read_text().split("[filter", 1)[1].join(["[filter", ""])
    )
    for folder in (work.path, work.path / "sub"):
        for name in ("one", "two", "three", "four"):
            os.utime(folder / f"{name}.bin", (1_000_000_000, 1_000_000_000))
    (trap.parent / "ran").unlink(missing_ok=True)

    observation = look(tmp_path, "source", "/r", revision=head[:8], tags=["none"], files=["one.bin", "dsv41.env"])
    look(tmp_path, "clone", "/r", revision=head, files=["one.bin"], env_files={"dsv41.env": "shell"})
    missing = work.git("rev-parse", "HEAD:dsv41.env")
    (work.path / ".git/objects" / missing[:2] / missing[2:]).unlink()
    lacking = look(tmp_path, "clone", "/r", revision=head, files=["dsv41.env"])
    assert lacking.faults["files[dsv41.env]"]["status"] == "unparsable"
    assert not (trap.parent / "ran").exists(), (trap.parent / "ran").read_text()

    # Their contents are those of the index, so that nothing is modified, and filters play no part.
    assert observation.identity["modified"] == {}
    assert observation.faults == {}
    assert observation.identity["same_as_revision"] == {"one.bin": True, "dsv41.env": True}

    subprocess.run(["git", "--no-optional-locks", "status"], cwd=work.path, env=ENVIRONMENT, capture_output=True)
    assert (trap.parent / "ran").exists(), "the trap catches nothing at all"


def test_a_file_whose_content_goes_through_a_filter_cannot_be_told(tmp_path: Path, work: Work) -> None:
    """As with LFS: the blob is what the filter made of the file."""
    work.write(".gitattributes", "*.bin filter=upper\n")
    work.git("config", "filter.upper.clean", "tr a-z A-Z")
    work.write("x.bin", "text\n")
    work.commit("filtered")
    assert work.git("cat-file", "blob", "HEAD:x.bin") == "TEXT"
    assert look(tmp_path, "source", "/r").identity["modified"] == {}
    os.utime(work.path / "x.bin", (1_000_000_000, 1_000_000_000))
    work.write("dsv41.env", "K1_PAIR=4\n")
    observation = look(tmp_path, "source", "/r")
    assert observation.identity["modified"] == {"dsv41.env": ".M"}
    assert "filter 'upper', which is never run" in observation.faults["modified[x.bin]"]["why"]


def test_a_filter_that_cannot_be_switched_off_is_refused(tmp_path: Path, work: Work, trap: Path) -> None:
    work.git("config", "filter.a=b.clean", f"{trap} clean")
    observation = look(tmp_path, "source", "/r")
    assert "names a filter 'a=b'" in observation.faults["modified"]["why"]


def test_a_broken_configuration_or_index_is_told(tmp_path: Path, work: Work) -> None:
    index = (work.path / ".git/index").read_bytes()
    for broken in (index[:40], index[:80] + b"x" + index[81:], b""):
        (work.path / ".git/index").write_bytes(broken)
        assert look(tmp_path, "source", "/r").faults["modified"]["status"] == "unparsable"
    (work.path / ".git/index").unlink()
    assert look(tmp_path, "source", "/r").identity["modified"] == {"dsv41.env": "D.", "serve.sh": "D."}
    (work.path / ".git/index").write_bytes(index)
    work.git("-c", "index.skipHash=true", "update-index", "--force-write-index")
    assert look(tmp_path, "source", "/r").identity["modified"] == {}
    (work.path / ".git/config").write_text("[core\n")
    with pytest.raises(Unparsable, match=r"git .* ended with 128"):
        look(tmp_path, "source", "/r")


# -- other users -----------------------------------------------------------
def as_nobody(tree: Path, repo: str, *denied: Path) -> dict[str, object]:
    """Look as an ordinary user who owns nothing of it; some folders may be closed to others."""
    for folder in (tree, *tree.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    for path in denied:
        path.chmod(0o700)
    reader, writer = os.pipe()
    before = snapshot(tree)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writer, repr(_seen(tree, repo)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        text = answer.read()
    assert os.waitpid(child, 0)[1] == 0
    assert snapshot(tree) == before
    found = eval(text, {"__builtins__": {}})
    assert isinstance(found, dict)
    return found


def _seen(tree: Path, repo: str) -> dict[str, object]:
    from plugins.modules import source_facts

    request = {"kind": "source", "params": {"repo": repo, "revision": "", "tags": ["t"], "files": ["dsv41.env"]}}
    try:
        return source_facts.collect(request, HostRoot(str(tree))).as_dict()
    except LookError as error:
        return {"status": error.status, "why": error.why}


@pytest.mark.skipif(os.getuid() != 0 or sys.platform != "linux", reason="only root can become another user")
def test_the_owner_of_the_repository_plays_no_part(tmp_path: Path, work: Work) -> None:
    work.git("tag", "t")
    found = as_nobody(tmp_path, "/r")
    identity = found["identity"]
    assert isinstance(identity, dict)
    assert identity["head"] == work.git("rev-parse", "HEAD") == identity["tags"]["t"]
    assert identity["same_as_revision"] == {"dsv41.env": True}
    assert found["faults"] == {}


@pytest.mark.skipif(os.getuid() != 0 or sys.platform != "linux", reason="only root can become another user")
@pytest.mark.parametrize(
    ("closed", "fault"),
    [
        (".git", ""),
        (".git/objects", ""),
        (".git/refs/tags", "tags.t"),
        ("closed", "untracked"),
        (".git/index", "modified"),
    ],
)
def test_what_may_not_be_read_is_denied_and_not_absent(tmp_path: Path, work: Work, closed: str, fault: str) -> None:
    (work.path / "closed").mkdir()
    work.write("closed/secret", "x")
    found = as_nobody(tmp_path, "/r", work.path / closed)
    if not fault:
        assert found["status"] == "denied"
        return
    faults = found["faults"]
    assert isinstance(faults, dict)
    assert faults[fault]["status"] == "denied"
    assert str(faults[fault]["why"])
