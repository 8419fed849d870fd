# SPDX-License-Identifier: BSD-3-Clause
"""The calls that can be measured: a collective in one of three kinds, all in one name, and
MPI_Reduce_local."""

from __future__ import annotations

from enum import Enum

_PERSISTENT = "-persistent"


class Call(str, Enum):
    allreduce = "allreduce"
    reduce = "reduce"
    bcast = "bcast"
    barrier = "barrier"
    reduce_scatter = "reduce_scatter"
    allgather = "allgather"
    iallreduce = "iallreduce"
    ireduce = "ireduce"
    ibcast = "ibcast"
    ibarrier = "ibarrier"
    ireduce_scatter = "ireduce_scatter"
    iallgather = "iallgather"
    allreduce_persistent = "allreduce-persistent"
    reduce_persistent = "reduce-persistent"
    bcast_persistent = "bcast-persistent"
    barrier_persistent = "barrier-persistent"
    reduce_scatter_persistent = "reduce_scatter-persistent"
    allgather_persistent = "allgather-persistent"
    reduce_local = "reduce_local"


class Kind(str, Enum):
    blocking = "blocking"
    nonblocking = "nonblocking"
    persistent = "persistent"


def kind(call: str) -> Kind:
    """What "iallreduce" or "allreduce-persistent" says of completion."""
    if call.endswith(_PERSISTENT):
        return Kind.persistent
    return Kind.nonblocking if call.startswith("i") else Kind.blocking


def collective(call: str) -> str:
    """What it does: "allreduce" for "iallreduce"."""
    name = call.removesuffix(_PERSISTENT)
    return name[1:] if kind(call) is Kind.nonblocking else name
