# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac bench` may be asked to measure: its options, and which values go together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi import bench_output, bench_sizes, calls, elements, local_request
from sumac_mpi.bench_sizes import Sizes
from sumac_mpi.errors import bad_value

REDUCTIONS = ("allreduce", "reduce")
# A 2-byte float is no type of an MPI's, and its collectives would not take it.
TYPES = [*elements.ALIASES, *(name for name in elements.TYPES if not name.endswith("float16"))]
TYPE, OP, ROUNDS, SECONDS = "float", "sum", 10, 0.5


class Compute(str, Enum):
    busy = "busy"
    idle = "idle"


class Series(str, Enum):
    sumac = "sumac"
    mpi = "mpi"


# Where None is the default, it depends on the call.
Smallest = Annotated[
    Optional[str],
    typer.Option("-b", "--min", help="Smallest message.", show_default=bench_sizes.SMALLEST),
]
Largest = Annotated[
    Optional[str],
    typer.Option("-e", "--max", help="Largest message.", show_default=bench_sizes.LARGEST),
]
Factor = Annotated[
    Optional[int],
    typer.Option(
        "-f", "--factor", min=2, help="From size to size.", show_default=str(bench_sizes.FACTOR)
    ),
]
SizesOption = Annotated[
    Optional[str],
    typer.Option(
        "--sizes", help="These sizes instead.", show_default=f"reduce_local: {local_request.SIZES}"
    ),
]
Type = Annotated[
    Optional[str], typer.Option("-d", "--type", help=", ".join(TYPES), show_default=TYPE)
]
Op = Annotated[
    Optional[str], typer.Option("-o", "--op", help=", ".join(elements.OPS), show_default=OP)
]
Types = Annotated[
    Optional[str],
    typer.Option("--types", help="Of reduce_local: types with commas between them, or all."),
]
Ops = Annotated[
    Optional[str],
    typer.Option("--ops", help="Of reduce_local: operations with commas between them, or all."),
]
Root = Annotated[int, typer.Option("-r", "--root", min=0, help="Root rank.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Use MPI_IN_PLACE.")]
Warmup = Annotated[int, typer.Option("-w", "--warmup", min=0, help="Untimed calls.")]
Rounds = Annotated[
    Optional[int],
    typer.Option(
        "--rounds",
        min=1,
        help="MPI and Sumac in turns.",
        show_default=f"{ROUNDS}; reduce_local: {local_request.ROUNDS}",
    ),
]
Iterations = Annotated[
    int, typer.Option("--iterations", min=0, help="Calls in a round; 0: by time.")
]
Seconds = Annotated[
    Optional[float],
    typer.Option(
        "--seconds",
        min=0.001,
        help="Time one size may take.",
        show_default=f"{SECONDS}; reduce_local: {local_request.SECONDS}",
    ),
]
Overlap = Annotated[
    bool, typer.Option("--overlap", help="Also how much of the call can be computed through.")
]
Tests = Annotated[
    int, typer.Option("--tests", min=0, help="MPI_Test calls in that computation; 0: without.")
]
ComputeOption = Annotated[
    Compute, typer.Option("--compute", help="What the core does in that computation.")
]
Mpi = Annotated[
    Optional[str], typer.Option("--mpi", help="openmpi, mpich or all; default: in PATH.")
]
Against = Annotated[
    Optional[Path], typer.Option("--against", metavar="FILE", help="Compare with this file.")
]
FormatOption = Annotated[
    bench_output.Format, typer.Option("--format", help="What standard output is given.")
]
SeriesOption = Annotated[
    Series, typer.Option("--series", help="Whose figures --format osu prints.")
]
JsonFile = Annotated[
    Optional[Path], typer.Option("-J", "--json", metavar="FILE", help="Write results here.")
]
PlotFile = Annotated[
    Optional[Path], typer.Option("--plot", metavar="FILE", help="Draw them: 'sumac plot'.")
]
FailBelow = Annotated[
    Optional[float],
    typer.Option("--fail-below", min=0, help="Exit with 5 if a size has less speedup."),
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=1, help="Seconds without news before giving up.")
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
