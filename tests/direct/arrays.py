#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random rounds of collectives on numpy's arrays, whose memory comes and goes as Python's does, and
processes of multiprocessing between them. Every result is compared with one that each rank computes
by itself.

Usage, under mpiexec and `sumac exec`: arrays.py ROUNDS [SEED [WAY]]; with WAY all arrays come into
being in that way (alloc_mem: MPI.Alloc_mem).
"""

import ctypes
import faulthandler
import mmap
import multiprocessing
import os
import random
import subprocess
import sys
import weakref

import numpy as np

if __name__ == "__main__":  # children made by "spawn" import this file, and are no ranks
    from mpi4py import MPI

    WORLD = MPI.COMM_WORLD
    RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
TYPES = (np.int32, np.int64, np.float32, np.float64, np.uint8)


def made_by_mmap(count, kind):
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # the default is memory shared with children
    memory = mmap.mmap(-1, count * np.dtype(kind).itemsize, flags)
    return np.frombuffer(memory, dtype=kind, count=count)


def made_by_resize(count, kind):
    """Memory that realloc() has made larger, and so may have moved."""
    array = np.empty(count // 2 + 1, dtype=kind)
    array.resize(count, refcheck=False)
    return array


def made_by_alloc_mem(count, kind):
    memory = MPI.Alloc_mem(count * np.dtype(kind).itemsize)
    array = np.frombuffer(memory, dtype=kind, count=count)
    weakref.finalize(array, MPI.Free_mem, memory)
    return array


# How an array of `count` elements comes into being. Each rank draws its own way.
WAYS = {
    "empty": np.empty,
    "zeros": np.zeros,
    "slice": lambda count, kind: np.empty(count + 999, dtype=kind)[333 : 333 + count],
    "bytearray": lambda count, kind: np.frombuffer(
        bytearray(count * np.dtype(kind).itemsize), dtype=kind
    ),
    "mmap": made_by_mmap,
    "resize": made_by_resize,
    "alloc_mem": made_by_alloc_mem,
}


def values(rank, count, kind, seed):
    """What `rank` gives, small and whole numbers."""
    return ((np.arange(count) * 7 + rank * 13 + seed) % 11).astype(kind)


def expected(count, kind, seed):
    return sum(values(rank, count, kind, seed) for rank in range(RANKS)).astype(kind)


def change(array, before, answers):
    """In a child: whether the array holds what its parent had; then writes to it."""
    answers.put(bool(np.array_equal(array, before)))
    array[:] = 1


def through_processes(array, method):
    """A child of multiprocessing sees the array, as a copy, and does not change it."""
    context = multiprocessing.get_context(method)
    before = array.copy()
    answers = context.SimpleQueue()
    child = context.Process(target=change, args=(array, before, answers))
    child.start()
    if method == "fork":
        array[:] = 3  # the child must not see it
    right = answers.get()
    child.join(60)
    if method == "fork":
        right = right and bool(np.all(array == 3))
        array[:] = before
    return right and child.exitcode == 0 and np.array_equal(array, before)


def reduce_once(which, given, result, kind, seed):
    """One collective; returns whether its result is right."""
    count = len(given)
    given[:] = values(RANK, count, kind, seed)
    if which == "allreduce":
        WORLD.Allreduce(given, result)
    elif which == "iallreduce":
        WORLD.Iallreduce(given, result).Wait()
    elif which == "in place":
        result[:] = given
        WORLD.Allreduce(MPI.IN_PLACE, result)
    else:
        root = seed % RANKS
        result[:] = values(root, count, kind, seed) if root == RANK else 0
        WORLD.Bcast(result, root)
        return np.array_equal(result, values(root, count, kind, seed))
    return np.array_equal(result, expected(count, kind, seed))


class Rounds:
    def __init__(self, seed, ways):
        self.ways = ways
        self.shared = random.Random(seed)
        self.own = random.Random(seed * 1000 + RANK)
        self.calls = self.direct = self.wrong = 0
        self.counts = dict.fromkeys((*WAYS, "fork", "spawn", "subprocess"), 0)
        self.last_path = ctypes.CDLL(None).sumac_last_path
        self.last_path.restype = ctypes.c_char_p

    def array(self, count, kind):
        way = self.own.choice(self.ways)
        self.counts[way] += 1
        return WAYS[way](count, kind)

    def processes(self, array):
        drawn = self.own.random()
        if drawn < 0.04:
            self.note("fork", through_processes(array, "fork"))
        elif drawn < 0.05:
            self.note("spawn", through_processes(array, "spawn"))
        elif drawn < 0.06:
            before = array.copy()
            done = subprocess.run(["true"], check=False, timeout=60).returncode == 0
            self.note("subprocess", done and np.array_equal(array, before))

    def note(self, what, right):
        self.counts[what] += 1
        self.wrong += not right
        if not right:
            print(f"rank {RANK}: wrong after {what}", file=sys.stderr, flush=True)

    def round(self, number):
        kind = self.shared.choice(TYPES)
        count = self.shared.randrange(40_000, 200_000) // np.dtype(kind).itemsize
        given, result = self.array(count, kind), self.array(count, kind)
        for _ in range(self.shared.randrange(1, 5)):
            which = self.shared.choice(("allreduce", "iallreduce", "in place", "bcast"))
            right = reduce_once(which, given, result, kind, self.shared.randrange(1000))
            self.calls += 1
            self.direct += self.last_path() == b"direct"
            if not right:
                print(f"rank {RANK}, round {number}: wrong {which}", file=sys.stderr, flush=True)
            self.wrong += not right
            self.processes(self.own.choice((given, result)))


def main():
    faulthandler.dump_traceback_later(int(os.environ.get("SUMAC_TEST_SECONDS", "300")), exit=True)
    rounds, seed = int(sys.argv[1]), int((sys.argv[2:] or ["1"])[0])
    run = Rounds(seed, sys.argv[3:] or sorted(WAYS))
    for number in range(rounds):
        run.round(number)
    wrong = WORLD.allreduce(run.wrong)
    faulthandler.cancel_dump_traceback_later()
    if RANK == 0:
        print(f"{rounds} rounds; {run.direct} of {run.calls} calls went direct; {run.counts}")
        print(f"{'FAILED' if wrong else 'passed'}: {run.calls} checks, {wrong} failed", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
