# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as files. Needs matplotlib."""

from __future__ import annotations

import io
import math
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter  # noqa: E402

from sumac_mpi.base import files, units  # noqa: E402
from sumac_mpi.base.errors import bad_value  # noqa: E402

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


def save(figure: Figure, path: Path, dpi: int) -> None:
    content = io.BytesIO()
    figure.savefig(content, dpi=dpi, format=_ending(path))
    pyplot.close(figure)
    files.save(path, content.getvalue())


def add_note(figure: Figure, *lines: str) -> None:
    """Writes what one must know of the numbers below the panels, in small print."""
    width = int(figure.get_figwidth() * _NOTE_PER_INCH)
    text = "\n".join(textwrap.fill(line, width) for line in lines if line)
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
