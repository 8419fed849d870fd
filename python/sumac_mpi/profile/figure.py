# SPDX-License-Identifier: BSD-3-Clause
"""The picture of a profile: the time by place in the program, and with Sumac where that is
predicted; how often each size occurred; and for how long each rank waited. Needs matplotlib."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

from matplotlib.axes import Axes

from sumac_mpi.base import units
from sumac_mpi.plot import pictures
from sumac_mpi.profile import report
from sumac_mpi.profile.job import Profile
from sumac_mpi.profile.rows import By, rows

_SITES = 12  # those with the most time
_LONGEST = 44  # characters of a place's name
_WAITING, _WORK, _SUMAC = "#c9c9c9", pictures.COLOURS[1], pictures.COLOURS[0]


def draw(profile: Profile, predicted: bool, output: Path) -> None:
    places = 0.45 * max(len(rows(profile, By.site)[:_SITES]), 4)  # inches
    hosts = [rank.host for rank in profile.ranks]
    note = pictures.of_job(hosts, profile.size, profile.date)
    page = pictures.page(
        output, (3, 1), (9, places + 6.5), note, dpi=130, height_ratios=[places, 2.5, 2.5]
    )
    with page as (figure, ((above,), (middle,), (below,))):
        _sites(above, profile, predicted)
        _sizes(middle, profile)
        _ranks(below, profile)
        for panel in (above, middle, below):
            panel.set_axisbelow(True)
        figure.suptitle(report.title(profile), fontsize=10, wrap=True)


def _unit(profile: Profile) -> tuple[str, float]:
    """Seconds or milliseconds, whichever fits the time in collectives, and its nanoseconds."""
    longest = max(profile.of_rank(rank.rank).total for rank in profile.ranks)
    return ("s", 1e9) if longest >= 1e10 else ("ms", 1e6)


def _sites(axes: Axes, profile: Profile, predicted: bool) -> None:
    shown = rows(profile, By.site)[:_SITES]
    unit, nanoseconds = _unit(profile)
    scale = nanoseconds * len(profile.ranks)
    places = range(len(shown))
    waited = [row.times.waited / scale for row in shown]
    work = [row.times.total / scale - wait for row, wait in zip(shown, waited)]
    height = 0.38 if predicted else 0.7
    above = [place - height / 2 if predicted else place for place in places]
    axes.barh(above, waited, height, color=_WAITING, label="waiting for others")
    axes.barh(above, work, height, left=waited, color=_WORK, label="the work itself")
    if predicted:
        after = [row.times.with_sumac / scale for row in shown]
        below = [place + height / 2 for place in places]
        axes.barh(below, after, height, color=_SUMAC, label="with Sumac, predicted")
        for place, row, end in zip(below, shown, after):
            if row.times.with_sumac:
                gain = row.times.total / row.times.with_sumac
                axes.annotate(f" {gain:.2f}x", (end, place), va="center", fontsize=8)
    axes.set_yticks(places, [f"{row.key[1]} {_short(row.key[0])}" for row in shown])
    axes.invert_yaxis()
    axes.set(xlabel=f"{unit}, mean of the ranks")
    axes.grid(False, axis="y")
    pictures.title_and_legend(axes, "Time in collectives by place in the program", 3, 8)


def _short(place: str) -> str:
    return place if len(place) <= _LONGEST else "…" + place[1 - _LONGEST :]


def _sizes(axes: Axes, profile: Profile) -> None:
    """Calls by powers of two, the first bar those of no bytes; of each collective a part of it."""
    counts: dict[str, dict[int, float]] = {}
    for row in rows(profile, By.size):
        classes = counts.setdefault(row.call, {})
        for size, calls in row.sizes.items():
            power = size.bit_length()
            classes[power] = classes.get(power, 0) + calls / len(profile.ranks)
    most = max((power for classes in counts.values() for power in classes), default=0)
    below = [0.0] * (most + 1)
    colours = cycle(pictures.COLOURS)
    for call, classes in counts.items():
        heights = [classes.get(power, 0.0) for power in range(most + 1)]
        axes.bar(range(most + 1), heights, bottom=below, label=call, color=next(colours))
        below = [low + height for low, height in zip(below, heights)]
    names = ["0", *(units.format_size(1 << power) for power in range(most))]
    step = max(1, len(names) // 12)
    axes.set_xticks(range(0, len(names), step), names[::step])
    axes.set(
        xlabel="size of the message: from these bytes to twice as many", ylabel="calls per rank"
    )
    pictures.title_and_legend(axes, "Sizes of messages", 4, 8)


def _ranks(axes: Axes, profile: Profile) -> None:
    numbers = [rank.rank for rank in profile.ranks]
    totals = [profile.of_rank(number) for number in numbers]
    unit, scale = _unit(profile)
    waited = [times.waited / scale for times in totals]
    work = [times.total / scale - wait for times, wait in zip(totals, waited)]
    axes.bar(numbers, waited, color=_WAITING, label="waiting for others")
    axes.bar(numbers, work, bottom=waited, color=_WORK, label="the work itself")
    if len(numbers) <= 32:
        axes.set_xticks(numbers)
    axes.set(xlabel="rank", ylabel=unit)
    pictures.title_and_legend(axes, "Time in collectives by rank", 2, 8)
