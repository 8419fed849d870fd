# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of the demonstration: medians, their ratio, and the quartiles as spread.

Table and picture show nothing else, so that a bar, a time and a speed-up always agree."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some times, and their first and third quartile. Any unit."""

    low: float
    median: float
    high: float

    def is_clear(self):
        """Of a speed-up: whether the quartiles of both times do not overlap."""
        return self.low > 1 or self.high < 1


def spread(times):
    """The Spread of one time or more."""
    if len(times) == 1:
        return Spread(times[0], times[0], times[0])
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return Spread(low, statistics.median(times), high)


def speedup(native, sumac):
    """The speed-up: the ratio of the medians; low and high are the ratios of the quartiles that are
    worst and best for Sumac."""
    return Spread(native.low / sumac.high, native.median / sumac.median, native.high / sumac.low)


def headline(speedups):
    """One sentence about all measurements."""
    clear = [each.median for each in speedups if each.is_clear()]
    if not clear:
        return "The same solver, not even relinked: no clear difference"
    least, most = f"{min(clear):.2f}", f"{max(clear):.2f}"
    gains = least if least == most else f"{least} to {most}"
    text = f"The same solver, not even relinked: {gains} times as fast"
    if unclear := len(speedups) - len(clear):
        text += f"; no clear difference in {unclear} of {len(speedups)} measurements"
    return text
