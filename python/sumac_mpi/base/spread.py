# SPDX-License-Identifier: BSD-3-Clause
"""Medians, their quotients, and how much the rounds differ: a quotient is never shown without.

Table and picture show nothing else, so that a bar, a time and a speed-up always agree.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sumac_mpi.base import units

MEANING = "± is where the quartiles of the rounds lie"


@dataclass(frozen=True)
class Spread:
    """The median of some times, or a quotient of medians, with the first and third quartile; these
    are not numbers where there was one round. Any unit."""

    low: float
    median: float
    high: float

    def is_clear(self) -> bool:
        """Of a speed-up: whether the quartiles of both times do not overlap."""
        return self.low > 1 or self.high < 1

    def __str__(self) -> str:
        """As a quotient: "1.81x±4%"."""
        return f"{self.median:.2f}x±{'?' if math.isnan(self.away) else f'{self.away:.0%}'}"

    @property
    def away(self) -> float:
        """How far the farther quartile is away, as a share of the median."""
        return max(self.high - self.median, self.median - self.low) / self.median


def spread(times: Sequence[float], median: float | None = None) -> Spread:
    """Of one time or more; `median` is that of all calls, where it is known."""
    middle = statistics.median(times) if median is None else median
    if len(times) < 2:
        return Spread(math.nan, middle, math.nan)
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return Spread(low, middle, high)


def speedup(before: Spread, after: Spread) -> Spread:
    """The quotient of the medians; low and high are the quotients of the quartiles that are the
    worst and the best for what came after."""
    return Spread(before.low / after.high, before.median / after.median, before.high / after.low)


def geometric_mean(found: Collection[Spread]) -> Spread:
    return Spread(
        units.geometric_mean(each.low for each in found),
        units.geometric_mean(each.median for each in found),
        units.geometric_mean(each.high for each in found),
    )
