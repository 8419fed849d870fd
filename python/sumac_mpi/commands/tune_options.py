# SPDX-License-Identifier: BSD-3-Clause
"""The options of `sumac tune` alone: names and help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi.commands.common_options import JOB

_WHAT, _OUTPUT = "What is measured", "Output"

Collectives = Annotated[
    Optional[list[str]],
    typer.Argument(metavar="COLLECTIVE...", help="{collectives}; all if none is given"),
]
SizesOption = Annotated[
    str, typer.Option("--sizes", metavar="SIZE,...", rich_help_panel=_WHAT, help="Message sizes")
]
Turns = Annotated[
    int,
    typer.Option(
        "--turns",
        metavar="N",
        min=2,
        rich_help_panel=_WHAT,
        help="How often the jobs take turns",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds",
        metavar="SECONDS",
        min=0.001,
        rich_help_panel=_WHAT,
        help="Time that one size may take",
    ),
]
Ranks = Annotated[
    Optional[str],
    typer.Option(
        "-n",
        "-np",
        "--ranks",
        metavar="N,...",
        rich_help_panel=JOB,
        help="Numbers of ranks; rules are written for these alone",
        show_default="one for each core",
    ),
]
Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="FILE", rich_help_panel=_OUTPUT, help="The rules"),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", rich_help_panel=_OUTPUT, help="Replace an existing file")
]
Restart = Annotated[
    bool,
    typer.Option(
        "--restart",
        rich_help_panel=_OUTPUT,
        help="Measure all again, also what an interrupted run has measured",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=_OUTPUT,
        help="Only show what would be measured, and about how long it takes",
    ),
]
