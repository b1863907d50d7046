"""The deploy repository of the replica: real git objects, refs and index, written without running git.

The commit that is pinned is known by the seven digits 21bed31, so its message
ends in a nonce that was searched once for this very content (`search_nonce`
shows how; a compiled search takes seconds). Everything is fixed: authors,
dates, modes, compression, so that two builds hold the same bytes.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pinproof.replica import deploy_files
from pinproof.replica.tree import Tree

ABBREVIATION = "21bed31"
TAG = "prod-k1-327-20261023"
BRANCH = "main"

_PERSON = "Spark Operator <operator@sparkhead>"
_FIRST_DATE = "1791201600 +0000"
_DATE = "1792756800 +0000"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = %s\n"

# By the setting that differs from production ("" for none): the nonce that
# gives its commit an id that begins with the abbreviation all the same.
NONCES: Mapping[str, str] = {
    "": "036e7e92",
    "NCCL_IB_HCA": "04c16512",
    "MAX_MODEL_LEN": "15d5d4a5",
    "K1_PAIR": "1d4f1c0a",
    "MAX_BATCH": "03ea1072",
    "DSV41_SPEC_SCHEDULE": "353f3f40",
}

# What each of the other commits sets instead of production's default.
VARIANTS: Mapping[str, tuple[str, str]] = {
    "NCCL_IB_HCA": ("rocep1s0f1,roceP2p1s0f1}", "rocep1s0f1,rocep1s0f0}"),
    "MAX_MODEL_LEN": (":-327680}", ":-262144}"),
    "K1_PAIR": ("${K1_PAIR:-3}", "${K1_PAIR:-2}"),
    "MAX_BATCH": (":-4096}", ":-8192}"),
    "DSV41_SPEC_SCHEDULE": (":-1-2:5,3-4:4}", ":-1-4:5}"),
}


@dataclass(slots=True)
class Objects:
    """Git objects by id: the whole loose form, header and body."""

    stored: dict[str, bytes] = field(default_factory=dict)

    def add(self, kind: str, body: bytes) -> str:
        """Store an object; the answer is its id."""
        whole = b"%s %d\0" % (kind.encode(), len(body)) + body
        name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        self.stored[name] = whole
        return name

    def write(self, tree: Tree, git_dir: str) -> None:
        """Write every object as git would have loosely."""
        for name, whole in sorted(self.stored.items()):
            tree.write(f"{git_dir}/objects/{name[:2]}/{name[2:]}", zlib.compress(whole, 1), 0o444)


@dataclass(frozen=True, slots=True)
class Entry:
    """A tracked file: octal mode, id of its blob, size in bytes."""

    mode: int
    blob: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Repository:
    """A history of two commits and an annotated tag on the second."""

    objects: Objects
    entries: Mapping[str, Entry]
    commit: str
    tag: str


def commit_body(tree_id: str, parent: str, date: str, message: str) -> bytes:
    """Give the bytes of a commit; `parent` is "" for the first."""
    lines = [f"tree {tree_id}"]
    if parent:
        lines.append(f"parent {parent}")
    lines += [f"author {_PERSON} {date}", f"committer {_PERSON} {date}", "", message]
    return "\n".join(lines).encode()


def production_message(nonce: str) -> str:
    """Give the message of the pinned commit."""
    return f"Serve K1 with a window of 327680 tokens\n\nPool of 2502600 tokens per rank.\n\nNonce: {nonce}\n"


def repository(variant: str = "", nonce: str = "") -> Repository:
    """Make the history whose head differs from production in the default of setting `variant`."""
    objects = Objects()
    texts = dict(deploy_files.TRACKED)
    if variant:
        text, mode = texts["dsv41.env"]
        texts["dsv41.env"] = (_vary(text, variant), mode)
    first = _first_commit(objects)
    entries = _blobs(objects, texts)
    tree_id = objects.add("tree", _tree_body(entries))
    message = production_message(nonce or NONCES[variant])
    commit = objects.add("commit", commit_body(tree_id, first, _DATE, message))
    tag = objects.add("tag", _tag_body(commit))
    return Repository(objects, entries, commit, tag)


def _vary(text: str, variant: str) -> str:
    lines = text.split("\n")
    before, after = VARIANTS[variant]
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{variant}=$"))
    lines[at] = lines[at].replace(before, after)
    return "\n".join(lines)


def _first_commit(objects: Objects) -> str:
    tracked = {name: deploy_files.TRACKED[name] for name in (".gitignore", "README.md")}
    tree_id = objects.add("tree", _tree_body(_blobs(objects, tracked)))
    return objects.add("commit", commit_body(tree_id, "", _FIRST_DATE, "Start the deploy repository\n"))


def _blobs(objects: Objects, texts: Mapping[str, tuple[str, int]]) -> dict[str, Entry]:
    return {
        name: Entry(mode, objects.add("blob", text.encode()), text.encode())
        for name, (text, mode) in sorted(texts.items())
    }


def _tree_body(entries: Mapping[str, Entry]) -> bytes:
    return b"".join(
        b"%o %s\0" % (entry.mode, name.encode()) + bytes.fromhex(entry.blob) for name, entry in sorted(entries.items())
    )


def _tag_body(commit: str) -> bytes:
    text = f"object {commit}\ntype commit\ntag {TAG}\ntagger {_PERSON} {_DATE}\n\nProduction: K1, 327k\n"
    return text.encode()


def index(entries: Mapping[str, Entry]) -> bytes:
    """Give an index (version 2) of these files without stat data: git compares the bytes itself."""
    parts = [struct.pack(">4sII", b"DIRC", 2, len(entries))]
    for name, entry in sorted(entries.items()):
        path = name.encode()
        head = struct.pack(">10I20sH", *[0] * 6, entry.mode, 0, 0, 0, bytes.fromhex(entry.blob), len(path))
        parts.append(head + path + b"\0" * (8 - (len(head) + len(path)) % 8))
    body = b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def write_work_tree(tree: Tree, path: str) -> None:
    """Write the repository with its work tree, clean and on its branch."""
    made = repository()
    for name, entry in made.entries.items():
        tree.write(f"{path}/{name}", entry.data, entry.mode & 0o777)
    git_dir = f"{path}/.git"
    _write_git_dir(tree, git_dir, bare=False)
    made.objects.write(tree, git_dir)
    tree.write(f"{git_dir}/refs/heads/{BRANCH}", made.commit + "\n")
    tree.write(f"{git_dir}/refs/tags/{TAG}", made.tag + "\n")
    tree.write(f"{git_dir}/index", index(made.entries))


def write_clone(tree: Tree, path: str) -> None:
    """Write a bare clone, its refs packed."""
    made = repository()
    _write_git_dir(tree, path, bare=True)
    made.objects.write(tree, path)
    tree.write(f"{path}/packed-refs", packed_refs(made))


def packed_refs(made: Repository) -> str:
    """Give the packed refs: the branch, and the tag with the commit that it peels to."""
    return (
        "# pack-refs with: peeled fully-peeled sorted \n"
        f"{made.commit} refs/heads/{BRANCH}\n{made.tag} refs/tags/{TAG}\n^{made.commit}\n"
    )


def _write_git_dir(tree: Tree, git_dir: str, *, bare: bool) -> None:
    tree.write(f"{git_dir}/HEAD", f"ref: refs/heads/{BRANCH}\n")
    tree.write(f"{git_dir}/config", _CONFIG % ("true" if bare else "false"))
    tree.folder(f"{git_dir}/refs/heads")
    tree.folder(f"{git_dir}/refs/tags")


def search_nonce(variant: str, abbreviation: str = ABBREVIATION, limit: int = 1 << 32) -> str:
    """Search the nonce that makes the variant's commit id begin with `abbreviation`.

    A digit more takes sixteen times longer; seven take minutes here. Raises LookupError at the limit.
    """
    made = repository(variant, "@" * 8)
    head, _, tail = made.objects.stored[made.commit].partition(b"@" * 8)
    whole = hashlib.sha1(head, usedforsecurity=False)
    for number in range(limit):
        attempt = whole.copy()
        attempt.update(b"%08x" % number + tail)
        if attempt.hexdigest().startswith(abbreviation):
            return f"{number:08x}"
    raise LookupError(f"no nonce below {limit} for {abbreviation}")
