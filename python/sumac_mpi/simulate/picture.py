# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `sumac simulate`: times of all ways over the size, and below how many times as
fast Sumac is as the best native selection."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from matplotlib.axes import Axes

from sumac_mpi import __version__
from sumac_mpi.base.errors import bad_value
from sumac_mpi.plot import curves, pictures
from sumac_mpi.simulate import smpi, table
from sumac_mpi.simulate.measure import Results
from sumac_mpi.simulate.request import SUMAC

_EXPLAINED = (
    "The MPIs' lines are simulated as well, with the algorithms that SimGrid says they choose: "
    "they are not measurements of these MPIs."
)


def draw(results: Results, output: Path) -> None:
    if not results.request.sizes:
        raise bad_value("a barrier has one size: nothing to draw")
    when = f"simulated on {pictures.day(datetime.now(UTC).isoformat())}"
    about = pictures.joined(when, f"Sumac {__version__}", smpi.version())
    notes = about, _EXPLAINED if results.request.selections else ""
    page = pictures.page(output, (2, 1), (6.4, 6.4), *notes, sharex=True, height_ratios=(3, 2))
    with page as (figure, ((above,), (below,))):
        figure.suptitle(table.title(results), fontsize=11)
        _times(above, results)
        _speedup(below, results)
        curves.size_axis(below, results.sizes)


def _times(axes: Axes, results: Results) -> None:
    for colour, way in zip(pictures.COLOURS, results.request.ways):
        found = sorted(results.cells.get(way, {}).items())
        axes.plot(
            [size for size, _ in found],
            [cell.us for _, cell in found],
            color=colour,
            linestyle="-" if way == SUMAC else "--",
            marker="o",
            markersize=3,
            label=table.way_name(way),
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("simulated time (µs)")
    pictures.plain_log_labels(axes.yaxis)
    pictures.title_and_legend(axes, "", 1)


def _speedup(axes: Axes, results: Results) -> None:
    found = [(size, each) for size in results.sizes if (each := results.times_as_fast(size))]
    axes.axhline(1, color="#777777", linewidth=0.8)
    if found:
        axes.plot(*zip(*found), color=pictures.COLOURS[0], marker="o", markersize=3)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("speedup: best choices / Sumac")
