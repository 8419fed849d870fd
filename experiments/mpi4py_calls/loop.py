# SPDX-License-Identifier: BSD-3-Clause
"""Prints the least mean time of an mpi4py Allreduce of 8 bytes, in ns, over many rounds of calls:
of all ranks, and of a rank alone."""

import sys
import time

import numpy as np
from mpi4py import MPI


def least_mean(comm, rounds, calls):
    """Nanoseconds of a call, and its result."""
    mine, total = np.ones(1), np.zeros(1)
    least = float("inf")
    for _ in range(rounds):
        MPI.COMM_WORLD.Barrier()
        begin = time.perf_counter_ns()
        for _ in range(calls):
            comm.Allreduce(mine, total)
        least = min(least, (time.perf_counter_ns() - begin) / calls)
    return least, total[0]


def main(rounds=300, calls=1000):
    world = MPI.COMM_WORLD
    together, total = least_mean(world, rounds, calls)
    alone, _ = least_mean(MPI.COMM_SELF, rounds, calls)
    slowest = [max(times) for times in zip(*world.gather((together, alone)) or [(0, 0)])]
    if world.rank == 0:
        print("ns", *slowest, total, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
