# SPDX-License-Identifier: BSD-3-Clause
"""What a replay has measured: calls by function, form, number of ranks and size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sumac_mpi.base.errors import SumacError
from sumac_mpi.bench.results import Record


@dataclass
class Row:
    """Calls of one kind, of all ranks, whose bytes are within a power of two. Times are those of a
    pass, the mean over all ranks, in microseconds; None where nobody has made the calls."""

    function: str
    form: str
    ranks: int
    smallest: int
    largest: int
    calls: int = 0
    mpi_us: float | None = None
    sumac_us: float | None = None
    wrong: int = 0

    @property
    def name(self) -> str:
        prefix = "i" if self.form == "nonblocking" else ""
        return f"{prefix}{self.function}{'_init' if self.form == 'persistent' else ''}"

    @property
    def speedup(self) -> float | None:
        return self.mpi_us / self.sumac_us if self.mpi_us and self.sumac_us else None


@dataclass
class Results:
    header: Record
    rows: list[Row] = field(default_factory=list)
    summary: Record = field(default_factory=dict)
    classes: list[Record] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        return int(self.summary.get("wrong", 0))

    def as_dict(self) -> dict[str, Any]:
        return {"header": self.header, "classes": self.classes, "summary": self.summary}


def collect(header: Record, classes: list[Record], summary: Record) -> Results:
    """Puts classes of exact sizes together, those that took longest first."""
    rows: dict[tuple[Any, ...], Row] = {}
    for each in classes:
        key = (each["function"], each["form"], each["ranks"], int(each["bytes"]).bit_length())
        size = int(each["bytes"])
        row = rows.setdefault(key, Row(*key[:3], size, size))
        row.smallest, row.largest = min(row.smallest, size), max(row.largest, size)
        row.calls += each["calls"]
        row.wrong += int(each["wrong"])
        row.mpi_us = _sum(row.mpi_us, each["mpi_us"])
        row.sumac_us = _sum(row.sumac_us, each["sumac_us"])
    ordered = sorted(rows.values(), key=lambda row: -(row.mpi_us or row.sumac_us or 0))
    return Results(header, ordered, summary, classes)


def _sum(before: float | None, more: float | None) -> float | None:
    return before if more is None else (before or 0) + more


def read(records: Iterable[Record], advance: Any) -> Results:
    """Reads what the program prints. `advance` is called with the name of each pass that has
    ended, and with the header first."""
    header: Record | None = None
    classes: list[Record] = []
    summary: Record = {}
    for record in records:
        kind = record["kind"]
        if kind == "header":
            header = record
            advance(record["passes"], "")
        elif kind == "progress":
            advance(0, record["pass"])
        elif kind == "class":
            classes.append(record)
        elif kind == "summary":
            summary = record
    if header is None or not summary:
        raise SumacError("job-failed", "the replay ended without results")
    return collect(header, classes, summary)
