# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac bench reduce_local` and `sumac bench pack` may be asked to measure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sumac_mpi.base import choices
from sumac_mpi.base.errors import bad_value
from sumac_mpi.bench.message_sizes import Sizes
from sumac_mpi.library import elements, tables

SIZES = "1K,64K,1M,64M"  # these fit into a core's caches; 64M fits into none
PACK_SIZES = "256K,1M,64M"  # packed; 1M is a face of a cube of 256 MiB
ROUNDS = 30
SECONDS = 0.2


@dataclass(frozen=True)
class Effort:
    """How long is measured; None stands for an option that was not given."""

    rounds: int | None
    iterations: int
    seconds: float | None

    def arguments(self) -> list[str]:
        options = {
            "--rounds": self.rounds or ROUNDS,
            "--iterations": self.iterations,
            "--seconds": self.seconds or SECONDS,
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
            if elements.size_of(name) <= self.sizes.most
            and any(elements.is_defined(op, name) for op in self.ops)
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
    chosen = tuple(elements.ALIASES.get(word, word) for word in text.split(","))
    for word in chosen:
        choices.require(option, word, ["all", *names])
    return tuple(dict.fromkeys(chosen))


# Each returns a request from the values of the command line, None for a list that was not given.


def of_reductions(sizes: Sizes, types: str | None, ops: str | None, effort: Effort) -> LocalRequest:
    return LocalRequest(
        sizes,
        named("--types", types, elements.types()),
        named("--ops", ops, elements.operations()),
        effort,
    )


def of_packing(sizes: Sizes, layouts: str | None, effort: Effort) -> PackRequest:
    return PackRequest(sizes, named("--layouts", layouts, tables.names("layouts")), effort)
