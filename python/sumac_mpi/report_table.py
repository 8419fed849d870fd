# SPDX-License-Identifier: BSD-3-Clause
"""Results as a table for people, one line for each size, written as the sizes are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sumac_mpi import units
from sumac_mpi.results import Row, Run

Before = Mapping[tuple[Any, ...], float]

_CALL = f"{'size':>10} {'count':>9} {'type':>7} {'op':>5}"
_TIMES = f"{'p50 us':>10} {'p99 us':>10} {'busbw':>7}"
_NATIVE = f"  {'p50 us':>10} {'busbw GB/s':>11}"
_SUMAC = f"  {_TIMES}  {'algo':<18} {'speedup':>8}"


class Table:
    """`before` maps what a row measures to Sumac's time in an earlier file: one more column."""

    def __init__(self, run: Run, before: Before | None = None) -> None:
        self.run = run
        self.before = before

    def head(self) -> list[str]:
        header = self.run.header
        active = header["sumac"]["active"]
        version = (
            " ".join(header["sumac"]["description"].split())
            if active
            else f"sumac {header['version']}"
        )
        facts = [version, self.run.mpi_name, f"{header['ranks']} ranks"]
        if header.get("hosts", 1) > 1:
            facts.append(f"{header['hosts']} hosts")
        facts.append(f"{header['cpus']} cpus{self._oversubscribed()}")
        lines = ["# " + " · ".join(facts)]
        if not active:
            why = "is not loaded" if not header["sumac"]["loaded"] else "stands aside"
            lines.append(f"# Sumac {why}: these are the MPI's own figures")
            return [*lines, "#" + (_CALL + _NATIVE + f" {'#wrong':>7}")[1:]]
        over = " " * len(_CALL) + "  " + " MPI ".center(len(_NATIVE) - 2, "-")
        over += "  " + " Sumac ".center(len(_SUMAC) - 2, "-")
        titles = _CALL + _NATIVE + _SUMAC + f" {'#wrong':>7}"
        if self.before is not None:
            titles += f"  {'before us':>10} {'change':>7}"
        return [*lines, "#" + over[1:], "#" + titles[1:]]

    def _oversubscribed(self) -> str:
        header = self.run.header
        if not header["oversubscribed"]:
            return ""
        times = header["ranks"] / header.get("hosts", 1) / header["cpus"]
        return f" (oversubscribed ×{times:.3g}: latencies are not representative)"

    def row(self, row: Row) -> str:
        record = row.record
        reduces = row.collective in ("allreduce", "reduce")
        line = f"{row.bytes:>10} {record['count']:>9} {record['type'] if row.bytes else '-':>7} "
        line += f"{record['op'] if reduces else '-':>5}"
        line += f"  {units.format_us(row.native_us):>10} {self._bandwidth(row, row.native_us):>11}"
        if row.sumac_us is not None and row.sumac_p99 is not None:
            line += f"  {units.format_us(row.sumac_us):>10} {units.format_us(row.sumac_p99):>10}"
            line += f" {self._bandwidth(row, row.sumac_us):>7}  {_algorithm(row):<18}"
            line += f" {f'{row.speedup:.2f}x':>8}"
        line += f" {row.wrong:>7}"
        if self.before is not None and row.sumac_us is not None:
            line += self._change(row, row.sumac_us)
        return line

    def _change(self, row: Row, us: float) -> str:
        before = (self.before or {}).get(self.run.key(row))
        if not before or not us:
            return f"  {'-':>10} {'-':>7}"
        return f"  {units.format_us(before):>10} {f'{before / us:.2f}x':>7}"

    @staticmethod
    def _bandwidth(row: Row, us: float) -> str:
        return f"{row.bus_bandwidth(us):.2f}" if row.bytes else "-"

    def foot(self) -> list[str]:
        rows = self.run.rows
        right = sum(row.wrong == 0 for row in rows)
        text = f"# verified {right} of {len(rows)} sizes"
        measured = [row for row in rows if row.speedup is not None]
        if measured:
            low = min(measured, key=lambda row: row.speedup or 0)
            high = max(measured, key=lambda row: row.speedup or 0)
            mean = units.geometric_mean(self.run.speedups)
            text += f" · geometric-mean speedup {mean:.2f}x"
            if len(measured) > 1:
                text += f" (min {low.speedup:.2f}x at {units.format_size(low.bytes)}, "
                text += f"max {high.speedup:.2f}x at {units.format_size(high.bytes)})"
        return [text, *self._comparison(), *_reasons(rows), *_native_errors(rows), *_unsteady(rows)]

    def _comparison(self) -> list[str]:
        if self.before is None:
            return []
        changes = [
            self.before[self.run.key(row)] / row.sumac_us
            for row in self.run.rows
            if row.sumac_us and self.before.get(self.run.key(row))
        ]
        if not changes:
            return ["# the earlier file holds none of these measurements"]
        mean = units.geometric_mean(changes)
        return [
            f"# against the earlier file: {mean:.2f}x as fast (geometric mean of {len(changes)})"
        ]


def _algorithm(row: Row) -> str:
    """The name; calls handed down to the MPI are only marked, their reasons stand in the foot."""
    name = "mpi" if row.algorithm.startswith("mpi:") else row.algorithm or "-"
    return name if len(name) <= 18 else name[:17] + "…"


def _reasons(rows: list[Row]) -> list[str]:
    sizes: dict[str, list[str]] = {}
    for row in rows:
        if row.algorithm.startswith("mpi:"):
            reason = row.algorithm.removeprefix("mpi:").strip()
            sizes.setdefault(reason, []).append(units.format_size(row.bytes))
    return [f"# handed down to the MPI at {_list(at)}: {reason}" for reason, at in sizes.items()]


def _list(sizes: list[str]) -> str:
    return sizes[0] if len(sizes) == 1 else f"{len(sizes)} sizes ({sizes[0]} … {sizes[-1]})"


def _native_errors(rows: list[Row]) -> list[str]:
    wrong = [units.format_size(row.bytes) for row in rows if row.record.get("wrong_native")]
    if not wrong or not any(row.sumac_us is not None for row in rows):
        return []
    return [f"# the MPI's own results were wrong at {_list(wrong)}"]


def _unsteady(rows: list[Row]) -> list[str]:
    """A busy machine shows in rounds that differ: the quartiles lie half or more apart."""
    sizes = []
    for row in rows:
        for contender in ("native", "sumac"):
            rounds = sorted((row.record.get(contender) or {}).get("rounds", []))
            quarter = len(rounds) // 4
            if rounds and rounds[-1 - quarter] > 1.5 * rounds[quarter]:
                sizes.append(units.format_size(row.bytes))
                break
    if not sizes:
        return []
    return [f"# unsteady at {_list(sizes)}: rounds differ by half or more; is the machine busy?"]
