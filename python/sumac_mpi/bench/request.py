# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac bench` may be asked to measure: message sizes; a collective on several ranks; and
what one process does, reduce_local and pack. Values that cannot be combined are usage errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from sumac_mpi.base import errors, units
from sumac_mpi.base.errors import bad_value
from sumac_mpi.library import calls, tables

TYPE, OP, ROUNDS, SECONDS = "float", "sum", 10, 0.5


SMALLEST, LARGEST, FACTOR = "4", "4M", 2


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes: those listed, or else from the smallest to the largest."""

    smallest: int
    largest: int
    factor: int
    listed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.smallest <= self.largest:
            raise bad_value(f"-b {self.smallest} -e {self.largest}: wants 1 <= smallest <= largest")
        if self.listed and min(self.listed) < 1:
            raise bad_value("--sizes: a size has at least one byte")

    @property
    def most(self) -> int:
        return max(self.listed, default=self.largest)

    def arguments(self) -> list[str]:
        """The options of the benchmark program for these sizes."""
        if self.listed:
            return ["--sizes", ",".join(map(str, self.listed))]
        return ["-b", str(self.smallest), "-e", str(self.largest), "-f", str(self.factor)]


def sizes_from(
    smallest: str | None,
    largest: str | None,
    factor: int | None,
    listed: str | None,
    by_default: str | None = None,
) -> Sizes:
    """Sizes from the values of the command line, None for an option that was not given.
    `by_default` lists the sizes if none was given."""
    of_range = [word for word in (smallest, largest, factor) if word is not None]
    if listed and of_range:
        raise bad_value("--sizes: says it all, without -b, -e and -f")
    if not of_range:
        listed = listed or by_default
    return Sizes(
        units.parse_size(smallest or SMALLEST),
        units.parse_size(largest or LARGEST),
        factor or FACTOR,
        tuple(units.parse_size(word) for word in listed.split(",")) if listed else (),
    )


LOCAL_SIZES = "1K,64K,1M,64M"  # these fit into a core's caches; 64M fits into none
PACK_SIZES = "256K,1M,64M"  # packed; 1M is a face of a cube of 256 MiB
LOCAL_ROUNDS = 30
LOCAL_SECONDS = 0.2


@dataclass(frozen=True)
class Effort:
    """How long is measured; None stands for an option that was not given."""

    rounds: int | None
    iterations: int
    seconds: float | None

    def arguments(self) -> list[str]:
        options = {
            "--rounds": self.rounds or LOCAL_ROUNDS,
            "--iterations": self.iterations,
            "--seconds": self.seconds or LOCAL_SECONDS,
        }
        return [word for name, value in options.items() for word in (name, str(value))]


@dataclass(frozen=True)
class LocalRequest:
    """A request; raises a usage error if nothing of it can be measured."""

    sizes: Sizes
    types: tuple[str, ...]
    ops: tuple[str, ...]
    effort: Effort

    def __post_init__(self) -> None:
        pairs = [
            name
            for name in self.types
            if tables.size_of(name) <= self.sizes.most
            and any(tables.is_defined(op, name) for op in self.ops)
        ]
        if not pairs:
            raise bad_value(
                "none of these operations, types and sizes go together",
                fix="see what MPI allows: logical and bitwise ones of integers, minloc of pairs",
            )

    def arguments(self) -> list[str]:
        """The command line of the benchmark program."""
        lists = ["--types", ",".join(self.types), "--ops", ",".join(self.ops)]
        return ["reduce_local", *self.sizes.arguments(), *lists, *self.effort.arguments()]


@dataclass(frozen=True)
class PackRequest:
    sizes: Sizes
    layouts: tuple[str, ...]
    effort: Effort

    def arguments(self) -> list[str]:
        lists = ["--layouts", ",".join(self.layouts)]
        return ["pack", *self.sizes.arguments(), *lists, *self.effort.arguments()]


def named(option: str, text: str | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names in a list with commas; all for "all" or nothing."""
    names = tuple(known)
    if text is None or text == "all":
        return names
    chosen = tuple(tables.ALIASES.get(word, word) for word in text.split(","))
    for word in chosen:
        errors.require(option, word, ["all", *names])
    return tuple(dict.fromkeys(chosen))


# Each returns a request from the values of the command line, None for a list that was not given.


def of_reductions(sizes: Sizes, types: str | None, ops: str | None, effort: Effort) -> LocalRequest:
    return LocalRequest(
        sizes,
        named("--types", types, tables.types()),
        named("--ops", ops, tables.operations()),
        effort,
    )


def of_packing(sizes: Sizes, layouts: str | None, effort: Effort) -> PackRequest:
    return PackRequest(sizes, named("--layouts", layouts, tables.names("layouts")), effort)


class Compute(str, Enum):
    busy = "busy"
    idle = "idle"


class Series(str, Enum):
    sumac = "sumac"
    mpi = "mpi"


def types() -> list[str]:
    """The element types to choose from. MPI has no 2-byte floating-point type, so its collectives
    could not be measured with one."""
    return [*tables.ALIASES, *(each for each in tables.types() if "float16" not in each)]


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
        size = tables.size_of(self.data_type)
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
        elif not tables.is_defined(self.op, self.data_type):
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
