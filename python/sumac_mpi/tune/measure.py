# SPDX-License-Identifier: BSD-3-Clause
"""Runs the jobs of `sumac tune`, and collects what they measured at each size."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from sumac_mpi.base import hardware
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench import modes, results, verdict
from sumac_mpi.bench.results import Record, Row, Run
from sumac_mpi.launch.programs import Target
from sumac_mpi.tune.decision import NATIVE, Cell
from sumac_mpi.tune.request import SHIPPED, Job, Request, ways
from sumac_mpi.tune.rules import Place
from sumac_mpi.tune.state import State


class Start(Protocol):
    """Starts the benchmark program: programs.run() with the other arguments given."""

    def __call__(
        self, what: Target, ranks: int, arguments: list[str], *, variables: Mapping[str, str]
    ) -> Generator[Record, None, None]: ...


def measure(
    request: Request,
    targets: Mapping[str, Target],
    state: State,
    start: Start,
    advance: Callable[[str], None],
) -> None:
    """Runs those jobs that the state has not. Raises with status 4 for wrong results."""
    for job in request.jobs():
        advance(f"{job.collective} on {job.ranks} ranks: {job.way}")
        sizes = _sizes(job, request, state)
        if job not in state.runs and sizes:
            arguments = request.arguments(job, sizes)
            started = start(targets[job.family], job.ranks, arguments, variables=job.variables)
            run = results.of_job(started)
            _require_one_group(job, run)
            verdict.require_right([run])
            state.add(job, run)


def _sizes(job: Job, request: Request, state: State) -> list[int]:
    """The sizes at which the job's way is measured. The first turn shows where it runs, and where
    it is what the shipped rules take anyway."""
    shipped = state.runs.get(_first(job, SHIPPED))
    if shipped is None:
        return list(request.sizes)
    if job.way == SHIPPED:
        return sorted({row.bytes for row in shipped.rows})
    others = {row.bytes for row in shipped.rows if _way(row) != job.way}
    own = state.runs.get(_first(job, job.way))
    if own is not None and job.turn > 1:
        others &= {row.bytes for row in own.rows if _way(row) == job.way}
    return sorted(others)


def _first(job: Job, way: str) -> Job:
    return Job(1, job.family, job.ranks, job.collective, way)


def _require_one_group(job: Job, run: Run) -> None:
    """Rules are measured for a group of ranks that share memory, and for no other."""
    verdict.require_active(run, "there is nothing to tune")
    if run.header.get("hosts", 1) > 1:
        raise _not_one_group(f"the ranks are on {run.header['hosts']} hosts", "one host: -n")
    served = {_way(row) for row in run.rows}
    if job.way == SHIPPED and not served <= {NATIVE, *ways(job.collective)}:
        raise _not_one_group(
            f"{job.collective} on {job.ranks} ranks of this host takes a hierarchy",
            "SUMAC_HIERARCHY=flat, also for the programs that take the rules; or fewer ranks",
        )


def _not_one_group(what: str, fix: str) -> SumacError:
    return SumacError(
        "one-group",
        f"{what}: this release tunes groups within the shared memory of one host",
        fix=fix,
        code=Exit.USAGE,
    )


def _way(row: Row) -> str:
    return NATIVE if row.handed_down else row.algorithm


def cells(state: State) -> dict[Place, list[Cell]]:
    """What was measured, by place and size. Of each way the rounds of all turns are pooled by the
    machine's mode; of the MPI's own function those of all jobs. The modes of one class of distance
    are a place."""
    by_place: dict[Place, dict[Job, Run]] = {}
    available = processors()
    for job, run in state.runs.items():
        by_place.setdefault(place_of(job, available), {})[job] = run
    return {
        replace(place, handover=handover): _cells(runs, known)
        for place, runs in by_place.items()
        for handover, known in _by_class(runs).items()
    }


def _by_class(runs: Mapping[Job, Run]) -> dict[str, list[modes.Mode]]:
    """The modes of these rounds, by the class that rules ask for; one class without a name and
    modes where lines were not measured."""
    found: dict[str, list[modes.Mode]] = {}
    for mode in modes.classes(
        ns for run in runs.values() for row in run.rows for _, _, ns in _rounds(row) if ns
    ):
        found.setdefault(mode.name, []).append(mode)
    return found or {"": []}


def _cells(runs: Mapping[Job, Run], known: list[modes.Mode]) -> list[Cell]:
    first = next((run for job, run in runs.items() if job.way == SHIPPED), None)
    shipped = {row.bytes: _way(row) for row in first.rows} if first else {}
    return [Cell(size, way, _pooled(size, way, runs, known)) for size, way in shipped.items()]


def _pooled(
    size: int, shipped: str, runs: Mapping[Job, Run], known: list[modes.Mode]
) -> dict[str, dict[modes.Mode | None, list[list[float]]]]:
    pooled: dict[str, dict[modes.Mode | None, list[list[float]]]] = {shipped: {}}
    for job, run in runs.items():
        wanted = shipped if job.way == SHIPPED else job.way
        for (way, mode), times in _of_job(size, run, known).items():
            if way in (wanted, NATIVE):
                pooled.setdefault(way, {}).setdefault(mode, []).append(times)
    return pooled


def _of_job(
    size: int, run: Run, known: list[modes.Mode]
) -> dict[tuple[str, modes.Mode | None], list[float]]:
    """The rounds of a size by way and mode. Those that no mode holds are left out."""
    found: dict[tuple[str, modes.Mode | None], list[float]] = {}
    for row in run.rows:
        for way, us, ns in _rounds(row) if row.bytes == size else ():
            mode = next((each for each in known if ns and each.holds(ns)), None)
            if mode or not known:
                found.setdefault((way, mode), []).append(us)
    return found


def _rounds(row: Row) -> Iterator[tuple[str, float, float]]:
    """(way, microseconds, nanoseconds of a line, or 0 where it was not measured). A call that was
    handed down is not counted beside the MPI's own."""
    stamps = row.record.get("line", {}).get("ns")
    for contender, way in ((NATIVE, NATIVE), ("sumac", _way(row))):
        times = row.record.get(contender, {}).get("rounds", [])
        if contender == NATIVE or way != NATIVE:
            for us, ns in zip(times, stamps or [0.0] * len(times)):
                yield way, us, ns


def place_of(job: Job, available: int) -> Place:
    return Place(job.family, job.collective, job.ranks, job.ranks > available)


def processors() -> int:
    """As the library counts them for `room` (src/machine/machine.cc, src/team/hello.cc)."""
    quota = hardware.allowed_processors()
    cpus = hardware.describe().cpus
    return cpus if quota is None else min(cpus, math.ceil(quota))
