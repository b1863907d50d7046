"""Kinds that look at sources and files."""

from __future__ import annotations

from collections.abc import Mapping

from pinproof.catalogue.kind import Attribute, Kind, Parameter
from pinproof.catalogue.shared import CHANGED, INSIDE, SETTINGS

_A = Attribute
_P = Parameter

KINDS: Mapping[str, Kind] = {
    "source": Kind(
        "source_facts",
        "a git work tree and the bytes of its files on disk",
        "repo",
        {
            "repo": _P("path", "the work tree", required=True),
            "revision": _P("commit", "a commit or a unique abbreviation of one; blobs are taken at it"),
            "tags": _P("names", "tags to peel"),
            "files": _P("names", "files whose bytes on disk are compared with the revision's blobs"),
        },
        {
            "branch": _A("text", "the branch HEAD is on; absent when detached"),
            "head": _A("commit", "the commit HEAD leads to"),
            "revision": _A("commit", "the one commit that the parameter abbreviates"),
            "tags[*]": _A("commit", "the commit the tag peels to"),
            "modified[*]": _A("text", "tracked paths that differ from HEAD or index, with git's two letters"),
            "untracked[*]": _A("text", "untracked paths that are not ignored"),
            "files[*].sha256": _A("sha256", "bytes on disk"),
            "files[*].blob_sha256": _A("sha256", "bytes of the blob at the revision"),
            "same_as_revision[*]": _A("bool", "bytes on disk equal the blob at the revision"),
            **CHANGED,
        },
    ),
    "clone": Kind(
        "source_facts",
        "blobs at a revision of a local clone: what the source says, not what a host holds",
        "repo",
        {
            "repo": _P("path", "the clone, bare or not", required=True),
            "revision": _P("commit", "a commit or a unique abbreviation of one", required=True),
            "files": _P("names", "files to take at the revision"),
            "env_files": _P("dialects", "files to parse, with their dialect"),
        },
        {
            "revision": _A("commit", "the one commit that the parameter abbreviates"),
            "files[*].sha256": _A("sha256", "bytes of the blob"),
            **SETTINGS,
        },
    ),
    "link": Kind(
        "file_facts",
        "a symbolic link",
        "path",
        {"path": _P("path", "the link", required=True)},
        {
            "target": _A("text", "the text of the link"),
            "resolved": _A("path", "where it leads in the end"),
            "name": _A("text", "the last component of where it leads"),
        },
    ),
    "file": Kind(
        "file_facts",
        "one file",
        "path",
        {"path": _P("path", "the file", required=True), "inside": INSIDE},
        {
            "sha256": _A("sha256", "its bytes"),
            "size": _A("int", "bytes"),
            "text": _A("text", "its text without the final newline, when it is at most 4 KiB"),
            "mode": _A("text", "permission bits in octal"),
            "resolved": _A("path", "where the path leads in the end"),
            **CHANGED,
        },
    ),
    "files": Kind(
        "file_facts",
        "named files of one folder",
        "under",
        {
            "under": _P("path", "the folder", required=True),
            "names": _P("names", "the files, relative to it", required=True),
            "inside": INSIDE,
        },
        {
            "resolved": _A("path", "where the folder leads in the end"),
            "files[*].sha256": _A("sha256", "its bytes"),
            "files[*].size": _A("int", "bytes"),
            **CHANGED,
        },
    ),
    "tree": Kind(
        "file_facts",
        "a folder with everything in it",
        "path",
        {
            "path": _P("path", "the folder", required=True),
            "ignore": _P("names", "globs of relative paths left out"),
            "inside": INSIDE,
        },
        {
            "digest": _A("sha256", "over the sorted entries"),
            "count": _A("int", "entries"),
            "bytes": _A("int", "size of all files"),
            "entries[*]": _A("text", "by relative path: a file's sha256, or `link:TARGET`"),
            "shadows[*]": _A("text", "importable files or folders beside the tree that could be loaded in its stead"),
            "resolved": _A("path", "where the path leads in the end"),
            **CHANGED,
        },
    ),
    "json": Kind(
        "file_facts",
        "a JSON file",
        "file",
        {"file": _P("path", "the file", required=True), "inside": INSIDE},
        {"value[**]": _A("json", "its value"), "sha256": _A("sha256", "its bytes"), **CHANGED},
    ),
    "status": Kind(
        "file_facts",
        "a JSON status file that a process rewrites, with its age",
        "file",
        {"file": _P("path", "the file", required=True), "inside": INSIDE},
        {
            "value[**]": _A("json", "its value"),
            "age_s": _A("float", "seconds between its last change and the look", state=True),
            **CHANGED,
        },
    ),
    "env_file": Kind(
        "file_facts",
        "an environment file, parsed in its dialect and never sourced",
        "file",
        {
            "file": _P("path", "the file", required=True),
            "dialect": _P("dialect", "shell, container, compose or systemd", required=True),
        },
        {**SETTINGS, "sha256": _A("sha256", "its bytes"), **CHANGED},
    ),
    "derivation": Kind(
        "file_facts",
        "two environment files of which one derives from the other",
        "derived",
        {
            "base": _P("path", "the base file", required=True),
            "derived": _P("path", "the derived file", required=True),
            "dialect": _P("dialect", "shell, container, compose or systemd", required=True),
        },
        {
            "added[*]": _A("text", "keys only the derived file sets, with the value"),
            "removed[*]": _A("text", "keys only the base file sets, with the value"),
            "changed[*].base": _A("text", "value in the base file"),
            "changed[*].derived": _A("text", "value in the derived file"),
            "kept[*]": _A("text", "keys with the same value and spelling in both"),
            **CHANGED,
        },
    ),
    "sums": Kind(
        "file_facts",
        "a folder against a sha256sum list that lies on the host",
        "list",
        {
            "list": _P("path", "the list, in the format of sha256sum", required=True),
            "under": _P("path", "the folder its names are relative to", required=True),
            "inside": INSIDE,
        },
        {
            "count": _A("int", "names listed"),
            "matching": _A("int", "files whose bytes are those listed"),
            "listed[*]": _A("sha256", "the list itself"),
            "missing[*]": _A("sha256", "listed, and not in the folder"),
            "extra[*]": _A("sha256", "in the folder, and not listed"),
            "differing[*].listed": _A("sha256", "the listed digest of a file that differs"),
            "differing[*].actual": _A("sha256", "the digest of its bytes"),
            **CHANGED,
        },
    ),
    "emission": Kind(
        "file_facts",
        "what the engine's own verifier emitted about its bytes",
        "file",
        {"file": _P("path", "the emitted JSON", required=True), "inside": INSIDE},
        {
            "tool": _A("text", "the emitter's name"),
            "count": _A("int", "files it covers"),
            "files[*]": _A("sha256", "by path: the digest it measured"),
            "not_ok[*]": _A("text", "files that it did not find as it expected, with its reason"),
            "emitted_at": _A("text", "its own time stamp", state=True),
            **CHANGED,
        },
    ),
    "requests": Kind(
        "file_facts",
        "the requests and answers of a run, one JSON object a line",
        "file",
        {
            "file": _P("path", "the JSONL file", required=True),
            "sizes": _P("names", "the prompt sizes that a complete run has, in tokens"),
            "repetitions": _P("int", "how often a complete run has each size; fewer are no answer yet"),
        },
        {
            "count": _A("int", "records"),
            "sizes[*]": _A("int", "by exact prompt tokens: repetitions"),
            "settings[*]": _A("json", "by request field: its value; a list of the values where requests differ"),
            "hashes[*]": _A("text", "corpus, order, header, salt_prefix: the digest; a list where requests differ"),
            "prompts[*]": _A("sha256", "by SIZE/REPETITION: the prompt's digest"),
            "salts[*]": _A("sha256", "by SIZE/REPETITION: the salt's digest"),
            "answers[*]": _A("json", "by answer field (cached_tokens, ...): as settings"),
            "duplicates[*]": _A("text", "SIZE/REPETITION recorded more than once, with the lines"),
            **CHANGED,
        },
    ),
}
