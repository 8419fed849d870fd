# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `sumac plot`: one column for each call, latency above, speedup below, then overlap
where it was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from sumac_mpi.base import units
from sumac_mpi.base.spread import Spread
from sumac_mpi.bench.results import Row, Run
from sumac_mpi.library import calls
from sumac_mpi.plot import pictures

_MOST_TICKS = 11

Named = tuple[str, Run]  # the file's name where there are several, and what it holds


def draw(runs: list[Named], output: Path, title: str | None) -> None:
    names = list(dict.fromkeys(run.call for _, run in runs))
    overlap = any(run.overlap for _, run in runs)
    heights = (3, 2, 2) if overlap else (3, 2)
    size = (5.6 * len(names) + 0.4, 8.6 if overlap else 6.2)
    notes = pictures.of_runs([run for _, run in runs]), _explained(runs)
    shape = len(heights), len(names)
    with pictures.page(output, shape, size, *notes, sharex="col", height_ratios=heights) as page:
        figure, axes = page
        figure.suptitle(title or _title([run for _, run in runs]), fontsize=12)
        for column, call in enumerate(names):
            chosen = [(name, run) for name, run in runs if run.call == call]
            _latency(axes[0][column], chosen, call)
            _speedup(axes[1][column], chosen)
            if overlap:
                _overlap(axes[2][column], chosen)
            sizes = (row.bytes for _, run in chosen for row in run.rows)
            size_axis(axes[-1][column], sizes)


def _title(runs: list[Run]) -> str:
    header = runs[0].header
    parts = [" and ".join(dict.fromkeys(run.mpi_name for run in runs))]
    ranks = dict.fromkeys(run.ranks for run in runs)
    if len(ranks) == 1:
        parts.append(f"{header['ranks']} ranks")
    if len({run.header["type"] for run in runs}) == 1:
        parts.append(str(header["type"]))
    reducing = {run.header["op"] for run in runs if calls.collective(run.call).reduces}
    if len(reducing) == 1:
        parts.append(*reducing)
    if any(run.cut_by for run in runs):
        parts.append("incomplete")
    return "  ·  ".join(parts)


def _explained(runs: list[Named]) -> str:
    """What bands and hollow points mean, where there may be some."""
    rows = [row for _, run in runs for row in run.rows]
    found = [row.record.get(each) or {} for row in rows for each in ("native", "sumac")]
    several = any(len(each.get("rounds", [])) > 1 for each in found)
    return pictures.UNSTEADY if several else ""


def _label(name: str, run: Run, runs: list[Named]) -> str:
    """What distinguishes this run from the others of its column."""
    parts = []
    if len({other.mpi_name for _, other in runs}) > 1:
        parts.append(run.mpi_name)
    if len({other.ranks for _, other in runs}) > 1:
        parts.append(f"{run.ranks} ranks")
    if len({file for file, _ in runs}) > 1:
        parts.append(name)
    return ", ".join(parts)


def _latency(axes: Axes, runs: list[Named], call: str) -> None:
    for colour, (name, run) in zip(_cycle(len(runs)), runs):
        label = _label(name, run, runs)
        shade = colour if label else "#777777"
        _times(axes, run.rows, "native", shade, label or run.mpi_name)
        if run.with_sumac:
            with_sumac = f"{label} with Sumac" if label else "with Sumac"
            _times(axes, run.rows, "sumac", colour, with_sumac)
        _aside(axes, run, colour, label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("latency (µs)")
    pictures.plain_log_labels(axes.yaxis)
    pictures.title_and_legend(axes, call)


def _times(axes: Axes, rows: list[Row], contender: str, colour: str, label: str) -> None:
    """The curve of one contender."""
    found = [(row, times) for row in rows if (times := row.times(contender))]
    style = {"native": ("--", 3, 1.3), "sumac": ("-", 3.5, 1.8)}[contender]
    sizes = [row.bytes for row, _ in found]
    unsteady = [row.is_unsteady(contender) for row, _ in found]
    curve(axes, sizes, [times for _, times in found], unsteady, colour, style, label)


def curve(
    axes: Axes,
    sizes: list[int],
    spreads: list[Spread],
    unsteady: list[bool],
    colour: str,
    style: tuple[str, float, float],
    label: str | None = None,
) -> None:
    """A line through medians, with a band between the quartiles, and hollow points where the
    numbers are unsteady. `style`: of the line, the size of its points, and its width."""
    line, point, width = style
    medians = [each.median for each in spreads]
    axes.plot(sizes, medians, color=colour, linestyle=line, marker="o", markersize=point,
              linewidth=width, label=label)  # fmt: skip
    low, high = [each.low for each in spreads], [each.high for each in spreads]
    axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    hollow = [(size, us) for size, us, is_hollow in zip(sizes, medians, unsteady) if is_hollow]
    if hollow:
        axes.plot(*zip(*hollow), color=colour, linestyle="", marker="o", markersize=point + 2.5,
                  markerfacecolor="white", zorder=3)  # fmt: skip


def _aside(axes: Axes, run: Run, colour: str, name: str) -> None:
    """Draws, beside the time of start and wait, that of the start and of the blocking call."""
    contender = "sumac" if run.with_sumac else "native"
    lines = {
        "starting the call": [(row.bytes, row.start_us(contender)) for row in run.rows],
        "the same call, blocking": [(row.bytes, row.blocking_us) for row in run.rows],
    }
    for style, (what, points) in zip((":", "-."), lines.items()):
        label = f"{name}: {what}" if name else what
        known = [(size, us) for size, us in points if us]
        if known:
            axes.plot(*zip(*known), color=colour, linestyle=style, linewidth=1.2, label=label)


def _overlap(axes: Axes, runs: list[Named]) -> None:
    tests = False
    for colour, (_, run) in zip(_cycle(len(runs)), runs):
        for contender, style in (("native", "--"), ("sumac", "-")):
            for with_tests, marker in ((False, "o"), (True, "x")):
                found = [(row.bytes, row.overlap(contender, with_tests)) for row in run.rows]
                points = [(size, each["percent"]) for size, each in found if each]
                tests = tests or (with_tests and bool(points))
                shade = colour if contender == "sumac" or len(runs) > 1 else "#777777"
                if points:
                    axes.plot(*zip(*points), color=shade, linestyle=style, marker=marker,
                              markersize=4, linewidth=1.3)  # fmt: skip
    axes.set_ylim(0, 125 if tests else 105)
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("overlap (%)")
    if tests:
        handles = [
            Line2D([], [], color="#777777", marker=marker, markersize=4, label=what)
            for marker, what in (("o", "no MPI_Test"), ("x", "with MPI_Test"))
        ]
        axes.legend(handles=handles, loc="upper left", ncols=2, fontsize=8)


def _speedup(axes: Axes, runs: list[Named]) -> None:
    axes.axhline(1, color="#777777", linewidth=1)
    highest = 1.0
    for colour, (_, run) in zip(_cycle(len(runs)), runs):
        rows = [row for row in run.rows if row.speedup and row.gain]
        if rows:
            gains = [row.gain for row in rows if row.gain]
            unsteady = [row.is_unsteady("native") or row.is_unsteady("sumac") for row in rows]
            curve(axes, [row.bytes for row in rows], gains, unsteady, colour, ("-", 3.5, 1.8))
            highest = max(highest, *(gain.median for gain in gains))
    axes.set_ylim(0, highest * 1.25)
    axes.set_ylabel("speedup: MPI / Sumac")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{units.plain(value)}×"))


def size_axis(axes: Axes, bytes_: Iterable[int]) -> None:
    axes.set_xlabel("message size")
    sizes = sorted(set(bytes_))
    ticks = sizes[:: -(-len(sizes) // _MOST_TICKS)]
    axes.set_xticks(ticks, [units.format_bytes(size) for size in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", labelrotation=45)


def _cycle(count: int) -> list[str]:
    return [pictures.COLOURS[i % len(pictures.COLOURS)] for i in range(count)]
