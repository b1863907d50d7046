"""The tables of the manifest reference: keys, checks, kinds of probe with their parameters and attributes.

They are made from the declarations that the loader uses and stand between two
marks in `docs/manifest.md`. `python -m pinproof.manifest.reference FILE` writes
them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pinproof import exit_codes
from pinproof.catalogue import KINDS, Kind
from pinproof.manifest.fields import (
    AUTHORITY,
    CHECKS,
    EXPERIMENT,
    LEG,
    MANIFEST,
    PIN,
    PROBE,
    ROW,
    START,
    VERSION,
)
from pinproof.manifest.shapes import Record

BEGIN = "<!-- generated: keys, checks and kinds; written by python -m pinproof.manifest.reference -->"
END = "<!-- end of what is generated -->"

_RECORDS = (
    ("Top level", MANIFEST),
    ("An authority", AUTHORITY),
    ("A row", ROW),
    ("The experiment", EXPERIMENT),
    ("A leg", LEG),
    ("A start", START),
)


def reference() -> str:
    """Give the generated part as Markdown."""
    lines = [f"## Keys (version {VERSION})", ""]
    for title, record in _RECORDS:
        lines += [f"### {title}", "", *_keys(record, record.fields), ""]
    lines += ["### A probe", "", *_keys(PROBE, [name for name in PROBE.fields if name not in KINDS]), ""]
    lines += ["And exactly one of the kinds below.", ""]
    lines += ["### A pin", "", *_keys(PIN, [name for name in PIN.fields if name not in CHECKS]), ""]
    lines += ["And one or more checks:", "", *_keys(PIN, CHECKS), ""]
    lines += ["## Kinds of probe", "", *_overview(), ""]
    for name, kind in KINDS.items():
        lines += _kind(name, kind)
    return "\n".join(lines).rstrip() + "\n"


def renew(text: str) -> str:
    """Give the document with its generated part made anew. Raises ValueError where the marks are missing."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError("the document has no place for the generated part")
    return f"{head}{BEGIN}\n\n{reference()}\n{END}{tail}"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(heads)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _keys(record: Record, names: Iterable[str]) -> list[str]:
    rows = [[f"`{name}`", "yes" if record.fields[name].required else "", record.fields[name].about] for name in names]
    if record.extra is not None:
        rows.append(["any other", "", "a setting: what is prescribed, by the name that `prescribed_by` gives it"])
    return list(_table(["key", "required", "what it is"], rows))


def _overview() -> list[str]:
    rows = [[f"[`{name}`](#{name})", kind.about, f"`{kind.subject}`"] for name, kind in KINDS.items()]
    return list(_table(["kind", "what it looks at", "a plain text is its"], rows))


def _kind(name: str, kind: Kind) -> list[str]:
    parameters = [
        [f"`{key}`", parameter.type, "yes" if parameter.required else "", parameter.about]
        for key, parameter in kind.parameters.items()
    ]
    attributes = [
        [f"`{pattern}`", attribute.type, "state" if attribute.state else "identity", attribute.about]
        for pattern, attribute in kind.attributes.items()
    ]
    return [
        f"### {name}",
        "",
        f"{kind.about[0].upper()}{kind.about[1:]}.",
        "",
        *_table(["parameter", "type", "required", "what it is"], parameters),
        "",
        *_table(["attribute", "type", "", "what it is"], attributes),
        "",
    ]


def main(arguments: list[str]) -> int:
    """Write the generated part of documents anew."""
    if not arguments:
        print("usage: python -m pinproof.manifest.reference FILE ...", file=sys.stderr)
        return exit_codes.USAGE
    for name in arguments:
        path = Path(name)
        path.write_text(renew(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
