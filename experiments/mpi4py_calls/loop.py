# SPDX-License-Identifier: BSD-3-Clause
"""Prints the least mean time of an mpi4py Allreduce of 8 bytes, in ns, over many rounds of calls:
of all ranks, and of a rank alone; and that of a cache line there and back between the ranks."""

import ctypes
import mmap
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


def line_there_and_back(library, memory, rounds, trips):
    """Nanoseconds, by pass_line() of line.c; `memory`: a file of zeros that both ranks map."""
    with open(memory, "r+b") as file:
        mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    lines = ctypes.byref(ctypes.c_char.from_buffer(mapped))
    pass_line = ctypes.CDLL(library).pass_line
    least = float("inf")
    for _ in range(rounds):
        MPI.COMM_WORLD.Barrier()
        begin = time.perf_counter_ns()
        pass_line(lines, MPI.COMM_WORLD.rank, ctypes.c_long(trips))
        least = min(least, (time.perf_counter_ns() - begin) / trips)
    return least


def main(library, memory, rounds, calls=1000):
    world = MPI.COMM_WORLD
    together, total = least_mean(world, rounds, calls)
    line = line_there_and_back(library, memory, rounds, calls)
    alone, _ = least_mean(MPI.COMM_SELF, rounds, calls)
    slowest = [max(times) for times in zip(*world.gather((together, alone, line)) or [(0, 0, 0)])]
    if world.rank == 0:
        print("ns", *slowest, total, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3], int(sys.argv[3]))
