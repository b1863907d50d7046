"""Spoiling what git and the environment files beside it tell."""

from __future__ import annotations

import zlib

from pinproof.replica import git_repository
from pinproof.replica.git_repository import ABBREVIATION, BRANCH, Objects
from pinproof.replica.spoilers import CannotSpoil, Spoil, Table, other

_DATE = "1792843200 +0000"


def _add_objects(spoil: Spoil, git_dir: str, objects: Objects) -> None:
    for name, whole in objects.stored.items():
        path = f"{git_dir}/objects/{name[:2]}/{name[2:]}"
        if not spoil.journal.exists(path):
            spoil.journal.write(path, zlib.compress(whole, 1))


def _another_commit(spoil: Spoil, git_dir: str, *, orphan: bool = False) -> str:
    """Add a commit with the same files as production's, under another id; after production's, or of no parent."""
    made = git_repository.repository()
    tree_id = made.objects.stored[made.commit].split(b"tree ", 1)[1][:40].decode()
    objects = Objects()
    parent = "" if orphan else made.commit
    commit = objects.add("commit", git_repository.commit_body(tree_id, parent, _DATE, "Say it again\n"))
    _add_objects(spoil, git_dir, objects)
    return commit


def _remove_production(spoil: Spoil, git_dir: str) -> None:
    """Remove the pinned commit and the tag on it; nothing may refer to them any more."""
    made = git_repository.repository()
    for name in (made.tag, made.commit):
        spoil.journal.remove(f"{git_dir}/objects/{name[:2]}/{name[2:]}")


def _branch(spoil: Spoil) -> str:
    git_dir = spoil.path("repo") + "/.git"
    commit = spoil.journal.text(f"{git_dir}/refs/heads/{BRANCH}")
    spoil.journal.write(f"{git_dir}/refs/heads/next", commit)
    spoil.journal.write(f"{git_dir}/HEAD", "ref: refs/heads/next\n")
    return "HEAD is on branch next, at the same commit"


def _head(spoil: Spoil) -> str:
    git_dir = spoil.path("repo") + "/.git"
    commit = _another_commit(spoil, git_dir)
    spoil.journal.write(f"{git_dir}/refs/heads/{BRANCH}", commit + "\n")
    return f"branch {BRANCH} is at {commit[:7]}, a commit with the same files"


def _tag(spoil: Spoil) -> str:
    git_dir = spoil.path("repo") + "/.git"
    commit = _another_commit(spoil, git_dir)
    spoil.journal.write(f"{git_dir}/refs/tags/{spoil.leaf}", commit + "\n")
    return f"tag {spoil.leaf} is on {commit[:7]}"


def _revision(spoil: Spoil) -> str:
    """Take the pinned commit away: every ref leads to another first."""
    bare = spoil.probe.kind == "clone"
    git_dir = spoil.path("repo") + ("" if bare else "/.git")
    commit = _another_commit(spoil, git_dir, orphan=True)
    if bare:
        spoil.journal.write(f"{git_dir}/packed-refs", f"{commit} refs/heads/{BRANCH}\n")
    else:
        spoil.journal.write(f"{git_dir}/refs/heads/{BRANCH}", commit + "\n")
        spoil.journal.write(f"{git_dir}/refs/tags/{git_repository.TAG}", commit + "\n")
    _remove_production(spoil, git_dir)
    return f"no commit begins with {ABBREVIATION} any more"


def _modified(spoil: Spoil) -> str:
    spoil.journal.append(spoil.path("repo") + "/README.md", b"\nTried on a Sunday.\n")
    return "README.md has a line more than at HEAD"


def _untracked(spoil: Spoil) -> str:
    spoil.journal.write(spoil.path("repo") + "/notes.txt", "not tracked\n")
    return "an untracked file notes.txt"


def _work_file(spoil: Spoil) -> str:
    listed = spoil.probe.parameters["files"]
    name = spoil.key or (spoil.segments[1] if len(spoil.segments) > 1 else "")
    if not name and isinstance(listed, list):
        name = str(listed[0])
    spoil.journal.append(f"{spoil.path('repo')}/{name}", b"# changed on this host\n")
    return f"{name} on disk has a line more than at the revision"


def _setting(spoil: Spoil) -> str:
    """Put a commit in production's place that abbreviates alike and sets another default."""
    name = spoil.segments[1]
    if name not in git_repository.VARIANTS:
        known = ", ".join(git_repository.VARIANTS)
        raise CannotSpoil(
            f"no commit is known that sets another {name} and begins with {ABBREVIATION} (known: {known})"
        )
    git_dir = spoil.path("repo")
    varied = git_repository.repository(name)
    _add_objects(spoil, git_dir, varied.objects)
    spoil.journal.write(f"{git_dir}/packed-refs", git_repository.packed_refs(varied))
    _remove_production(spoil, git_dir)
    return f"{ABBREVIATION} is another commit, with another default of {name}"


# -- derivations -----------------------------------------------------------------
def _set_line(spoil: Spoil, parameter: str, name: str, value: str) -> None:
    spoil.journal.substitute(spoil.path(parameter), rf"^{name}=.*$", f"{name}={value}")


def _line_value(spoil: Spoil, parameter: str, name: str) -> str | None:
    for line in spoil.journal.text(spoil.path(parameter)).splitlines():
        if line.startswith(f"{name}="):
            return line.partition("=")[2]
    return None


def _changed(spoil: Spoil) -> str:
    value = _line_value(spoil, "derived", spoil.leaf)
    if value is None:
        spoil.journal.append(spoil.path("base"), f"{spoil.leaf}=1\n".encode())
        spoil.journal.append(spoil.path("derived"), f"{spoil.leaf}=2\n".encode())
        return f"{spoil.leaf} is another in the derived file"
    _set_line(spoil, "derived", spoil.leaf, other(value))
    return f"{spoil.leaf}={other(value)} in the derived file"


def _added(spoil: Spoil) -> str:
    value = _line_value(spoil, "derived", spoil.leaf)
    if value is None:
        spoil.journal.append(spoil.path("derived"), f"{spoil.leaf}=1\n".encode())
        return f"{spoil.leaf}=1 is added in the derived file"
    _set_line(spoil, "derived", spoil.leaf, other(value))
    return f"{spoil.leaf}={other(value)} in the derived file"


def _removed(spoil: Spoil) -> str:
    spoil.journal.append(spoil.path("base"), b"UP2_ONLY_IN_BASE=1\n")
    return "UP2_ONLY_IN_BASE is set in the base file only"


def _kept(spoil: Spoil) -> str:
    value = other(_line_value(spoil, "derived", spoil.leaf) or "")
    for parameter in ("base", "derived"):
        _set_line(spoil, parameter, spoil.leaf, value)
    return f"{spoil.leaf}={value} in both files"


SOURCE: Table = {
    "branch": _branch,
    "head": _head,
    "revision": _revision,
    "tags/*": _tag,
    "modified": _modified,
    "untracked": _untracked,
    "files": _work_file,
    "same_as_revision": _work_file,
}
CLONE: Table = {"revision": _revision, "settings/*/value": _setting}
DERIVATION: Table = {"changed": _changed, "added": _added, "removed": _removed, "kept": _kept}
