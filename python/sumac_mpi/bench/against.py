# SPDX-License-Identifier: BSD-3-Clause
"""Sumac against several MPIs: their rounds pooled by mode and size, and the best of each.

Each job measures one contender: an MPI by itself, or Sumac loaded under an MPI. The headers of
their runs say which ("against"), so that a file of results can be compared again.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.base.spread import MEANING, Spread, geometric_mean, speedup, spread
from sumac_mpi.bench import modes
from sumac_mpi.bench.results import Record, Row, Run
from sumac_mpi.library import calls

# With fewer rounds in a mode a contender does not count there, if others have more.
_FEWEST_ROUNDS = 3

Contenders = dict[str, list[float]]  # of each MPI the microseconds of its rounds


@dataclass(frozen=True)
class Comparison:
    """One size in one mode."""

    bytes: int
    mode: modes.Mode | None  # None where the time of a line was not measured
    plain: dict[str, float]  # microseconds of each MPI by itself
    sumac: dict[str, float]  # of Sumac under each MPI
    beside: dict[str, float]  # of each MPI's own function beside Sumac, after Sumac's barrier
    rounds: int  # the fewest that a contender has
    spreads: tuple[dict[str, Spread], ...]  # of the same times, in the order of _Part
    mpis: int  # how many are compared; some may not have been measured in this mode

    @property
    def complete(self) -> bool:
        """Whether the best is the best of all: every MPI and Sumac were measured in this mode."""
        return len(self.plain) == self.mpis and bool(self.sumac)

    @property
    def best(self) -> str | None:
        """The fastest of the MPIs."""
        return min(self.plain, key=self.plain.__getitem__, default=None)

    @property
    def under(self) -> str | None:
        """The MPI under which Sumac is fastest."""
        return min(self.sumac, key=self.sumac.__getitem__, default=None)

    @property
    def best_us(self) -> float | None:
        return self.plain[self.best] if self.best else None

    @property
    def sumac_us(self) -> float | None:
        return self.sumac[self.under] if self.under else None

    @property
    def ratio(self) -> float | None:
        """The best MPI's time divided by Sumac's."""
        return self.gain.median if self.gain else None

    @property
    def gain(self) -> Spread | None:
        """The ratio with the spread of the rounds."""
        return self._over(_Part.plain, self.best, self.under)

    @property
    def gain_beside(self) -> Spread | None:
        """As gain, with the best of the MPIs' functions in the jobs in which Sumac is loaded. None
        if some MPI is missing."""
        known = self.beside if len(self.beside) >= self.mpis else {}
        return self._over(_Part.beside, min(known, key=known.__getitem__, default=None), self.under)

    def gain_under(self, mpi: str) -> Spread | None:
        """The MPI's own time divided by Sumac's under it."""
        return self._over(_Part.plain, mpi, mpi)

    def _over(self, part: _Part, mpi: str | None, under: str | None) -> Spread | None:
        own, sumac = self.spreads[part].get(mpi or ""), self.spreads[_Part.sumac].get(under or "")
        return speedup(own, sumac) if own and sumac and sumac.median else None

    @property
    def place(self) -> str:
        size = units.format_size(self.bytes)
        return f"{self.mode.title} {size}" if self.mode else size

    def as_dict(self) -> Record:
        return {
            "mode": self.mode.as_dict() if self.mode else None,
            "bytes": self.bytes,
            "best": self.best,
            "best_us": self.best_us,
            "under": self.under,
            "sumac_us": self.sumac_us,
            "ratio": self.ratio and round(self.ratio, 3),
            "plain_us": self.plain,
            "sumac_us_under": self.sumac,
            "beside_us": self.beside,
            "rounds": self.rounds,
            "complete": self.complete,
        }


def mark(header: Record, mpi: str, loaded: bool, turn: int) -> Record:
    """The header of a job's run, with what it measures."""
    return header | {"against": {"mpi": mpi, "sumac": loaded, "turn": turn}}


def is_marked(run: Run) -> bool:
    return "against" in run.header


def compare(runs: Iterable[Run]) -> list[Comparison]:
    """By mode, the fastest first, and then by size."""
    rounds = [each for run in runs for row in run.rows for each in _rounds(run, row)]
    mpis = len({each.mpi for each in rounds if each.part is _Part.plain})
    known = modes.classes(each.ns for each in rounds if each.ns)
    found: list[Comparison] = []
    for mode in known or [None]:
        cells: dict[int, tuple[Contenders, ...]] = {}
        for each in rounds:
            if mode is None or (each.ns and mode.holds(each.ns)):
                cell = cells.setdefault(each.bytes, tuple(defaultdict(list) for _ in _Part))
                cell[each.part][each.mpi].append(each.us)
        found += [_comparison(size, mode, mpis, *cells[size]) for size in sorted(cells)]
    return found


class _Part(IntEnum):
    """What a round measured, in the order of Comparison's members."""

    plain = 0
    sumac = 1
    beside = 2


@dataclass(frozen=True)
class _Round:
    bytes: int
    mpi: str
    part: _Part
    us: float
    ns: float  # of a line; 0 where it is not known


def _rounds(run: Run, row: Row) -> Iterator[_Round]:
    what: dict[str, Any] = run.header["against"]
    own = _Part.beside if what["sumac"] else _Part.plain
    for part, contender in ((own, "native"), (_Part.sumac, "sumac")):
        times: Sequence[float] = row.record.get(contender, {}).get("rounds", [])
        stamps = row.record.get("line", {}).get("ns") or [0.0] * len(times)
        for us, ns in zip(times, stamps):
            if what["sumac"] or part is _Part.plain:
                yield _Round(row.bytes, what["mpi"], part, us, ns)


def _comparison(size: int, mode: modes.Mode | None, mpis: int, *parts: Contenders) -> Comparison:
    counts = [len(rounds) for part in parts for rounds in part.values()]
    fewest = min(_FEWEST_ROUNDS, max(counts))
    spreads = tuple(
        {mpi: spread(us, round(statistics.median(us), 3))
         for mpi, us in part.items() if len(us) >= fewest}
        for part in parts
    )  # fmt: skip
    medians = [{mpi: each.median for mpi, each in part.items()} for part in spreads]
    rounds = min(count for count in counts if count >= fewest)
    return Comparison(size, mode, *medians, rounds, spreads, mpis)


def dropped(runs: Iterable[Run]) -> int:
    """The rounds in which the mode changed."""
    return sum(row.dropped for run in runs for row in run.rows)


# `MPIs` is the number of those measured in this mode: if some are missing, the speedup is in
# parentheses and does not count. `rounds` are the fewest of a contender.
_TITLES = (
    f"#{'size':>7} {'best us':>9}  {'MPI':<9} {'Sumac us':>9}  {'under':<9} {'speedup':>13} "
    f"{'MPIs':>5} {'rounds':>7}"
)


def table(runs: Sequence[Run], comparisons: Sequence[Comparison]) -> list[str]:
    lines = _head(runs)
    for mode, group in groupby(comparisons, lambda each: each.mode):
        cells = list(group)
        lines.append("")
        if mode:
            lines.append(
                f"# {mode.name}: the round trip of a cache line takes {mode.middle:.0f} ns "
                f"({mode.low:.0f} to {mode.high:.0f})"
            )
        measured = [each for each in cells if each.ratio]
        lines += [_TITLES, *map(_line, measured)] if measured else []
        lacking = [units.format_size(each.bytes) for each in cells if not each.ratio]
        if lacking:
            lines.append(f"# not measured of both an MPI and Sumac: {', '.join(lacking)}")
        lines += _foot(measured)
    return lines


def _head(runs: Sequence[Run]) -> list[str]:
    header = runs[0].header
    names = {str(run.header["against"]["mpi"]): run.mpi_name for run in runs}
    under = sorted({str(run.header["against"]["mpi"]) for run in runs
                    if run.header["against"]["sumac"]})  # fmt: skip
    what = [runs[0].call]
    if runs[0].rows and runs[0].rows[0].bytes:
        what.append(str(header["type"]))
    if calls.collective(runs[0].call).reduces:
        what.append(str(header["op"]))
    facts = [" ".join(what), f"{header['ranks']} ranks", f"{header['cpus']} cpus"]
    turns = max(int(run.header["against"]["turn"]) for run in runs)
    facts.append("1 turn" if turns == 1 else f"{turns} turns")
    lines = [
        "# " + " · ".join(facts),
        "# " + ", ".join(f"{name}: {full}" for name, full in sorted(names.items())),
        f"# Sumac under {', '.join(under) or 'none'}",
        f"# {MEANING}",
    ]
    idle = sorted({str(run.header["against"]["mpi"]) for run in runs
                   if run.header["against"]["sumac"] and not run.sumac_takes_part})  # fmt: skip
    if idle:
        lines.append(f"# Sumac takes no part under {', '.join(idle)}")
    if header["oversubscribed"]:
        lines.append("# more ranks than cores: times are the scheduler's, modes are not measured")
    if count := dropped(runs):
        lines.append(
            f"# {units.counted(count, 'round')} dropped: the time of a line changed meanwhile"
        )
    return lines


def _line(each: Comparison) -> str:
    best, own = units.format_us(each.best_us or 0), units.format_us(each.sumac_us or 0)
    ratio = str(each.gain) if each.complete else f"({each.gain})"
    return (
        f"{each.bytes:>8} {best:>9}  {each.best:<9} {own:>9}  {each.under:<9} {ratio:>13} "
        f"{len(each.plain):>5} {each.rounds:>7}"
    )


def _foot(cells: Sequence[Comparison]) -> list[str]:
    ratios = [(each.gain, each.bytes) for each in cells if each.gain and each.complete]
    lines = [f"# Sumac against the best: {_summary(ratios)}"] if ratios else []
    beside = [(gain, each.bytes) for each in cells if each.complete
              and (gain := each.gain_beside)]  # fmt: skip
    if beside:
        lines.append(
            f"# measured in one job, with Sumac's barrier before each call: {_summary(beside)}"
        )
    for mpi in sorted({name for each in cells for name in each.sumac}):
        own = [(gain, each.bytes) for each in cells if (gain := each.gain_under(mpi))]
        if own:
            lines.append(f"# under {mpi}, against {mpi} by itself: {_summary(own)}")
    return lines


def _summary(gains: Sequence[tuple[Spread, int]]) -> str:
    mean = geometric_mean([gain for gain, _ in gains])
    if len(gains) == 1:
        return str(mean)
    least, at = min(gains, key=lambda each: each[0].median)
    sizes = f"geometric mean of {len(gains)} sizes"
    return f"{mean} in the {sizes}, least {least} at {units.format_size(at)}"
