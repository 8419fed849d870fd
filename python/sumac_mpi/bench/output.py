# SPDX-License-Identifier: BSD-3-Clause
"""Shows results while they are measured, rows on standard output and a progress bar on a terminal,
and writes the files of `sumac bench`: the document of results, and the picture."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import Progress

from sumac_mpi.base import files, hardware
from sumac_mpi.base.console import progress
from sumac_mpi.base.errors import bad_value
from sumac_mpi.bench import results
from sumac_mpi.bench.results import Row, Run
from sumac_mpi.library import calls
from sumac_mpi.plot import drawing
from sumac_mpi.report.for_programs import Csv, LocalCsv, Osu, PackCsv
from sumac_mpi.report.local import LocalTable, PackTable
from sumac_mpi.report.table import Before, Table


class Format(str, Enum):
    table = "table"
    osu = "osu"
    csv = "csv"
    json = "json"


class Report(Protocol):
    """An output format: the lines before the rows, for each row (there may be none), and after
    them."""

    def head(self) -> list[str]: ...
    def row(self, row: Row) -> str: ...
    def foot(self) -> list[str]: ...


class Output:
    """Writes runs one after another: begin, a row for each size, end."""

    def __init__(self, wanted: Format, series: str, before: Before | None, wide: bool) -> None:
        self._format = wanted
        self._series = series
        self._before = before
        self._wide = wide
        self._runs = 0
        self._report: Report | None = None
        self._progress: Progress | None = None

    def begin(self, run: Run) -> None:
        self._report = self._make_report(run)
        self._runs += 1
        self._start_progress(run)
        if self._runs > 1 and self._format is Format.table:
            self._print("")
        for line in self._report.head() if self._report else []:
            self._print(line)

    def rows(self, run: Run, rows: list[Row]) -> None:
        """Those of one size, the last of the run."""
        for row in rows:
            for line in self._report.row(row).splitlines() if self._report else []:
                self._print(line)
        if self._progress and rows:
            task, after = self._progress.task_ids[0], f"after {rows[-1].place}"
            self._progress.update(task, completed=run.measured, size=after, refresh=True)

    def end(self) -> None:
        self.leave_terminal()
        for line in self._report.foot() if self._report else []:
            self._print(line)
        self._report = None

    def cut(self, run: Run) -> None:
        """Ends a run that is not complete."""
        self.leave_terminal()
        of = f" of {run.header['sizes']}" if "sizes" in run.header else ""
        note = f"# incomplete: {run.cut_by} after {run.measured}{of} {_unit(run)}"
        if self._format is Format.table:
            self.end()
            print(note, flush=True)
        else:  # a script reads standard output: write nothing but the rows
            print(note, file=sys.stderr)

    def leave_terminal(self) -> None:
        """Removes the progress bar and shows the cursor again."""
        if self._progress:
            self._progress.stop()
            self._progress = None

    def _make_report(self, run: Run) -> Report | None:
        if run.is_local and self._format is not Format.json:
            first = self._runs == 0
            if run.call == calls.PACK:
                return PackCsv(run, first) if self._format is Format.csv else PackTable(run)
            return LocalCsv(run, first) if self._format is Format.csv else LocalTable(run)
        if self._format is Format.table:
            return Table(run, self._before, self._wide)
        if self._format is Format.osu:
            return Osu(run, self._series)
        return Csv(run, first=self._runs == 0) if self._format is Format.csv else None

    def _start_progress(self, run: Run) -> None:
        # On one terminal, rows and bar must be written by one console.
        console = Console() if sys.stdout.isatty() else Console(stderr=True)
        if not console.is_terminal:
            return
        self._progress = progress(
            console, f"{run.call} on {run.mpi_name}", "{task.fields[unit]}  {task.fields[size]}"
        )
        total = run.header.get("sizes")
        self._progress.add_task("", total=total, unit=_unit(run), size="")
        self._progress.start()

    def _print(self, line: str) -> None:
        if self._progress and sys.stdout.isatty():
            self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, flush=True)


def _unit(run: Run) -> str:
    return "cells" if run.is_local else "sizes"


@dataclass(frozen=True)
class Files:
    """The files; raises a usage error for one that could not be written at the end."""

    call: str
    document: Path | None  # may be standard output
    picture: Path | None

    def __post_init__(self) -> None:
        if self.picture and not calls.has_data(self.call):
            raise bad_value(f"-o: not for {self.call}", fix="it has one size: nothing to draw")
        if self.picture:
            drawing.check("-o", self.picture)

    def write(self, runs: list[results.Run], cut_by: str = "", **others: Any) -> None:
        """Writes the files; the document has the others too."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        machine = hardware.describe().as_dict()
        for run in runs:
            run.machine, run.date = machine, date
        content = results.document(runs, machine, date, cut_by) | others
        if self.document:
            files.show_json(content, self.document)
        if self.picture:
            drawing.draw([("", run) for run in runs], self.picture, None)
