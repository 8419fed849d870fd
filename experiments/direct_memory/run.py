#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""After how many calls the promotion of a buffer has paid, what buffers used once cost, and how
fast the program's own work on promoted memory is. Prints tables in Markdown and draws a picture.

Usage: experiments/direct_memory/run.py [--sizes BYTES,...] [--rounds N] [--plot FILE] ...
Exit status: 0 done, 1 a job failed, 3 no MPI to run on.
"""

import argparse
import itertools
import json
import math
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

WAYS = ("off", "auto", "eager")  # SUMAC_PROMOTE
RANKS = 2
SECONDS_ALLOWED = 300  # time limit of a job
SIZES = ",".join(str(1 << power) for power in range(15, 23))  # from which on calls go direct


def run_job(given, way, *arguments):
    """Runs one job; returns the lists of times that its rank 0 printed."""
    family, launcher = given.mpi.split("=", 1)
    program = given.build / f"experiments/direct_memory-{family}"
    command = [launcher, *jobs.UNBOUND[family], "-n", str(RANKS), str(given.sumac), "exec", "--"]
    output = jobs.output_of(
        [*command, str(program), *map(str, arguments)], {"SUMAC_PROMOTE": way}, SECONDS_ALLOWED
    )
    found = {}
    for line in output.splitlines():
        found |= json.loads(line)
    return found


def in_turns(given, ways, *arguments):
    """Runs jobs of each way in turns; returns {way: {name: [medians over the jobs]}}."""
    found = jobs.in_one_mode(
        ways,
        given.rounds,
        lambda way: run_job(given, way, *arguments),
        lambda job: job["small"][0],
    )
    return {
        way: {
            name: [statistics.median(column) for column in zip(*(job[name] for job in kept))]
            for name in kept[0]
        }
        for way, kept in found.items()
    }


def later_half(times):
    return statistics.median(times[len(times) // 2 :])


def paid_after(off, promoted):
    """The number of calls after which the promoted ones have taken less time, all together; None:
    not within these."""
    sums = zip(itertools.accumulate(off), itertools.accumulate(promoted))
    behind = [n for n, (a, b) in enumerate(sums, start=1) if b > a]
    if not behind:
        return 1
    return behind[-1] + 1 if behind[-1] < len(off) else None


def will_have_paid(off, promoted):
    """The same where all of them are promoted: those beyond these ("~") take what the later half of
    these do."""
    if paid := paid_after(off, promoted):
        return paid
    gain = later_half(off) - later_half(promoted)
    if gain <= 0:
        return "never"
    return f"~{len(off) + math.ceil((sum(promoted) - sum(off)) / gain)}"


def print_calls(given):
    """Prints the table of calls; returns {bytes: {way: [us by call]}}."""
    print(f"\nAll-reduce, {RANKS} ranks, new buffers\n")
    heads = "bytes | 8 B us | off us | promotion us | direct us | times as fast | paid after | auto"
    print(f"| {heads} |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    by_size = {}
    for size in given.sizes:
        times = in_turns(given, WAYS, "calls", size, given.calls, given.buffers)
        us = by_size[size] = {way: times[way]["us"] for way in WAYS}
        off, direct = later_half(us["off"]), later_half(us["eager"])
        small = statistics.median(times[way]["small"][0] for way in WAYS)
        promotion = us["eager"][0] - us["off"][0]
        cells = [size, f"{small:.2f}", f"{off:.1f}", f"{promotion:.0f}", f"{direct:.1f}"]
        cells += [f"{off / direct:.2f}"]
        cells += [will_have_paid(us["off"], us["eager"])]
        cells += [paid_after(us["off"], us["auto"]) or "later"]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return by_size


def print_once(given):
    print(
        "\nBuffers used once: auto against off, the time of a call and the program's for a buffer\n"
    )
    print(
        "| bytes | off us | auto us | times as fast | program, off us | auto us | times as fast |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for size in given.sizes:
        times = in_turns(given, WAYS[:2], "once", size, given.once)
        cells = [str(size)]
        for what in ("us", "program"):
            off, auto = (times[way][what][0] for way in WAYS[:2])
            cells += [f"{off:.1f}", f"{auto:.1f}", f"{off / auto:.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def print_work(given):
    print("\nThe program's own work on vectors of promoted memory, against others'\n")
    print("| bytes | work | private us | promoted us | times as fast |")
    print("|---:|---|---:|---:|---:|")
    for size in given.work:
        times = in_turns(given, ("eager",), "work", size, given.work_rounds)["eager"]
        for kind in ("triad", "random"):
            unused, used = times[f"{kind} unused"][0], times[f"{kind} used"][0]
            print(f"| {size} | {kind} | {unused:.0f} | {used:.0f} | {unused / used:.3f} |")


def draw(path, by_size):
    """One panel for each size: the time of all calls so far, over their number."""
    pyplot = jobs.pyplot()
    figure, panels = pyplot.subplots(
        1, len(by_size), figsize=(4 * len(by_size), 3.5), squeeze=False, layout="constrained"
    )
    for panel, (size, us) in zip(panels.flat, by_size.items()):
        for way, times in us.items():
            calls = range(1, len(times) + 1)
            panel.plot(calls, list(itertools.accumulate(times)), label=f"SUMAC_PROMOTE={way}")
        panel.set(title=f"{size} B", xlabel="calls", ylabel="us, all together")
    panels.flat[0].legend(fontsize="small")
    figure.savefig(path, dpi=120)


def arguments():
    parser = argparse.ArgumentParser(description="what promotion of buffers costs and gains")
    parser.add_argument("--sizes", type=jobs.numbers, default=SIZES)
    parser.add_argument("--calls", type=int, default=40, help="in each buffer")
    parser.add_argument("--buffers", type=int, default=20, help="one after another in a job")
    parser.add_argument("--once", type=int, default=300, help="buffers used once, in a job")
    parser.add_argument(
        "--work", type=jobs.numbers, default="1048576,67108864", help="vectors' bytes"
    )
    parser.add_argument("--work-rounds", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each way, in turns")
    parser.add_argument("--plot", type=pathlib.Path, help="a picture")
    return jobs.parsed(parser, ROOT / "build/release")


def main():
    given = arguments()
    by_size = print_calls(given)
    print_once(given)
    print_work(given)
    if given.plot:
        draw(given.plot, by_size)
    return 0


if __name__ == "__main__":
    jobs.run(main)
