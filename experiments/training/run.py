#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of data-parallel and sharded training on one node, by size: the MPIs alone, and
Sumac's designs under the first of them. Prints a table of microseconds (the lower quartile over
calls of the mean over ranks) with the ratio of the best MPI to Sumac's best, and keeps all times.

Usage: experiments/training/run.py [--ranks N] [--mpi NAME=FAMILY:LAUNCHER ...] [--json FILE] ...
Exit status: 0 done, 1 a job failed, 3 no MPI, no Sumac or no mpi4py, 4 ranks' weights differ.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

SECONDS = 600  # a job may take

# Each design is a set of options under which all collectives go one way as far as they can.
WAYS = {
    "slots": "allreduce:split_slots;reduce:split_slots;bcast:slots;reduce_scatter:slots;"
    "allgather:slots;alltoall:slots",
    "single_copy": "allreduce:single_copy;reduce:single_copy;bcast:single_copy;"
    "reduce_scatter:single_copy;allgather:single_copy;alltoall:single_copy",
}
DESIGNS = {
    "sumac": {},
    "slots": {"SUMAC_ALGO": WAYS["slots"]},
    "single_copy": {"SUMAC_ALGO": WAYS["single_copy"]},
    "trees": {"SUMAC_NODE_RADIX": "4"},
    "promoted": {"SUMAC_PROMOTE": "eager+devices"},
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument(
        "--mpi",
        nargs="+",
        default=[],
        metavar="NAME=FAMILY:LAUNCHER",
        help="MPIs to compare, the first of which Sumac is loaded under",
    )
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    parser.add_argument("--json", type=pathlib.Path, help="file for all times")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="options of train.py")
    return parser.parse_args()


def contenders(given):
    """Name, launcher and settings of each job. Open MPI also runs with its own shared memory."""
    mpis = given.mpi or [f"{f}={f}:{m}" for f, _, m in [jobs.first_mpi().partition("=")] if f]
    if not mpis:
        raise jobs.Missing("no MPI to run: see 'make build'")
    found = []
    for name, _, rest in (mpi.partition("=") for mpi in mpis):
        family, _, launcher = rest.partition(":")
        launch = [launcher, "-n", str(given.ranks), *jobs.UNBOUND.get(family, [])]
        found.append((name, launch, {}, []))
        if family == "openmpi":
            found.append((f"{name} sm", launch, {"OMPI_MCA_coll_sm_priority": "90"}, []))
    front = [str(given.build / "bin/sumac"), "exec", "--"]
    launch = found[0][1]
    return found, [(design, launch, DESIGNS[design], front) for design in given.designs]


def measure(launch, settings, front, options):
    with tempfile.TemporaryDirectory() as folder:
        times = pathlib.Path(folder, "times.json")
        train = [sys.executable, str(HERE / "train.py"), "--json", str(times), *options]
        settings = {"OPENBLAS_NUM_THREADS": "1"} | settings
        jobs.output_of([*launch, *front, *train], settings, SECONDS)
        return json.loads(times.read_text())


def print_table(natives, sumacs, results):
    names = [name for name, *_ in natives + sumacs]
    print("| collective, bytes | " + " | ".join(names) + " | best MPI / best of Sumac |")
    print("|---|" + "---:|" * (len(names) + 1))
    cells = {name: {(row["collective"], row["bytes"]): row["quartile"]
                    for row in results[name]["times"]} for name in names}  # fmt: skip
    for cell in cells[names[0]]:
        row = [cells[name][cell] for name in names]
        ratio = min(row[: len(natives)]) / min(row[len(natives) :])
        times = " | ".join(f"{time:.3g}" if time < 100 else f"{time:.0f}" for time in row)
        print(f"| {cell[0]} {cell[1]} | {times} | {ratio:.2f} |")


def main():
    given = parse()
    natives, sumacs = contenders(given)
    if not (given.build / "bin/sumac").exists() or not importlib.util.find_spec("mpi4py"):
        raise jobs.Missing("no Sumac ('make build'), or no mpi4py in this Python")
    results, wrong = {}, []
    for name, launch, settings, front in natives + sumacs:
        results[name] = measure(launch, settings, front, given.options)
        wrong += [] if results[name]["same"] else [name]
    print_table(natives, sumacs, results)
    if given.json:
        given.json.write_text(json.dumps({"ranks": given.ranks, "jobs": results}, indent=1))
    return jobs.status_of(wrong)


if __name__ == "__main__":
    jobs.run(main)
