# SPDX-License-Identifier: BSD-3-Clause
"""Results as a table for people, one line for each size, written as the sizes are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.base.spread import MEANING, Spread, geometric_mean, speedup
from sumac_mpi.bench.results import Record, Row, Run
from sumac_mpi.report import columns

Before = Mapping[tuple[Any, ...], Spread]


class Table:
    """`before` maps what a row measures to Sumac's times in an earlier file: one more column."""

    def __init__(self, run: Run, before: Before | None = None, wide: bool = False) -> None:
        self.run = run
        self.before = before
        self.groups = columns.groups(run, wide)

    def head(self) -> list[str]:
        lines = [facts(self.run), *notes(self.run)]
        over = "  ".join(group.over for group in self.groups)
        titles = "  ".join(group.titles for group in self.groups) + f" {'#wrong':>7}"
        if self.before is not None:
            titles += f"  {'before us':>9} {'change':>11}"
        # Two groups need no headings: the call's, and the MPI's alone.
        return [*lines, *(["#" + over[1:]] if len(self.groups) > 2 else []), "#" + titles[1:]]

    def row(self, row: Row) -> str:
        line = "  ".join(group.line(row) for group in self.groups) + f" {row.wrong:>7}"
        if self.before is None or row.sumac_us is None:
            return line
        before, change = self.before.get(self.run.key(row)), self._change(row)
        if before is None or change is None:
            return f"{line}  {'-':>9} {'-':>11}"
        return f"{line}  {units.format_us(before.median):>9} {change!s:>11}"

    def _change(self, row: Row) -> Spread | None:
        before, now = (self.before or {}).get(self.run.key(row)), row.times("sumac")
        return speedup(before, now) if before and now else None

    def foot(self) -> list[str]:
        rows = self.run.rows
        right = sum(row.wrong == 0 for row in rows)
        text = f"# verified {right} of {units.counted(len(rows), 'size')}"
        notes = [_against_blocking, _reasons, _native_errors, _unsteady, _modes]
        return [
            *(text, *_speedups(rows), *self._comparison()),
            *(line for note in notes for line in note(rows)),
        ]

    def _comparison(self) -> list[str]:
        if self.before is None:
            return []
        changes = [change for row in self.run.rows if (change := self._change(row))]
        if not changes:
            without_mode = {key[:-1] for key in self.before}
            if any(self.run.key(row)[:-1] in without_mode for row in self.run.rows):
                return ["# the earlier file holds these measurements in other modes only"]
            return ["# the earlier file holds none of these measurements"]
        mean = geometric_mean(changes)
        return [f"# against the earlier file: {mean} as fast (geometric mean of {len(changes)})"]


def facts(run: Run) -> str:
    """The line with the conditions of the measurement."""
    header, ranks = run.header, run.ranks
    own = " ".join(header["sumac"]["description"].split())
    parts = [
        own if header["sumac"]["active"] else f"sumac {header['version']}",
        run.mpi_name,
        units.counted(ranks, "rank"),
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


def _speedups(rows: list[Row]) -> list[str]:
    gains = [(row.gain, row) for row in rows if row.gain is not None]
    if not gains:
        return []
    low, high = (end(gains, key=lambda each: each[0].median) for end in (min, max))
    text = f"# geometric-mean speedup {geometric_mean([gain for gain, _ in gains])}"
    if len(gains) > 1:
        text += f" (min {low[0]} at {units.format_size(low[1].bytes)}, "
        text += f"max {high[0]} at {units.format_size(high[1].bytes)})"
    return [text, f"# {MEANING}"]


def _oversubscribed(header: Record) -> str:
    if not header["oversubscribed"]:
        return ""
    times = header["ranks"] / header.get("hosts", 1) / header["cpus"]
    return f" (oversubscribed ×{times:.3g}: latencies are not representative)"


def _against_blocking(rows: list[Row]) -> list[str]:
    ratios = {row.bytes: row.against_blocking for row in rows if row.against_blocking is not None}
    if not ratios:
        return []
    slower = [units.format_size(size) for size, each in ratios.items() if round(each.median, 2) < 1]
    mean = geometric_mean(ratios.values())
    text = f"# the persistent call is {mean} as fast as the blocking one (geometric mean)"
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
        lines.append(
            f"# {units.counted(dropped, 'round')} dropped: the time of a line changed meanwhile"
        )
    gains: dict[str, list[Spread]] = {}
    for row in rows:
        if row.gain is not None and row.mode:
            gains.setdefault(str(row.record["mode"]["name"]), []).append(row.gain)
    if len(gains) > 1:
        means = [f"{name} {geometric_mean(each)}" for name, each in gains.items()]
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
    """A line on sizes whose rounds differ much."""
    contenders = ("native", "sumac")
    unsteady = [row for row in rows if any(row.is_unsteady(each) for each in contenders)]
    sizes = [units.format_size(row.bytes) for row in unsteady]
    if not sizes:
        return []
    return [f"# unsteady at {_list(sizes)}: rounds differ by half or more; is the machine busy?"]
