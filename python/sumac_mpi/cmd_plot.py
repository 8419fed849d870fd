# SPDX-License-Identifier: BSD-3-Clause
"""`sumac plot`: a figure of benchmark results."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Annotated, Optional

import typer

from sumac_mpi import requirements, results
from sumac_mpi.errors import bad_value


def plot(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Results that 'sumac bench -J FILE' has written"),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The picture: .png, .svg or .pdf")
    ],
    title: Annotated[
        Optional[str],
        typer.Option(
            "--title", metavar="TEXT", help="Title of the picture", show_default="what was measured"
        ),
    ] = None,
) -> None:
    """Draw the results of 'sumac bench'.

    Latency with and without Sumac, and the speedup, over the message size. Of reduce_local: a heat
    map of each operation's time on each type, over that of memcpy.

    \b
    sumac plot results.json -o results.png
    """
    check("-o", output)
    named = [
        (path.stem if len(files) > 1 else "", run) for path in files for run in results.load(path)
    ]
    draw(named, output, title)


def check(option: str, output: Path) -> None:
    """Raises a usage error for a picture that could not be written, before there is one."""
    drawing("pictures").check(option, output)


def draw(named: list[tuple[str, results.Run]], output: Path, title: str | None) -> None:
    """Raises a usage error for what cannot be drawn. Each run has the name of its file, where there
    are several."""
    local = [run for _, run in named if run.is_local]
    if local and len(local) < len(named):
        raise bad_value("reduce_local has a figure of its own", fix="draw it by itself")
    if local:
        drawing("heat_map").draw(local, output, title)
        return
    runs = [(name, run) for name, run in named if run.collective != "barrier"]
    if not runs:
        raise bad_value("a barrier has one size: nothing to draw")
    drawing("figure").draw(runs, output, title)


def drawing(module: str) -> ModuleType:
    """A module of this package that needs matplotlib. Raises with status 3 where that is not."""
    lacking = requirements.lacking("plot")
    if not lacking:
        try:
            return importlib.import_module(f"sumac_mpi.{module}")
        except ImportError as error:
            lacking = [str(error)]
    raise requirements.error("no-matplotlib", lacking)
