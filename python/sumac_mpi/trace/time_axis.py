# SPDX-License-Identifier: BSD-3-Clause
"""The time axis of a trace's picture. Long times in which nothing begins or ends, because all wait
for a late rank, are cut short: else the work would be a line at the picture's edge."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from sumac_mpi.trace.summary import Span, length

_SHARE = 0.05  # the length of a cut, as a share of the length that is not cut
_LONG = 2  # a cut wait is longer than so many times the sum of all shorter ones
_TICKS = 10


@dataclass(frozen=True)
class TimeAxis:
    """Places of times between `begin` and `end`, in nanoseconds."""

    begin: int
    end: int
    cuts: tuple[Span, ...] = ()

    @property
    def cut_length(self) -> float:
        return max(self.end - self.begin - length(self.cuts), 1) * _SHARE

    @property
    def length(self) -> float:
        """The length of the whole axis."""
        return self.place(self.end)

    def place(self, time: float) -> float:
        """From 0 on, in nanoseconds of what is not cut."""
        place = time - self.begin
        for begin, end in self.cuts:
            inside = min(max(time - begin, 0), end - begin)
            place -= inside * (1 - self.cut_length / (end - begin))
        return place

    def ticks(self) -> list[int]:
        """Round times, as far as they lie outside of the cuts, in nanoseconds after `begin`."""
        step = _round_up(max(self.end - self.begin - length(self.cuts), 1) / _TICKS)
        result = []
        edges = [self.begin, *(edge for cut in self.cuts for edge in cut), self.end]
        for begin, end in zip(edges[::2], edges[1::2]):
            first = math.ceil((begin - self.begin) / step) * step
            result += list(range(first, end - self.begin + 1, step))
        return result


def of(begin: int, end: int, events: Iterable[int]) -> TimeAxis:
    """The axis for what begins and ends at these times."""
    times = sorted({begin, end, *events})
    waits = sorted(zip(times, times[1:]), key=lambda wait: wait[1] - wait[0])
    lengths = [last - first for first, last in waits]
    shorter = 0
    for index, long in enumerate(lengths):
        # The shorter half of the waits is never cut.
        if 2 * index >= len(lengths) and long > _LONG * shorter > 0:
            return TimeAxis(begin, end, tuple(sorted(waits[index:])))
        shorter += long
    return TimeAxis(begin, end)


def late_ranks(cut: Span, calls: dict[int, Span]) -> list[int]:
    """The ranks whose call ends the wait."""
    begins = sorted(begin for begin, _ in calls.values())
    if bisect_right(begins, cut[0]) == 0 or cut[1] not in begins:
        return []
    return sorted(rank for rank, (begin, _) in calls.items() if begin == cut[1])


def _round_up(step: float) -> int:
    """To 1, 2 or 5 times a power of ten, at least a nanosecond."""
    power = 10 ** math.floor(math.log10(max(step, 1)))
    return int(next(each * power for each in (1, 2, 5, 10) if each * power >= step or each == 10))
