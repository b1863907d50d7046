"""Lists and tree digests against what coreutils print, on names of every kind."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from pathlib import Path

import pytest
from plugins.module_utils._names import original
from plugins.module_utils._observation import Unparsable
from plugins.module_utils._root import HostRoot
from plugins.module_utils._sums import listing_line, parse, tagged_line
from plugins.module_utils._trees import read_tree

FIXED = [
    b"plain",
    b" lead",
    b"  two",
    b"trail ",
    b"*star",
    b" *both",
    b"**",
    b"a\nb",
    b"\n",
    b"a\\b",
    b"\\",
    b"\\n",
    b"a\\nb",
    b"a\rb",
    b"end\r",
    b"\r",
    b"\\\n\\",
    b"\xff\xfe",
    b"lat\xe9",
    "größe \N{GRINNING FACE}".encode(),
    b"(x) = y",
    b") = " + b"a" * 64,
    b"SHA256 (a)",
    b"#comment",
    b"-",
    b"--tag",
    b"tab\there",
    b"quote\"'`$",
    b"a" * 64 + b"  b",
    b"sub/plain",
    b"sub/ deep\n/a\\b",
]
ALPHABET = [
    b"a",
    b"B",
    b" ",
    b"*",
    b"\\",
    b"\n",
    b"\r",
    b"n",
    b"\xff",
    b"\xc3",
    "ß".encode(),
    b"(",
    b")",
    b"=",
    b"#",
    b"\t",
]


def names() -> list[bytes]:
    chosen = random.Random(7)
    made = {b"".join(chosen.choices(ALPHABET, k=chosen.randint(1, 9))) for _ in range(260)}
    return sorted(set(FIXED) | made)


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[bytes, str]]:
    folder = tmp_path_factory.mktemp("sums") / "files"
    digests = {}
    for name in names():
        path = Path(os.fsdecode(os.fsencode(str(folder)) + b"/" + name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content of " + name)
        digests[name] = hashlib.sha256(b"content of " + name).hexdigest()
    assert len(digests) >= 200
    return folder, digests


def run(folder: Path, *command: bytes | str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        cwd=folder,
        input=given,
        capture_output=True,
        check=False,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
    )


@pytest.mark.parametrize("options", [[], ["--binary"], ["--text"], ["--tag"]])
def test_what_sha256sum_prints_is_understood(folder: tuple[Path, dict[bytes, str]], options: list[str]) -> None:
    top, digests = folder
    # `-` is standard input to it; with a folder in front it is a name.
    listed = [name if name != b"-" else b"./-" for name in digests]
    printed = run(top, "sha256sum", *options, "--", *listed)
    assert printed.returncode == 0, printed.stderr
    assert parse(printed.stdout, "/list") == digests


def test_the_form_with_nul_bytes_is_refused(folder: tuple[Path, dict[bytes, str]]) -> None:
    top, _ = folder
    with pytest.raises(Unparsable, match="NUL bytes"):
        parse(run(top, "sha256sum", "--zero", "plain", " lead").stdout, "/list")


@pytest.mark.parametrize("write", [listing_line, tagged_line])
def test_sha256sum_checks_what_we_write(folder: tuple[Path, dict[bytes, str]], write: object) -> None:
    top, digests = folder
    lines = [
        write(digest, name if name != b"-" else b"./-")  # type: ignore[operator]
        for name, digest in digests.items()
    ]
    checked = run(top, "sha256sum", "--check", "--strict", "--quiet", "-", given=b"".join(lines))
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_we_print_byte_for_byte_what_sha256sum_prints(folder: tuple[Path, dict[bytes, str]]) -> None:
    top, digests = folder
    listed = [name for name in digests if name != b"-"]
    assert run(top, "sha256sum", "--", *listed).stdout == b"".join(listing_line(digests[name], name) for name in listed)


def test_the_digest_of_a_tree_can_be_had_with_the_shell(folder: tuple[Path, dict[bytes, str]]) -> None:
    top, digests = folder
    recipe = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum"
    # The name `-` alone would be standard input.
    Path(top / "-").rename(top / "dash")
    try:
        printed = run(top, "sh", "-c", recipe).stdout.split()[0].decode()
        tree = read_tree(HostRoot(str(top.parent)), "/files")
    finally:
        Path(top / "dash").rename(top / "-")
    assert tree.digest == printed
    assert {original(name) for name in tree.entries} == {name for name in digests if name != b"-"} | {b"dash"}
    assert all(value == digests[original(name)] for name, value in tree.entries.items() if name != "dash")
