# SPDX-License-Identifier: BSD-3-Clause
"""The message sizes that `sumac bench` measures."""

from __future__ import annotations

from dataclasses import dataclass

from sumac_mpi.base import units
from sumac_mpi.base.errors import bad_value

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


def read(
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
