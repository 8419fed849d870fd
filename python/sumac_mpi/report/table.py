# SPDX-License-Identifier: BSD-3-Clause
"""Results as a table for people, one line for each size, written as the sizes are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.bench.results import Record, Row, Run
from sumac_mpi.report import columns

Before = Mapping[tuple[Any, ...], float]


class Table:
    """`before` maps what a row measures to Sumac's time in an earlier file: one more column."""

    def __init__(self, run: Run, before: Before | None = None) -> None:
        self.run = run
        self.before = before
        self.groups = columns.groups(run)

    def head(self) -> list[str]:
        lines = [facts(self.run), *notes(self.run)]
        over = "  ".join(group.over for group in self.groups)
        titles = "  ".join(group.titles for group in self.groups) + f" {'#wrong':>7}"
        if self.before is not None:
            titles += f"  {'before us':>10} {'change':>7}"
        # Two groups need no headings: the call's, and the MPI's alone.
        return [*lines, *(["#" + over[1:]] if len(self.groups) > 2 else []), "#" + titles[1:]]

    def row(self, row: Row) -> str:
        line = "  ".join(group.line(row) for group in self.groups) + f" {row.wrong:>7}"
        if self.before is not None and row.sumac_us is not None:
            line += self._change(row, row.sumac_us)
        return line

    def _change(self, row: Row, us: float) -> str:
        before = (self.before or {}).get(self.run.key(row))
        if not before or not us:
            return f"  {'-':>10} {'-':>7}"
        return f"  {units.format_us(before):>10} {f'{before / us:.2f}x':>7}"

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
        notes = [_against_blocking, _reasons, _native_errors, _unsteady, _modes]
        return [text, *self._comparison(), *(line for note in notes for line in note(rows))]

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


def facts(run: Run) -> str:
    """The line with the conditions of the measurement."""
    header, ranks = run.header, run.ranks
    own = " ".join(header["sumac"]["description"].split())
    parts = [
        own if header["sumac"]["active"] else f"sumac {header['version']}",
        run.mpi_name,
        f"{ranks} rank" if ranks == 1 else f"{ranks} ranks",
    ]
    if header.get("hosts", 1) > 1:
        parts.append(f"{header['hosts']} hosts")
    parts.append(f"{header['cpus']} cpus{_oversubscribed(header)}")
    return "# " + " · ".join(parts)


def notes(run: Run) -> list[str]:
    """Lines with remarks on the run."""
    sumac = run.header["sumac"]
    lines = []
    if not run.sumac_takes_part:
        why = "stands aside" if sumac["loaded"] else "is not loaded"
        if "lacks" in sumac:
            why = f"takes no part ({sumac['lacks']})"
        lines.append(f"# Sumac {why}: these are the MPI's own figures")
    if kind := run.header.get("native_kind"):
        lines.append(f"# this MPI has no {run.call}: measured is its {kind} {run.collective}")
    if run.overlap:
        tests = run.overlap["tests"]
        with_tests = f"; +tests: with {tests} calls of MPI_Test" if tests else ""
        lines.append(f"# overlap: the core is {run.overlap['compute']} meanwhile{with_tests}")
    return lines


def _oversubscribed(header: Record) -> str:
    if not header["oversubscribed"]:
        return ""
    times = header["ranks"] / header.get("hosts", 1) / header["cpus"]
    return f" (oversubscribed ×{times:.3g}: latencies are not representative)"


def _against_blocking(rows: list[Row]) -> list[str]:
    ratios = {row.bytes: row.against_blocking for row in rows if row.against_blocking is not None}
    if not ratios:
        return []
    slower = [units.format_size(size) for size, ratio in ratios.items() if round(ratio, 2) < 1]
    mean = units.geometric_mean(ratios.values())
    text = f"# the persistent call is {mean:.2f}x as fast as the blocking one (geometric mean)"
    return [text + (f", slower at {_list(slower)}" if slower else ", slower at no size")]


def _reasons(rows: list[Row]) -> list[str]:
    sizes: dict[str, list[str]] = {}
    for row in rows:
        if row.handed_down:
            reason = row.algorithm.removeprefix("mpi:").strip()
            sizes.setdefault(reason, []).append(units.format_size(row.bytes))
    return [f"# handed down to the MPI at {_list(at)}: {reason}" for reason, at in sizes.items()]


def _modes(rows: list[Row]) -> list[str]:
    """Lines on the machine's modes: the rounds that were left out, and the means of each."""
    lines = []
    if dropped := sum(row.dropped for row in rows):
        lines.append(f"# {dropped} rounds dropped: the time of a line changed in them")
    speedups: dict[str, list[float]] = {}
    for row in rows:
        if row.speedup is not None and row.mode:
            speedups.setdefault(str(row.record["mode"]["name"]), []).append(row.speedup)
    if len(speedups) > 1:
        means = [f"{name} {units.geometric_mean(each):.2f}x" for name, each in speedups.items()]
        lines.append(f"# geometric-mean speedup by mode: {', '.join(means)}")
    return lines


def _list(sizes: list[str]) -> str:
    return sizes[0] if len(sizes) == 1 else f"{len(sizes)} sizes ({sizes[0]} … {sizes[-1]})"


def _native_errors(rows: list[Row]) -> list[str]:
    wrong = [units.format_size(row.bytes) for row in rows if row.record.get("wrong_native")]
    if not wrong or not any(row.sumac_us is not None for row in rows):
        return []
    return [f"# the MPI's own results were wrong at {_list(wrong)}"]


def _unsteady(rows: list[Row]) -> list[str]:
    """A line on sizes whose rounds differ much, as on a busy machine: quartiles 1.5 times apart."""
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
