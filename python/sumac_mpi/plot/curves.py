# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `sumac plot`: one column for each call, latency above, speedup below, then overlap
where it was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from sumac_mpi.base import units
from sumac_mpi.bench.results import Run
from sumac_mpi.library import calls
from sumac_mpi.plot import pictures

# Distinct also for colour-blind readers, and in grey.
COLOURS = ("#c1440e", "#1f5fa8", "#3c8d40", "#7b4fa0", "#8a6d1d", "#4a4a4a")
_MOST_TICKS = 11
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "sumac",
}

Named = tuple[str, Run]  # the file's name where there are several, and what it holds


def draw(runs: list[Named], output: Path, title: str | None) -> None:
    names = list(dict.fromkeys(run.call for _, run in runs))
    overlap = any(run.overlap for _, run in runs)
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            3 if overlap else 2,
            len(names),
            figsize=(5.6 * len(names) + 0.4, 8.6 if overlap else 6.2),
            sharex="col",
            squeeze=False,
            height_ratios=(3, 2, 2) if overlap else (3, 2),
            layout="constrained",
        )
        figure.suptitle(title or _title([run for _, run in runs]), fontsize=12)
        for column, call in enumerate(names):
            chosen = [(name, run) for name, run in runs if run.call == call]
            _latency(axes[0][column], chosen, call)
            _speedup(axes[1][column], chosen)
            if overlap:
                _overlap(axes[2][column], chosen)
            sizes = (row.bytes for _, run in chosen for row in run.rows)
            size_axis(axes[-1][column], sizes)
        pictures.save(figure, output, 160)


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
        sizes = [row.bytes for row in run.rows]
        native = label or run.mpi_name
        axes.plot(
            sizes,
            [row.native_us for row in run.rows],
            color=colour if label else "#777777",
            linestyle="--",
            marker="o",
            markersize=3,
            linewidth=1.3,
            label=native,
        )
        with_sumac = [(row.bytes, row.sumac_us) for row in run.rows if row.sumac_us]
        if with_sumac:
            axes.plot(
                *zip(*with_sumac),
                color=colour,
                marker="o",
                markersize=3.5,
                linewidth=1.8,
                label=f"{label} with Sumac" if label else "with Sumac",
            )
        _aside(axes, run, colour, label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_title(call)
    axes.set_ylabel("latency (µs)")
    pictures.plain_log_labels(axes.yaxis)
    axes.legend(loc="upper left")


def _aside(axes: Axes, run: Run, colour: str, name: str) -> None:
    """Draws, beside the time of start and wait, that of the start alone and of the blocking
    call."""
    contender = "sumac" if run.with_sumac else "native"
    lines = {
        "the start alone": [(row.bytes, row.start_us(contender)) for row in run.rows],
        "the blocking call": [(row.bytes, row.blocking_us) for row in run.rows],
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
    axes.set_ylim(0, 105)
    axes.set_ylabel("overlap (%)" + ("\n× with MPI_Test" if tests else ""))


def _speedup(axes: Axes, runs: list[Named]) -> None:
    axes.axhline(1, color="#777777", linewidth=1)
    highest = 1.0
    for colour, (_, run) in zip(_cycle(len(runs)), runs):
        points = [(row.bytes, row.speedup) for row in run.rows if row.speedup]
        if points:
            axes.plot(*zip(*points), color=colour, marker="o", markersize=3.5, linewidth=1.8)
            highest = max(highest, *(speedup for _, speedup in points))
    axes.set_ylim(0, highest * 1.12)
    axes.set_ylabel("speedup")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{units.plain(value)}×"))


def size_axis(axes: Axes, bytes_: Iterable[int]) -> None:
    axes.set_xlabel("message size")
    sizes = sorted(set(bytes_))
    ticks = sizes[:: -(-len(sizes) // _MOST_TICKS)]
    axes.set_xticks(ticks, [units.format_bytes(size) for size in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", labelrotation=45)


def _cycle(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]
