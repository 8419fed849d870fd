# SPDX-License-Identifier: BSD-3-Clause
"""Results of pack: for people a line for each call on each layout, and comma-separated values."""

from __future__ import annotations

from itertools import groupby

from sumac_mpi.base import units
from sumac_mpi.base.spread import MEANING, geometric_mean
from sumac_mpi.bench.local_figures import gb_per_second
from sumac_mpi.bench.results import Row, Run
from sumac_mpi.library import tables
from sumac_mpi.report import csv, table
from sumac_mpi.report.local import LocalCsv


class PackTable:
    def __init__(self, run: Run) -> None:
        self.run = run
        self._width = max(len(name) for name in ["layout", *tables.names("layouts")])

    def head(self) -> list[str]:
        lines = [table.facts(self.run), *table.notes(self.run)]
        if left_out := self.run.header.get("left_out"):
            places = (
                f"{each['layout']} of {units.format_size(each['asked'])}" for each in left_out
            )
            lines.append(f"# not measured, for its places are too far apart: {', '.join(places)}")
        titles = f"{'size':<8} {'layout':<{self._width}} {'call':<6} {'memcpy':>8} {'MPI':>8}"
        titles += f" {'Sumac':>8} GB/s {'speedup':>11} {'by':<5} {'#wrong':>7}"
        return [*lines, f"# {MEANING}", "#" + titles]

    def row(self, row: Row) -> str:
        rates = " ".join(_rate(row, each) for each in ("memcpy", "native", "sumac"))
        gain = "-" if row.gain is None else str(row.gain)
        line = f" {units.format_size(row.asked):<8} {row.record['layout']:<{self._width}}"
        line += f" {row.record['op']:<6} {rates}      {gain:>11} {_served_by(row):<5}"
        return f"{line} {row.wrong:>7}"

    def foot(self) -> list[str]:
        rows = self.run.rows
        lines = [f"# verified {sum(row.wrong == 0 for row in rows)} of {len(rows)} cells"]
        for asked, group in groupby(rows, lambda row: row.asked):
            found = [(row.gain, row) for row in group if row.gain is not None]
            if found:
                low, where = min(found, key=lambda each: each[0].median)
                mean = geometric_mean([gain for gain, _ in found])
                lines.append(
                    f"# {units.format_size(asked)}: {mean} as fast as the MPI (geometric "
                    f"mean), the least {low} ({where.operation})"
                )
        wrong = [row.place for row in rows if row.record.get("wrong_native")]
        return lines + (
            [f"# the MPI's own results were wrong: {', '.join(wrong)}"] if wrong else []
        )


def _rate(row: Row, contender: str) -> str:
    rate = gb_per_second(row, contender)
    return f"{'-' if rate is None else f'{rate:.2f}':>8}"


def _served_by(row: Row) -> str:
    return "Sumac" if row.algorithm == "local" else "MPI"


class PackCsv(LocalCsv):
    COLUMNS = (
        "collective", "mpi", "op", "layout", "asked", "bytes", "memcpy_us", "mpi_us", "sumac_us",
        "memcpy_gbs", "mpi_gbs", "sumac_gbs", "speedup", "algorithm", "wrong",
        "speedup_low", "speedup_high",
    )  # fmt: skip

    def row(self, row: Row) -> str:
        values: dict[str, object] = {name: row.record.get(name, "") for name in self.COLUMNS}
        values |= {"mpi": self.run.mpi_name, "wrong": row.wrong} | csv.quartiles(row)
        for name, contender in (("memcpy", "memcpy"), ("mpi", "native"), ("sumac", "sumac")):
            us, rate = row.time(contender), gb_per_second(row, contender)
            values[f"{name}_us"] = "" if us is None else us
            values[f"{name}_gbs"] = "" if rate is None else round(rate, 3)
        return csv.line(values[name] for name in self.COLUMNS)
