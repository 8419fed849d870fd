# SPDX-License-Identifier: BSD-3-Clause
"""The options that several commands have, each declared once."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

JOB = "The job"  # the heading, in the help, of the options about a job and its launcher
FROM_FOLDER = "Show what an earlier job has written into FOLDER; run nothing"
AS_JSON = "Print JSON"
PICTURE = "Draw the results into this file: .png, .svg or .pdf"
RanksOption = Annotated[
    Optional[int],
    typer.Option(
        "-n",
        "-np",
        "--ranks",
        metavar="N",
        min=1,
        rich_help_panel=JOB,
        help="Number of ranks",
        show_default="all of --hosts or of Slurm's allocation, else one for each core",
    ),
]
HostsOption = Annotated[
    Optional[str],
    typer.Option(
        "--hosts",
        metavar="HOST:RANKS,...",
        rich_help_panel=JOB,
        help="Where to start ranks: node1:2,node2:2 or node[01-16]:8",
    ),
]
MpiOption = Annotated[
    Optional[str],
    typer.Option(
        "--mpi",
        metavar="MPI",
        rich_help_panel=JOB,
        help="Which MPI, if not found from the program: openmpi, mpich, intel and so on",
    ),
]
LauncherOption = Annotated[
    Optional[str],
    typer.Option(
        "--launcher",
        metavar="PATH",
        rich_help_panel=JOB,
        help="The mpiexec to use; found if not given",
    ),
]
LauncherArgOption = Annotated[
    Optional[list[str]],
    typer.Option(
        "--launcher-arg",
        metavar="ARG",
        rich_help_panel=JOB,
        help="An argument for the launcher; may be given several times",
    ),
]
VariablesOption = Annotated[
    Optional[list[str]],
    typer.Option(
        "-x",
        metavar="NAME[=VALUE]",
        rich_help_panel=JOB,
        help="Set or pass on a variable",
    ),
]
SettingsOption = Annotated[
    Optional[list[str]],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        rich_help_panel=JOB,
        help="Set the option SUMAC_NAME, see 'sumac info options'",
    ),
]
BindOption = Annotated[
    bool, typer.Option("--bind", rich_help_panel=JOB, help="Bind each rank to a core")
]
OversubscribeOption = Annotated[
    bool,
    typer.Option(
        "--oversubscribe", rich_help_panel=JOB, help="Allow more ranks than cores in any case"
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=1,
        rich_help_panel=JOB,
        help="End the job when it has printed nothing for this time",
    ),
]
