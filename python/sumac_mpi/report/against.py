# SPDX-License-Identifier: BSD-3-Clause
"""Sumac beside the best of several MPIs, as a table for each mode of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from sumac_mpi.base import units
from sumac_mpi.bench.against import Comparison, dropped
from sumac_mpi.bench.results import Run
from sumac_mpi.library import calls

# `MPIs` is the number of those measured in this mode: if some are missing, the ratio is in
# parentheses and does not count. `rounds` are the fewest of a contender.
_TITLES = (
    f"#{'size':>9} {'best us':>10}  {'MPI':<10} {'Sumac us':>10}  {'under':<10} {'ratio':>8} "
    f"{'MPIs':>5} {'rounds':>7}"
)


def table(runs: Sequence[Run], comparisons: Sequence[Comparison]) -> list[str]:
    lines = _head(runs)
    for mode, group in groupby(comparisons, lambda each: each.mode):
        cells = list(group)
        lines.append("")
        if mode:
            lines.append(
                f"# {mode.name}: a line there and back takes {mode.middle:.0f} ns "
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
    ratio = f"{each.ratio:.2f}x" if each.complete else f"({each.ratio:.2f}x)"
    return (
        f"{each.bytes:>10} {best:>10}  {each.best:<10} {own:>10}  {each.under:<10} {ratio:>8} "
        f"{len(each.plain):>5} {each.rounds:>7}"
    )


def _foot(cells: Sequence[Comparison]) -> list[str]:
    ratios = [(each.ratio, each.bytes) for each in cells if each.ratio and each.complete]
    lines = [f"# Sumac against the best: {_summary(ratios)}"] if ratios else []
    beside = [(ratio, each.bytes) for each in cells if each.complete
              and (ratio := each.ratio_beside)]  # fmt: skip
    if beside:
        lines.append(f"# and beside each other, after Sumac's barrier: {_summary(beside)}")
    for mpi in sorted({name for each in cells for name in each.sumac}):
        own = [(ratio, each.bytes) for each in cells if (ratio := each.ratio_under(mpi))]
        if own:
            lines.append(f"# under {mpi}, against {mpi} by itself: {_summary(own)}")
    return lines


def _summary(ratios: Sequence[tuple[float, int]]) -> str:
    mean = units.geometric_mean(ratio for ratio, _ in ratios)
    if len(ratios) == 1:
        return f"{mean:.2f}x"
    least, at = min(ratios)
    sizes = f"geometric mean of {len(ratios)} sizes"
    return f"{mean:.2f}x in the {sizes}, least {least:.2f}x at {units.format_size(at)}"
