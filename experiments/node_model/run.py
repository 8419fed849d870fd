#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the prices of work in shared memory to what was measured, and prints them, how far they are
off, what they predict for more ranks, and published curves beside, as tables in Markdown.

Usage: experiments/node_model/run.py [--program FILE] [--data FILE] [--check]
Exit status: 0 done, 1 --check found other prices in src/algorithms/shared_work.def.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys

from fit import fit, off_by, predict

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "build/release/experiments/node-model"
BEYOND = (16, 32, 64, 128, 256)
# Ways whose times are predicted: they are the candidates of the shipped rules for many ranks.
CURVES = [
    ("allreduce", 8, "flat_lines two_steps tree"),
    ("allreduce", 256, "flat_lines two_steps flat_slots split_slots tree"),
    ("allreduce", 65536, "split_slots single_copy direct tree"),
    ("allreduce", 1 << 20, "split_slots single_copy direct tree"),
    ("allreduce", 4 << 20, "split_slots single_copy direct"),
    ("reduce", 8, "flat_lines flat_slots tree"),
    ("reduce", 8192, "flat_slots split_slots tree"),
    ("reduce", 1 << 20, "split_slots single_copy direct tree"),
    ("reduce", 4 << 20, "split_slots single_copy direct"),
    ("bcast", 8, "lines slots tree"),
    ("bcast", 65536, "slots single_copy direct tree"),
    ("bcast", 1 << 20, "slots single_copy direct tree"),
    ("barrier", 0, "flat two_steps"),
    ("reduce_scatter", 1024, "lines slots"),
    ("reduce_scatter", 1 << 20, "slots single_copy direct"),
    ("reduce_scatter", 4 << 20, "slots single_copy direct"),
    ("allgather", 1024, "lines slots"),
    ("allgather", 4 << 20, "slots single_copy direct"),
    ("alltoall", 128, "lines slots"),
    ("alltoall", 1 << 20, "slots single_copy"),
    ("alltoall", 4 << 20, "slots single_copy"),
]


def count(program, calls):
    """Asks the library: the kinds of work, each as (name, unit, price in its table), and the counts
    for each call."""
    text = "".join(" ".join(map(str, call)) + "\n" for call in calls)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    names, units, prices, *answers = (line.split() for line in done.stdout.splitlines())
    kinds = list(zip(names, units, map(float, prices), strict=True))
    return kinds, [list(map(float, answer[:-1])) for answer in answers]


def call_of(row):
    return row["collective"], row["algorithm"], int(row["ranks"]), int(row["bytes"])


def print_table(titles, rows):
    print("| " + " | ".join(map(str, titles)) + " |")
    print("|---|" + "---:|" * (len(titles) - 1))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def summary(counts, times, prices):
    factors = off_by(counts, times, prices)
    rms = math.exp(math.sqrt(sum(math.log(f) ** 2 for f in factors) / len(factors)))
    return len(factors), *(f"{f:.2f}" for f in (rms, factors[len(factors) // 2], factors[-1]))


def errors(ranks, counts, times, prices):
    """A line for the fit to all rows, and one for each number of ranks that is left out of it."""
    yield ("none", *summary(counts, times, prices))
    for left_out in (8, 16):
        parts = [[(row, time) for row, time, p in zip(counts, times, ranks, strict=True)
                  if (p == left_out) == out] for out in (False, True)]  # fmt: skip
        fitted = fit(*map(list, zip(*parts[0], strict=True)))
        yield (f"{left_out} ranks", *summary(*map(list, zip(*parts[1], strict=True)), fitted))


def microseconds(nanoseconds):
    return f"{nanoseconds / 1000:.3g}"


def print_curves(program, prices):
    for collective, size, names in CURVES:
        calls = [(collective, name, p, size) for name in names.split() for p in BEYOND]
        _, counts = count(program, calls)
        times = iter(microseconds(predict(row, prices)) for row in counts)
        rows = [(name, *(next(times) for _ in BEYOND)) for name in names.split()]
        print_table([f"{collective} {size} B, us", *BEYOND], rows)


def print_published(program, prices, rows):
    """What XHC measured among ranks that all read from the root, and what is predicted here for
    broadcasts that do."""
    ways = {8: "lines", 65536: "direct", 1 << 20: "direct"}
    calls = [("bcast", ways[int(row["bytes"])], row["ranks"], row["bytes"]) for row in rows]
    _, counts = count(program, calls)
    print_table(["bytes", "ranks", "published us", "predicted us"],
                [(row["bytes"], row["ranks"], row["microseconds"],
                  microseconds(predict(each, prices)))
                 for row, each in zip(rows, counts, strict=True)])  # fmt: skip


def differs(kinds, fitted):
    """Whether the library's table has other prices than the fit gives, rounded to three digits."""
    return any(float(f"{price:.3g}") != ours
               for (_, _, ours), price in zip(kinds, fitted, strict=True))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default=PROGRAM, type=pathlib.Path)
    parser.add_argument("--data", default=HERE / "measured.csv", type=pathlib.Path)
    parser.add_argument("--details", action="store_true", help="also each measured row")
    parser.add_argument("--check", action="store_true", help="compare with the library's table")
    arguments = parser.parse_args()

    measured = list(csv.DictReader(arguments.data.open(encoding="utf-8")))
    rows = [row for row in measured if not row["left_out"]]
    kinds, counts = count(arguments.program, map(call_of, rows))
    times = [1000 * float(row["microseconds"]) for row in rows]
    prices = fit(counts, times)
    print_table(["work", "ns", "for each", "in the library"],
                [(name, f"{price:.3g}", unit, f"{ours:g}")
                 for (name, unit, ours), price in zip(kinds, prices, strict=True)])  # fmt: skip
    titles = ["left out of the fit", "rows", "off by, rms", "median", "most"]
    print_table(titles, errors([int(row["ranks"]) for row in rows], counts, times, prices))
    if arguments.details:
        print_table(["call", "measured us", "predicted us"],
                    [(" ".join(map(str, (row["source"], *call_of(row)))), row["microseconds"],
                      microseconds(predict(each, prices)))
                     for row, each in zip(rows, counts, strict=True)])  # fmt: skip
    print_curves(arguments.program, prices)
    published = (HERE / "published.csv").open(encoding="utf-8")
    print_published(arguments.program, prices, list(csv.DictReader(published)))
    if arguments.check and differs(kinds, prices):
        sys.exit("node_model: src/algorithms/shared_work.def has other prices than the fit")


if __name__ == "__main__":
    main()
