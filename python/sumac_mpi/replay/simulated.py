# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a record on a cluster that is not there: each class of calls simulated once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.table import Table

from sumac_mpi.base import units
from sumac_mpi.base.errors import bad_value
from sumac_mpi.replay.classes import Class
from sumac_mpi.simulate import cluster, measure, request

_DOUBLE = 8


@dataclass(frozen=True)
class Row:
    """All calls of a class, in microseconds: by Sumac, and by the fastest of SimGrid's texts of
    MPIs, which is named."""

    of: Class
    simulated_bytes: int
    sumac_us: float | None
    mpi_us: float | None
    mpi: str
    wrong: bool

    @property
    def speedup(self) -> float | None:
        return self.mpi_us / self.sumac_us if self.mpi_us and self.sumac_us else None

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self.of) | {
            "simulated_bytes": self.simulated_bytes, "sumac_us": self.sumac_us,
            "mpi_us": self.mpi_us, "mpi": self.mpi, "wrong": self.wrong,
        }  # fmt: skip


def jobs(described: str, classes: list[Class]) -> list[tuple[request.Request, list[Class]]]:
    """One simulation for each collective and number of ranks. Raises a usage error where the
    cluster has not so many."""
    found = cluster.load(described)
    result = []
    key = lambda each: (each.collective, each.nonblocking, each.ranks)  # noqa: E731
    for (collective, nonblocking, ranks), group in groupby(sorted(classes, key=key), key):
        members = list(group)
        fitting, count = request.fitted(found, ranks)
        sizes = {size_of(each) for each in members} if collective != "barrier" else set()
        result.append(
            (
                request.Request(
                    fitting,
                    count,
                    collective,
                    request.check_sizes(sorted(sizes)),
                    request.check_selections(None, count),
                    nonblocking=nonblocking,
                ),  # fmt: skip
                members,
            )
        )
    if not result:
        raise bad_value("the record has no call that can be simulated")
    return result


def size_of(each: Class) -> int:
    """Whole doubles, as simulations have them; 0 for a barrier."""
    if each.collective == "barrier":
        return 0
    return max(_DOUBLE, round(each.bytes / _DOUBLE) * _DOUBLE)


def run(
    wanted: list[tuple[request.Request, list[Class]]],
    seconds: float,
    advance: Callable[[str], None],
) -> list[Row]:
    rows = []
    for job, members in wanted:
        results = measure.simulate(job, seconds, advance)
        for each in members:
            size = size_of(each)
            own, best = results.sumac(size), results.best_native(size)
            rows.append(
                Row(
                    each,
                    size,
                    own.us * each.calls if own else None,
                    best[1] * each.calls if best else None,
                    best[0] if best else "",
                    bool(own and own.wrong),
                )  # fmt: skip
            )
    return sorted(rows, key=lambda row: -(row.mpi_us or row.sumac_us or 0))


def table(rows: list[Row]) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="")
    for column in ("call", "ranks", "bytes", "calls", "MPI us", "", "Sumac us", "speedup"):
        shown.add_column(column, justify="left" if column in ("call", "") else "right")
    for row in rows:
        of = row.of
        shown.add_row(
            ("i" if of.nonblocking else "") + of.collective, str(of.ranks),
            units.format_size(of.bytes), str(of.calls), _time(row.mpi_us), row.mpi,
            _time(row.sumac_us), "-" if row.speedup is None else f"{row.speedup:.2f}x",
        )  # fmt: skip
    mpi, own = sum(row.mpi_us or 0 for row in rows), sum(row.sumac_us or 0 for row in rows)
    shown.add_row(
        "all of these", "", "", str(sum(row.of.calls for row in rows)), _time(mpi), "",
        _time(own), f"{mpi / own:.2f}x" if own else "-",
    )  # fmt: skip
    return shown


def notes(others: int) -> Iterator[str]:
    yield "one call of each class is simulated, at its mean size; ranks arrive together"
    if others:
        yield f"left out: {others} calls of rank 0 that cannot be simulated"


def _time(us: float | None) -> str:
    return "-" if us is None else f"{us:.1f}"
