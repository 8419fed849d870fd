#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists where the shipped rules take a way that is predicted to be slower than another one in
shared memory, by more than a prediction may be off, among 17 to 256 ranks.

Usage: experiments/node_model/rules.py [--sumac COMMAND]
"""

import argparse
import itertools
import json
import pathlib
import subprocess

COMMAND = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/sumac"
COLLECTIVES = ("allreduce", "reduce", "bcast", "reduce_scatter", "allgather", "alltoall")
RANKS = (17, 24, 32, 64, 128, 256)
SIZES = [1 << k for k in range(3, 24)]
NEVER = "tree"  # makes other bits, and was never measured


def worse_ways(sumac, collective, ranks, size):
    """(way, better way, factor) if the rules take a way that is clearly worse."""
    done = subprocess.run(
        [sumac, "plan", collective, str(size), "-n", str(ranks), "--machine", f"core:{ranks}",
         "--hierarchy", "flat", "--json"],
        capture_output=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    (row,) = found["levels"]
    others = [other for other in row["others"] if other["algorithm"] != NEVER]
    best = min(others, key=lambda other: other["predicted_us"])
    factor = row["predicted_us"] / best["predicted_us"]
    if factor > found["prediction"]["off_beyond"]:
        yield row["algorithm"], best["algorithm"], factor


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sumac", default=COMMAND, help="the installed command")
    arguments = parser.parse_args()
    print("| collective | ranks | bytes | rule | better | times as fast, at most |")
    print("|---|---:|---:|---|---|---:|")
    for collective, ranks in itertools.product(COLLECTIVES, RANKS):
        ways = {}
        for size in SIZES:
            for taken, better, factor in worse_ways(arguments.sumac, collective, ranks, size):
                ways.setdefault((taken, better), []).append((size, factor))
        for (taken, better), cases in ways.items():
            sizes = f"{cases[0][0]} to {cases[-1][0]}" if len(cases) > 1 else cases[0][0]
            most = max(factor for _, factor in cases)
            print(f"| {collective} | {ranks} | {sizes} | {taken} | {better} | {most:.2f} |")


if __name__ == "__main__":
    main()
