# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `sumac trace`: a lane for each rank, level and stage, and a bar for each chunk."""

from __future__ import annotations

from pathlib import Path

from matplotlib import colors, pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from sumac_mpi import pictures, trace_summary
from sumac_mpi.figure import COLOURS
from sumac_mpi.trace_file import Operation, Trace

_WHOLE = "#c8c8c8"
_WIDTH = 12.0  # inches
_LANE, _TALLEST = 0.22, 120.0  # inches; beyond the latter, lanes get thinner
_MARGIN = 1.6  # inches above and below the lanes
_CHARACTER = 0.07  # inches: what a digit of a chunk's number needs
_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "sumac",
}

Name = tuple[str, str]  # level and stage; ("", operation) for the whole call
Bar = tuple[int, int, str]  # begin, end, text


def draw(operation: Operation, trace: Trace, output: Path) -> None:
    names = trace_summary.lanes(operation)
    colour = _colours(operation, names)
    bars = _bars(operation)
    shown = [
        (rank, name)
        for rank in sorted(operation.calls)
        for name in [("", operation.name), *names]
        if (rank, *name) in bars
    ]
    height = min(_LANE * len(shown), _TALLEST)
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(_WIDTH, height + _MARGIN), layout="constrained")
        axes.set_title(trace_summary.title(operation, trace), loc="left")
        for lane, (rank, name) in enumerate(shown):
            _draw_lane(axes, lane, operation, bars[rank, *name], colour[name])
        _finish(axes, operation, shown)
        if names:
            handles = [Patch(color=colour[name], label=" ".join(name)) for name in names]
            figure.legend(
                handles=handles,
                loc="outside lower center",
                ncols=min(len(handles), 8),
                frameon=False,
            )
        pictures.save(figure, output, 160 if height < _TALLEST / 2 else 80)


def _bars(operation: Operation) -> dict[tuple[int, str, str], list[Bar]]:
    """By lane."""
    result: dict[tuple[int, str, str], list[Bar]] = {
        lane: [(each.begin, each.end, str(each.chunk)) for each in pieces]
        for lane, pieces in operation.lanes().items()
    }
    for rank, (begin, end) in operation.calls.items():
        result[rank, "", operation.name] = [(begin, end, "")]
    return result


def _colours(operation: Operation, names: list[Name]) -> dict[Name, str]:
    """A hue for each level; dark across, light down."""
    levels = trace_summary.level_order(operation)
    shades = {"up": ("white", 0.0), "across": ("black", 0.35), "down": ("white", 0.45)}
    result = {("", operation.name): _WHOLE}
    for level, stage in names:
        base = colors.to_rgb(COLOURS[levels.index(level) % len(COLOURS)])
        towards, part = shades.get(stage, ("white", 0.65))
        mixed = [(1 - part) * a + part * b for a, b in zip(base, colors.to_rgb(towards))]
        result[level, stage] = colors.to_hex(mixed)
    return result


def _draw_lane(axes: Axes, lane: int, operation: Operation, bars: list[Bar], colour: str) -> None:
    places = [((begin - operation.begin) / 1000, (end - begin) / 1000) for begin, end, _ in bars]
    axes.broken_barh(places, (lane - 0.4, 0.8), color=colour, edgecolor="white", linewidth=0.3)
    per_inch = max(operation.duration, 1) / 1000 / (_WIDTH * 0.85)
    dark = sum(colors.to_rgb(colour)) < 1.6
    for (start, width), (_, _, text) in zip(places, bars):
        if text and width > (len(text) + 0.6) * _CHARACTER * per_inch:
            axes.text(
                start + width / 2, lane, text, ha="center", va="center_baseline", fontsize=6.5,
                color="white" if dark else "black",
            )  # fmt: skip


def _finish(axes: Axes, operation: Operation, shown: list[tuple[int, Name]]) -> None:
    labels = [
        f"rank {rank}  {name[1]}" if not name[0] else f"{name[0]} {name[1]}" for rank, name in shown
    ]
    axes.set_yticks(range(len(shown)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, max(operation.duration, 1) / 1000)
    axes.set_xlabel("µs from when the first rank called")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for lane, (_, name) in enumerate(shown):
        if not name[0] and lane:
            axes.axhline(lane - 0.5, color="#999999", linewidth=0.6)
