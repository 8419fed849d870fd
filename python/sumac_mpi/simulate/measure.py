# SPDX-License-Identifier: BSD-3-Clause
"""Simulates a request: one simulation for each way of making the calls, two at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from sumac_mpi.base.errors import SumacError
from sumac_mpi.simulate import smpi
from sumac_mpi.simulate.request import SUMAC, Request

_AT_ONCE = 2  # each takes some hundred MB


@dataclass(frozen=True)
class Cell:
    """One way at one size."""

    us: float
    wrong: int  # ranks with a wrong result


@dataclass
class Results:
    request: Request
    cells: dict[str, dict[int, Cell]] = field(default_factory=dict)  # by way, by size
    plans: dict[int, str] = field(default_factory=dict)  # Sumac's, by size
    unfinished: list[str] = field(default_factory=list)  # ways

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.request.sizes or (0,)

    def best_native(self, size: int) -> tuple[str, float] | None:
        """The fastest selection whose results are right."""
        right = {
            way: found[size].us
            for way, found in self.cells.items()
            if way != SUMAC and size in found and not found[size].wrong
        }
        return min(right.items(), key=lambda each: each[1]) if right else None

    def sumac(self, size: int) -> Cell | None:
        return self.cells.get(SUMAC, {}).get(size)

    def times_as_fast(self, size: int) -> float | None:
        """Sumac against the best native selection."""
        own, best = self.sumac(size), self.best_native(size)
        return best[1] / own.us if own and best and own.us > 0 else None

    def wrong(self) -> list[str]:
        """Ways with a wrong result, with the sizes."""
        return [
            f"{way} at {size} bytes, on {cell.wrong} ranks"
            for way, found in self.cells.items()
            for size, cell in found.items()
            if cell.wrong
        ]

    def wrong_sumac(self) -> bool:
        return any(cell.wrong for cell in self.cells.get(SUMAC, {}).values())

    def as_json(self) -> dict[str, Any]:
        request = asdict(self.request)
        return {
            "request": request,
            "us": {way: {str(s): c.us for s, c in of.items()} for way, of in self.cells.items()},
            "plans": {str(size): plan for size, plan in self.plans.items()},
            "wrong": self.wrong(),
            "unfinished": self.unfinished,
        }


def simulate(request: Request, seconds: float, advance: Callable[[str], None]) -> Results:
    """`advance` is called with a way's name for each of its results. A native selection that takes
    longer than `seconds`, or fails, is left out from where it stopped; Sumac is not."""
    results = Results(request)
    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
        jobs = {way: pool.submit(records, request, way, seconds, advance) for way in request.ways}
        try:
            for way, job in jobs.items():
                _collect(results, way, job)
        except BaseException:
            for job in jobs.values():
                job.cancel()
            raise
    return results


def _collect(results: Results, way: str, job: Future[tuple[list[dict[str, Any]], bool]]) -> None:
    told, over = job.result()
    if not over:
        results.unfinished.append(way)
    found = results.cells.setdefault(way, {})
    for record in told:
        found[record["bytes"]] = Cell(record["us"], record["wrong"])
        if way == SUMAC:
            results.plans[record["bytes"]] = record["plan"]


def records(
    request: Request, way: str, seconds: float, advance: Callable[[str], None]
) -> tuple[list[dict[str, Any]], bool]:
    """What a way's simulation told, and whether it came to its end."""
    native = {**smpi.BETWEEN_CALLS, f"smpi/{request.collective}": way}
    settings = smpi.SET_UP if way == SUMAC else native
    job = request.job(way)
    found: list[dict[str, Any]] = []

    def note(record: dict[str, Any]) -> None:
        found.append(record)
        advance(way)

    try:
        smpi.run(request.cluster, request.ranks, job, settings, seconds, note)
    except smpi.Unfinished:
        return found, False
    over = len(found) == len(job["cases"])
    if not over and way == SUMAC:
        raise SumacError(
            "simulation",
            "the simulation of Sumac ended before its last call",
            found=f"{len(found)} of {len(job['cases'])} calls: SimGrid ends so when all wait",
            fix="this is a mistake in Sumac: please report it, with the command",
        )
    return found, over
