#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random programs of collectives under Sumac and compares their results with a serial oracle.

Usage: tests/random/sweep.py --calls 10000000 --state sweep.json
A job is some programs under one MPI, on one number of ranks, with some options of the library; all
follows from its number. The state says which job is next, and counts: the sweep goes on where it
was ended, and stops when so many calls have been made. A program that fails is made smaller, and
kept beside the state. Exit status: 0 no call was wrong, 1 some were.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import jobs
import shrink

MOST_WRONG = 20  # then it ends: something is broken
# A job that is out of time is run once more, with so many times the time. One that other programs
# held up passes then; so may one whose ranks hang once in many times, and therefore its output is
# kept: it says in which call each rank was.
PATIENCE = 5


class State:
    """What was done so far, in a file."""

    def __init__(self, path):
        self.path = path
        self.next = 0
        self.calls = Counter()  # by MPI and number of ranks
        self.paths = Counter()
        self.wrong = []
        self.late = []  # jobs that were out of time, and passed when they were given more
        if path and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.next, self.wrong = kept["next"], kept["wrong"]
            self.late = kept.get("late", [])
            self.calls, self.paths = Counter(kept["calls"]), Counter(kept["paths"])

    def write(self):
        if not self.path:
            return
        kept = {
            "next": self.next, "calls": self.calls, "paths": self.paths,
            "wrong": self.wrong, "late": self.late,
        }  # fmt: skip
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        new.replace(self.path)


def numbers(text):
    """2-9 or 2,3,5"""
    first, _, last = text.partition("-")
    if last:
        return list(range(int(first), int(last) + 1))
    return [int(each) for each in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000, help="collectives, all jobs together")
    parser.add_argument("--jobs", type=int, default=0, help="at most so many jobs (no limit)")
    parser.add_argument("--minutes", type=float, default=0, help="at most so long (no limit)")
    parser.add_argument("--state", type=Path, help="file to go on from (none)")
    parser.add_argument("--first", type=int, help="number of the first job (from the state)")
    parser.add_argument("--mpi", default="openmpi,mpich", help="families (openmpi,mpich)")
    parser.add_argument("--ranks", type=numbers, default=numbers("2-9"), help="as 2-9 or 2,5 (2-9)")
    parser.add_argument("--programs", type=int, default=20, help="of a job (20)")
    parser.add_argument("--seconds", type=int, default=120, help="until a job hangs (120)")
    parser.add_argument("--build", type=Path, default=jobs.ROOT / "build/release")
    parser.add_argument("--no-shrink", action="store_true", help="keep what fails as it is")
    return parser.parse_args()


def failed(job, outcome, arguments, state):
    """Notes a job that failed, as small as it can be made."""
    seeds = jobs.seeds_of(job, outcome)
    print(f"WRONG job {job.number}, seeds {seeds or 'unknown'}\n{outcome.text[-3000:]}", flush=True)
    note = {"job": job.number, "seeds": seeds, "command": jobs.command_line(job)}
    text = outcome.text
    if not arguments.no_shrink:
        small, text = shrink.shrink(job, arguments.build, min(arguments.seconds, 40))
        note["small"] = jobs.command_line(small)
        print(f"smaller:\n{text[:4000]}", flush=True)
    keep(state, f"wrong-{job.number}", f"{note['command']}\n\n{text}")
    state.wrong.append(note)


def run(job, arguments, state):
    """The job's outcome, the second one if its time was over in the first."""
    outcome = jobs.run(job, arguments.build, arguments.seconds)
    if not outcome.late:
        return outcome
    print(f"job {job.number} is out of time, and is run again", flush=True)
    keep(state, f"late-{job.number}", f"{jobs.command_line(job)}\n\n{outcome.text}")
    outcome = jobs.run(job, arguments.build, PATIENCE * arguments.seconds)
    state.late += [job.number] if outcome.passed else []
    return outcome


def keep(state, name, text):
    """Writes a file beside the state."""
    if state.path:
        state.path.with_name(f"{state.path.stem}-{name}.txt").write_text(text, encoding="utf-8")


def summarise(state):
    print(f"{sum(state.calls.values())} collectives in {state.next} jobs, {len(state.wrong)} wrong")
    if state.late:
        print(f"out of time, and passed when given more: jobs {', '.join(map(str, state.late))}")
    for where, calls in sorted(state.calls.items()):
        print(f"  {where:20} {calls:10}")
    print("calls of rank 0 by path:")
    for path, calls in sorted(state.paths.items()):
        print(f"  {path:60} {calls:10}")


def main():
    # As after Ctrl-C, the job is ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments = parse()
    state = State(arguments.state)
    if arguments.first is not None:
        state.next = arguments.first
    families = arguments.mpi.split(",")
    start, done = time.monotonic(), 0
    while sum(state.calls.values()) < arguments.calls and len(state.wrong) < MOST_WRONG:
        late = arguments.minutes and time.monotonic() - start > 60 * arguments.minutes
        if late or (arguments.jobs and done >= arguments.jobs):
            break
        job = jobs.draw(state.next, families, arguments.ranks, arguments.programs)
        outcome = run(job, arguments, state)
        if not outcome.passed and not jobs.skipped(outcome):
            failed(job, outcome, arguments, state)
        state.calls[f"{job.family} {job.ranks} ranks"] += outcome.collectives
        state.paths += outcome.paths
        state.next += 1
        done += 1
        state.write()
        options = " ".join(f"{name}={value}" for name, value in job.options.items())
        print(
            f"job {job.number}: {job.family} {job.ranks} ranks, {job.threads} threads, "
            f"{outcome.collectives} collectives; {options}",
            flush=True,
        )
    summarise(state)
    return 1 if state.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
