# SPDX-License-Identifier: BSD-3-Clause
"""A request to measure a collective: its values, and which of them can be combined."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sumac_mpi.base.errors import bad_value
from sumac_mpi.bench.message_sizes import Sizes
from sumac_mpi.library import calls, elements

TYPE, OP, ROUNDS, SECONDS = "float", "sum", 10, 0.5


class Compute(str, Enum):
    busy = "busy"
    idle = "idle"


class Series(str, Enum):
    sumac = "sumac"
    mpi = "mpi"


def types() -> list[str]:
    """The element types to choose from. MPI has no 2-byte floating-point type, so its collectives
    could not be measured with one."""
    return [*elements.ALIASES, *(each for each in elements.types() if "float16" not in each)]


@dataclass(frozen=True)
class Request:
    """A request; raises a usage error for values that cannot be combined."""

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
    with_counts: bool = False
    cold: int = 0

    def __post_init__(self) -> None:
        size = elements.size_of(self.data_type)
        if self.sizes.most < size:
            raise bad_value(f"-e {self.sizes.most}: a {self.data_type} alone has {size} bytes")
        if self.overlap and calls.kind(self.call) is calls.Kind.blocking:
            raise bad_value(f"--overlap: nothing can overlap a blocking {self.call}")
        if self.cold and self.overlap:
            raise bad_value("--cold: overlap is measured in calls that are warm")
        if self.with_counts and not calls.has_counts(self.call):
            raise bad_value(f"--with-counts: no other function is measured for {self.call}")
        if not calls.collective(self.call).reduces:
            if self.in_place:
                raise bad_value(f"--in-place: {self.call} has no such form")
        elif not elements.is_defined(self.op, self.data_type):
            raise bad_value(f"--op {self.op}: MPI has no {self.op} of {self.data_type}")

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
        if self.with_counts:
            words.append("--with-counts")
        if self.cold:
            words += ["--cold", str(self.cold)]
        if self.overlap:
            words += ["--overlap", "--tests", str(self.tests), "--compute", self.compute.value]
        return [self.call, *self.sizes.arguments(), *words]
