# SPDX-License-Identifier: BSD-3-Clause
"""The options of `sumac bench`: names, defaults and help texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sumac_mpi.base import errors, units
from sumac_mpi.base.errors import SumacError
from sumac_mpi.bench import request
from sumac_mpi.bench.output import Format
from sumac_mpi.bench.request import OP, ROUNDS, SECONDS, TYPE, Compute, Series
from sumac_mpi.commands import help_layout
from sumac_mpi.commands.common_options import JOB, checked, json_option, offering, picture_option
from sumac_mpi.launch import installations
from sumac_mpi.library import calls, tables
from sumac_mpi.tune import request as tuned

# The headings of the help.
_WHAT, _HOW, _OUTPUT = "What is measured", "How", "Output"


class Command(help_layout.Command):
    """`sumac bench`, `sumac tune` and `sumac simulate`, whose help lists what the tables of the
    library hold."""

    def filled(self, text: str) -> str:
        lists = {
            "{collectives}": calls.collectives,
            "{simulated}": calls.simulated,
            "{tuned}": lambda: list(tuned.collectives(())),
            "{types}": request.types,
            "{operations}": tables.operations,
            "{layouts}": lambda: tables.names("layouts"),
        }
        for word, names in lists.items():
            if word in text:
                text = text.replace(word, _joined(names))
        return text

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> list[Any]:
        items = super().shell_complete(ctx, incomplete)
        for item in items:
            item.help = item.help and self.filled(item.help)
        return items


def _joined(names: Callable[[], list[str]]) -> str:
    """The names with commas. The help is shown also where the library is missing."""
    try:
        return ", ".join(names())
    except SumacError:
        return "not known while the Sumac library is missing"


def _option(*names: str, heading: str, help: str, **others: Any) -> Any:
    return typer.Option(*names, rich_help_panel=heading, help=help, **others)


Call = Annotated[
    str,
    typer.Argument(
        metavar="COLLECTIVE",
        callback=checked(calls.require_known),
        autocompletion=offering(calls.names),
        help="{collectives}; nonblocking: iallreduce and so on; persistent: "
        "allreduce-persistent and so on; reduce_local; or pack",
    ),
]
# Where None is the default, it depends on the call.
Smallest = Annotated[
    Optional[str],
    _option(
        *("-b", "--min"),
        metavar="SIZE",
        heading=_WHAT,
        callback=checked(units.parse_size),
        help="Smallest message",
        show_default=request.SMALLEST,
    ),
]
Largest = Annotated[
    Optional[str],
    _option(
        *("-e", "--max"),
        metavar="SIZE",
        heading=_WHAT,
        callback=checked(units.parse_size),
        help="Largest message",
        show_default=request.LARGEST,
    ),
]
Factor = Annotated[
    Optional[int],
    _option(
        *("-f", "--factor"),
        metavar="N",
        min=2,
        heading=_WHAT,
        help="Factor from one message size to the next",
        show_default=str(request.FACTOR),
    ),
]
SizesOption = Annotated[
    Optional[str],
    _option(
        "--sizes",
        metavar="SIZE,...",
        heading=_WHAT,
        help="These sizes, instead of -b, -e and -f",
        show_default=f"of reduce_local {request.LOCAL_SIZES}, of pack {request.PACK_SIZES}",
    ),
]
Type = Annotated[
    Optional[str],
    _option(
        *("-d", "--type"),
        metavar="TYPE",
        heading=_WHAT,
        callback=checked(lambda name: errors.require("-d", name, request.types())),
        autocompletion=offering(request.types),
        help="Element type: {types}",
        show_default=TYPE,
    ),
]
Op = Annotated[
    Optional[str],
    _option(
        "--op",
        metavar="OP",
        heading=_WHAT,
        callback=checked(lambda name: errors.require("--op", name, tables.operations())),
        help="Operation: {operations}",
        show_default=OP,
    ),
]
Types = Annotated[
    Optional[str],
    _option(
        "--types",
        metavar="TYPE,...",
        heading=_WHAT,
        help="Of reduce_local: element types, or all",
        show_default="all",
    ),
]
Ops = Annotated[
    Optional[str],
    _option(
        "--ops",
        metavar="OP,...",
        heading=_WHAT,
        help="Of reduce_local: operations, or all",
        show_default="all",
    ),
]
Layouts = Annotated[
    Optional[str],
    _option(
        "--layouts",
        metavar="LAYOUT,...",
        heading=_WHAT,
        help="Of pack: datatypes, or all: {layouts}",
        show_default="all",
    ),
]
Root = Annotated[
    int, _option("-r", "--root", metavar="RANK", min=0, heading=_WHAT, help="Root rank")
]
InPlace = Annotated[bool, _option("--in-place", heading=_WHAT, help="Use MPI_IN_PLACE")]
WithCounts = Annotated[
    bool,
    _option(
        "--with-counts",
        heading=_WHAT,
        help="By the function with a count for each rank: MPI_Allgatherv for allgather",
    ),
]
Warmup = Annotated[
    int,
    _option(
        *("-w", "--warmup"), metavar="N", min=0, heading=_HOW, help="Calls before the timed ones"
    ),
]
Rounds = Annotated[
    Optional[int],
    _option(
        "--rounds",
        metavar="N",
        min=1,
        heading=_HOW,
        help="How often MPI and Sumac take turns",
        show_default=f"{ROUNDS}; of reduce_local and pack {request.LOCAL_ROUNDS}",
    ),
]
Iterations = Annotated[
    int,
    _option(
        "--iterations",
        metavar="N",
        min=0,
        heading=_HOW,
        help="Calls in a round; 0: as many as --seconds allows",
    ),
]
Seconds = Annotated[
    Optional[float],
    _option(
        "--seconds",
        metavar="SECONDS",
        min=0.001,
        heading=_HOW,
        help="Time that one size may take",
        show_default=f"{SECONDS}; of reduce_local and pack {request.LOCAL_SECONDS}",
    ),
]
Cold = Annotated[
    int,
    _option(
        "--cold",
        metavar="N",
        min=0,
        heading=_HOW,
        help="Only the first N calls of each size in a job, and their mean",
        show_default=False,
    ),
]
Overlap = Annotated[
    bool,
    _option(
        "--overlap",
        heading=_HOW,
        help="Also measure how much of a nonblocking call computation can hide",
    ),
]
Tests = Annotated[
    int,
    _option(
        "--tests", metavar="N", min=0, heading=_HOW, help="Calls of MPI_Test during the computation"
    ),
]
ComputeOption = Annotated[
    Compute,
    _option(
        "--compute",
        metavar="busy|idle",
        heading=_HOW,
        help="With --overlap: whether the computation keeps the core busy",
    ),
]
Mpi = Annotated[
    Optional[str],
    _option(
        "--mpi",
        metavar="MPI|all",
        heading=JOB,
        help="Which MPI: openmpi, mpich or all",
        show_default="the first in PATH",
    ),
]
Against = Annotated[
    Optional[str],
    _option(
        "--against",
        metavar="FILE|MPI,...",
        heading=_OUTPUT,
        help="Compare with results that --json has written to this file; or measure Sumac beside "
        "the best of these MPIs, such as openmpi5,mpich,intel or all",
    ),
]
Under = Annotated[
    Optional[str],
    _option(
        "--under",
        metavar="MPI,...",
        heading=_OUTPUT,
        help="With --against MPI: those that Sumac is loaded under",
        show_default="all of them",
    ),
]
Turns = Annotated[
    Optional[int],
    _option(
        "--turns",
        metavar="N",
        min=1,
        heading=_OUTPUT,
        help="How often the jobs take turns",
        show_default="3, with --against MPI",
    ),
]


def _install(wanted: bool) -> None:
    if wanted:
        for prefix in installations.install_wheels():
            print(prefix)
        raise typer.Exit()


InstallMpis = Annotated[
    bool,
    _option(
        "--install-mpis",
        heading=JOB,
        callback=_install,
        is_eager=True,
        help="Install Open MPI, MPICH and Intel MPI from their wheels, for --against",
    ),
]
FormatOption = Annotated[
    Format,
    _option(
        "--format",
        metavar="FORMAT",
        heading=_OUTPUT,
        help="What is printed: table, osu, csv or json",
    ),
]
Wide = Annotated[bool, _option("--wide", heading=_OUTPUT, help="Show all columns of the table")]
SeriesOption = Annotated[
    Series,
    _option(
        "--series",
        metavar="sumac|mpi",
        heading=_OUTPUT,
        help="With --format osu: whose times are printed",
    ),
]
JsonFile = Annotated[Optional[Path], json_option(rich_help_panel=_OUTPUT)]
PictureFile = Annotated[Optional[Path], picture_option(rich_help_panel=_OUTPUT)]
FailBelow = Annotated[
    Optional[float],
    _option(
        "--fail-below",
        metavar="RATIO",
        min=0,
        heading=_OUTPUT,
        help="End with status 5 if a size has less speedup",
    ),
]
