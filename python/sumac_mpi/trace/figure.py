# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `sumac trace`: a lane for each rank, level and stage, and a bar for each chunk."""

from __future__ import annotations

from pathlib import Path

from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from sumac_mpi.base import units
from sumac_mpi.plot import pictures
from sumac_mpi.plot.pictures import COLOURS
from sumac_mpi.trace import summary, time_axis
from sumac_mpi.trace.operations import Operation, Trace
from sumac_mpi.trace.time_axis import TimeAxis

_WHOLE = "#c8c8c8"
_WIDTH = 12.0  # inches
_LANE, _TALLEST = 0.22, 120.0  # inches; beyond the latter, lanes get thinner
_MARGIN = 1.6  # inches above and below the lanes
_CHARACTER = 0.07  # inches: the width of a digit of a chunk's number
_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "sumac",
}

_CUT = (
    "A hatched strip shortens a time in which nothing begins or ends; its true length stands above."
)

Name = tuple[str, str]  # level and stage; ("", operation) for the whole call
Bar = tuple[int, int, str]  # begin, end, text


def draw(operation: Operation, trace: Trace, output: Path) -> None:
    names = summary.lanes(operation)
    colour = _colours(operation, names)
    bars = _bars(operation)
    axis = _time_axis(operation)
    shown = [
        (rank, name)
        for rank in sorted(operation.calls)
        for name in [("", operation.name), *names]
        if (rank, *name) in bars
    ]
    height = min(_LANE * len(shown), _TALLEST)
    hosts = [host for _, host in sorted(trace.hosts.items())]
    notes = pictures.of_job(hosts, trace.ranks, trace.date), _CUT if axis.cuts else ""
    dpi = 160 if height < _TALLEST / 2 else 80
    page = pictures.page(output, (1, 1), (_WIDTH, height + _MARGIN), *notes, dpi=dpi, style=_STYLE)
    with page as (figure, ((axes,),)):
        axes.set_title(summary.title(operation, trace), loc="left", pad=20)
        for lane, (rank, name) in enumerate(shown):
            _draw_lane(axes, lane, axis, bars[rank, *name], colour[name])
        _finish(axes, axis, shown)
        _draw_cuts(axes, axis, operation)
        if names:
            handles = [Patch(color=colour[name], label=" ".join(name)) for name in names]
            columns = min(len(handles), 8)
            figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def _bars(operation: Operation) -> dict[tuple[int, str, str], list[Bar]]:
    """The bars of each lane."""
    result: dict[tuple[int, str, str], list[Bar]] = {
        lane: [(each.begin, each.end, str(each.chunk)) for each in pieces]
        for lane, pieces in operation.lanes().items()
    }
    for rank, (begin, end) in operation.calls.items():
        result[rank, "", operation.name] = [(begin, end, "")]
    return result


def _colours(operation: Operation, names: list[Name]) -> dict[Name, str]:
    """A hue for each level; dark across, light down."""
    levels = summary.level_order(operation)
    shades = {"up": ("white", 0.0), "across": ("black", 0.35), "down": ("white", 0.45)}
    result = {("", operation.name): _WHOLE}
    for level, stage in names:
        base = colors.to_rgb(COLOURS[levels.index(level) % len(COLOURS)])
        towards, part = shades.get(stage, ("white", 0.65))
        mixed = [(1 - part) * a + part * b for a, b in zip(base, colors.to_rgb(towards))]
        result[level, stage] = colors.to_hex(mixed)
    return result


def _time_axis(operation: Operation) -> TimeAxis:
    spans = [*operation.calls.values(), *((each.begin, each.end) for each in operation.pieces)]
    return time_axis.of(operation.begin, operation.end, (edge for span in spans for edge in span))


def _draw_lane(axes: Axes, lane: int, axis: TimeAxis, bars: list[Bar], colour: str) -> None:
    starts = [axis.place(begin) for begin, _, _ in bars]
    widths = [axis.place(end) - start for start, (_, end, _) in zip(starts, bars)]
    axes.broken_barh(
        list(zip(starts, widths)), (lane - 0.4, 0.8), color=colour, edgecolor="white", linewidth=0.3
    )
    per_inch = max(axis.length, 1) / (_WIDTH * 0.85)
    dark = sum(colors.to_rgb(colour)) < 1.6
    for start, width, (_, _, text) in zip(starts, widths, bars):
        if text and width > (len(text) + 0.6) * _CHARACTER * per_inch:
            axes.text(
                start + width / 2, lane, text, ha="center", va="center_baseline", fontsize=6.5,
                color="white" if dark else "black",
            )  # fmt: skip


def _draw_cuts(axes: Axes, axis: TimeAxis, operation: Operation) -> None:
    """Draws a hatched strip for each cut, with the time that it replaces."""
    for cut in axis.cuts:
        begin, end = (axis.place(edge) for edge in cut)
        axes.axvspan(
            begin, end, facecolor="white", edgecolor="#999999", alpha=0.55, hatch="////",
            linewidth=0, zorder=3,
        )  # fmt: skip
        late = time_axis.late_ranks(cut, operation.calls)
        reason = f", waiting for {summary.some_ranks(late)}" if late else ""
        axes.annotate(
            f"{units.format_time(cut[1] - cut[0])}{reason}",
            ((begin + end) / 2, 1), xycoords=("data", "axes fraction"),
            xytext=(0, 3), textcoords="offset points", fontsize=8, color="#a03000",
            ha="left" if begin < axis.length / 4 else "center",
        )  # fmt: skip


def _finish(axes: Axes, axis: TimeAxis, shown: list[tuple[int, Name]]) -> None:
    labels = [
        f"rank {rank}  {name[1]}" if not name[0] else f"{name[0]} {name[1]}" for rank, name in shown
    ]
    axes.set_yticks(range(len(shown)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, max(axis.length, 1))
    unit, per_unit = ("ms", 1_000_000) if axis.end - axis.begin >= 100_000_000 else ("µs", 1000)
    ticks = axis.ticks()
    axes.set_xticks(
        [axis.place(axis.begin + tick) for tick in ticks],
        [units.plain(tick / per_unit) for tick in ticks],
    )
    axes.set_xlabel(f"{unit} from when the first rank called")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for lane, (_, name) in enumerate(shown):
        if not name[0] and lane:
            axes.axhline(lane - 0.5, color="#999999", linewidth=0.6)
