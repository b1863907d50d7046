# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting the leaves of an observation, each on its own.

This module util is private to the collectors.
"""

from __future__ import annotations

import typing as t

from ._observation import LookError, Observation
from ._segments import within


def set_leaf(
    observation: Observation, target: dict[str, t.Any], path: tuple[str, ...], look: t.Callable[[], t.Any]
) -> None:
    """Put what `look` gives under the path's last segment in `target`; None is left out.

    A look that fails becomes a fault of the observation at `path`, and the other leaves stay.
    """
    try:
        value = look()
    except LookError as error:
        observation.fault(within(*path), error)
    else:
        if value is not None:
            target[path[-1]] = value
