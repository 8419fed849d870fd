#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Pack and MPI_Unpack in a program with OpenMP threads: by the MPI, by one thread of Sumac's,
and by the threads that have nothing to do. Prints tables in Markdown.

Usage: experiments/threaded_packing/run.py [--bytes N] [--threads N] [--mpi FAMILY=LAUNCHER]...
           [--rounds N]
Exit status: 0 done, 1 a job failed or no thread helped, 3 no MPI to run on, 4 wrong results.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

ALONE, ONE, TASKS = "the MPI", "Sumac, one thread", "Sumac"
SETTINGS = {ALONE: None, ONE: {"SUMAC_THREADS": "off"}, TASKS: {}}
SITUATIONS = {
    "alone": "no region",
    "idle": "1 packs, all others idle",
    "half": "1 packs, others compute or idle",
    "computing": "1 packs, all others compute",
    "packing": "all pack",
}
# What was published, the number of times as fast, and the rows here that answer to it.
CLAIMS = [
    ("top pack, all other threads idle", 62, [("top", "pack", "idle")]),
    ("pack", 6.5, [(name, "pack", "idle") for name in ("left", "leaf", "higher")]),
    ("transpose, all other threads idle", 1.5, [("matrix", "transpose", "idle")]),
]
SECONDS_ALLOWED = 600  # time limit of a job


def run_job(given, mpi, way):
    """Runs one job; returns {(layout, what, situation): (right, [seconds])} and how many calls
    threads took part in."""
    family, launcher = mpi
    settings = {"OMP_NUM_THREADS": str(given.threads)}
    command = [launcher, "-n", "1", *jobs.UNBOUND[family]]
    with tempfile.TemporaryDirectory() as folder:
        statistics_file = pathlib.Path(folder) / "statistics.json"
        if SETTINGS[way] is not None:
            command += [str(given.build / "bin/sumac"), "exec", "--"]
            settings |= SETTINGS[way] | {"SUMAC_STATS": str(statistics_file)}
        program = given.build / f"experiments/threaded_packing-{family}"
        command += [str(program), str(given.bytes), str(given.calls)]
        output = jobs.output_of(command, settings, SECONDS_ALLOWED)
        helped = 0
        if statistics_file.exists():
            helped = json.loads(statistics_file.read_text())["large_folds"]["tasks"]
    found = {}
    for line in output.splitlines():
        layout, what, *rest = line.split()
        if layout != "threads":
            found[layout, what, rest[0]] = (rest[1] == "right", [float(s) for s in rest[2:]])
    return found, helped


def measure(given, mpi):
    """Runs the jobs in turns; returns {way: {case: median seconds}}, cases with wrong results, and
    in how many calls threads took part."""
    seconds = {way: {} for way in SETTINGS}
    wrong, helped = set(), 0
    for number in range(given.rounds):
        for way in SETTINGS if number % 2 == 0 else reversed(SETTINGS):
            found, calls = run_job(given, mpi, way)
            helped += calls
            for case, (right, times) in found.items():
                seconds[way].setdefault(case, []).extend(times)
                if not right:
                    wrong.add(f"{mpi[0]}, {way}: {' '.join(case)}")
    medians = {
        way: {case: statistics.median(times) for case, times in cases.items()}
        for way, cases in seconds.items()
    }
    return medians, sorted(wrong), helped


def print_cases(medians):
    print(f"| layout | call | threads | {' ms | '.join(SETTINGS)} ms |\n|---|---|---|{'---:|' * 3}")
    for case, base in medians[ALONE].items():
        layout, what, situation = case
        cells = [layout, what, SITUATIONS[situation], f"{1000 * base:.3f}"]
        for way in (ONE, TASKS):
            own = medians[way][case]
            cells.append(f"{1000 * own:.3f} ({base / own:.2f}x)")
        print(f"| {' | '.join(cells)} |")


def print_claims(medians):
    print("\n| published | times as fast | here, as the MPI | as one thread of Sumac's |")
    print("|---|---:|---:|---:|")
    for name, published, cases in CLAIMS:
        there = [case for case in cases if case in medians[TASKS]]
        if not there:
            continue
        gains = [
            statistics.geometric_mean(medians[way][case] / medians[TASKS][case] for case in there)
            for way in (ALONE, ONE)
        ]
        print(f"| {name} | {published} | {gains[0]:.2f} | {gains[1]:.2f} |")


def installed(given):
    """(family, launcher) of the MPIs given, or of those that this machine has."""
    named = [tuple(each.split("=", 1)) for each in given.mpi or []]
    mpis = named or [(family, f"mpiexec.{family}") for family in jobs.UNBOUND]
    return [
        (family, launcher)
        for family, launcher in mpis
        if (given.build / f"experiments/threaded_packing-{family}").exists()
        and shutil.which(launcher)
    ]


def arguments():
    parser = argparse.ArgumentParser(description="packing by the program's own threads")
    parser.add_argument("--bytes", type=int, default=32 << 20, help="packed, of each thread")
    parser.add_argument("--calls", type=int, default=7, help="timed of each case in a job")
    parser.add_argument("--threads", type=int, default=max(2, len(os.sched_getaffinity(0))))
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each kind, in turns")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--mpi", action="append", metavar="FAMILY=LAUNCHER")
    return parser.parse_args()


def main():
    given = arguments()
    mpis = installed(given)
    if not mpis:
        print("no MPI to run on: run 'make build' first", file=sys.stderr)
        return 3
    wrong, unhelped = [], []
    for mpi in mpis:
        medians, names, helped = measure(given, mpi)
        print(f"\n{mpi[0]}, {given.bytes} bytes, {given.threads} threads: ms (times as fast)\n")
        print_cases(medians)
        print_claims(medians)
        wrong += names
        if helped == 0 and len(os.sched_getaffinity(0)) > 1:
            unhelped.append(mpi[0])
    for family in unhelped:
        print(f"no thread took part in any call: {family}", file=sys.stderr)
    return jobs.status_of(wrong) or int(bool(unhelped))


if __name__ == "__main__":
    jobs.run(main)
