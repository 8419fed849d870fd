# SPDX-License-Identifier: BSD-3-Clause
"""Draws random shapes of calls, and compares `sumac plan` with traces of them.

plan_shapes.py draw JOBS SEED            a job per line: hosts, ranks, hierarchy, algorithms, shapes
plan_shapes.py compare SUMAC FOLDER MPI HOSTS RANKS HIERARCHY ALGORITHMS SHAPE...
"""

import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from sumac_mpi.trace import operations

HIERARCHIES = ("node", "node", "flat", "ranks:2,node", "allreduce=flat;node")
ALGORITHMS = ("allreduce:levels", "allreduce:multi_leader", "allreduce:all_ranks",
              "allreduce:flat", "allreduce:passive", "allreduce:recursive_doubling",
              "allreduce:ring", "allreduce:rabenseifner", "reduce:levels", "reduce:passive",
              "reduce:chain", "bcast:levels", "bcast:all_ranks",
              "bcast:passive", "bcast:chain", "bcast:slots", "reduce:split_slots",
              "reduce_scatter:levels", "reduce_scatter:ring", "allgather:levels",
              "allgather:distance_halving")  # fmt: skip
COLLECTIVES = ("allreduce", "allreduce", "reduce", "bcast", "reduce_scatter", "allgather")
STAGES = {"reduce": "up", "reduce_scatter": "up", "allreduce": "across", "bcast": "down",
          "allgather": "down"}  # fmt: skip
PARTS_STAGES = {"reduce": "up", "allgather": "up", "bcast": "down"}
# Of a broadcast by all ranks of the nodes, whose parts may differ in size and so in algorithm.
SHARED = {"scatter": "up", "bcast": "across", "allgather": "down"}
PARTS = ("reduce_scatter", "allgather")  # of several ranks: two stages, or those of multi_leader
SHAPES = 5  # of a job


def draw(jobs, seed):
    chance = random.Random(seed)
    for _ in range(jobs):
        hosts = chance.randint(2, 4)
        # Like `sumac plan`, distributes ranks over nodes; several leaders need nodes of one size.
        ranks = 2 * hosts if chance.random() < 0.5 else chance.randint(hosts + 1, 2 * hosts + 1)
        counts = [ranks // hosts + (host < ranks % hosts) for host in range(hosts)]
        layout = ",".join(f"h{host}:{count}" for host, count in enumerate(counts))
        forced = ";".join(chance.sample(ALGORITHMS, chance.randint(0, 5)))
        shapes = ["barrier:0"]
        while len(shapes) < SHAPES:
            words = 1 + int(2 ** chance.uniform(0, 21))
            collective = chance.choice(COLLECTIVES)
            if collective in PARTS:
                words = -(-words // ranks) * ranks
            shape = f"{collective}:{4 * words}"
            if shape not in shapes:
                shapes.append(shape)
        print(layout, ranks, chance.choice(HIERARCHIES), forced or "-", *shapes)


def planned(sumac, mpi, hosts, ranks, hierarchy, forced, shape):
    """{(level, stage, algorithm, chunks)}; chunks is None where data go through slots in pieces."""
    collective, size = shape.split(":")
    number = int(ranks)
    # All hosts of a lab have the same processors.
    cores = 1 if number > len(os.sched_getaffinity(0)) else 64
    command = [sumac, "plan", collective, *([] if collective == "barrier" else [size]), "-n", ranks,
               "--nodes", str(hosts.count(":")), "--machine", f"core:{cores}", "--unbound",
               "--hierarchy", hierarchy, "--algo", forced, "--mpi", mpi, "--json"]  # fmt: skip
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = plan["levels"]
    if collective == "bcast" and rows[0]["operation"] == "scatter":
        return {
            (row["level"], SHARED[row["operation"]], row["algorithm"], row["chunks"])
            for row in rows
        }
    if collective in PARTS:
        # The last level's exchange comes after what goes up.
        across = max((i for i, row in enumerate(rows) if row["operation"] == collective), default=0)
        return {
            (row["level"], "across" if i == across else PARTS_STAGES[row["operation"]],
             row["algorithm"], row["chunks"])
            for i, row in enumerate(rows)
        }  # fmt: skip
    return {
        (row["level"], STAGES[row["operation"]], row["algorithm"],
         None if row["algorithm"] == "multi_leader" else row["chunks"])
        for row in rows
    }  # fmt: skip


def traced(folder):
    """{shape: {(level, stage, algorithm, chunks)}}, joined over all ranks."""
    seen = defaultdict(set)
    for operation in operations.load(Path(folder)).operations:
        size = 0 if operation.name == "barrier" else operation.bytes
        chunks = Counter(
            (each.rank, each.level, each.stage, each.algorithm) for each in operation.pieces
        )
        for (_, *key), count in chunks.items():
            through_slots = key[2] == "multi_leader"
            seen[f"{operation.name}:{size}"].add((*key, None if through_slots else count))
    return seen


def compare(sumac, folder, mpi, hosts, ranks, hierarchy, forced, *shapes):
    seen, differ = traced(folder), 0
    for shape in shapes:
        expected = planned(sumac, mpi, hosts, ranks, hierarchy, forced.strip("-"), shape)
        done = seen[shape]
        verdict = "same" if done == expected else "DIFFERS"
        print(verdict, shape, "hosts", hosts, hierarchy, forced, sorted(done, key=str))
        if done != expected:
            print("  planned:", sorted(expected, key=str))
            differ += 1
    return differ


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        draw(int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(compare(*sys.argv[2:]) != 0)
