# SPDX-License-Identifier: BSD-3-Clause
"""The figure of pack: a row of panels for each size, a column for packing and one for unpacking on
each MPI; in each a group of bars for each layout, GB/s of the MPI and of Sumac, and a mark where
memcpy is."""

from __future__ import annotations

from pathlib import Path

from matplotlib import pyplot
from matplotlib.axes import Axes

from sumac_mpi.base import units
from sumac_mpi.bench.local_figures import gb_per_second
from sumac_mpi.bench.results import Row, Run
from sumac_mpi.plot import curves, origin, pictures

_BAR = 0.38  # of the distance from one layout to the next
_CONTENDERS = (("native", "the MPI", "#999999"), ("sumac", "Sumac", curves.COLOURS[0]))


def draw(runs: list[Run], output: Path, title: str | None) -> None:
    rows = [row for run in runs for row in run.rows]
    sizes = sorted({row.asked for row in rows})
    layouts = list(dict.fromkeys(str(row.record["layout"]) for row in rows))
    ops = list(dict.fromkeys(str(row.record["op"]) for row in rows))
    panels = [(run, op) for run in runs for op in ops]
    height = len(sizes) * (0.34 * len(layouts) + 1.0) + 0.6
    with pyplot.rc_context(curves.STYLE):
        figure, axes = pyplot.subplots(
            len(sizes),
            len(panels),
            figsize=(3.6 * len(panels) + 1.4, max(height, 3)),
            sharex="row",
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
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
        pictures.add_note(figure, origin.of_runs(runs), "One thread. Medians of the rounds.")
        pictures.save(figure, output, 130)


def _bars(axes: Axes, rows: list[Row], layouts: list[str]) -> None:
    places = [layouts.index(str(row.record["layout"])) for row in rows]
    for number, (contender, name, colour) in enumerate(_CONTENDERS):
        rates = [gb_per_second(row, contender) or 0 for row in rows]
        shifted = [place + (number - 0.5) * _BAR for place in places]
        axes.barh(shifted, rates, _BAR, color=colour, label=name)
    copies = [gb_per_second(row, "memcpy") or 0 for row in rows]
    axes.plot(
        copies, places, linestyle="", marker="|", markersize=13, color="black", label="memcpy"
    )
    axes.set_yticks(range(len(layouts)), layouts)
    axes.set_ylim(len(layouts) - 0.5, -0.5)
    axes.grid(False, axis="y")
