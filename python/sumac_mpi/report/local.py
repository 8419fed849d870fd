# SPDX-License-Identifier: BSD-3-Clause
"""Tables for people of what one process does. Of reduce_local a matrix of types and operations for
each size, written when the size is measured; of pack a line for each call on each layout."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby
from statistics import median

from sumac_mpi.base import units
from sumac_mpi.base.spread import MEANING, geometric_mean
from sumac_mpi.bench.results import Row, Run, types_and_operations
from sumac_mpi.library import tables
from sumac_mpi.report import table

_MOST_NAMED = 5  # cells that a line below the table names


class LocalTable:
    def __init__(self, run: Run) -> None:
        self.run = run
        self._size: list[Row] = []  # the rows since the last matrix

    def head(self) -> list[str]:
        lines = [table.facts(self.run), *table.notes(self.run)]
        if lacking := self.run.header.get("types_lacking"):
            lines.append(f"# not measured, for this MPI has no such type: {', '.join(lacking)}")
        return lines

    def row(self, row: Row) -> str:
        """The matrices of the size before, with the first row of the next."""
        done = self._matrices() if self._size and self._size[0].asked != row.asked else []
        self._size = [row] if done else [*self._size, row]
        return "\n".join(done)

    def foot(self) -> list[str]:
        rows = self.run.rows
        right = sum(row.wrong == 0 for row in rows)
        lines = [*self._matrices(), "#", f"# verified {right} of {len(rows)} cells"]
        for asked in dict.fromkeys(row.asked for row in rows):
            lines.append(_summary([row for row in rows if row.asked == asked]))
        slower = [row for row in rows if row.speedup is not None and row.speedup < 0.95]
        reasons: dict[str, list[Row]] = {}
        for row in rows:
            if row.handed_down:
                reasons.setdefault(row.algorithm.removeprefix("mpi:").strip(), []).append(row)
        lines += _named("slower than the MPI's own, below 0.95x", slower)
        for reason, handed_down in reasons.items():
            lines += _named(f"handed down to the MPI ({reason})", handed_down)
        wrong = [row for row in rows if row.record.get("wrong_native")]
        lines += _named("the MPI's own results were wrong", wrong)
        return lines + _steadiness(rows)

    def _matrices(self) -> list[str]:
        rows = self._size
        if not rows:
            return []
        size = units.format_size(rows[0].asked)
        copy = units.format_us(median(row.time("memcpy") or 0 for row in rows))
        figures = [(f"time over that of memcpy ({copy} us)", Row.over_memcpy, ".2f")]
        if any(row.speedup for row in rows):
            figures.append(("the MPI's own time over Sumac's", lambda row: row.speedup, ".2f"))
        if any(row.time("loop") for row in rows):
            figures.append(("ns more than a plain loop takes", Row.ns_over_loop, ".1f"))
        lines = []
        for title, figure, digits in figures:
            lines += ["#", f"# {size}: {title}", *_matrix(rows, figure, digits)]
        return lines


def _matrix(rows: list[Row], figure: Callable[[Row], float | None], digits: str) -> list[str]:
    types, ops = types_and_operations(rows)
    width = max(len(name) for name in types) + 1
    values = {(row.record["type"], row.record["op"]): figure(row) for row in rows}

    def cell(name: str, op: str) -> str:
        value = values.get((name, op))
        missing = "-" if tables.is_defined(op, name) else ""
        return f"{missing:>7}" if value is None else f"{value:>7{digits}}"

    titles = "#" + f"{'type':<{width - 1}}" + "".join(f"{op:>7}" for op in ops)
    return [
        titles,
        *((f"{name:<{width}}" + "".join(cell(name, op) for op in ops)).rstrip() for name in types),
    ]


def _summary(rows: list[Row]) -> str:
    size = units.format_size(rows[0].asked)
    ratios = [(row.over_memcpy() or 0.0, row.operation) for row in rows]
    most, where = max(ratios)
    near = sum(ratio <= 1.15 for ratio, _ in ratios)
    text = f"# {size}: {near} of {len(ratios)} cells within 1.15x of memcpy"
    text += f", the most {most:.2f}x ({where})"
    if gains := [row.gain for row in rows if row.gain]:
        text += f"; {geometric_mean(gains)} as fast as the MPI (geometric mean)"
    return text


def _steadiness(rows: list[Row]) -> list[str]:
    """How far to trust the cells, which have no room for it themselves."""
    away = [row.gain.away for row in rows if row.gain and not math.isnan(row.gain.away)]
    if not away:
        return []
    return [f"# {MEANING}: ±{median(away):.0%} in half of the cells, ±{max(away):.0%} in the worst"]


def _named(what: str, rows: list[Row]) -> list[str]:
    if not rows:
        return []
    names = ", ".join(row.place for row in rows[:_MOST_NAMED])
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    return [f"# {what}: {names}{more}"]


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
    rate = row.gb_per_second(contender)
    return f"{'-' if rate is None else f'{rate:.2f}':>8}"


def _served_by(row: Row) -> str:
    return "Sumac" if row.algorithm == "local" else "MPI"
