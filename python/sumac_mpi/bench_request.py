# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac bench` may be asked to measure: its options, and which values go together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from sumac_mpi import calls, units
from sumac_mpi.errors import bad_value

REDUCTIONS = ("allreduce", "reduce")
# fmt: off
TYPES = ("float", "double", "int", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
         "uint64")
# fmt: on
ARITHMETIC = ("sum", "prod", "min", "max")
OPS = (*ARITHMETIC, "land", "lor", "lxor", "band", "bor", "bxor")


class Compute(str, Enum):
    busy = "busy"
    idle = "idle"


Smallest = Annotated[str, typer.Option("-b", "--min", help="Smallest message.")]
Largest = Annotated[str, typer.Option("-e", "--max", help="Largest message.")]
Factor = Annotated[int, typer.Option("-f", "--factor", min=2, help="From size to size.")]
Type = Annotated[str, typer.Option("-d", "--type", help=", ".join(TYPES))]
Op = Annotated[str, typer.Option("-o", "--op", help=", ".join(OPS))]
Root = Annotated[int, typer.Option("-r", "--root", min=0, help="Root rank.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Use MPI_IN_PLACE.")]
Warmup = Annotated[int, typer.Option("-w", "--warmup", min=0, help="Untimed calls.")]
Rounds = Annotated[int, typer.Option("--rounds", min=1, help="MPI and Sumac in turns.")]
Iterations = Annotated[
    int, typer.Option("--iterations", min=0, help="Calls in a round; 0: by time.")
]
Seconds = Annotated[float, typer.Option("--seconds", min=0.001, help="Time one size may take.")]
Overlap = Annotated[
    bool, typer.Option("--overlap", help="Also how much of the call can be computed through.")
]
Tests = Annotated[
    int, typer.Option("--tests", min=0, help="MPI_Test calls in that computation; 0: without.")
]
ComputeOption = Annotated[
    Compute, typer.Option("--compute", help="What the core does in that computation.")
]


@dataclass(frozen=True)
class Request:
    """Raises a usage error for values that do not go together."""

    call: str
    smallest: int
    largest: int
    factor: int
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
        if self.op not in OPS:
            raise bad_value(f"-o {self.op}: not one of {', '.join(OPS)}")
        self._check_sizes()
        if self.overlap and calls.kind(self.call) is calls.Kind.blocking:
            raise bad_value(f"--overlap: nothing can overlap a blocking {self.call}")
        if calls.collective(self.call) not in REDUCTIONS:
            if self.in_place:
                raise bad_value(f"--in-place: {self.call} has no such form")
        elif self.data_type in ("float", "double") and self.op not in ARITHMETIC:
            raise bad_value(f"-o {self.op}: MPI has no {self.op} of {self.data_type}")

    def _check_sizes(self) -> None:
        bits = re.sub(r"\D", "", self.data_type)
        element = int(bits) // 8 if bits else 8 if self.data_type == "double" else 4
        if not 1 <= self.smallest <= self.largest:
            raise bad_value(f"-b {self.smallest} -e {self.largest}: wants 1 <= smallest <= largest")
        if self.largest < element:
            raise bad_value(f"-e {self.largest}: a {self.data_type} alone has {element} bytes")

    def arguments(self) -> list[str]:
        """The command line of the benchmark program."""
        options = {
            "-b": self.smallest,
            "-e": self.largest,
            "-f": self.factor,
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
        return [self.call, *words]


def request(call: calls.Call, smallest: str, largest: str, **others: object) -> Request:
    """A request from the words of the command line."""
    sizes = units.parse_size(smallest), units.parse_size(largest)
    return Request(call.value, *sizes, **others)  # type: ignore[arg-type]
