# SPDX-License-Identifier: BSD-3-Clause
"""Results as comma-separated values: one line for each size, the titles once."""

from __future__ import annotations

import csv
import io
import math

from sumac_mpi.bench.results import Row, Run

COLUMNS = (
    "collective",
    "mpi",
    "ranks",
    "bytes",
    "count",
    "type",
    "op",
    "root",
    "in_place",
    "mpi_p50_us",
    "mpi_p99_us",
    "sumac_p50_us",
    "sumac_p99_us",
    "mpi_busbw_gbs",
    "sumac_busbw_gbs",
    "algorithm",
    "speedup",
    "wrong",
    "mpi_start_us",
    "sumac_start_us",
    "mpi_overlap_pct",
    "sumac_overlap_pct",
    "mpi_overlap_tests_pct",
    "sumac_overlap_tests_pct",
    "mpi_kind",
    "blocking_p50_us",
    "mode",
    "line_ns",
    "speedup_low",
    "speedup_high",
)


class Csv:
    """`first` is false for the second and later runs of one file: no titles."""

    def __init__(self, run: Run, first: bool = True) -> None:
        self.run = run
        self.first = first

    def head(self) -> list[str]:
        return [line(COLUMNS)] if self.first else []

    def row(self, row: Row) -> str:
        record, header = row.record, self.run.header
        sumac = record.get("sumac") or {}
        values = {
            **{name: record.get(name, "") for name in COLUMNS},
            **quartiles(row),
            "mpi": self.run.mpi_name,
            "ranks": self.run.ranks,
            "in_place": int(bool(header.get("in_place"))),
            "mpi_p50_us": record["native"]["p50"],
            "mpi_p99_us": record["native"].get("p99", ""),
            "sumac_p50_us": sumac.get("p50", ""),
            "sumac_p99_us": sumac.get("p99", ""),
            "mpi_busbw_gbs": f"{row.bus_bandwidth(row.native_us):.3f}",
            "sumac_busbw_gbs": f"{row.bus_bandwidth(row.sumac_us):.3f}" if row.sumac_us else "",
            "wrong": row.wrong,
            "mpi_start_us": _or_empty(row.start_us("native")),
            "sumac_start_us": _or_empty(row.start_us("sumac")),
            "mpi_overlap_pct": _percent(row.overlap("native")),
            "sumac_overlap_pct": _percent(row.overlap("sumac")),
            "mpi_overlap_tests_pct": _percent(row.overlap("native", tests=True)),
            "sumac_overlap_tests_pct": _percent(row.overlap("sumac", tests=True)),
            "mpi_kind": header.get("native_kind", self.run.kind.value),
            "blocking_p50_us": _or_empty(row.blocking_us),
            "mode": record.get("mode", {}).get("name", ""),
            "line_ns": record.get("mode", {}).get("line_ns", ""),
        }
        return line(values[name] for name in COLUMNS)

    def foot(self) -> list[str]:
        return []


def quartiles(row: Row) -> dict[str, object]:
    """Of the speedup, by the rounds; empty where there was one."""
    ends = (row.gain.low, row.gain.high) if row.gain else (math.nan, math.nan)
    texts = ["" if math.isnan(end) else round(end, 3) for end in ends]
    return dict(zip(("speedup_low", "speedup_high"), texts))


def _or_empty(value: float | None) -> object:
    return "" if value is None else value


def _percent(overlap: dict[str, float] | None) -> object:
    return "" if overlap is None else overlap["percent"]


def line(values: object) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)  # type: ignore[arg-type]
    return text.getvalue()
