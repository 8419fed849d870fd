# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `sumac simulate`: times of all ways over the size, and below how many times as
fast Sumac is as the best native selection."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from matplotlib import pyplot
from matplotlib.axes import Axes

from sumac_mpi import __version__
from sumac_mpi.base.errors import bad_value
from sumac_mpi.plot import curves, origin, pictures
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
    with pyplot.rc_context(curves.STYLE):
        figure, axes = pyplot.subplots(
            2, 1, figsize=(6.4, 6.4), sharex=True, height_ratios=(3, 2), layout="constrained"
        )
        figure.suptitle(table.title(results), fontsize=11)
        _times(axes[0], results)
        _speedup(axes[1], results)
        curves.size_axis(axes[1], results.sizes)
        today = datetime.now(UTC).isoformat()
        when = f"simulated on {origin.day(today)}"
        about = origin.joined(when, f"Sumac {__version__}", smpi.version())
        pictures.add_note(figure, about, _EXPLAINED if results.request.selections else "")
        pictures.save(figure, output, 160)


def _times(axes: Axes, results: Results) -> None:
    for colour, way in zip(curves.COLOURS, results.request.ways):
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
        axes.plot(*zip(*found), color=curves.COLOURS[0], marker="o", markersize=3)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("speedup: best choices / Sumac")
