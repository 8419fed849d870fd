#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Reduce within a node by each control layout and degree of tree, against the MPI's own in the
same job. Prints tables in Markdown and draws a picture.

Usage: experiments/flags_and_trees/run.py [--ranks N,...] [--sizes SIZE,...] [--rounds N] ...
Exit status: 0 done, 1 a job failed, 3 no MPI to run on, 4 wrong results.
"""

import argparse
import itertools
import json
import math
import pathlib
import statistics
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

CONTROLS = ("slot", "slab", "staggered")
DEGREES = ("off", "2", "4", "8")  # SUMAC_NODE_RADIX; off: flat
# Slots are too small to share between threads: folds of single copy are not.
BY_THREADS = {"SUMAC_ALGO": "reduce:single_copy", "SUMAC_THREADS_MIN": "64K"}
RING = 8  # slots of a rank, used in turn
SLAB_FLAGS = 16  # flags in a padded pair of lines
CALLS = 4 * RING
SECONDS_ALLOWED = 300  # time limit of a job


def run_job(given, ranks, sizes, settings, expected):
    """Runs one job; returns {bytes: (MPI's us, Sumac's us)} and the sizes with wrong results.
    `expected`: a part of the name of the algorithm that is to run."""
    family, launcher = given.mpi.split("=", 1)
    program = given.build / f"lib/sumac/sumac-bench-{family}"
    command = [launcher, *jobs.UNBOUND[family], "-n", str(ranks), str(given.sumac), "exec", "--"]
    command += [str(program), "reduce", "--sizes", sizes, "--seconds", str(given.seconds)]
    output = jobs.output_of(command, settings, SECONDS_ALLOWED)
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    found = [record for record in records if record["kind"] == "size"]
    for record in found:
        if expected not in record["algorithm"]:
            raise jobs.Failed(f"{record['algorithm']} ran, not {expected}: {' '.join(command)}")
    times = {r["bytes"]: (r["native"]["p50"], r["sumac"]["p50"]) for r in found}
    return times, [record["bytes"] for record in found if record["wrong"]]


def design_job(given, ranks, control, degree):
    settings = {"SUMAC_SHM_CONTROL": control, "SUMAC_NODE_RADIX": degree, "SUMAC_CMA": "off"}
    return run_job(given, ranks, given.sizes, settings, "tree" if degree != "off" else "flat")


def threads_job(given, ranks, threads):
    """The job's program has no OpenMP of its own."""
    settings = BY_THREADS | {"SUMAC_THREADS": threads, "OMP_NUM_THREADS": threads}
    settings |= {"SUMAC_OWN_REGIONS": "1", "LD_PRELOAD": "libgomp.so.1"}
    return run_job(given, ranks, given.thread_sizes, settings, "single_copy")


def measure(given, ranks, designs, job):
    """Runs a job of each design, in turns, in an order that is reversed each time. Returns
    {design: {bytes: [(MPI's us, Sumac's us)]}} and the designs with wrong results."""
    times, wrong = {design: {} for design in designs}, set()
    for turn in range(given.rounds):
        for design in designs if turn % 2 == 0 else reversed(designs):
            found, bad = job(given, ranks, *design)
            for size, pair in found.items():
                times[design].setdefault(size, []).append(pair)
            if bad:
                wrong.add(design)
    return times, wrong


class Lines:
    """Who has which line, in a model of coherence: a line is with the ranks that have read it since
    it was written last; a read by another rank moves it, and so does a write by a rank that does
    not have it alone. Processors in virtual machines do not count these transfers."""

    def __init__(self):
        self.holders = {}
        self.moved = Counter()  # by the rank that waits for the line

    def read(self, rank, line):
        holders = self.holders.setdefault(line, {rank})
        self.moved[rank] += rank not in holders
        holders.add(rank)

    def write(self, rank, line):
        self.moved[rank] += self.holders.get(line, {rank}) != {rank}
        self.holders[line] = {rank}


def flag_line(control, rank, slot):
    if control == "slot":
        return ("cell", rank, slot)
    return ("flag", rank // SLAB_FLAGS if control == "slab" else rank, slot)


def parents(ranks, degree):
    """Parent of each rank but 0, the root: runs of `degree` neighbours, led by their first."""
    result = {}
    for rank in range(1, ranks):
        length = 1
        while rank % (length * degree) == 0:
            length *= degree
        result[rank] = rank // (length * degree) * length * degree
    return result


def transfers_of_a_reduce(control, degree, ranks):
    """Transfers of one reduce of 8 bytes to rank 0, once every slot has been used: of all ranks,
    and of the one that has most. Each rank waits for its children while they write, and looks at a
    flag's line again after each write to it."""
    lines = Lines()
    parent = parents(ranks, degree)
    before = Counter()
    for call in range(CALLS):
        slot = call % RING
        if call == CALLS - RING:
            before = lines.moved.copy()
        done = set()
        for rank in sorted(parent, reverse=True):  # children before their parents
            if slot == 0:  # asks whether the others have finished with its slots
                for other in range(ranks):
                    if other != rank:
                        lines.read(rank, ("done", other))
            lines.write(rank, ("cell", rank, slot))
            own = flag_line(control, rank, slot)
            lines.write(rank, own)
            done.add(rank)
            for child, waiting in parent.items():
                if waiting not in done and flag_line(control, child, slot) == own:
                    lines.read(waiting, own)
            lines.read(parent[rank], ("cell", rank, slot))
        for rank in range(ranks):
            lines.write(rank, ("done", rank))
    moved = lines.moved - before
    return moved.total() / RING, max(moved.values()) / RING


def times_as_fast(pairs):
    return statistics.median(native / sumac for native, sumac in pairs)


def print_table(ranks, times):
    sizes = sorted(next(iter(times.values())))
    print(f"\n{ranks} ranks: us (times as fast as the MPI in the same job)\n")
    head = " | ".join(f"{size} B" for size in sizes)
    print(f"| layout | degree | transfers | of one rank | {head} |")
    print(f"|---|---{'|---:' * (len(sizes) + 2)}|")
    for (control, degree), found in times.items():
        # Without trees the root folds all, as in a tree of one run.
        tree = ranks if degree == "off" else int(degree)
        moved, most = transfers_of_a_reduce(control, tree, ranks)
        cells = [control, "flat" if degree == "off" else degree, f"{moved:.1f}", f"{most:.1f}"]
        for size in sizes:
            middle = statistics.median(sumac for _, sumac in found[size])
            cells.append(f"{middle:.2f} ({times_as_fast(found[size]):.2f}x)")
        print(f"| {' | '.join(cells)} |", flush=True)


def print_threads(ranks, times):
    sizes = sorted(next(iter(times.values())))
    head = " | ".join(f"{size} B" for size in sizes)
    print(f"\n{ranks} ranks, single copy by threads: us (times as fast as the MPI)\n")
    print(f"| threads | {head} |\n|---:{'|---:' * len(sizes)}|")
    for (threads,), found in times.items():
        cells = [threads]
        for size in sizes:
            middle = statistics.median(sumac for _, sumac in found[size])
            cells.append(f"{middle:.1f} ({times_as_fast(found[size]):.2f}x)")
        print(f"| {' | '.join(cells)} |", flush=True)


def draw(path, by_ranks):
    """One panel for each number of ranks: speedup over size, a line for each design."""
    pyplot = jobs.pyplot()
    columns = min(2, len(by_ranks))
    rows = math.ceil(len(by_ranks) / columns)
    figure, panels = pyplot.subplots(
        rows, columns, figsize=(6 * columns, 3.5 * rows), squeeze=False, layout="constrained"
    )
    styles = dict(zip(CONTROLS, ("-", "--", ":"), strict=True))
    colours = dict(zip(DEGREES, ("black", "tab:blue", "tab:orange", "tab:green"), strict=True))
    for panel, (ranks, times) in zip(panels.flat, by_ranks.items(), strict=False):
        for (control, degree), found in times.items():
            sizes = sorted(found)
            panel.plot(
                sizes, [times_as_fast(found[size]) for size in sizes], styles[control],
                color=colours[degree], label=f"{control}, {'flat' if degree == 'off' else degree}",
            )  # fmt: skip
        panel.axhline(1, color="grey", linewidth=0.5)
        panel.set(xscale="log", title=f"{ranks} ranks", xlabel="bytes", ylabel="times as fast")
    panels.flat[0].legend(fontsize="x-small", ncol=2)
    figure.savefig(path, dpi=120)


def arguments():
    parser = argparse.ArgumentParser(description="MPI_Reduce by layouts of flags and trees")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--sizes", default="8,512,8192")
    parser.add_argument("--controls", default=",".join(CONTROLS))
    parser.add_argument("--degrees", default=",".join(DEGREES))
    parser.add_argument("--threads", default="1,2,4", help="of a rank; '' leaves them out")
    parser.add_argument("--thread-sizes", default="262144,1048576,4194304")
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each design, in turns")
    parser.add_argument("--seconds", type=float, default=0.1, help="that a size takes in a job")
    parser.add_argument("--plot", type=pathlib.Path, help="a picture")
    given = jobs.parsed(parser, ROOT / ".venv")
    given.designs = list(itertools.product(given.controls.split(","), given.degrees.split(",")))
    given.threads = [(threads,) for threads in given.threads.split(",") if threads]
    return given


def main():
    given = arguments()
    by_ranks, wrong = {}, []
    for ranks in map(int, given.ranks.split(",")):
        by_ranks[ranks], bad = measure(given, ranks, given.designs, design_job)
        print_table(ranks, by_ranks[ranks])
        by_threads, bad_threads = measure(given, ranks, given.threads, threads_job)
        if by_threads:
            print_threads(ranks, by_threads)
        wrong += [f"{ranks} ranks, {', '.join(design)}" for design in sorted(bad | bad_threads)]
    if given.plot:
        draw(given.plot, by_ranks)
    return jobs.status_of(wrong)


if __name__ == "__main__":
    jobs.run(main)
