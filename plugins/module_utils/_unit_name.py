# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of systemd units: plain, template (`a@.service`), instance (`a@1.service`).

This module util is private to the collectors.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import Unparsable

TYPES = (
    "service",
    "socket",
    "target",
    "device",
    "mount",
    "automount",
    "swap",
    "timer",
    "path",
    "slice",
    "scope",
)
# Types of which one unit may have several names, by links in the search path.
ALIASABLE = ("service", "socket", "target", "device", "timer", "path")
LENGTH_LIMIT = 255

_PREFIX = re.compile(r"[A-Za-z0-9:\-_.\\]+")
_INSTANCE = re.compile(r"[A-Za-z0-9:\-_.\\@]*")
_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")


@dataclasses.dataclass(frozen=True)
class UnitName:
    """A unit's name in parts. `instance` is None for a plain unit and empty for a template."""

    prefix: str
    instance: t.Optional[str]
    type: str

    @classmethod
    def parse(cls, text: str) -> UnitName:
        """Parse a full name, type included. Raises Unparsable."""
        stem, dot, kind = text.rpartition(".")
        if not dot or kind not in TYPES:
            raise Unparsable("'%s' is not a unit name: it does not end in a unit type such as .service" % text)
        prefix, at, instance = stem.partition("@")
        if len(text) > LENGTH_LIMIT or not _PREFIX.fullmatch(prefix) or not _INSTANCE.fullmatch(instance):
            raise Unparsable("'%s' is not a unit name" % text)
        return cls(prefix, instance if at else None, kind)

    @classmethod
    def maybe(cls, text: str) -> t.Optional[UnitName]:
        """Parse a name, or give None for what is none."""
        try:
            return cls.parse(text)
        except Unparsable:
            return None

    def __str__(self) -> str:
        return "%s.%s" % (self.stem, self.type)

    @property
    def stem(self) -> str:
        """The name without its type."""
        return self.prefix if self.instance is None else "%s@%s" % (self.prefix, self.instance)

    @property
    def is_template(self) -> bool:
        """Whether it stands for instances only and can not run itself."""
        return self.instance == ""

    @property
    def is_instance(self) -> bool:
        """Whether it is made from a template."""
        return bool(self.instance)

    def template(self) -> UnitName:
        """Give the template that an instance is made from."""
        return UnitName(self.prefix, "", self.type)

    def with_instance(self, instance: str) -> UnitName:
        """Give the instance of this template."""
        return UnitName(self.prefix, instance, self.type)

    def dropin_stems(self) -> list[str]:
        """List the names whose `.d` folders apply to it, from special to general.

        These are the name, its template, and each prefix that ends in a dash; the
        folder of the type as a whole comes after all of them and is not listed.
        """
        names = [str(self)]
        if self.is_instance:
            names += self.template().dropin_stems()
        shorter = _dash_prefix(self.prefix)
        if shorter:
            names += UnitName(shorter, self.instance or None, self.type).dropin_stems()
        return list(dict.fromkeys(names))


def _dash_prefix(prefix: str) -> str:
    """Cut a prefix after its last dash that does not end it ("a-b" and "a-b-" to "a-"); "" for none."""
    chopped = False
    while True:
        place = prefix.rfind("-")
        if place <= 0:
            return ""
        if place + 1 < len(prefix) or chopped:
            return prefix[: place + 1]
        prefix = prefix[:place]
        chopped = True


def unescape(text: str) -> str:
    r"""Undo the escaping of unit names: `-` is `/`, `\xNN` is that byte."""
    data = text.replace("-", "/").encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(lambda match: bytes([int(match.group(1), 16)]), data).decode("utf-8", "surrogateescape")
