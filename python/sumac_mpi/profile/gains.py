# SPDX-License-Identifier: BSD-3-Clause
"""The table of gains: how long each call takes with Sumac, as a multiple of the MPI's own time, by
number of bytes. It holds for one machine, MPI, number of ranks and build of Sumac, which its stamp
names. Where none holds for a profile, this says why, and what to do."""

from __future__ import annotations

import bisect
import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumac_mpi.base import files, hardware
from sumac_mpi.base.errors import SumacError
from sumac_mpi.bench import modes, results
from sumac_mpi.bench.results import Row, Run
from sumac_mpi.launch import programs
from sumac_mpi.library import calls, layout
from sumac_mpi.profile.job import Profile

Stamp = dict[str, Any]


@dataclass(frozen=True)
class Curve:
    """Ratios of one call by number of bytes, which ascend."""

    sizes: tuple[int, ...]
    ratios: tuple[float, ...]

    def at(self, size: int) -> float:
        """The ratio at a size: between two measured ones by their logarithms, beyond them that of
        the nearest."""
        place = bisect.bisect_left(self.sizes, size)
        if place == 0 or place == len(self.sizes):
            return self.ratios[min(place, len(self.sizes) - 1)]
        below, above = self.sizes[place - 1], self.sizes[place]
        share = math.log(size / max(below, 1)) / math.log(above / max(below, 1))
        before, after = self.ratios[place - 1], self.ratios[place]
        return float(before ** (1 - share) * after**share)


@dataclass(frozen=True)
class Table:
    """Of one number of ranks."""

    stamp: Stamp
    date: str
    modes: tuple[str, ...]  # of the machine, while it was measured: "near (94 to 104 ns)"
    curves: Mapping[str, Curve]  # by call, as a profile names it
    # Microseconds of the first calls on the first communicator, and on others.
    set_up_us: tuple[float, float] = (0.0, 0.0)


def of_runs(runs: Iterable[Run], stamp: Stamp, date: str) -> Table:
    """The table of runs of `sumac bench`, one for each call."""
    curves, lines, set_ups = {}, [], []
    for run in runs:
        by_size: dict[int, list[Row]] = {}
        for row in run.rows:
            by_size.setdefault(row.bytes, []).append(row)
            lines += row.record.get("line", {}).get("ns", [])
        sizes = sorted(by_size)
        if begun := run.header.get("set_up_us"):
            set_ups.append(begun)
        curves[_name(run)] = Curve(tuple(sizes), tuple(_ratio(by_size[size]) for size in sizes))
    seen = (f"{mode.name} ({mode.low:.0f} to {mode.high:.0f} ns)" for mode in modes.classes(lines))
    columns = list(zip(*set_ups)) or [(0.0,), (0.0,)]
    set_up = statistics.median(columns[0]), statistics.median(columns[1])
    return Table(stamp, date, tuple(seen), curves, set_up)


def _name(run: Run) -> str:
    """The call by the name of its function, as a profile has it: with counts for each rank or
    without."""
    name = calls.function_of(run.collective, bool(run.header.get("with_counts")))
    return run.call.replace(run.collective, name, 1)


def _ratio(rows: list[Row]) -> float:
    """Of the rows of one size, one for each of the machine's modes: the geometric mean, in which
    each round counts alike."""
    weights = [len(row.record["native"].get("rounds", [0])) for row in rows]
    logs = [weight * math.log(_ratio_of(row)) for row, weight in zip(rows, weights)]
    return math.exp(sum(logs) / sum(weights))


def _ratio_of(row: Row) -> float:
    if not row.sumac_us or not row.native_us or row.handed_down:
        return 1.0
    return row.sumac_us / row.native_us


def stamp(installation: layout.Installation, family: str, mpi: str, ranks: int) -> Stamp:
    """What must be the same for a table to hold."""
    return {
        "machine": hardware.identity(),
        "MPI": results.short_mpi_name(mpi),  # a profile spells the whole text otherwise
        "ranks": ranks,
        "build of Sumac": programs.build_of(installation, [family]),
    }


def path(mpi: str, ranks: int) -> Path:
    """The file for an MPI, of whichever version, and a number of ranks."""
    name = re.sub(r"[^a-z]+", "-", results.short_mpi_name(mpi).lower()).strip("-")
    return files.user_data("gains") / f"{name}-{ranks}.json"


def load(file: Path) -> Table | None:
    """The table in the file; None where there is none that this Sumac can read."""
    try:
        content = json.loads(file.read_text())
        return of_runs(results.load(file), content["stamp"], str(content["date"])[:10])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SumacError):
        return None


def differences(found: Stamp, wanted: Stamp) -> list[str]:
    """The names of what is another in the two."""
    return [name for name in wanted if found.get(name) != wanted[name]]


@dataclass
class Known:
    """Which tables hold for a profile: those of this machine and the profile's MPI, each loaded
    when it is asked for."""

    profile: Profile
    tables: dict[int, Table | None] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)  # by number of ranks

    @property
    def mpi(self) -> str:
        return self.profile.ranks[0].mpi

    def table(self, ranks: int) -> Table | None:
        if ranks not in self.tables:
            found = load(path(self.mpi, ranks))
            if problem := self._problem(found, ranks):
                self.problems[ranks] = problem
            self.tables[ranks] = None if problem else found
        return self.tables[ranks]

    def _problem(self, found: Table | None, ranks: int) -> str:
        """Why a table does not hold; empty where it does."""
        if found is None:
            mpi = results.short_mpi_name(self.mpi)
            return f"Sumac has not been measured with {mpi} on {ranks} ranks of this machine"
        try:
            wanted = stamp(layout.find(), family_of(self.mpi), self.mpi, ranks)
        except SumacError:
            return f"no Sumac is installed to which the measurement of {found.date} may belong"
        if others := differences(found.stamp, wanted):
            names = [{"ranks": "number of ranks"}.get(name, name) for name in others]
            return f"the measurement of {found.date} is of another {', another '.join(names)}"
        hosts = {rank.host for rank in self.profile.ranks}
        if hosts != {wanted["machine"]["host"]}:
            elsewhere = ", ".join(sorted(hosts)[:3])
            return f"what was measured holds for this host, and the job ran on {elsewhere}"
        return ""

    def advice(self) -> list[str]:
        """A line for each number of ranks that was asked for in vain."""
        return [
            f"no prediction for communicators of {ranks} ranks: {problem}; to measure it: "
            f"sumac profile --measure -n {ranks} --mpi {family_of(self.mpi)}"
            for ranks, problem in sorted(self.problems.items())
        ]


def family_of(mpi: str) -> str:
    """Of the MPI that describes itself so."""
    return "openmpi" if mpi.startswith("Open MPI") else "mpich"
