# SPDX-License-Identifier: BSD-3-Clause
"""Times of reduce_local and pack compared with a memcpy of the same bytes and with a plain loop."""

from __future__ import annotations

from collections.abc import Iterable

from sumac_mpi.bench.results import Row
from sumac_mpi.library import elements


def over_memcpy(row: Row, contender: str | None = None) -> float | None:
    """The time of Sumac (of the MPI if it is alone) divided by memcpy's; None without a
    measurement."""
    if contender is None:
        contender = "sumac" if row.time("sumac") is not None else "native"
    us, copy = row.time(contender), row.time("memcpy")
    return us / copy if us is not None and copy else None


def gb_per_second(row: Row, contender: str) -> float | None:
    """Packed bytes per time; None without a measurement."""
    us = row.time(contender)
    return row.bytes / us / 1000 if us else None


def ns_over_loop(row: Row) -> float | None:
    us = row.time("sumac") if row.time("sumac") is not None else row.time("native")
    loop = row.time("loop")
    return None if us is None or loop is None else (us - loop) * 1000


def axes(rows: Iterable[Row]) -> tuple[list[str], list[str]]:
    """The types and the operations of these rows, in the library's order."""
    types = {row.record["type"] for row in rows}
    ops = {row.record["op"] for row in rows}
    return (
        [name for name in elements.types() if name in types],
        [op for op in elements.operations() if op in ops],
    )
