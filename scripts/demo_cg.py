# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the conjugate-gradient example with and without Sumac, in turns."""

import math
import os
import pathlib
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
from sumac_mpi.base.spread import speedup, spread  # noqa: E402

PROGRAMS = ROOT / "build/release/examples"
SUMAC = ROOT / "build/release/bin/sumac"
RANKS = 2
SECONDS_ALLOWED = 120  # of one run
SECONDS_OF_PAIRS = 40  # after so many seconds, no further pair begins
FEWEST_PAIRS = 3
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}


class DemoError(Exception):
    """The demonstration cannot go on; the message says why."""


@dataclass(frozen=True)
class Mpi:
    """One MPI of this machine, with the example built for it."""

    family: str

    @property
    def title(self):
        return TITLES[self.family]

    @property
    def program(self):
        return PROGRAMS / f"cg-{self.family}"

    def launch(self):
        """The launcher's part of a command line, the same with and without Sumac: a core a rank."""
        command = [f"mpiexec.{self.family}", "-n", str(RANKS)]
        if len(os.sched_getaffinity(0)) >= RANKS:
            return [*command, "-bind-to", "core"]
        return [*command, *(["--oversubscribe"] if self.family == "openmpi" else [])]


def installed_mpis():
    """(those that can be used, titles of those that cannot)."""
    mpis = [Mpi(family) for family in TITLES]
    usable = [m for m in mpis if m.program.exists() and shutil.which(f"mpiexec.{m.family}")]
    return usable, [m.title for m in mpis if m not in usable]


def environment():
    """Python is this one, which has the packages that the command needs."""
    result = dict(os.environ)
    result["PATH"] = f"{pathlib.Path(sys.executable).parent}:{result['PATH']}"
    if os.geteuid() == 0:
        # Open MPI refuses to run as root unless both are set.
        result |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return result


@dataclass(frozen=True)
class Plan:
    """What to run: cells of a rank along each dimension, how many problems, pairs of runs, a folder
    for files."""

    cells: int
    problems: int
    pairs: int
    folder: pathlib.Path


@dataclass
class Run:
    """One run of the solver: what it printed, and its residuals as text."""

    seconds: float
    collective_seconds: float
    iterations: int
    residuals: str


def run_solver(mpi, with_sumac, plan):
    """Runs the solver once. Raises DemoError when it fails."""
    history = plan.folder / "residuals.txt"
    history.unlink(missing_ok=True)
    wrapper = [SUMAC, "exec", "--"] if with_sumac else []
    arguments = ["-n", plan.cells, "-r", plan.problems, "-o", history]
    command = [str(word) for word in (*mpi.launch(), *wrapper, mpi.program, *arguments)]
    try:
        done = subprocess.run(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_ALLOWED,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DemoError(f"{' '.join(command)}\n{error}") from error
    if done.returncode != 0:
        raise DemoError(f"status {done.returncode} from {' '.join(command)}\n{done.stderr[-3000:]}")
    printed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " " in line)
    return Run(
        seconds=float(printed["seconds"]),
        collective_seconds=float(printed["collectives"]),
        iterations=int(printed["iterations"]),
        residuals=history.read_text(encoding="ascii"),
    )


@dataclass
class Comparison:
    """The runs of one plan on one MPI. The solver's residuals are kept of the first run only."""

    mpi: Mpi
    plan: Plan
    native: list = field(default_factory=list)
    sumac: list = field(default_factory=list)
    difference: float = 0.0

    def seconds(self, side):
        """The Spread of the runs of "native" or "sumac": time to solution."""
        return spread([run.seconds for run in getattr(self, side)])

    def collective_seconds(self, side):
        return spread([run.collective_seconds for run in getattr(self, side)])

    def speedup(self):
        return speedup(self.seconds("native"), self.seconds("sumac"))

    def share(self, side):
        return self.collective_seconds(side).median / self.seconds(side).median

    def results(self):
        """What the table says about the residual histories."""
        if self.difference == 0:
            return "identical"
        return f"equal to {self.difference:.0e}" if self.results_equal() else "DIFFERENT"

    def results_equal(self):
        # With two ranks a + b is b + a, so the bits must be the same. The values of more ranks
        # may be added in another order.
        return self.difference <= (0 if RANKS == 2 else 1e-6)


def difference_of(one, other):
    """The largest relative difference between two residual histories; 0 means the same bits."""
    if one == other:
        return 0.0
    ours, theirs = ([line.split() for line in text.splitlines()] for text in (one, other))
    if [row[:2] for row in ours] != [row[:2] for row in theirs]:
        return float("inf")
    pairs = ((float.fromhex(a[2]), float.fromhex(b[2])) for a, b in zip(ours, theirs))
    differences = [abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in pairs]
    return float("inf") if any(math.isnan(d) for d in differences) else max(differences)


def problems_for(mpi, cells, seconds, folder):
    """The number of problems that the solver does in about so many seconds without Sumac."""
    trial = Plan(cells, problems=100, pairs=1, folder=folder)
    return max(1, round(trial.problems * seconds / run_solver(mpi, False, trial).seconds))


def compare(mpi, plan, tick):
    """Runs pairs in the order native, sumac, sumac, native: a drift of the machine's speed falls on
    both alike. Calls tick() after each run. On a busy machine, fewer pairs than planned."""
    result = Comparison(mpi, plan)
    reference = None
    start = time.monotonic()
    for pair in range(plan.pairs):
        if pair >= FEWEST_PAIRS and time.monotonic() - start > SECONDS_OF_PAIRS:
            break
        for with_sumac in (False, True) if pair % 2 == 0 else (True, False):
            run = run_solver(mpi, with_sumac, plan)
            reference = reference or run.residuals
            result.difference = max(result.difference, difference_of(reference, run.residuals))
            run.residuals = ""
            (result.sumac if with_sumac else result.native).append(run)
            tick()
    return result


def headline(speedups):
    """One sentence about all measurements."""
    clear = [each.median for each in speedups if each.is_clear()]
    if not clear:
        return "The same solver, not even relinked: no clear difference"
    least, most = f"{min(clear):.2f}", f"{max(clear):.2f}"
    gains = least if least == most else f"{least} to {most}"
    text = f"The same solver, not even relinked: {gains} times as fast"
    if unclear := len(speedups) - len(clear):
        text += f"; no clear difference in {unclear} of {len(speedups)} measurements"
    return text
