# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac bench` may be asked to measure: its options, and which values go together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sumac_mpi import bench_output, bench_sizes, calls, elements, local_request
from sumac_mpi.bench_sizes import Sizes
from sumac_mpi.common_options import JOB
from sumac_mpi.errors import bad_value

REDUCTIONS = ("allreduce", "reduce", "reduce_scatter")
# A 2-byte float is no type of an MPI's, and its collectives would not take it.
TYPES = [*elements.ALIASES, *(name for name in elements.TYPES if not name.endswith("float16"))]
TYPE, OP, ROUNDS, SECONDS = "float", "sum", 10, 0.5


class Compute(str, Enum):
    busy = "busy"
    idle = "idle"


class Series(str, Enum):
    sumac = "sumac"
    mpi = "mpi"


# The headings of the help.
_WHAT, _HOW, _OUTPUT = "What is measured", "How", "Output"


def _option(*names: str, heading: str, help: str, **others: Any) -> Any:
    return typer.Option(*names, rich_help_panel=heading, help=help, **others)


# Where None is the default, it depends on the call.
Smallest = Annotated[
    Optional[str],
    _option(
        *("-b", "--min"),
        metavar="SIZE",
        heading=_WHAT,
        help="Smallest message",
        show_default=bench_sizes.SMALLEST,
    ),
]
Largest = Annotated[
    Optional[str],
    _option(
        *("-e", "--max"),
        metavar="SIZE",
        heading=_WHAT,
        help="Largest message",
        show_default=bench_sizes.LARGEST,
    ),
]
Factor = Annotated[
    Optional[int],
    _option(
        *("-f", "--factor"),
        metavar="N",
        min=2,
        heading=_WHAT,
        help="Each message is so many times as large as the one before",
        show_default=str(bench_sizes.FACTOR),
    ),
]
SizesOption = Annotated[
    Optional[str],
    _option(
        "--sizes",
        metavar="SIZE,...",
        heading=_WHAT,
        help="These sizes, instead of -b, -e and -f",
        show_default=f"of reduce_local {local_request.SIZES}",
    ),
]
Type = Annotated[
    Optional[str],
    _option(
        *("-d", "--type"),
        metavar="TYPE",
        heading=_WHAT,
        help=f"Element type: {', '.join(TYPES)}",
        show_default=TYPE,
    ),
]
Op = Annotated[
    Optional[str],
    _option(
        *("-o", "--op"),
        metavar="OP",
        heading=_WHAT,
        help=f"Operation: {', '.join(elements.OPS)}",
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
Root = Annotated[
    int, _option("-r", "--root", metavar="RANK", min=0, heading=_WHAT, help="Root rank")
]
InPlace = Annotated[bool, _option("--in-place", heading=_WHAT, help="Use MPI_IN_PLACE")]
Warmup = Annotated[
    int,
    _option(
        *("-w", "--warmup"),
        metavar="N",
        min=0,
        heading=_HOW,
        help="Calls that are not timed, before those that are",
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
        show_default=f"{ROUNDS}; of reduce_local {local_request.ROUNDS}",
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
        show_default=f"{SECONDS}; of reduce_local {local_request.SECONDS}",
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
        "--tests",
        metavar="N",
        min=0,
        heading=_HOW,
        help="With --overlap: calls of MPI_Test during the computation",
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
    Optional[Path],
    _option(
        "--against",
        metavar="FILE",
        heading=_OUTPUT,
        help="Compare with the results that -J has written there earlier",
    ),
]
FormatOption = Annotated[
    bench_output.Format,
    _option(
        "--format",
        metavar="FORMAT",
        heading=_OUTPUT,
        help="What is printed: table, osu, csv or json",
    ),
]
SeriesOption = Annotated[
    Series,
    _option(
        "--series",
        metavar="sumac|mpi",
        heading=_OUTPUT,
        help="With --format osu: whose figures are printed",
    ),
]
JsonFile = Annotated[
    Optional[Path],
    _option("-J", "--json", metavar="FILE", heading=_OUTPUT, help="Write all results there"),
]
PlotFile = Annotated[
    Optional[Path],
    _option(
        "--plot",
        metavar="FILE",
        heading=_OUTPUT,
        help="Draw them there, as 'sumac plot' does: .png, .svg or .pdf",
    ),
]
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


@dataclass(frozen=True)
class Request:
    """Raises a usage error for values that do not go together."""

    call: str
    sizes: Sizes
    data_type: str
    op: str
    root: int
    in_place: bool
    warmup: int
    rounds: int
    iterations: int
    seconds: float
    overlap: bool
    tests: int
    compute: Compute

    def __post_init__(self) -> None:
        if self.data_type not in TYPES:
            raise bad_value(f"-d {self.data_type}: not one of {', '.join(TYPES)}")
        if self.op not in elements.OPS:
            raise bad_value(f"-o {self.op}: not one of {', '.join(elements.OPS)}")
        size = elements.of(self.data_type).size
        if self.sizes.most < size:
            raise bad_value(f"-e {self.sizes.most}: a {self.data_type} alone has {size} bytes")
        if self.overlap and calls.kind(self.call) is calls.Kind.blocking:
            raise bad_value(f"--overlap: nothing can overlap a blocking {self.call}")
        if calls.collective(self.call) not in REDUCTIONS:
            if self.in_place:
                raise bad_value(f"--in-place: {self.call} has no such form")
        elif not elements.is_defined(self.op, self.data_type):
            raise bad_value(f"-o {self.op}: MPI has no {self.op} of {self.data_type}")

    def arguments(self) -> list[str]:
        """The command line of the benchmark program."""
        options = {
            "-d": self.data_type,
            "-o": self.op,
            "-r": self.root,
            "-w": self.warmup,
            "--rounds": self.rounds,
            "--iterations": self.iterations,
            "--seconds": self.seconds,
        }
        words = [word for name, value in options.items() for word in (name, str(value))]
        if self.in_place:
            words.append("--in-place")
        if self.overlap:
            words += ["--overlap", "--tests", str(self.tests), "--compute", self.compute.value]
        return [self.call, *self.sizes.arguments(), *words]
