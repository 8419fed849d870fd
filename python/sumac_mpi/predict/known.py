# SPDX-License-Identifier: BSD-3-Clause
"""Which table of gains holds for a profile; where none does, why, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from sumac_mpi.base.errors import SumacError
from sumac_mpi.bench import results
from sumac_mpi.library import layout
from sumac_mpi.predict import gains, measure
from sumac_mpi.predict.gains import Table
from sumac_mpi.profile.job import Profile


@dataclass
class Known:
    """The tables of this machine and the profile's MPI, each loaded when it is asked for."""

    profile: Profile
    tables: dict[int, Table | None] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)  # by number of ranks

    @property
    def mpi(self) -> str:
        return self.profile.ranks[0].mpi

    def table(self, ranks: int) -> Table | None:
        if ranks not in self.tables:
            found = gains.load(gains.path(self.mpi, ranks))
            if problem := self._problem(found, ranks):
                self.problems[ranks] = problem
            self.tables[ranks] = None if problem else found
        return self.tables[ranks]

    def _problem(self, found: Table | None, ranks: int) -> str:
        """Why a table does not hold; empty where it does."""
        if found is None:
            return "no table"
        try:
            wanted = measure.stamp(layout.find(), family(self.mpi), self.mpi, ranks)
        except SumacError:
            return f"a table of {found.date}, but no installed Sumac to compare it with,"
        if others := gains.differences(found.stamp, wanted):
            return f"a stale table (of {found.date}, for another {', another '.join(others)})"
        hosts = {rank.host for rank in self.profile.ranks}
        if hosts != {wanted["machine"]["host"]}:
            return f"a table of this host alone, and the job ran on {', '.join(sorted(hosts)[:3])}"
        return ""

    def advice(self) -> list[str]:
        """A line for each number of ranks that was asked for in vain."""
        return [
            f"no prediction for communicators of {ranks} ranks: there is {problem} of "
            f"{results.short_mpi_name(self.mpi)}; to measure one: sumac profile --measure "
            f"-n {ranks} --mpi {family(self.mpi)}"
            for ranks, problem in sorted(self.problems.items())
        ]


def family(mpi: str) -> str:
    """Of the MPI that describes itself so."""
    return "openmpi" if mpi.startswith("Open MPI") else "mpich"
