# SPDX-License-Identifier: BSD-3-Clause
"""The figure of Sumac against several MPIs: a column for each mode of the machine; above, the
latency of each MPI and of Sumac; below, Sumac beside the best of them."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from matplotlib.axes import Axes

from sumac_mpi.bench.against import Comparison, compare
from sumac_mpi.bench.results import Run
from sumac_mpi.plot import curves, pictures


def draw(runs: list[Run], output: Path, title: str | None) -> None:
    compared = compare(runs)
    compared = [each for each in compared if each.ratio] or compared
    columns = [list(group) for _, group in groupby(compared, lambda each: each.mode)]
    names = sorted({name for cells in columns for each in cells for name in each.plain})
    size, notes = (5.6 * len(columns) + 0.4, 6.2), (pictures.of_runs(runs), _explained(compared))
    shape, heights = (2, len(columns)), (3, 2)
    with pictures.page(output, shape, size, *notes, sharex="col", height_ratios=heights) as page:
        figure, axes = page
        cut = "  ·  incomplete" if any(run.cut_by for run in runs) else ""
        figure.suptitle(title or f"{runs[0].call}  ·  {runs[0].ranks} ranks{cut}", fontsize=12)
        for column, cells in enumerate(columns):
            _latency(axes[0][column], cells, names)
            _ratio(axes[1][column], cells)
            curves.size_axis(axes[1][column], [each.bytes for each in cells])


def _explained(compared: list[Comparison]) -> str:
    if not any(each.mode for each in compared):
        return ""
    return (
        "A column for each distance of the two processors, by the time of a cache line from one to "
        "the other and back: a virtual machine's host may move them."
    )


def _latency(axes: Axes, cells: list[Comparison], names: list[str]) -> None:
    others = pictures.COLOURS[1:]
    for number, name in enumerate(names):
        points = [(each.bytes, each.plain[name]) for each in cells if name in each.plain]
        if points:
            axes.plot(*zip(*points), color=others[number % len(others)], linestyle="--",
                      marker="o", markersize=3, linewidth=1.2, label=name)  # fmt: skip
    points = [(each.bytes, each.sumac_us) for each in cells if each.sumac_us]
    if points:
        axes.plot(*zip(*points), color=pictures.COLOURS[0], marker="o", markersize=3.5,
                  linewidth=2, label="Sumac")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("latency (µs)")
    pictures.plain_log_labels(axes.yaxis)
    title = f"processors {cells[0].mode.title}" if cells[0].mode else "latency"
    pictures.title_and_legend(axes, title)


def _ratio(axes: Axes, cells: list[Comparison]) -> None:
    axes.axhline(1, color="#777777", linewidth=1)
    points = [(each.bytes, each.ratio) for each in cells if each.ratio and each.complete]
    if points:
        axes.plot(
            *zip(*points), color=pictures.COLOURS[0], marker="o", markersize=3.5, linewidth=1.8
        )
    axes.set_ylim(0, max([1.0, *(ratio for _, ratio in points)]) * 1.12)
    axes.set_ylabel("speedup: best MPI / Sumac")
