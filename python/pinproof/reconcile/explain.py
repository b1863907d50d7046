"""What differs, in words: one line a difference, `path: expected X, observed Y`.

deepdiff finds the lines inside containers, always on plain dicts and lists and
never with `ignore_order`. It does not see every difference (`[1]` and `[true]` are
the same to it), so what only the strict comparator found is added; and where only
deepdiff finds one, the comparators disagree, which `agree` tells.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pinproof.paths import MISSING, suffix
from pinproof.reconcile.canonical import hex_digits
from pinproof.reconcile.compare import Difference, Path, is_container, kind, leaves, plain

LINE_LIMIT = 50
CROSS_CHECK_LIMIT = 2000
_TEXT_LIMIT = 160
_DIGITS = 12
_DIGITS_PAST = 4
_ENDPOINT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(\[[^\]]+\]|[^:/\[\]]+)(?::([0-9]+))?")


def agree(expected: Any, observed: Any) -> bool:
    """Say whether deepdiff, too, finds no difference between two values that are strictly equal.

    Asked for containers of a bounded size only: for scalars it has nothing to
    add, and on large trees it would cost more than all the rest.
    """
    if not is_container(expected) or leaves(expected, CROSS_CHECK_LIMIT) >= CROSS_CHECK_LIMIT:
        return True
    return not deep_differences(plain(expected), plain(observed))


def deep_differences(expected: Any, observed: Any) -> list[Difference]:
    """Let deepdiff find the differences of plain data, in the order of their paths."""
    from deepdiff import DeepDiff
    from deepdiff.helper import notpresent

    found = [
        Difference(
            tuple(level.path(output_format="list")),
            MISSING if level.t1 is notpresent else level.t1,
            MISSING if level.t2 is notpresent else level.t2,
        )
        for levels in DeepDiff(expected, observed, view="tree", threshold_to_diff_deeper=0).values()
        for level in levels
    ]
    return sorted(found, key=_order)


def explain(base: str, expected: Any, observed: Any, strict: list[Difference], origin: str = "") -> tuple[str, ...]:
    """Give the lines for `strict`, the differences found between two values at the path `base`.

    `origin` says whose value the expected one is, where it is not the pin's own.
    """
    shown = strict
    if is_container(expected) and is_container(observed) and strict:
        deep = _inside(*_only_differing(expected, observed, strict), strict)
        shown = sorted([*deep, *(item for item in strict if not _covered(item.path, deep))], key=_order)
    lines = [line(base + spell_path(item.path), item.expected, item.observed, origin) for item in shown[:LINE_LIMIT]]
    if len(shown) > LINE_LIMIT:
        lines.append(f"{base}: {len(shown) - LINE_LIMIT} more differences")
    if strict and _reordered(expected, observed):
        lines.append(f"{base}: the same members in another order")
    return tuple(lines)


def line(path: str, expected: Any, observed: Any, origin: str = "") -> str:
    """Say one difference; endpoints tell scheme, address and port apart."""
    want, have = _spelled_apart(expected, observed)
    text = f"{path}: expected {want}{' ' + origin if origin else ''}, observed {have}"
    return text + _endpoint_parts(expected, observed)


def spell_path(path: Path) -> str:
    """Spell a path as it follows another: `.a[b.c][0]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else suffix((part,)) for part in path)


def spell(value: Any) -> str:
    """Spell a value unambiguously, in ASCII, clipped when long."""
    if value is MISSING:
        return "nothing"
    text = json.dumps(plain(value), sort_keys=True)
    return text if len(text) <= _TEXT_LIMIT else text[:_TEXT_LIMIT] + "…"


def _order(item: Difference) -> list[tuple[bool, str | int]]:
    return [(isinstance(part, int), part) for part in item.path]


def _only_differing(expected: Any, observed: Any, strict: list[Difference]) -> tuple[Any, Any]:
    """Leave out of two maps the entries that are equal: large trees differ in few."""
    if kind(expected) != "map" or kind(observed) != "map":
        return expected, observed
    keys = {item.path[0] for item in strict if item.path}
    return {k: v for k, v in expected.items() if k in keys}, {k: v for k, v in observed.items() if k in keys}


def _inside(expected: Any, observed: Any, strict: list[Difference]) -> list[Difference]:
    """Let deepdiff explain, and keep what stands where the strict comparator looked."""
    if max(leaves(side, CROSS_CHECK_LIMIT) for side in (expected, observed)) >= CROSS_CHECK_LIMIT:
        return []
    return [item for item in deep_differences(plain(expected), plain(observed)) if _covered(item.path, strict)]


def _reordered(expected: Any, observed: Any) -> bool:
    if kind(expected) != "list" or kind(observed) != "list":
        return False
    return sorted(json.dumps(plain(item)) for item in expected) == sorted(json.dumps(plain(item)) for item in observed)


def _covered(path: Path, found: list[Difference]) -> bool:
    return any(path[: len(item.path)] == item.path or item.path[: len(path)] == path for item in found)


def _spelled_apart(expected: Any, observed: Any) -> tuple[str, str]:
    """Spell both; of long digests and texts only so much that they differ visibly."""
    shared = 0
    if isinstance(expected, str) and isinstance(observed, str):
        pairs = enumerate(zip(expected, observed, strict=False))
        shared = next((index for index, (a, b) in pairs if a != b), min(len(expected), len(observed)))
    return _clipped(expected, shared), _clipped(observed, shared)


def _clipped(value: Any, shared: int) -> str:
    """Spell a value that equals another one over its first `shared` characters."""
    if not isinstance(value, str):
        return spell(value)
    room = _DIGITS if len(hex_digits(value)) >= 2 * _DIGITS else _TEXT_LIMIT
    start = max(0, shared - _TEXT_LIMIT // 4) if shared > _TEXT_LIMIT else 0
    end = max(start + room, shared + _DIGITS_PAST)
    before, after = "…" if start else "", "…" if end < len(value) else ""
    return before + json.dumps(value[start:end]) + after


def _endpoint_parts(expected: Any, observed: Any) -> str:
    if not isinstance(expected, str) or not isinstance(observed, str):
        return ""
    want, have = _ENDPOINT.fullmatch(expected), _ENDPOINT.fullmatch(observed)
    if want is None or have is None:
        return ""
    names = ("scheme", "address", "port")
    pairs = list(zip(names, want.groups(), have.groups(), strict=True))
    differ = [f"{name} {a or 'none'} is {b or 'none'}" for name, a, b in pairs if a != b]
    same = [name for name, a, b in pairs if a == b]
    return f" ({', '.join(differ)}{'; same ' + ' and '.join(same) if same else ''})" if differ else ""
