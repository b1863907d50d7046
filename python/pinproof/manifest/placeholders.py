"""Values that somebody meant to replace: they look pinned and can never be right."""

from __future__ import annotations

import re

from pinproof.manifest.errors import Problems, Wrong, short
from pinproof.manifest.nodes import Node, walk

_EMPTY_DIGESTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",  # sha256
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",  # SHA-1
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",  # git's empty blob
    "d41d8cd98f00b204e9800998ecf8427e",  # MD5
)
_EMPTY_BY_CUSTOM = frozenset({"__init__.py", "py.typed", ".gitkeep", ".keep"})
_REAL = "put the real one there"
_KINDS = {
    "angle": (r"<[A-Z][A-Z0-9_ -]*>", "a placeholder", _REAL),
    "word": (r"\b(?:TODO|FIXME|TBD|XXX+|CHANGE_?ME|REPLACE_?ME)\b", "a placeholder", _REAL),
    "device": (
        r"\b(?:roce|en|ib|mlx)[pP]?[0-9ps_]*X(?:[a-z]{0,2}[XYZN0-9])*[a-z0-9]{0,2}\b|\bethX\b",
        "a device name with a letter where its number belongs",
        _REAL,
    ),
    "repeated": (
        r"(?<![0-9A-Za-z])(?P<digit>[0-9a-f])(?P=digit){31,}(?![0-9A-Za-z])",
        "a digest of one repeated digit",
        _REAL,
    ),
    "nothing": (
        "|".join(_EMPTY_DIGESTS),
        "the digest of nothing",
        "a file with content never has it: hash the file again",
    ),
    "address": (
        r"(?<![\d.])(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}(?![\d.])|\b2001:0?[dD][bB]8:",
        "an address that is reserved for documentation",
        _REAL,
    ),
    "domain": (
        r"(?<![\w-])example\.(?:com|net|org)(?![\w-])",
        "a name that is reserved for documentation",
        _REAL,
    ),
}
_ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, (pattern, _, _) in _KINDS.items()))


def refuse_placeholder(text: str, key: str) -> None:
    """Refuse a text that holds a placeholder. Raises Wrong.

    `key` is the key it stands under: files that are empty by custom
    (`__init__.py`) may have the digest of nothing.
    """
    match = _ANY.search(text)
    if match is None:
        return
    name = next(name for name in _KINDS if match.group(name) is not None)
    if name == "nothing" and key.rpartition("/")[2] in _EMPTY_BY_CUSTOM:
        return
    _, what, fix = _KINDS[name]
    raise Wrong(f"{short(match.group(), 80)} is {what}", fix)


def refuse_placeholders(root: Node, text: str, problems: Problems) -> None:
    """Note every placeholder of a manifest, keys included. `text` is its whole text, for a quick look first."""
    if _ANY.search(text) is None and "\\" not in text:
        return
    for key, scalar in walk(root):
        try:
            refuse_placeholder(scalar.text, key)
        except Wrong as wrong:
            problems.add(scalar, wrong.what, wrong.fix)
