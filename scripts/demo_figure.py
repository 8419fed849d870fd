# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the demonstration: solver times on the left, all-reduce times on the right."""

import matplotlib

matplotlib.use("Agg")
# pylint: disable=wrong-import-position
from matplotlib import pyplot, ticker

COLOURS = {"openmpi": "#1f6fb4", "mpich": "#c8553d"}
GREY = "#9aa0a6"


def size_label(size, _position=None):
    for unit in ("", "K", "M", "G"):
        if size < 1024:
            return f"{size:.0f}{unit}"
        size /= 1024
    return f"{size:.0f}T"


def draw_solver(axes, comparisons):
    """Pairs of bars, native and Sumac, relative to native; the part in collectives is filled."""
    width = 0.38
    top = 1.0
    for place, comparison in enumerate(comparisons):
        colour = COLOURS[comparison.mpi.family]
        whole = comparison.median("native", "seconds")
        above = max(1.0, comparison.median("sumac", "seconds") / whole)
        top = max(top, above)
        for offset, side, tint in ((-width / 2, "native", GREY), (width / 2, "sumac", colour)):
            time = comparison.median(side, "seconds") / whole
            inside = comparison.median(side, "collective_seconds") / whole
            axes.bar(place + offset, inside, width * 0.92, color=tint)
            axes.bar(
                place + offset, time - inside, width * 0.92, bottom=inside, color=tint, alpha=0.3
            )
        axes.annotate(
            f"{comparison.speedup():.2f}x",
            (place, above + 0.02),
            ha="center",
            va="bottom",
            fontweight="bold",
            color=colour,
        )
    axes.set_xticks(
        range(len(comparisons)),
        [f"{c.mpi.title}\n{c.plan.method}\n{c.plan.cells}³ cells" for c in comparisons],
        fontsize=8,
    )
    axes.set_ylim(0, top * 1.12)
    axes.yaxis.set_major_formatter(ticker.PercentFormatter(1))
    axes.set_ylabel("time to solution, MPI alone = 100 %")
    axes.set_title(
        "Conjugate gradients: MPI alone (grey), with Sumac\ndark: time in collectives", fontsize=10
    )


def draw_allreduce(axes, curves):
    """One pair of lines an MPI. curves: family -> (title, sizes, native us, Sumac us)."""
    for family, (title, sizes, native, sumac) in curves.items():
        colour = COLOURS.get(family, GREY)
        axes.plot(sizes, native, "--", color=colour, alpha=0.7, label=title)
        axes.plot(sizes, sumac, "-o", color=colour, markersize=3, label=f"{title} with Sumac")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(size_label))
    axes.set_xlabel("bytes")
    axes.set_ylabel("microseconds (median)")
    axes.grid(True, which="major", alpha=0.25)
    axes.legend(fontsize=8, frameon=False)
    axes.set_title("MPI_Allreduce, float sum, 2 ranks", fontsize=10)


def save(comparisons, curves, path):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    draw_solver(left, comparisons)
    draw_allreduce(right, curves)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
