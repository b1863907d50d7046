# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of an environment or an argument list may leave the host as they are.

This module util is private to the collectors. Values that no pin names can be
secrets: they leave the host only as a digest keyed per project, so that equal
values can still be told equal. Names are kept.
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
import typing as t


class Disclosure:
    """Tells values that pins name from values that stay on the host.

    `plain` are glob patterns of names; `key` is the project's key in hex.
    """

    def __init__(self, plain: t.Iterable[str], key: str) -> None:
        self._plain = tuple(plain)
        self._key = bytes.fromhex(key)

    @classmethod
    def of(cls, request: dict[str, t.Any]) -> Disclosure:
        """Make it from a request: `{"disclose": {"plain": [...], "key": "<hex>"}}`; nothing is plain by default."""
        terms = request.get("disclose") or {}
        return cls(terms.get("plain", ()), terms.get("key", ""))

    def is_plain(self, name: str) -> bool:
        """Say whether a pin names it."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self._plain)

    def value(self, name: str, value: str) -> str:
        """Give the value where a pin names it, else its keyed digest ("keyed:<32 hex>")."""
        if self.is_plain(name):
            return value
        return "keyed:" + hmac.new(self._key, value.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:32]
