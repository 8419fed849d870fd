# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the demonstration: the solver's times on the left, the all-reduce's speed-up on
the right. Bars and lines are medians; whiskers and bands are quartiles."""

import matplotlib

matplotlib.use("Agg")
# pylint: disable=wrong-import-position
from matplotlib import pyplot, ticker
from sumac_mpi.base import units

COLOURS = {"openmpi": "#1f6fb4", "mpich": "#c8553d"}
GREY = "#9aa0a6"
HEIGHT = 0.36  # of a bar


def draw_bar(axes, place, seconds, colour, label):
    """One bar, from 0 to the median, with whiskers to the quartiles."""
    axes.barh(place, seconds.median, HEIGHT, color=colour)
    whiskers = [[seconds.median - seconds.low], [seconds.high - seconds.median]]
    axes.errorbar(seconds.median, place, xerr=whiskers, color="black", capsize=3, linewidth=1)
    axes.annotate(
        label,
        (seconds.high, place),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        fontweight="bold" if colour != GREY else "normal",
    )


def draw_solver(axes, comparisons):
    """Two bars a comparison, the MPI alone above Sumac."""
    for place, comparison in enumerate(comparisons):
        native, sumac = comparison.seconds("native"), comparison.seconds("sumac")
        draw_bar(axes, place - HEIGHT / 2, native, GREY, f"{native.median:.2f} s")
        gain = comparison.speedup()
        found = f"{gain.median:.2f}x as fast" if gain.is_clear() else "no clear difference"
        text = f"{sumac.median:.2f} s with Sumac: {found}"
        draw_bar(axes, place + HEIGHT / 2, sumac, COLOURS[comparison.mpi.family], text)
    axes.set_yticks(
        range(len(comparisons)),
        [f"{c.mpi.title}\n{c.plan.cells}³ cells a rank" for c in comparisons],
    )
    axes.invert_yaxis()
    longest = max(c.seconds(side).high for c in comparisons for side in ("native", "sumac"))
    axes.set_xlim(0, longest * 1.6)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(5))
    axes.set_xlabel("seconds to solution (shorter is better)")
    axes.set_title("A solver, MPI alone (grey) and with Sumac", fontsize=10)


def draw_allreduce(axes, curves):
    """One line an MPI. curves: family -> (title, sizes, Spreads of the speed-up)."""
    for family, (title, sizes, speedups) in curves.items():
        colour = COLOURS.get(family, GREY)
        axes.plot(
            sizes, [s.median for s in speedups], "-o", color=colour, markersize=3, label=title
        )
        low, high = ([getattr(s, end) for s in speedups] for end in ("low", "high"))
        axes.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.axhline(1, color="black", linewidth=1)
    axes.annotate("the MPI alone", (0, 1), xycoords=("axes fraction", "data"), va="bottom")
    axes.set_xscale("log", base=4)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_locator(ticker.LogLocator(base=16, numticks=10))
    sizes_shown = ticker.FuncFormatter(lambda size, _: units.format_bytes(round(size)))
    axes.xaxis.set_major_formatter(sizes_shown)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda times, _: f"{units.plain(times)}x"))
    axes.set_xlabel("size of the message")
    axes.set_ylabel("times as fast")
    axes.grid(True, which="major", alpha=0.25)
    axes.legend(fontsize=9, frameon=False)
    axes.set_title("MPI_Allreduce alone, sums of floats, 2 ranks", fontsize=10)


def save(titles, comparisons, curves, path):
    """Draws the picture to `path`. titles: what was found, and where and when; comparisons: of
    demo_cg; curves: see draw_allreduce()."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    figure.suptitle(titles[0], fontweight="bold")
    notes = f"Bars and points are medians, whiskers and bands quartiles. {titles[1]}"
    figure.supxlabel(notes, fontsize=8, color="#5f6368")
    draw_solver(left, comparisons)
    draw_allreduce(right, curves)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
