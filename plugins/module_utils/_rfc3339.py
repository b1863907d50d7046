# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time stamps as container engines write them.

This module util is private to the collectors. Go prints zero to nine fractional
digits, and `Z` or an offset.
"""

from __future__ import annotations

import calendar
import re

from ._observation import Unparsable

STAMP = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
_PARTS = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)


def nanoseconds(stamp: str, what: str) -> int:
    """Give a time stamp as nanoseconds since the epoch.

    Raises Unparsable, for the engines' zero time (year 1) as well.
    """
    found = _PARTS.fullmatch(stamp)
    if found is None:
        raise Unparsable("%s: '%s' is not a time stamp" % (what, stamp[:40]))
    year, month, day, hour, minute, second = (int(found.group(index)) for index in range(1, 7))
    if year < 1970 or not 1 <= month <= 12 or not 1 <= day <= 31 or hour > 23 or minute > 59 or second > 60:
        raise Unparsable("%s: '%s' is not a time at which something ran" % (what, stamp))
    offset = 0
    if found.group(8):
        offset = (int(found.group(9)) * 60 + int(found.group(10))) * 60 * (-1 if found.group(8) == "-" else 1)
    whole = calendar.timegm((year, month, day, hour, minute, second)) - offset
    return whole * 1000000000 + int((found.group(7) or "0").ljust(9, "0"))
