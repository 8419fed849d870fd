# SPDX-License-Identifier: BSD-3-Clause
"""The calls that can be measured: a collective of the library's table in one of three kinds, as in
"allreduce", "iallreduce" and "allreduce-persistent"; MPI_Reduce_local; and MPI_Pack with
MPI_Unpack."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sumac_mpi.base import errors
from sumac_mpi.base.errors import bad_value
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
    sized: bool  # all ranks of a call know how many bytes the others have
    reduces: bool  # combines elements by an operation
    simulated: bool  # `sumac simulate` offers it
    result: str  # who gets one: all, own, root or none
    divided: str  # whole, parts or blocks: what of a call's data belongs to one rank
    ranks: str  # levels or none

    @property
    def data(self) -> bool:
        """Whether it moves data; a barrier does not."""
        return self.result != "none"


@dataclass(frozen=True)
class Function:
    """A row of src/interpose/calls.def: one of the MPI functions of a collective, apart from its
    kinds."""

    name: str
    collective: str  # empty where the MPI serves it, and Sumac counts its calls
    lists: bool  # its calls list a count for each rank


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


def passes(call: str) -> int:
    """How often each of n ranks moves (n-1)/n of a message, as nccl-tests count it; 0 where the
    message passes one rank, the root."""
    row = collective(call)
    if row.root or not row.data:
        return 0
    return 2 if row.divided == "whole" else 1


def has_counts(call: str) -> bool:
    """Whether it is measured by the function with counts for each rank too, as in
    bench/contenders.cc."""
    lists = {each.lists for each in functions() if each.collective == collective_name(call)}
    return len(lists) == 2 and kind(call) is not Kind.persistent


def function_of(name: str, with_counts: bool = False) -> str:
    """The function that measures a collective: its first one, or the first with counts for each
    rank, as in bench/call.cc."""
    found = [each for each in functions() if each.collective == name]
    return next((each.name for each in found if each.lists == with_counts), found[0].name)


def collective_of(function: str) -> Collective | None:
    """The collective that a function is; None for one that Sumac does not serve."""
    for each in functions():
        if each.name == function and each.collective:
            return collective(each.collective)
    return None


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


def simulated() -> list[str]:
    """The collectives that `sumac simulate` offers."""
    return [each.name for each in _collectives() if each.simulated]


def functions() -> list[Function]:
    return [Function(**row) for row in tables.rows("functions")]


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
    """Raises a usage error for a name that is no call, or one that the MPI always serves."""
    # Whoever asks for one of these does not mean the most similar name.
    if any(each.name == call and not each.collective for each in functions()):
        what = f"COLLECTIVE {call}: Sumac does not serve it, so there is nothing to measure"
        raise bad_value(what, fix=f"one of {', '.join(collectives())}")
    errors.require("COLLECTIVE", call, names())


def _collectives() -> list[Collective]:
    return [Collective(**row) for row in tables.rows("collectives")]
