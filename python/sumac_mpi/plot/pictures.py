# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as files, in one style, with a line below that says where, when and with which Sumac
their numbers were made. Needs matplotlib."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter  # noqa: E402

from sumac_mpi import __version__
from sumac_mpi.base import files, units  # noqa: E402
from sumac_mpi.base.errors import bad_value  # noqa: E402
from sumac_mpi.bench.results import Run

matplotlib.use("Agg")


# Distinct also for colour-blind readers, and in grey.
COLOURS = ("#c1440e", "#1f5fa8", "#3c8d40", "#7b4fa0", "#8a6d1d", "#4a4a4a")
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
_FEW_TICKS = 4
_NOTE_PER_INCH = 17  # characters of a note


def check(option: str, path: Path) -> None:
    """Raises a usage error for a picture that could not be written."""
    known = Figure().canvas.get_supported_filetypes()
    if _ending(path) not in known:
        raise bad_value(
            f"{option} {path}: {path.suffix or 'no ending'} is no kind of picture",
            fix="name it .png, .svg or .pdf",
        )
    files.check(option, path)


@contextmanager
def page(
    output: Path,
    shape: tuple[int, int],
    size: tuple[float, float],
    *notes: str,
    dpi: int = 160,
    style: Mapping[str, Any] = STYLE,
    **others: Any,
) -> Iterator[tuple[Figure, Any]]:
    """Yields a figure of `size` inches and its panels, an array of the shape (rows, columns), in a
    style. What has been drawn then is written with the notes below it. `others` are options of
    pyplot.subplots()."""
    with pyplot.rc_context(dict(style)):
        figure, panels = pyplot.subplots(
            *shape, figsize=size, squeeze=False, layout="constrained", **others
        )
        yield figure, panels
        _add_notes(figure, notes)
        content = io.BytesIO()
        figure.savefig(content, dpi=dpi, format=_ending(output))
        pyplot.close(figure)
    files.save(output, content.getvalue())


def _add_notes(figure: Figure, notes: Iterable[str]) -> None:
    """Writes what one must know of the numbers below the panels, in small print."""
    width = int(figure.get_figwidth() * _NOTE_PER_INCH)
    text = "\n".join(textwrap.fill(note, width) for note in notes if note)
    figure.supxlabel(text, fontsize=7, color="#5f6368")


def title_and_legend(axes: Axes, title: str, columns: int = 2, size: float = 9) -> None:
    """The title of a panel, and below it the legend, above the panel: it never lies on data."""
    handles, labels = axes.get_legend_handles_labels()
    lines = math.ceil(len(handles) / columns)
    axes.set_title(title, pad=6 + lines * size * 1.6)
    if handles:
        axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2,
                    ncols=columns, fontsize=size, frameon=False)  # fmt: skip


def plain_log_labels(axis: Axis) -> None:
    """Labels such as 0.5 and 20000 instead of powers; also where no power of ten is shown."""
    low, high = sorted(axis.get_view_interval())
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 3), (1, 2, 5), tuple(range(1, 10))):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= _FEW_TICKS:
            break
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: units.plain(value)))
    axis.set_minor_formatter(NullFormatter())


def _ending(path: Path) -> str:
    return path.suffix[1:].lower()


UNSTEADY = (
    "Bands show the quartiles of the rounds. Hollow points are unsteady: their rounds differ by "
    "half or more."
)
_SEPARATOR = "  ·  "


def of_runs(runs: Sequence[Run]) -> str:
    """The note of where, when and with which Sumac numbers were made. Of benchmark results; what
    differs between their files is listed."""
    machines = [" ".join(str(run.machine.get("host", "")).split()) for run in runs]
    processors = [" ".join(str(run.machine.get("cpu", "")).split()) for run in runs]
    ranks = [run.ranks for run in runs if not run.is_local]
    counts = [" and ".join(map(str, sorted(set(ranks)))) + " ranks"] if ranks else []
    crowded = any(run.header.get("oversubscribed") for run in runs)
    return joined(
        *_distinct(machines), *_distinct(processors), *counts,
        *(["more ranks than cores"] if crowded else []), *_distinct(day(run.date) for run in runs),
        *_distinct(f"Sumac {run.header.get('version', __version__)}" for run in runs),
    )  # fmt: skip


def of_job(hosts: Iterable[str], ranks: int, date: str) -> str:
    """Of a job that left files, drawn by this version."""
    names = list(dict.fromkeys(hosts))
    where = names[0] if len(names) == 1 else units.counted(len(names), "host")
    return joined(where, units.counted(ranks, "rank"), day(date), f"drawn by Sumac {__version__}")


def day(date: str) -> str:
    """A date of ISO 8601 as "27 November 2026"; other text as it is."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return date
    return f"{found.day} {found:%B %Y}"


def joined(*parts: str) -> str:
    return _SEPARATOR.join(part for part in parts if part)


def _distinct(parts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(part for part in parts if part))
