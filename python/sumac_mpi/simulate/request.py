# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac simulate` simulates: a cluster, calls, and who makes them."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.base.errors import bad_value
from sumac_mpi.simulate import platform
from sumac_mpi.simulate.cluster import Cluster

SUMAC = "sumac"
# SimGrid has a text of its own for each of these libraries, which chooses the algorithm.
LIBRARIES = {"ompi": "Open MPI", "mpich": "MPICH", "mvapich2": "MVAPICH2", "impi": "Intel MPI"}
SELECTIONS = tuple(LIBRARIES)
_SLOW = "impi"  # SimGrid's text of it takes hours beyond so many ranks:
_MOST_FOR_SLOW = 256
_ELEMENT = 8  # bytes of what is added, a double


# For nodes whose ranks send messages; the user's own file takes its place.
RULES = Path(__file__).parent / "rules.toml"
_RULES_OPTION = "SUMAC_RULES="


@dataclass(frozen=True)
class Request:
    cluster: Cluster  # of as many nodes as the ranks need
    ranks: int
    collective: str
    sizes: tuple[int, ...]  # none for a barrier
    selections: tuple[str, ...]  # to compare with
    variables: tuple[str, ...] = ()  # options of Sumac, NAME=VALUE
    mpi: str = "any"
    nonblocking: bool = False
    compute_us: float = 0.0
    tests: int = 0

    @property
    def ways(self) -> tuple[str, ...]:
        return (SUMAC, *self.selections)

    def options(self) -> list[str]:
        own = any(each.startswith(_RULES_OPTION) for each in self.variables)
        return [*self.variables, *([] if own else [f"{_RULES_OPTION}{RULES}"])]

    def job(self, way: str) -> dict[str, Any]:
        """What sumac-simulated is to do for one way."""
        cases = [
            {
                "collective": self.collective,
                "bytes": size,
                "native": way != SUMAC,
                "nonblocking": self.nonblocking,
                "compute": self.compute_us * 1e-6,
                "tests": self.tests,
            }
            for size in self.sizes or (0,)
        ]
        return {
            "places": platform.places(self.cluster, self.ranks),
            "variables": self.options(),
            "mpi": self.mpi,
            "overhead": self.cluster.network.overhead_us * 1e-6,
            "cases": cases,
        }


def fitted(cluster: Cluster, ranks: int | None) -> tuple[Cluster, int]:
    """The cluster with no more nodes than `ranks` ranks need, and the ranks: all, if None."""
    wanted = cluster.ranks if ranks is None else ranks
    if wanted < 2:
        raise bad_value("-n: a collective has at least 2 ranks")
    if wanted > cluster.ranks:
        raise bad_value(
            f"-n {wanted}: the cluster has {cluster.ranks} ranks", fix="--nodes gives it more nodes"
        )
    nodes = -(-wanted // cluster.ranks_of_a_node)
    return dataclasses.replace(cluster, nodes=nodes), wanted


def check_sizes(sizes: list[int], ranks: int) -> tuple[int, ...]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for size in sizes:
        if 2 * size * ranks > memory:
            raise bad_value(
                f"--sizes: {ranks} ranks with {units.format_size(size)} to give and to get need "
                "more than this machine's memory",
                fix="fewer ranks or smaller messages",
            )
        if size < _ELEMENT or size % _ELEMENT:
            raise bad_value(f"--sizes: {size} bytes are not whole doubles", fix="multiples of 8")
    return tuple(sorted(set(sizes)))


def check_selections(text: str | None, ranks: int) -> tuple[str, ...]:
    """Those that the user lists, or all that can be simulated with so many ranks."""
    if text is None:
        return tuple(name for name in SELECTIONS if name != _SLOW or ranks <= _MOST_FOR_SLOW)
    names = tuple(name for name in text.split(",") if name)
    if SUMAC in names:
        raise bad_value("--against: Sumac is there anyway")
    return tuple(dict.fromkeys(names))
