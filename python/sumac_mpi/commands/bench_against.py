# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench --against MPI,...`: Sumac beside the best of several MPIs, which take turns."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sumac_mpi.base import console, endings
from sumac_mpi.base.errors import SumacError
from sumac_mpi.bench import against, results, verdict
from sumac_mpi.bench.against import table
from sumac_mpi.bench.output import Files, Format
from sumac_mpi.launch import installations, programs
from sumac_mpi.launch.installations import Mpi
from sumac_mpi.library import layout

TURNS = 3


class Start(Protocol):
    """Starts the benchmark program: programs.run() with the arguments of the request."""

    def __call__(
        self, what: programs.Target, *, load: bool, variables: Mapping[str, str]
    ) -> Generator[results.Record, None, None]: ...


@dataclass(frozen=True)
class Asked:
    mpis: str
    under: str | None
    turns: int | None


@dataclass(frozen=True)
class _Job:
    """One contender in one turn."""

    mpi: Mpi
    target: programs.Target
    loaded: bool  # whether Sumac is
    turn: int

    @property
    def name(self) -> str:
        return f"Sumac under {self.mpi.name}" if self.loaded else self.mpi.name


def names_mpis(value: str | None) -> bool:
    """Whether the value of --against is a list of MPIs; otherwise it is a file."""
    if value is None or Path(value).is_file():
        return False
    return "/" not in value and not value.endswith(".json")


def measure(
    asked: Asked, start: Start, keep: Files, wanted: Format, fail_below: float | None
) -> None:
    """Raises with status 4 for wrong results, 5 for a size below `fail_below` of the best MPI."""
    jobs = _jobs(asked)
    runs: list[results.Run] = []
    try:
        with console.of_jobs(len(jobs)) as advance:
            for job in jobs:
                advance(job.name)
                _run(job, start, runs)
    except (Exception, KeyboardInterrupt) as end:
        runs = [run for run in runs if run.rows]
        if runs:
            _show(runs, keep, wanted, cut_by=endings.reason(end))
        raise
    compared = _show(runs, keep, wanted)
    verdict.require_right(runs)
    ratios = [(each.place, each.ratio) for each in compared if each.ratio and each.complete]
    verdict.require_fast(ratios, fail_below)


def _jobs(asked: Asked) -> list[_Job]:
    """The order changes from turn to turn."""
    installation = layout.find()
    mpis = installations.chosen(asked.mpis, installation, "--against", tuned=True)
    under = installations.chosen(asked.under, installation, "--under") if asked.under else mpis
    jobs: list[_Job] = []
    for turn in range(1, (asked.turns or TURNS) + 1):
        contenders = [(mpi, False) for mpi in mpis] + [(mpi, True) for mpi in under]
        contenders.sort(key=lambda each: (each[0].name, each[1]), reverse=turn % 2 == 0)
        jobs += [
            _Job(
                mpi, programs.Target(installation, "bench", mpi.family, mpi.launcher), loaded, turn
            )
            for mpi, loaded in contenders
        ]
    return jobs


def _run(job: _Job, start: Start, runs: list[results.Run]) -> None:
    def begin(header: results.Record) -> results.Run:
        run = results.Run(against.mark(header, job.mpi.name, job.loaded, job.turn))
        _require_version(job.mpi, run)
        runs.append(run)
        return run

    with installations.environment(job.mpi, job.target) as variables:
        started = start(job.target, load=job.loaded, variables=variables)
        results.of_job(started, begin, what=f"the benchmark of {job.name}")


def _require_version(mpi: Mpi, run: results.Run) -> None:
    """The program must have loaded the MPI of its launcher."""
    if run.mpi_name.split(".")[0] != mpi.launcher.version.split(".")[0]:
        raise SumacError(
            "abi-mismatch",
            f"under {mpi.launcher.version} the benchmark loaded {run.mpi_name}",
            found=str(mpi.library or mpi.launcher.path),
            fix="is a library of another MPI in LD_LIBRARY_PATH or LD_PRELOAD?",
        )


def _show(
    runs: list[results.Run], keep: Files, wanted: Format, cut_by: str = ""
) -> list[against.Comparison]:
    compared = against.compare(runs)
    if cut_by:
        runs[-1].cut_by = cut_by
    keep.write(runs, cut_by, against=[each.as_dict() for each in compared])
    if wanted is not Format.json:
        print("\n".join(table(runs, compared)), flush=True)
    if cut_by:
        print(f"# incomplete: {cut_by} after {len(runs)} jobs", file=sys.stderr)
    return compared
