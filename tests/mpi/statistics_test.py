# SPDX-License-Identifier: BSD-3-Clause
"""statistics_test.py SCENARIO FILE RANKS [PERSISTENT FUNCTIONS]: compares the statistics of a run
of statistics.cc with what rank 0 is known to call. FUNCTIONS is what `sumac __functions` prints.
Exits with a message where they differ."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FIRST = "mpi: first calls on the communicator"
LEFT_OUT = "mpi: left out by SUMAC_COLLS, or paused by the program"
COUNTED = "mpi: Sumac does not serve this collective"


def first_calls(ranks: int) -> dict:
    return {("bcast", FIRST): (1, 40), ("allgather", FIRST): (1, 40 * ranks)}


def calls(ranks: int) -> dict:
    return {("allreduce", "flat_lines"): (98, 784), ("allreduce", FIRST): (2, 16),
            **first_calls(ranks)}  # fmt: skip


def left_out(ranks: int) -> dict:
    return {("allreduce", LEFT_OUT): (100, 800), **first_calls(ranks)}


def counted(persistent: int, functions: str) -> dict:
    """Three integers, five doubles, or on a ring three doubles each. What Sumac serves has another
    path."""
    wanted = {
        "gather": (3, 36),
        "gatherv": (2, 24),
        "scatter": (3, 36),
        "scatterv": (2 + persistent, 24 + 4 * persistent),
        "scan": (2, 80),
        "exscan": (2, 80),
        "neighbor_allgather": (2, 48),
        "neighbor_allgatherv": (1, 24),
        "neighbor_alltoall": (1, 48),
        "neighbor_alltoallv": (1, 24),
        "neighbor_alltoallw": (2, 32),
    }
    served = {row["name"] for row in json.loads(functions) if row["collective"]}
    return {(name, COUNTED): wanted[name] for name in wanted if name not in served}


def main(scenario: str, file: str, ranks: str, persistent: str = "0", functions: str = "") -> None:
    report = json.loads(Path(file).read_text())
    found = {
        (row["collective"], row["path"]): (row["calls"], row["bytes"]) for row in report["paths"]
    }
    wanted = {
        "calls": lambda: calls(int(ranks)),
        "left_out": lambda: left_out(int(ranks)),
        "counted": lambda: counted(int(persistent), functions),
        "killed": dict,
    }[scenario]()
    compared = found
    if scenario == "counted":
        compared = {row: numbers for row, numbers in found.items() if row[1] == COUNTED}
    if compared != wanted:
        sys.exit(f"{scenario} on {ranks} ranks: {compared}, not {wanted}")
    served = sum(row["calls"] for row in report["paths"] if row["taken"])
    if (report["served"], report["calls"]) != (served, sum(calls for calls, _ in found.values())):
        sys.exit(f"{scenario}: served {report['served']} of {report['calls']}")
    untimed = [row for row in report["paths"] if row["seconds"] <= 0]
    if untimed:
        sys.exit(f"{scenario}: without a time: {untimed}")


if __name__ == "__main__":
    main(*sys.argv[1:])
