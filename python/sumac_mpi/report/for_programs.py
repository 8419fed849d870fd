# SPDX-License-Identifier: BSD-3-Clause
"""Results for other programs: as comma-separated values, one line for each size or cell and the
titles once, and as the OSU micro-benchmarks 7.4 print them."""

from __future__ import annotations

import csv
import io
import math

from sumac_mpi.bench.results import Row, Run
from sumac_mpi.library import calls, tables
from sumac_mpi.library.calls import Kind

Values = dict[str, object]  # of a line by column; None where nothing is


class Csv:
    """The lines of a collective. `first` is false for the second and later runs of one file: no
    titles."""

    COLUMNS: tuple[str, ...] = (
        "collective", "mpi", "ranks", "bytes", "count", "type", "op", "root", "in_place",
        "mpi_p50_us", "mpi_p99_us", "sumac_p50_us", "sumac_p99_us", "mpi_busbw_gbs",
        "sumac_busbw_gbs", "algorithm", "speedup", "wrong", "mpi_start_us", "sumac_start_us",
        "mpi_overlap_pct", "sumac_overlap_pct", "mpi_overlap_tests_pct", "sumac_overlap_tests_pct",
        "mpi_kind", "blocking_p50_us", "mode", "line_ns", "speedup_low", "speedup_high",
    )  # fmt: skip

    def __init__(self, run: Run, first: bool = True) -> None:
        self.run = run
        self.first = first

    def head(self) -> list[str]:
        return [self._line(dict(zip(self.COLUMNS, self.COLUMNS)))] if self.first else []

    def row(self, row: Row) -> str:
        own = {name: row.record.get(name) for name in self.COLUMNS}
        shared = {"mpi": self.run.mpi_name, "wrong": row.wrong} | _quartiles(row)
        return self._line(own | shared | self.values(row))

    def values(self, row: Row) -> Values:
        """What the row's record does not have under the names of the columns."""
        record, header = row.record, self.run.header
        found: Values = {
            "ranks": self.run.ranks,
            "in_place": int(bool(header.get("in_place"))),
            "mpi_kind": header.get("native_kind", self.run.kind.value),
            "blocking_p50_us": row.blocking_us,
            "mode": record.get("mode", {}).get("name"),
            "line_ns": record.get("mode", {}).get("line_ns"),
        }
        for name, contender in (("mpi", "native"), ("sumac", "sumac")):
            us, figures = row.time(contender), record.get(contender) or {}
            found |= {
                f"{name}_p50_us": figures.get("p50"),
                f"{name}_p99_us": figures.get("p99"),
                f"{name}_busbw_gbs": f"{row.bus_bandwidth(us):.3f}" if us else None,
                f"{name}_start_us": row.start_us(contender),
                f"{name}_overlap_pct": (row.overlap(contender) or {}).get("percent"),
                f"{name}_overlap_tests_pct": (row.overlap(contender, True) or {}).get("percent"),
            }
        return found

    def foot(self) -> list[str]:
        return []

    def _line(self, values: Values) -> str:
        text = io.StringIO()
        csv.DictWriter(text, self.COLUMNS, lineterminator="").writerow(values)
        return text.getvalue()


class LocalCsv(Csv):
    """The lines of reduce_local."""

    COLUMNS = (
        "collective", "mpi", "bytes", "count", "type", "op", "memcpy_us", "mpi_us", "sumac_us",
        "loop_us", "mpi_over_memcpy", "sumac_over_memcpy", "speedup", "algorithm", "wrong",
        "speedup_low", "speedup_high",
    )  # fmt: skip

    def values(self, row: Row) -> Values:
        return {
            "memcpy_us": row.time("memcpy"),
            "mpi_us": row.time("native"),
            "sumac_us": row.time("sumac"),
            "loop_us": row.time("loop"),
            "mpi_over_memcpy": _rounded(row.over_memcpy("native")),
            "sumac_over_memcpy": _rounded(row.over_memcpy("sumac")),
        }


class PackCsv(Csv):
    """The lines of pack."""

    COLUMNS = (
        "collective", "mpi", "op", "layout", "asked", "bytes", "memcpy_us", "mpi_us", "sumac_us",
        "memcpy_gbs", "mpi_gbs", "sumac_gbs", "speedup", "algorithm", "wrong",
        "speedup_low", "speedup_high",
    )  # fmt: skip

    def values(self, row: Row) -> Values:
        found: Values = {}
        for name, contender in (("memcpy", "memcpy"), ("mpi", "native"), ("sumac", "sumac")):
            found[f"{name}_us"] = row.time(contender)
            found[f"{name}_gbs"] = _rounded(row.gb_per_second(contender))
        return found


def _quartiles(row: Row) -> Values:
    """The quartiles of the speedup, by the rounds; none where there was one."""
    ends = (row.gain.low, row.gain.high) if row.gain else (math.nan, math.nan)
    numbers = [None if math.isnan(end) else round(end, 3) for end in ends]
    return dict(zip(("speedup_low", "speedup_high"), numbers))


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 3)


# Collectives whose OSU name differs from MPI's.
_TITLES = {"bcast": "Broadcast"}
_FIGURES = {
    "overall": "Overall(us)",
    "compute": "Compute(us)",
    "pure": "Pure Comm.(us)",
    "percent": "Overlap(%)",
}


class Osu:
    """The same preamble, columns and precision as there. As there, the figure is the mean over
    calls and ranks. The figures of a nonblocking call and its overlap are medians, measured without
    MPI_Test. One table holds one contender: `series` is "sumac" (the MPI's own figures where it
    takes no part) or "mpi"."""

    def __init__(self, run: Run, series: str = "sumac") -> None:
        self.run = run
        self.series = series
        self._overlap = run.kind is Kind.nonblocking and run.overlap is not None
        self._sized = calls.collective(run.call).data
        self._last = -1

    def head(self) -> list[str]:
        title = _TITLES.get(self.run.collective, calls.collective(self.run.call).mpi)
        if self.run.kind is Kind.nonblocking:
            title = f"Non-blocking {title}"
        elif self.run.kind is Kind.persistent:
            title += " Persistent"
        lines = ["", f"# OSU MPI {title} Latency Test v7.4"]
        if self._overlap:
            lines += ["# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait", ""]
        if self._sized:
            lines.append(f"# Datatype: {tables.mpi_name(self.run.header['type'])}.")
        return [*lines, self._titles()]

    def _titles(self) -> str:
        size = f"{'# Size':<10}" if self._sized else ""
        if self._overlap:
            return size + "".join(f"{title:>18}" for title in _FIGURES.values())
        return f"{size}{'Avg Latency(us)':>20}" if self._sized else "# Avg Latency(us)"

    def row(self, row: Row) -> str:
        """Of the machine's modes, which this format does not know, the fastest alone."""
        if row.bytes == self._last:
            return ""
        self._last = row.bytes
        contender = "native" if self.series == "mpi" or row.sumac_us is None else "sumac"
        size = f"{row.bytes:<10}" if self._sized else ""
        if self._overlap:
            overlap = row.overlap(contender) or {}
            return size + "".join(f"{overlap[name]:>18.2f}" for name in _FIGURES)
        mean = row.record[contender]["mean"]
        return f"{size}{mean:>20.2f}" if self._sized else f"{mean:>17.2f}"

    def foot(self) -> list[str]:
        return []
