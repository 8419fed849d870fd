#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What share of an mpi4py Allreduce of 8 bytes is Sumac's: the time of the call with Sumac, less
that of the same call where the MPI's function does nothing; and the way of a cache line between the
two cores, in the same jobs, below which no share can be. Prints a table.

Usage: experiments/mpi4py_calls/run.py [--rounds N] [--jobs N]
Exit status: 0 done, 1 a job failed, 3 no MPI or no mpi4py, 4 wrong results.
"""

import argparse
import importlib.util
import mmap
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

RANKS = 2
BINDING = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=300, help="of 1000 calls, in a job")
    parser.add_argument("--jobs", type=int, default=3, help="of each kind, in turns")
    return parser.parse_args()


def compiled(folder, name):
    """A library of one file of this folder."""
    library = f"{folder}/{name}.so"
    source = str(HERE / f"{name}.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def measure(family, front, rounds, wanted):
    """Nanoseconds of a call in one job, on all ranks and on one, and of a line there and back; and
    whether the sum is right."""
    launch = [f"mpiexec.{family}", "-n", str(RANKS), *BINDING[family]]
    with tempfile.TemporaryDirectory() as folder:
        memory = pathlib.Path(folder, "lines")
        memory.write_bytes(bytes(mmap.PAGESIZE))
        loop = [sys.executable, str(HERE / "loop.py"), compiled(folder, "line"), str(memory)]
        output = jobs.output_of([*launch, *front, *loop, str(rounds)], {}, 200)
    line = next(line for line in output.splitlines() if line.startswith("ns "))
    *times, total = map(float, line.split()[1:])
    return times, total == wanted


def row(family, times):
    """Of a family, from the times of its jobs by contender. The line's way is that of the jobs with
    Sumac: cores of a virtual machine may be another pair in each."""
    least = {name: list(map(min, zip(*each))) for name, each in times.items()}
    (empty, empty_alone, _), (sumac, sumac_alone, line) = least["empty"], least["sumac"]
    numbers = (empty, sumac, sumac - empty, line / 2, sumac_alone - empty_alone,
               least["mpi"][0] - empty)  # fmt: skip
    return f"| {family} | " + " | ".join(f"{each:.0f}" for each in numbers) + " |"


def main():
    options = parse()
    families = [family for family in BINDING if shutil.which(f"mpiexec.{family}")]
    if not families or importlib.util.find_spec("mpi4py") is None:
        print("no MPI, or no mpi4py in this Python (.venv/bin/python has it)", file=sys.stderr)
        return 3
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        fronts = {
            "empty": (["env", f"LD_PRELOAD={compiled(folder, 'empty')}"], 0),
            "sumac": ([str(options.build / "bin/sumac"), "exec", "--"], RANKS),
            "mpi": ([], RANKS),
        }
        print("| ns | Python and mpi4py | with Sumac | Sumac's share | of it a line's way |"
              " of it without the exchange | MPI's share |")  # fmt: skip
        print("|---|---:|---:|---:|---:|---:|---:|")
        for family in families:
            times = {name: [] for name in fronts}
            for _ in range(options.jobs):
                for name, (front, wanted) in fronts.items():
                    ns, right = measure(family, front, options.rounds, wanted)
                    times[name].append(ns)
                    wrong += [] if right else [f"{family}, {name}"]
            print(row(family, times), flush=True)
    return jobs.status_of(wrong)


if __name__ == "__main__":
    jobs.run(main)
