"""Digests and commits as they are pinned: whole, in lower case, and of the right kind."""

from __future__ import annotations

import re

from pinproof.manifest.errors import Wrong, short

MIN_PREFIX = 7
_LENGTHS = {"sha256": (64,), "commit": (40, 64)}
_WHOLE = {"sha256": 64, "commit": 40}
_NAMES = {"sha256": "a sha256 (64 hex digits)", "commit": "a commit (40 hex digits)"}
_KINDS = {
    32: "an MD5 digest",
    40: "a git commit or a SHA-1 digest",
    56: "a SHA-224 digest",
    64: "a sha256",
    96: "a SHA-384 digest",
    128: "a SHA-512 digest",
}
_HEX = re.compile(r"[0-9a-f]+")
_LABEL = re.compile(r"(?P<label>sha\d+|md5|blake\w+)[:-]", re.IGNORECASE)


def read_digest(text: str, type_: str) -> str:
    """Read a whole digest (`sha256`) or commit. Raises Wrong saying which kind it is instead."""
    if _HEX.fullmatch(text) and len(text) in _LENGTHS[type_]:
        return text
    wanted = _NAMES[type_]
    label = _LABEL.match(text)
    if label is not None:
        fix = "write the hex digits alone" if label["label"].lower() == "sha256" else f"pin {wanted}"
        raise Wrong(f"{short(text, 90)} has a label where {wanted} is wanted", fix)
    if _HEX.fullmatch(text.lower()) is None:
        raise Wrong(f"{short(text, 90)} is not {wanted}")
    if text != text.lower():
        raise Wrong(f"{short(text, 90)} has capital letters", "write hex digits in lower case")
    if len(text) in _KINDS:
        raise Wrong(f"{short(text, 90)} is {_KINDS[len(text)]}, where {wanted} is wanted", "it can never match")
    if len(text) < max(_LENGTHS[type_]):
        raise Wrong(
            f"{short(text, 90)} has {len(text)} digits: not the whole of {wanted}",
            "write the whole of it, or `prefix:` where no more than an abbreviation is known",
        )
    raise Wrong(f"{short(text, 90)} has {len(text)} hex digits, too many for {wanted}")


def read_prefix(text: str, type_: str) -> str:
    """Read an abbreviation. Raises Wrong where it is none, or is too short to mean one thing."""
    label, digits = ("sha256:", text[7:]) if type_ == "text" and text.startswith("sha256:") else ("", text)
    if _HEX.fullmatch(digits) is None:
        raise Wrong(f"{short(text)} is not an abbreviated digest", "other texts are pinned whole")
    if len(digits) < MIN_PREFIX:
        raise Wrong(f"{short(text)} has {len(digits)} digits", f"an abbreviation has {MIN_PREFIX} or more")
    if len(set(digits)) == 1:
        raise Wrong(f"{short(text)} is a placeholder, one digit repeated", "put the real one there")
    if len(digits) >= _WHOLE.get(type_, 40):
        raise Wrong(f"{short(text, 90)} is not abbreviated", "pin it whole, with `is:`")
    return label + digits
