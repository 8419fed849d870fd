# SPDX-License-Identifier: BSD-3-Clause
"""Records as the benchmark and check programs print them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sumac_mpi.bench.results import Run

ABSENT = {"loaded": False, "active": False, "version": "", "description": ""}


def header(**changes: Any) -> dict[str, Any]:
    sumac = {"loaded": True, "active": True, "version": "0.1.0", "description": "Sumac 0.1.0 avx2"}
    return {
        "kind": "header", "version": "0.1.0",
        "mpi": "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4",
        "family": "openmpi", "ranks": 2, "hosts": 1, "cpus": 2, "oversubscribed": False,
        "sumac": sumac, "collective": "allreduce", "type": "float", "op": "sum", "root": 0,
        "in_place": False, "sizes": 3, "timer_overhead_ns": 25,
    } | changes  # fmt: skip


def size(size: int, mpi_us: float, sumac_us: float | None, **changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "kind": "size", "collective": "allreduce", "bytes": size, "count": size // 4,
        "type": "float", "op": "sum", "root": 0, "native": figures(mpi_us), "wrong_native": 0,
    }  # fmt: skip
    if sumac_us is not None:
        record["sumac"] = figures(sumac_us)
        record["algorithm"] = "flat_slots"
        record["speedup"] = round(mpi_us / sumac_us, 3)
        record["wrong"] = 0
    return record | changes


def figures(us: float) -> dict[str, Any]:
    return {"p50": us, "p99": 2 * us, "mean": 1.1 * us, "min": us, "rounds": [us], "iterations": 5}


def session() -> list[dict[str, Any]]:
    """A run of three sizes, the largest handed down."""
    return [
        header(),
        size(4, 0.6, 0.2),
        size(65536, 16.0, 8.0, algorithm="split_slots"),
        size(4194304, 1000.0, 1010.0, algorithm="mpi: no faster way known"),
        {"kind": "summary", "geomean": 1.81, "wrong": 0},
    ]


def without_sumac() -> list[dict[str, Any]]:
    """A run of two sizes, the second with a wrong result of the MPI."""
    return [header(sumac=ABSENT), size(4, 0.6, None), size(8, 0.7, None, wrong_native=1)]


def barrier() -> list[dict[str, Any]]:
    return [header(collective="barrier"), empty("barrier")]


def ibarrier() -> list[dict[str, Any]]:
    """A run of ibarrier beside an idle core, without calls of MPI_Test."""
    row = empty("ibarrier")
    for contender in ("native", "sumac"):
        row[contender] |= {"start": 0.1, "overlap": overlapped(0.5, 50)}
    return [header(collective="ibarrier", overlap={"compute": "idle", "tests": 0}), row]


def empty(collective: str) -> dict[str, Any]:
    return size(0, 0.5, 0.25, collective=collective, count=0, algorithm="flat")


def nonblocking(overlap: bool = True, **changes: Any) -> list[dict[str, Any]]:
    """A run of iallreduce."""
    how = {"overlap": {"compute": "busy", "tests": 10}} if overlap else {}
    rows = []
    for bytes_, mpi_us, sumac_us in ((8, 1.4, 0.7), (65536, 42.0, 30.0)):
        row = size(bytes_, mpi_us, sumac_us, collective="iallreduce")
        for contender, us, percent in (("native", mpi_us, 0.0), ("sumac", sumac_us, 62.5)):
            row[contender]["start"] = us / 4
            if overlap:
                row[contender]["overlap"] = overlapped(us, percent) | {
                    "tests": overlapped(us, percent + 20)
                }
        rows.append(row)
    return [header(collective="iallreduce", **how, **changes), *rows]


def overlapped(us: float, percent: float) -> dict[str, Any]:
    overall = us + us * (1 - percent / 100)
    return {"percent": percent, "pure": us, "compute": us, "overall": round(overall, 3)}


def persistent(**changes: Any) -> list[dict[str, Any]]:
    """A run of allreduce-persistent: as fast as the blocking call, then slower."""
    call = "allreduce-persistent"
    rows = []
    for bytes_, mpi_us, sumac_us, blocking in ((8, 1.2, 0.2, 0.4), (65536, 40.0, 15.0, 12.5)):
        row = size(bytes_, mpi_us, sumac_us, collective=call, blocking=figures(blocking))
        row["native"]["start"], row["sumac"]["start"] = mpi_us / 4, sumac_us / 2
        rows.append(row)
    return [header(collective=call, **changes), *rows]


def local(**changes: Any) -> list[dict[str, Any]]:
    """A run of reduce_local: two sizes, one cell handed down, one that the MPI does not support."""
    head = header(collective="reduce_local", ranks=1, sizes=5, **changes)
    for name in ("type", "op", "root", "in_place"):
        del head[name]
    head |= {"types": ["float", "double_int", "float16"], "types_lacking": ["int128"]}
    return [
        head | {"ops": ["sum", "max", "maxloc"]},
        cell("float", "sum", 64, 0.01, 0.26, 0.026, loop=figures(0.0121)),
        cell("float", "max", 64, 0.01, 0.02, 0.025, loop=figures(0.0122)),
        cell("float", "sum", 65536, 2.0, 6.0, 2.1),
        cell("float", "max", 65536, 2.0, 12.0, 2.0),
        cell("double_int", "maxloc", 65536, 2.0, 4.0, 4.0, algorithm="mpi: no kernel"),
        cell("float16", "sum", 65536, 2.0, None, 2.2),
        {"kind": "summary", "wrong": 0},
    ]


def cell(
    type_: str, op: str, size: int, copy: float, mpi_us: float | None, us: float, **changes: Any
) -> dict[str, Any]:
    """One operation on one type, in a run of reduce_local."""
    record = {
        "kind": "size", "collective": "reduce_local", "asked": size, "bytes": size, "count": 16,
        "type": type_, "op": op, "memcpy": figures(copy), "wrong_native": 0, "sumac": figures(us),
        "algorithm": "local", "wrong": 0,
    }  # fmt: skip
    if mpi_us is not None:
        record |= {"native": figures(mpi_us), "speedup": round(mpi_us / us, 3)}
    return record | changes


def packing(**changes: Any) -> list[dict[str, Any]]:
    """A run of pack: two sizes, one cell served by the MPI, one layout left out of the larger."""
    head = header(collective="pack", ranks=1, sizes=6, **changes)
    for name in ("type", "op", "root", "in_place"):
        del head[name]
    return [
        head | {"layouts": ["vector_1_2", "yz_face"],
                "left_out": [{"layout": "yz_face", "asked": 67108864}]},
        packed("pack", "vector_1_2", 65536, 4.0, 40.0, 10.0),
        packed("unpack", "vector_1_2", 65536, 4.0, 40.0, 20.0),
        packed("pack", "yz_face", 65536, 4.0, 100.0, 50.0),
        packed("unpack", "yz_face", 65536, 4.0, 100.0, 100.0, algorithm="mpi"),
        packed("pack", "vector_1_2", 67108864, 8000.0, 16000.0, 10000.0),
        packed("unpack", "vector_1_2", 67108864, 8000.0, 16000.0, 20000.0),
        {"kind": "summary", "wrong": 0},
    ]  # fmt: skip


def packed(
    op: str, layout: str, size: int, copy: float, mpi_us: float, us: float, **changes: Any
) -> dict[str, Any]:
    """One call on one layout, in a run of pack."""
    return {
        "kind": "size", "collective": "pack", "op": op, "layout": layout, "asked": size,
        "bytes": size, "memcpy": figures(copy), "wrong_native": 0, "native": figures(mpi_us),
        "sumac": figures(us), "algorithm": "local", "wrong": 0, "speedup": round(mpi_us / us, 3),
    } | changes  # fmt: skip


def of_the_mpi_alone(made: Callable[..., list[dict[str, Any]]], rows: int) -> Run:
    """The first rows of a run of local() or packing(), as they are without Sumac. The MPI's own
    results are wrong in the last."""
    head, *found = made(sumac=ABSENT)
    for row in found[:rows]:
        for name in ("sumac", "speedup", "wrong", "algorithm"):
            row.pop(name, None)
    found[rows - 1]["wrong_native"] = 7
    return run([head, *found[:rows]])


def run(records: list[dict[str, Any]]) -> Run:
    result = Run(records[0])
    for record in records[1:]:
        result.add(record)
    return result


def check(**changes: Any) -> dict[str, Any]:
    tries = [
        {"collective": "allreduce", "bytes": 8, "algorithm": "flat_slots", "wrong": 0},
        {"collective": "bcast", "bytes": 1048576, "algorithm": "mpi: too large", "wrong": 0},
    ]
    return {
        "kind": "check", "family": "openmpi", "mpi": "Open MPI v4.1.4, package: Debian",
        "ranks": 2, "hosts": ["a", "a"], "loaded": True, "active_ranks": 2,
        "description": "Sumac 0.1.0 avx2", "collectives": tries,
        "cross_memory_attach": "ok", "wrong": 0,
    } | changes  # fmt: skip
