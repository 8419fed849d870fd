# SPDX-License-Identifier: BSD-3-Clause
"""The calls that can be measured: a collective of the library's table in one of three kinds, as in
"allreduce", "iallreduce" and "allreduce-persistent"; MPI_Reduce_local; and MPI_Pack with
MPI_Unpack."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sumac_mpi.base.errors import Exit, SumacError, bad_value
from sumac_mpi.library import tables

REDUCE_LOCAL = "reduce_local"
PACK = "pack"
LOCAL = (REDUCE_LOCAL, PACK)  # of one process, without communication
_PERSISTENT = "-persistent"


class Kind(str, Enum):
    """How a call completes."""

    blocking = "blocking"
    nonblocking = "nonblocking"
    persistent = "persistent"


@dataclass(frozen=True)
class Collective:
    """A row of src/base/collectives.def."""

    name: str
    mpi: str  # its name in MPI, without "MPI_"
    root: bool  # it has a root
    data: bool  # it moves data; a barrier does not
    sized: bool  # all ranks of a call know how many bytes the others have
    reduces: bool  # combines elements by an operation
    ranks: str  # levels, group or none


def collective(call: str) -> Collective:
    """The table's row for a call: for "iallreduce" the row of "allreduce"."""
    name = collective_name(call)
    for each in _collectives():
        if each.name == name:
            return each
    raise bad_value(f"{call}: not a call that this Sumac knows")


def has_data(call: str) -> bool:
    return call in LOCAL or collective(call).data


def is_sized(call: str) -> bool:
    return collective(call).sized


def has_counts(call: str) -> bool:
    """Whether it is measured by the function with counts for each rank too, as in
    bench/objection.cc."""
    with_counts = collective_name(call) in ("allgather", "reduce_scatter")
    return with_counts and kind(call) is not Kind.persistent


def kind(call: str) -> Kind:
    if call.endswith(_PERSISTENT):
        return Kind.persistent
    return Kind.nonblocking if call.startswith("i") else Kind.blocking


def collective_name(call: str) -> str:
    name = call.removesuffix(_PERSISTENT)
    return name[1:] if kind(call) is Kind.nonblocking else name


def collectives() -> list[str]:
    """The collectives that `sumac bench` measures on several ranks, as in bench/options.cc."""
    return [each.name for each in _collectives() if each.ranks != "none"]


def names() -> list[str]:
    """Every call, blocking ones first."""
    measured = collectives()
    return [
        *measured,
        *(f"i{name}" for name in measured),
        *(f"{name}{_PERSISTENT}" for name in measured),
        *LOCAL,
    ]


def require_known(call: str) -> None:
    """Raises a usage error for a name that is no call."""
    if call not in names():
        raise SumacError(
            "usage",
            f"{call}: not one of {', '.join(names())}",
            fix="'sumac bench -h' shows how",
            code=Exit.USAGE,
        )


def _collectives() -> list[Collective]:
    return [Collective(**row) for row in tables.rows("collectives")]
