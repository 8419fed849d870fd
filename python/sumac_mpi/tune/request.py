# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac tune` is asked for, and the jobs that this takes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from sumac_mpi.base import errors, units
from sumac_mpi.base.errors import bad_value
from sumac_mpi.bench import request as bench
from sumac_mpi.bench.request import Sizes
from sumac_mpi.library import calls, tables

SIZES = "16,64,256,1K,4K,16K,64K,256K,1M,4M"
TURNS, SECONDS = 5, 0.1
SHIPPED = "shipped"  # the way of a job in which Sumac goes by its shipped rules
# What an algorithm needs that works within one group in shared memory (src/base/algorithms.def).
_OF_ONE_GROUP = ("lines", "slots", "single_copy")
_ROUNDS = 5  # of a job; in each the MPI and Sumac take turns
_WARMUP = 20
# For the estimate: a job's start, and what a size takes beside its timed calls, as a factor.
START_SECONDS, AROUND = 1.0, 1.6


@dataclass(frozen=True)
class Job:
    """One run of the benchmark program: a way beside the MPI's own function, at all sizes."""

    turn: int
    family: str
    ranks: int
    collective: str
    way: str

    @property
    def variables(self) -> dict[str, str]:
        """What the job has in its environment. Sizes that a forced algorithm does not serve are
        left out of the results: the warning about them is of no use."""
        if self.way == SHIPPED:
            return {}
        return {"SUMAC_ALGO": f"{self.collective}:{self.way}", "SUMAC_DEBUG": "off"}


@dataclass(frozen=True)
class Request:
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    families: tuple[str, ...]
    turns: int
    seconds: float
    launcher_args: tuple[str, ...] = ()

    def jobs(self) -> list[Job]:
        """In the order in which they run. The ways of one collective follow one another; from
        turn to turn their order is reversed."""
        return [
            Job(turn, family, ranks, collective, way)
            for turn in range(1, self.turns + 1)
            for family in self.families
            for ranks in self.ranks
            for collective in self.collectives
            for way in [SHIPPED, *ways(collective)][:: 1 if turn % 2 else -1]
        ]

    def arguments(self, job: Job, sizes: Sequence[int]) -> list[str]:
        """The command line of the benchmark program. A barrier takes sizes, and ignores them."""
        wanted = sizes if calls.collective(job.collective).data else self.sizes
        return bench.Request(
            job.collective, Sizes(1, 1, 2, tuple(wanted)), bench.TYPE, bench.OP, 0, False, _WARMUP,
            _ROUNDS, 0, self.seconds, False, 0, bench.Compute.busy,
        ).arguments()  # fmt: skip

    def job_seconds(self, collective: str) -> float:
        """About, and at most: ways that do not run at a size are asked for it only once."""
        sizes = len(self.sizes) if calls.collective(collective).data else 1
        return START_SECONDS + sizes * self.seconds * AROUND

    @property
    def command(self) -> str:
        """The command line that asks for this, without its files."""
        listed = (units.format_size(size).removesuffix(" B") for size in self.sizes)
        mpi = self.families[0] if len(self.families) == 1 else "all"
        words = [
            *self.collectives,
            "-n",
            ",".join(map(str, self.ranks)),
            "--mpi",
            mpi,
            "--sizes",
            ",".join(listed),
            "--turns",
            str(self.turns),
            "--seconds",
            f"{self.seconds:g}",
        ]
        words += [word for each in self.launcher_args for word in ("--launcher-arg", each)]
        return shlex.join(["sumac", "tune", *words])


def ways(collective: str) -> list[str]:
    """The algorithms that may serve the collective within one group in shared memory. Not those
    that fold in another order: chosen for some sizes, they would make an element's bits depend on
    the size of its message."""
    return [
        row["name"]
        for row in tables.rows("algorithms")
        if row["collective"] == collective
        and row["needs"] in _OF_ONE_GROUP
        and row["order"] != "tree"
    ]


def collectives(named: Sequence[str]) -> tuple[str, ...]:
    """The collectives that are named, all for none. Where ranks have different sizes a rule cannot
    be for some of these (src/rules/rules_parse.cc)."""
    known = [name for name in calls.collectives() if ways(name) and calls.is_sized(name)]
    for name in named:
        errors.require("COLLECTIVE", name, known)
    return tuple(dict.fromkeys(named)) or tuple(known)


def counts_of_ranks(text: str) -> tuple[int, ...]:
    """ "2,4" as numbers."""
    counts = text.split(",")
    for count in counts:
        if not (count.isascii() and count.isdigit() and 2 <= int(count) <= units.MOST_RANKS):
            wanted = f"a number of ranks, 2 to {units.MOST_RANKS}"
            raise bad_value(f"-n {text}: '{count}' is not {wanted}")
    return tuple(dict.fromkeys(map(int, counts)))


def sizes(listed: tuple[int, ...]) -> tuple[int, ...]:
    least = tables.size_of(bench.TYPE)
    for size in listed:
        if size < least:
            raise bad_value(f"--sizes: {size}: a {bench.TYPE} alone has {least} bytes")
    return tuple(sorted(set(listed)))
