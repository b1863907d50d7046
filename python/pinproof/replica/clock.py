"""When things of the replica start, in the units of their sources.

The kernel counts starts in hundredths of a second since its boot, the engine
in nanoseconds of UTC. All of them derive from one moment, held in whole
hundredths, so that no two sources of one start disagree.
"""

from __future__ import annotations

import datetime
import math
import time
from dataclasses import dataclass

UP_SECONDS = 3 * 86400  # how long the machines are up when something starts
_CLOCK_REALTIME_COARSE = 5  # linux/time.h; Python has no name for it
ENGINE_DELAY_NS = 3_214_871  # between the kernel's start of a process and the engine's note of it


@dataclass(frozen=True, slots=True)
class Start:
    """A start on a machine: the boot in seconds since the epoch, the start in hundredths since that boot."""

    boot: int
    ticks: int

    @classmethod
    def at(cls, seconds: float, boot: int | None = None) -> Start:
        """Give the start at this moment, on a machine up since `boot` (default: some days before)."""
        hundredths = math.ceil(seconds * 100)
        since = hundredths // 100 - UP_SECONDS if boot is None else boot
        return cls(since, hundredths - since * 100)

    @property
    def hundredths(self) -> int:
        """Hundredths of a second since the epoch."""
        return self.boot * 100 + self.ticks

    @property
    def seconds(self) -> float:
        """Seconds since the epoch."""
        return self.hundredths / 100

    def engine_ns(self) -> int:
        """Give the engine's note of this start, in nanoseconds since the epoch."""
        return self.hundredths * 10_000_000 + ENGINE_DELAY_NS


def nanosecond_time(ns: int) -> str:
    """Spell a time as the container engine does: 2026-12-01T03:27:13.632828988Z."""
    seconds, rest = divmod(ns, 1_000_000_000)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def nanoseconds(text: str) -> int:
    """Read what `nanosecond_time` spells. Raises ValueError."""
    moment = datetime.datetime.strptime(text[:19] + "+0000", "%Y-%m-%dT%H:%M:%S%z")
    return int(moment.timestamp()) * 1_000_000_000 + int(text[20:29])


def iso(seconds: float) -> str:
    """Spell a time as ISO 8601 in UTC, to the millisecond."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def next_start() -> float:
    """Give a moment that is later than every change of a file so far, in whole hundredths.

    The kernel stamps files by a clock that may lag behind by some milliseconds, never run ahead.
    """
    return (math.floor(time.time() * 100) + 1) / 100


def wait_past(seconds: float) -> None:
    """Wait until files written from now on are stamped later than that moment, by the clock that stamps them."""
    while (left := seconds - time.clock_gettime(_CLOCK_REALTIME_COARSE)) >= 0:
        time.sleep(left + 0.002)
