# SPDX-License-Identifier: BSD-3-Clause
"""The options that several commands have, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sumac_mpi.base import files
from sumac_mpi.base.errors import SumacError
from sumac_mpi.launch import hosts, mpi_words

JOB = "The job"  # the heading, in the help, of the options about a job and its launcher
FROM_FOLDER = "Show what an earlier job has written into FOLDER; run nothing"


def checked(check: Callable[[Any], object]) -> Callable[[typer.Context, Any], Any]:
    """A callback for values that `check` raises an error for: so all of them are reported."""

    def callback(context: typer.Context, value: Any) -> Any:
        # A shell's question is parsed with resilience.
        if value not in (None, (), []) and not context.resilient_parsing:
            check(value)
        return value

    return callback


def offering(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What a shell may offer for a word from a table; nothing where the library is missing."""

    def offered(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except SumacError:
            return []

    return offered


def json_option(**others: Any) -> Any:
    """Without FILE it is files.STDOUT."""
    return typer.Option(
        "--json",
        metavar="[=FILE]",
        callback=checked(lambda path: files.check("--json", path)),
        help="Print JSON, or write it to FILE",
        **others,
    )


def picture_option(**others: Any) -> Any:
    return typer.Option(
        *("-o", "--output"),
        metavar="FILE",
        help="Draw a picture into this file: .png, .svg or .pdf",
        **others,
    )


JsonOption = Annotated[Optional[Path], json_option()]
PictureOption = Annotated[Optional[Path], picture_option()]
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
        callback=checked(hosts.parse),
        help="Where to start ranks: node1:2,node2:2 or node[01-16]:8",
    ),
]
HostfileOption = Annotated[
    Optional[Path],
    typer.Option(
        "--hostfile",
        metavar="FILE",
        rich_help_panel=JOB,
        callback=checked(hosts.read),
        help="The same from a file, of lines such as 'node1:2' or 'node1 slots=2'",
    ),
]
MpiOption = Annotated[
    Optional[str],
    typer.Option(
        "--mpi",
        metavar="MPI",
        rich_help_panel=JOB,
        callback=checked(mpi_words.family_of),
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
        "-x", metavar="NAME[=VALUE]", rich_help_panel=JOB, help="Set or pass on a variable"
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
LimitOption = Annotated[
    Optional[int],
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=1,
        rich_help_panel=JOB,
        help="End the job if it takes longer",
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
