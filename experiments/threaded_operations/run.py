#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Reduce of a large vector of REALs with the predefined sum, with Sumac's operation, with the
same in threads, and with Sumac in front of the MPI. Prints a table in Markdown.

Usage: experiments/threaded_operations/run.py [--elements N] [--mpi FAMILY=LAUNCHER]... [--rounds N]
Exit status: 0 done, 1 a job failed, 3 no MPI to run on, 4 wrong results.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}
IN_FRONT = "in front"
CONTENDERS = {
    "predefined": "MPI_SUM",
    "vectorised": "sumac_op_create",
    "threaded": "+ SUMAC_OP_THREADED",
    IN_FRONT: "Sumac in front",
}
ELEMENTS = [1 << bits for bits in (30, 28, 26, 24, 22, 20)]
VECTORS = 3  # in memory per rank: input, result, and one that the MPI may need
SHARE = 0.7  # of the free memory that may be used
CALLS = 3  # of each operation per job
SECONDS_ALLOWED = 1800  # time limit of a job
SETTINGS = {"SUMAC_OWN_REGIONS": "1"}  # the program has no regions that Sumac could use


@dataclass(frozen=True)
class Mpi:
    """An MPI of this machine, with the program built for its family."""

    family: str
    launcher: str
    build: pathlib.Path

    @property
    def program(self):
        return self.build / f"experiments/threaded_operations-{self.family}"

    def command(self, ranks, elements, in_front):
        """The command line of a job."""
        front = [str(self.build / "bin/sumac"), "exec", "--"] if in_front else []
        launch = [self.launcher, "-n", str(ranks), *jobs.UNBOUND[self.family]]
        return [*launch, *front, str(self.program), str(elements), str(CALLS)]

    def version(self):
        """The name and version that the launcher prints."""
        done = subprocess.run(
            [self.launcher, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
        for line in done.stdout.splitlines():
            if "Version:" in line or "Open MPI" in line or "OpenRTE" in line:
                return f"{TITLES[self.family]} {line.split()[-1]}"
        return TITLES[self.family]


def available_memory():
    """Bytes that can be allocated without swapping."""
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def elements_that_fit(ranks, available):
    """Returns the number of elements: that of the published runs, or as many as fit into memory."""
    need = 4 * VECTORS * ranks
    return next((n for n in ELEMENTS if n * need <= SHARE * available), ELEMENTS[-1])


def run_job(mpi, ranks, elements, in_front):
    """Runs one job; returns {contender: (right, [seconds])}."""
    command = mpi.command(ranks, elements, in_front)
    found = {}
    for line in jobs.output_of(command, SETTINGS, SECONDS_ALLOWED).splitlines():
        name, right, *seconds = line.split()
        if name == "threads":
            continue
        found[IN_FRONT if in_front else name] = (right == "right", [float(s) for s in seconds])
    return found


def measure(mpi, ranks, elements, rounds):
    """Runs the two jobs in turns; returns {contender: [seconds]} and those with wrong results."""
    seconds, wrong = {}, set()
    for number in range(rounds):
        for in_front in (number % 2 == 1, number % 2 == 0):
            for name, (right, times) in run_job(mpi, ranks, elements, in_front).items():
                seconds.setdefault(name, []).extend(times)
                if not right:
                    wrong.add(name)
    return seconds, wrong


def row(title, seconds):
    """A line of the table: medians, and speedups over the predefined operation."""
    base = statistics.median(seconds["predefined"])
    cells = [title]
    for name in CONTENDERS:
        if name not in seconds:
            cells.append("-")
            continue
        middle = statistics.median(seconds[name])
        ratio = f" ({base / middle:.2f}x)" if name != "predefined" else ""
        cells.append(f"{1000 * middle:.1f}{ratio}")
    return f"| {' | '.join(cells)} |"


def installed(build, named):
    """The MPIs given, or those that this machine has under their usual names."""
    if named:
        mpis = [Mpi(*each.split("=", 1), build) for each in named]
    else:
        mpis = [Mpi(family, f"mpiexec.{family}", build) for family in TITLES]
    return [mpi for mpi in mpis if mpi.program.exists() and shutil.which(mpi.launcher)]


def arguments():
    parser = argparse.ArgumentParser(description="MPI_Reduce by several operations")
    parser.add_argument("--elements", type=int, help="of each rank; as memory allows")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each kind, in turns")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument(
        "--mpi",
        action="append",
        metavar="FAMILY=LAUNCHER",
        help="openmpi=... or mpich=..., with LD_LIBRARY_PATH for an MPI of one's own",
    )
    return parser.parse_args()


def main():
    given = arguments()
    mpis = installed(given.build, given.mpi)
    if not mpis:
        print("no MPI to run on: run 'make build' first", file=sys.stderr)
        return 3
    elements = given.elements or elements_that_fit(given.ranks, available_memory())
    print(f"MPI_Reduce of {elements} REALs a rank, {given.ranks} ranks, ms (times as fast)\n")
    print(f"| MPI | {' | '.join(CONTENDERS.values())} |\n|---{'|---:' * len(CONTENDERS)}|")
    wrong = []
    for mpi in mpis:
        title = mpi.version()
        seconds, names = measure(mpi, given.ranks, elements, given.rounds)
        wrong += [f"{title}, {CONTENDERS[name]}" for name in sorted(names)]
        print(row(title, seconds), flush=True)
    return jobs.status_of(wrong)


if __name__ == "__main__":
    jobs.run(main)
