"""Limits by authority: which of them is in force in the manifest's scope."""

from __future__ import annotations

from collections.abc import Mapping

from pinproof.manifest.errors import Wrong
from pinproof.manifest.model import Authority
from pinproof.manifest.site import Site


def in_force(site: Site, named: list[str]) -> str:
    """Give the one authority in force among those that a limit names.

    An authority with a scope counts in that scope only. Of the others, one that
    another named one supersedes, directly or through authorities between them,
    is out of force. Raises Wrong where none or more than one is left.
    """
    counting = {name: item for name, item in site.authorities.items() if item.scope in ("", site.scope)}
    candidates = [name for name in named if name in counting]
    superseded = {older for name in candidates for older in _superseded_by(name, counting)}
    left = [name for name in candidates if name not in superseded]
    if not left:
        where = f"scope '{site.scope}'" if site.scope else "a manifest without `scope`"
        raise Wrong(f"no authority of this limit counts in {where}", "add the limit of one that does")
    if len(left) > 1:
        names = " and ".join(f"'{name}'" for name in left)
        raise Wrong(f"{names} both set this limit, and neither supersedes the other", "say which with `supersedes`")
    return left[0]


def _superseded_by(name: str, counting: Mapping[str, Authority]) -> set[str]:
    found: set[str] = set()
    following = counting[name].supersedes
    while following in counting and following not in found:
        found.add(following)
        following = counting[following].supersedes
    return found
