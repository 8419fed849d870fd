# SPDX-License-Identifier: BSD-3-Clause
"""The columns of the table: which a run has, and their values for each size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sumac_mpi.base import units
from sumac_mpi.base.spread import Spread
from sumac_mpi.bench.results import Row, Run
from sumac_mpi.library import calls
from sumac_mpi.library.calls import Kind


@dataclass(frozen=True)
class Column:
    title: str
    width: int
    text: Callable[[Row], str]
    left: bool = False

    def cell(self, text: str) -> str:
        return f"{text:<{self.width}}" if self.left else f"{text:>{self.width}}"


@dataclass(frozen=True)
class Group:
    """Columns under one heading, which may be empty."""

    heading: str
    columns: list[Column]

    @property
    def over(self) -> str:
        filling = "-" if self.heading else " "
        return f" {self.heading} ".center(len(self.titles), filling)

    @property
    def titles(self) -> str:
        return " ".join(column.cell(column.title) for column in self.columns)

    def line(self, row: Row) -> str:
        return " ".join(column.cell(column.text(row)) for column in self.columns)


def groups(run: Run, wide: bool) -> list[Group]:
    """The call and the MPI; Sumac where it takes part; the blocking call next to a persistent. Not
    `wide`, what most want to know of a blocking call fits a terminal of 80 columns."""
    stand_in = run.header.get("native_kind")
    found = [_call(run), Group(f"MPI, {stand_in}" if stand_in else "MPI", _native(run))]
    if run.sumac_takes_part:
        found.append(Group("Sumac", _sumac(run)))
    if run.kind is Kind.persistent:
        found.append(Group("blocking", _BLOCKING))
    if wide:
        return found
    return [
        Group(group.heading, [each for each in group.columns if each.title not in _ONLY_WIDE])
        for group in found
    ]


# One type and one operation are those of all rows.
_ONLY_WIDE = ("count", "type", "op", "busbw GB/s", "busbw", "p99 us", "start us")


def _call(run: Run) -> Group:
    """All rows have one type and one operation."""
    type_, op = str(run.header["type"]), str(run.header["op"])
    mode = [Column("mode", 11, lambda row: row.mode or "-")] if run.line_is_measured else []
    columns = [
        *mode,
        Column("size", 8, lambda row: str(row.bytes)),
        Column("count", 9, lambda row: str(row.record["count"])),
        Column("type", max(7, len(type_)), lambda row: type_ if row.bytes else "-"),
        Column("op", max(5, len(op)), _operation),
    ]
    return Group("", columns)


def _native(run: Run) -> list[Column]:
    columns = [
        Column("p50 us", 9, lambda row: units.format_us(row.native_us)),
        Column("busbw GB/s", 11, lambda row: _bandwidth(row, row.native_us)),
    ]
    return columns + _between_start_and_wait(run, "native")


def _sumac(run: Run) -> list[Column]:
    columns = [
        Column("p50 us", 9, lambda row: _us(row.sumac_us)),
        Column("p99 us", 9, lambda row: _us(row.sumac_p99)),
        Column("busbw", 7, lambda row: _bandwidth(row, row.sumac_us)),
    ]
    return [
        *columns,
        *_between_start_and_wait(run, "sumac"),
        Column("speedup", 11, lambda row: _times(row.gain)),
        Column(" algo", 16, lambda row: " " + _algorithm(row), left=True),
    ]


def _between_start_and_wait(run: Run, contender: str) -> list[Column]:
    columns = []
    if run.kind is not Kind.blocking:
        columns.append(Column("start us", 9, lambda row: _us(row.start_us(contender))))
    if run.overlap:
        columns.append(Column("overlap", 8, lambda row: _percent(row.overlap(contender))))
    if run.overlap and run.overlap["tests"]:
        columns.append(Column("+tests", 7, lambda row: _percent(row.overlap(contender, True))))
    return columns


def _us(us: float | None) -> str:
    return "-" if us is None else units.format_us(us)


def _times(quotient: Spread | None) -> str:
    return "-" if quotient is None else str(quotient)


def _percent(overlap: dict[str, float] | None) -> str:
    return "-" if overlap is None else f"{overlap['percent']:.1f}%"


def _bandwidth(row: Row, us: float | None) -> str:
    return f"{row.bus_bandwidth(us):.2f}" if row.bytes and us is not None else "-"


def _algorithm(row: Row) -> str:
    """The algorithm's name; calls handed down are marked, with their reasons below the table."""
    name = "mpi" if row.handed_down else row.algorithm or "-"
    return name if len(name) <= 15 else name[:14] + "…"


def _operation(row: Row) -> str:
    return str(row.record["op"]) if calls.collective(row.call).reduces else "-"


_BLOCKING = [
    Column("p50 us", 9, lambda row: _us(row.blocking_us)),
    Column("ratio", 11, lambda row: _times(row.against_blocking)),
]
