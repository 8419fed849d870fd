# SPDX-License-Identifier: BSD-3-Clause
"""The options of `sumac bench`: names, defaults and help texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Optional

import typer

from sumac_mpi.base import errors, units
from sumac_mpi.base.errors import SumacError
from sumac_mpi.bench import request
from sumac_mpi.bench.output import Format
from sumac_mpi.bench.request import OP, ROUNDS, SECONDS, TYPE, Compute, Series
from sumac_mpi.commands import help_layout
from sumac_mpi.commands.common_options import (
    checked,
    json_option,
    offering,
    option,
    picture_option,
)
from sumac_mpi.launch import installations, mpi_words
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


# Where None is the default, it depends on the call.
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
Smallest = option(
    Optional[str], "-b --min", "SIZE", "Smallest message", _WHAT, check=units.parse_size,
    show_default=request.SMALLEST,
)  # fmt: skip
Largest = option(
    Optional[str], "-e --max", "SIZE", "Largest message", _WHAT, check=units.parse_size,
    show_default=request.LARGEST,
)  # fmt: skip
Factor = option(
    Optional[int], "-f --factor", "N", "Factor from one message size to the next", _WHAT, min=2,
    max=1 << 20, show_default=str(request.FACTOR),
)  # fmt: skip
SizesOption = option(
    Optional[str], "--sizes", "SIZE,...", "These sizes, instead of -b, -e and -f", _WHAT,
    show_default=f"of reduce_local {request.LOCAL_SIZES}, of pack {request.PACK_SIZES}",
)  # fmt: skip
Type = option(
    Optional[str], "-d --type", "TYPE", "Element type: {types}", _WHAT, show_default=TYPE,
    check=lambda name: errors.require("-d", name, request.types()),
    autocompletion=offering(request.types),
)  # fmt: skip
Op = option(
    Optional[str], "--op", "OP", "Operation: {operations}", _WHAT, show_default=OP,
    check=lambda name: errors.require("--op", name, tables.operations()),
)  # fmt: skip
Types = option(
    Optional[str], "--types", "TYPE,...", "Of reduce_local: element types, or all", _WHAT,
    show_default="all",
)  # fmt: skip
Ops = option(
    Optional[str], "--ops", "OP,...", "Of reduce_local: operations, or all", _WHAT,
    show_default="all",
)  # fmt: skip
Layouts = option(
    Optional[str], "--layouts", "LAYOUT,...", "Of pack: datatypes, or all: {layouts}", _WHAT,
    show_default="all",
)  # fmt: skip
Root = option(int, "-r --root", "RANK", "Root rank", _WHAT, min=0)
InPlace = option(bool, "--in-place", None, "Use MPI_IN_PLACE", _WHAT)
WithCounts = option(
    bool, "--with-counts", None,
    "By the function with a count for each rank: MPI_Allgatherv for allgather", _WHAT,
)  # fmt: skip
Warmup = option(int, "-w --warmup", "N", "Calls before the timed ones", _HOW, min=0)
Rounds = option(
    Optional[int], "--rounds", "N", "How often MPI and Sumac take turns", _HOW, min=1,
    max=10_000, show_default=f"{ROUNDS}; of reduce_local and pack {request.LOCAL_ROUNDS}",
)  # fmt: skip
Iterations = option(
    int, "--iterations", "N", "Calls in a round; 0: as many as --seconds allows", _HOW, min=0,
    max=10_000_000,
)  # fmt: skip
Seconds = option(
    Optional[float], "--seconds", "SECONDS", "Time that one size may take", _HOW, min=0.001,
    max=3600, show_default=f"{SECONDS}; of reduce_local and pack {request.LOCAL_SECONDS}",
)  # fmt: skip
Cold = option(
    int, "--cold", "N", "Only the first N calls of each size in a job, and their mean", _HOW,
    min=0, max=1_000_000, show_default=False,
)  # fmt: skip
Overlap = option(
    bool, "--overlap", None,
    "Also measure how much of a nonblocking call computation can hide", _HOW,
)  # fmt: skip
Tests = option(
    int, "--tests", "N", "Calls of MPI_Test during the computation", _HOW, min=0, max=1_000_000
)
ComputeOption = option(
    Compute, "--compute", "busy|idle",
    "With --overlap: whether the computation keeps the core busy", _HOW,
)  # fmt: skip
Mpi = option(
    Optional[str], "--mpi", "MPI|all", "Which MPI: openmpi, mpich or all",
    show_default="the first in PATH", check=mpi_words.check,
)  # fmt: skip
Against = option(
    Optional[str], "--against", "FILE|MPI,...",
    "Compare with results that --json has written to this file; or measure Sumac beside the best "
    "of these MPIs, such as openmpi5,mpich,intel or all", _OUTPUT,
)  # fmt: skip
Under = option(
    Optional[str], "--under", "MPI,...", "With --against MPI: those that Sumac is loaded under",
    _OUTPUT, show_default="all of them",
)  # fmt: skip
Turns = option(
    Optional[int], "--turns", "N", "How often the jobs take turns", _OUTPUT, min=1,
    show_default="3, with --against MPI",
)  # fmt: skip


def _install(wanted: bool) -> None:
    if wanted:
        for prefix in installations.install_wheels():
            print(prefix)
        raise typer.Exit()


InstallMpis = option(
    bool, "--install-mpis", None,
    "Install Open MPI, MPICH and Intel MPI from their wheels, for --against",
    callback=_install, is_eager=True,
)  # fmt: skip
FormatOption = option(
    Format, "--format", "FORMAT", "What is printed: table, osu, csv or json", _OUTPUT
)
Wide = option(bool, "--wide", None, "Show all columns of the table", _OUTPUT)
SeriesOption = option(
    Series, "--series", "sumac|mpi", "With --format osu: whose times are printed", _OUTPUT
)
JsonFile = json_option(heading=_OUTPUT)
PictureFile = picture_option(heading=_OUTPUT)
FailBelow = option(
    Optional[float], "--fail-below", "RATIO", "End with status 5 if a size has less speedup",
    _OUTPUT, min=0,
)  # fmt: skip
