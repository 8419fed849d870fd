# SPDX-License-Identifier: BSD-3-Clause
"""Sumac beside the best of several MPIs, as a table for each mode of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from sumac_mpi.base import units
from sumac_mpi.base.spread import MEANING, Spread, geometric_mean
from sumac_mpi.bench.against import Comparison, dropped
from sumac_mpi.bench.results import Run
from sumac_mpi.library import calls

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
        lines.append(f"# {count} rounds dropped: the time of a line changed in them")
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
