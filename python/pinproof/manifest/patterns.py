"""Regular expressions of a manifest: they must compile, on hosts too, and must be able to fail."""

from __future__ import annotations

import re
import warnings

from pinproof.manifest.errors import Wrong, short

_SINCE_3_11 = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<newer>\(\?>|[*+?}]\+)", re.DOTALL)


def refuse_pattern(text: str, *, groups: int | None) -> None:
    """Refuse a pattern that a host could not use, or that shows nothing. Raises Wrong.

    `groups` is how many groups it must have, None for any number. Hosts may run
    Python 3.8: possessive quantifiers and atomic groups came later.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # such as a possible nested set, which other versions read otherwise
            compiled = re.compile(text)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise Wrong(f"{short(text)} is not a regular expression: {error}") from error
    if any(match.group("newer") for match in _SINCE_3_11.finditer(text)):
        what = f"{short(text)} uses a possessive quantifier or an atomic group"
        raise Wrong(what, "hosts may run Python 3.8, which has neither: write it without")
    if compiled.search("") is not None:
        raise Wrong(f"{short(text)} matches every line, an empty one too", "write what the line must hold")
    if groups is not None and compiled.groups != groups:
        fix = "exactly one group is the value: write the others as (?:...)"
        raise Wrong(f"{short(text)} has {compiled.groups} groups", fix)
