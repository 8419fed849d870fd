# SPDX-License-Identifier: BSD-3-Clause
"""Which way of doing a collective is kept at a size: decided from measured rounds alone.

A way is an algorithm of Sumac, or the MPI's own function. One is *clearly* faster than another in a
mode of the machine when all of this holds for their rounds in that mode:

- there are FEWEST rounds or more of each, of FEWEST_JOBS jobs or more: the rounds of one job share
  its pages and its luck;
- the ratio of the medians is LEAST_GAIN or more;
- it is faster in MOST_PAIRS or more of all pairs of a round of each, so that the gain exceeds the
  spread: the rounds of the two hardly overlap.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from sumac_mpi.base.spread import Spread, speedup, spread
from sumac_mpi.base.spread import geometric_mean as mean_spread
from sumac_mpi.base.units import geometric_mean

NATIVE = "native"  # the MPI's own function, by the name that rules have for it
FEWEST, FEWEST_JOBS = 5, 2
LEAST_GAIN = 1.05
MOST_PAIRS = 0.9
_LEAST_US = 1e-3  # the clock's resolution: a time may be measured as 0

Jobs = Sequence[Sequence[float]]  # of each job the microseconds of its rounds
Modes = Mapping[Hashable, Jobs]  # a way's, by mode


@dataclass(frozen=True)
class Cell:
    """What was measured at one size."""

    bytes: int
    shipped: str  # the way that the shipped rules take
    ways: Mapping[str, Modes]  # `shipped` is one of them; the first of equals is preferred

    def us(self, way: str, mode: Hashable) -> float | None:
        rounds = _rounds(self.ways.get(way, {}).get(mode, ()))
        return statistics.median(rounds) if rounds else None


@dataclass(frozen=True)
class Gain:
    """One way against another in one mode."""

    ratio: float  # the other's median time divided by the way's
    clear: bool
    spread: Spread  # of the ratio


@dataclass(frozen=True)
class Verdict:
    cell: Cell
    kept: str
    why: str
    ratio: float  # the shipped way's time divided by that of the way kept, mean over the modes

    @property
    def bytes(self) -> int:
        return self.cell.bytes

    @property
    def changes(self) -> bool:
        return self.kept != self.cell.shipped


def decide(cell: Cell) -> Verdict:
    """The shipped way is kept unless another is clearly faster in some mode and slower in none.
    Of those that are, the one with the best mean over the modes is taken; but if the MPI's own
    function is faster than that, the MPI's own."""
    known = {
        way: found
        for way in cell.ways
        if way != cell.shipped and (found := gains(cell, way, cell.shipped))
    }
    better = {way: _mean(found) for way, found in known.items() if _pays(cell, way, found)}
    if not better:
        return Verdict(cell, cell.shipped, _why_not(known), 1.0)
    kept = max(better, key=better.__getitem__)
    beside = gains(cell, kept, NATIVE)
    if kept != NATIVE and beside and _mean(beside) < 1:
        slower, kept = kept, NATIVE
        ratio = _mean(known[NATIVE]) if NATIVE in known else 1.0
        return Verdict(cell, kept, f"{slower} is slower than the MPI's own", ratio)
    why = str(mean_spread([gain.spread for gain in known[kept].values()]))
    return Verdict(cell, kept, why, better[kept])


def gains(cell: Cell, way: str, other: str) -> dict[Hashable, Gain]:
    """In each mode that has enough rounds of both."""
    theirs = cell.ways.get(other, {})
    return {
        mode: _gain(_rounds(jobs), _rounds(theirs[mode]))
        for mode, jobs in cell.ways.get(way, {}).items()
        if _suffices(jobs) and _suffices(theirs.get(mode, ()))
    }


def _suffices(jobs: Jobs) -> bool:
    return len(_rounds(jobs)) >= FEWEST and sum(map(bool, jobs)) >= FEWEST_JOBS


def _rounds(jobs: Jobs) -> list[float]:
    return sorted(us for job in jobs for us in job)


def _gain(own: Sequence[float], other: Sequence[float]) -> Gain:
    """Of the rounds of both, sorted."""
    ratio = max(statistics.median(other), _LEAST_US) / max(statistics.median(own), _LEAST_US)
    pairs = sum(len(other) - bisect_right(other, us) for us in own)
    often = pairs >= MOST_PAIRS * len(own) * len(other)
    return Gain(ratio, ratio >= LEAST_GAIN and often, speedup(*map(_spread, (other, own))))


def _spread(rounds: Sequence[float]) -> Spread:
    return spread([max(us, _LEAST_US) for us in rounds])


def _pays(cell: Cell, way: str, found: Mapping[Hashable, Gain]) -> bool:
    """Slower in none of the modes: also by rounds that are too few to tell that it is faster."""
    times = [(cell.us(way, mode), cell.us(cell.shipped, mode)) for mode in cell.ways[way]]
    slower = any(own > other for own, other in times if own is not None and other is not None)
    return any(gain.clear for gain in found.values()) and not slower


def _mean(found: Mapping[Hashable, Gain]) -> float:
    return geometric_mean(gain.ratio for gain in found.values())


def _why_not(known: Mapping[str, Mapping[Hashable, Gain]]) -> str:
    """Why the shipped way is kept, by the way that comes closest to it."""
    if not known:
        return "too few rounds in a mode: more --turns"
    for way, found in known.items():
        if any(gain.clear for gain in found.values()):
            return f"{way} is faster in one mode and slower in another"
    best = max(known, key=lambda way: _mean(known[way]))
    mean = _mean(known[best])
    if mean <= 1:
        return "the fastest"
    return f"{best} {mean:.2f}x: within the noise"
