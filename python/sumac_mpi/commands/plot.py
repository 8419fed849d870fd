# SPDX-License-Identifier: BSD-3-Clause
"""`sumac plot`: a figure of benchmark results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi.bench import results
from sumac_mpi.commands.common_options import option, picture_option
from sumac_mpi.plot import drawing

Output = picture_option(Path)
Title = option(
    Optional[str], "--title", "TEXT", "Title of the picture", None, show_default="what was measured"
)


def plot(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Results that 'sumac bench --json=FILE' has written"
        ),
    ],
    output: Output,
    title: Title = None,
) -> None:
    """Draw the results of 'sumac bench'.

    Latency with and without Sumac, and the speedup, over the message size. Of reduce_local: a heat
    map of each operation's time on each type, over that of memcpy. Of pack: bars of GB/s.

    \b
    sumac plot results.json -o results.png
    """
    drawing.check("-o", output)
    named = [
        (path.stem if len(files) > 1 else "", run) for path in files for run in results.load(path)
    ]
    drawing.draw(named, output, title)
