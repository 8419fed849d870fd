# SPDX-License-Identifier: BSD-3-Clause
"""The figures of what one process does: of reduce_local and of pack."""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from sumac_mpi.base import units
from sumac_mpi.bench.results import Row, Run, types_and_operations
from sumac_mpi.library import tables
from sumac_mpi.plot import pictures

_LEAST, _MOST = 0.25, 32.0  # ratios beyond these limits have the limits' colours
# White is memcpy's own time; blue and red differ also for colour-blind readers.
_COLOURS = pyplot.get_cmap("RdBu_r")
_NORM = TwoSlopeNorm(0, math.log2(_LEAST), math.log2(_MOST))
_UNDEFINED, _MISSING = "#f2f2f2", "#bdbdbd"
_CELL = (0.46, 0.27)  # inches
_MARGIN = (1.7, 0.9)  # of a panel: names of the types, title and names of the operations
_STYLE = {"font.size": 9, "svg.hashsalt": "sumac"}

_EXPLAINED = (
    "One thread. Below 1 an operation takes less time than memcpy of as many bytes, whose second "
    "buffer is out of the caches sooner. Grey: not measured, or not defined."
)

Panel = tuple[Run, str]  # whose times, and of which contender


def draw_reductions(runs: list[Run], output: Path, title: str | None) -> None:
    """A row of panels for each size, a panel for Sumac and one for the MPI; in each the types down,
    the operations across, and in each cell the time over that of memcpy."""
    rows = [row for run in runs for row in run.rows]
    sizes = sorted({row.asked for row in rows})
    types, ops = types_and_operations(rows)
    panels = [
        (run, contender)
        for run in runs
        for contender in ("sumac", "native")
        if any(row.time(contender) is not None for row in run.rows)
    ]
    width = len(panels) * (len(ops) * _CELL[0] + _MARGIN[0]) + 0.8
    height = len(sizes) * (len(types) * _CELL[1] + _MARGIN[1]) + 0.4
    shape, inches = (len(sizes), len(panels)), (max(width, 6), max(height, 3.2))
    notes = pictures.of_runs(runs), _EXPLAINED
    with pictures.page(output, shape, inches, *notes, dpi=110, style=_STYLE) as (figure, axes):
        figure.suptitle(title or _title(runs), fontsize=12)
        for line, size in zip(axes, sizes):
            for panel, (run, contender) in zip(line, panels):
                chosen = [row for row in run.rows if row.asked == size]
                _panel(panel, chosen, contender, types, ops)
                panel.set_title(f"{_name(run, contender, runs)}, {units.format_bytes(size)}")
        _colour_bar(figure, axes)


def _title(runs: list[Run]) -> str:
    title = "MPI_Reduce_local: time over that of memcpy"
    return title + (" (incomplete)" if any(run.cut_by for run in runs) else "")


def _name(run: Run, contender: str, runs: list[Run]) -> str:
    if contender == "native":
        return run.mpi_name
    words = str(run.header["sumac"].get("description", "Sumac")).split()
    simd = f" ({words[-1]})" if len(words) > 2 else ""
    return f"Sumac{simd}" + (f" on {run.mpi_name}" if len(runs) > 1 else "")


def _panel(axes: Axes, rows: list[Row], contender: str, types: list[str], ops: list[str]) -> None:
    ratios = {(row.record["type"], row.record["op"]): row.over_memcpy(contender) for row in rows}
    for y, name in enumerate(types):
        for x, op in enumerate(ops):
            _cell(axes, x, y, ratios.get((name, op)), tables.is_defined(op, name))
    axes.set_xlim(-0.5, len(ops) - 0.5)
    axes.set_ylim(len(types) - 0.5, -0.5)
    axes.set_xticks(range(len(ops)), ops)
    axes.set_yticks(range(len(types)), types)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(axes: Axes, x: int, y: int, ratio: float | None, defined: bool) -> None:
    if ratio is None:
        colour = _MISSING if defined else _UNDEFINED
    else:
        colour = _COLOURS(_NORM(min(max(math.log2(ratio), _NORM.vmin), _NORM.vmax)))
        light = abs(float(_NORM(math.log2(ratio))) - 0.5) < 0.33
        text = f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.0f}"
        axes.text(
            x, y, text, ha="center", va="center", fontsize=7, color="black" if light else "white"
        )
    axes.add_patch(
        pyplot.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1)
    )


def _colour_bar(figure: Figure, axes: list[list[Axes]]) -> None:
    bar = figure.colorbar(
        ScalarMappable(_NORM, _COLOURS),
        ax=axes,
        extend="both",
        fraction=0.03,
        pad=0.01,
        aspect=40,
        spacing="uniform",
    )
    ticks = (0.25, 0.5, 0.7, 1, 1.5, 2, 4, 8, 16, 32)
    bar.set_ticks([math.log2(ratio) for ratio in ticks], labels=[f"{each:g}×" for each in ticks])
    bar.ax.axhline(0, color="black", linewidth=1.5)
    bar.outline.set_visible(False)


_BAR = 0.38  # of the distance from one layout to the next
_CONTENDERS = (("native", "the MPI", "#999999"), ("sumac", "Sumac", pictures.COLOURS[0]))


def draw_packing(runs: list[Run], output: Path, title: str | None) -> None:
    """A row of panels for each size, a column for packing and one for unpacking on each MPI; in
    each a group of bars for each layout, GB/s of the MPI and of Sumac, and a mark where memcpy
    is."""
    rows = [row for run in runs for row in run.rows]
    sizes = sorted({row.asked for row in rows})
    layouts = list(dict.fromkeys(str(row.record["layout"]) for row in rows))
    ops = list(dict.fromkeys(str(row.record["op"]) for row in rows))
    panels = [(run, op) for run in runs for op in ops]
    height = len(sizes) * (0.34 * len(layouts) + 1.0) + 0.6
    shape, inches = (len(sizes), len(panels)), (3.6 * len(panels) + 1.4, max(height, 3))
    notes = pictures.of_runs(runs), "One thread. Medians of the rounds."
    page = pictures.page(output, shape, inches, *notes, dpi=130, sharex="row", sharey=True)
    with page as (figure, axes):
        cut = "  ·  incomplete" if any(run.cut_by for run in runs) else ""
        figure.suptitle(title or f"MPI_Pack and MPI_Unpack{cut}", fontsize=12)
        for line, size in zip(axes, sizes):
            for panel, (run, op) in zip(line, panels):
                chosen = [row for row in run.rows if (row.asked, row.record["op"]) == (size, op)]
                _bars(panel, chosen, layouts)
                panel.set_title(f"{op}, {units.format_bytes(size)}, {run.mpi_name}", fontsize=10)
        for panel in axes[-1]:
            panel.set_xlabel("GB/s")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _bars(axes: Axes, rows: list[Row], layouts: list[str]) -> None:
    places = [layouts.index(str(row.record["layout"])) for row in rows]
    for number, (contender, name, colour) in enumerate(_CONTENDERS):
        rates = [row.gb_per_second(contender) or 0 for row in rows]
        shifted = [place + (number - 0.5) * _BAR for place in places]
        axes.barh(shifted, rates, _BAR, color=colour, label=name)
    copies = [row.gb_per_second("memcpy") or 0 for row in rows]
    axes.plot(
        copies, places, linestyle="", marker="|", markersize=13, color="black", label="memcpy"
    )
    axes.set_yticks(range(len(layouts)), layouts)
    axes.set_ylim(len(layouts) - 0.5, -0.5)
    axes.grid(False, axis="y")
