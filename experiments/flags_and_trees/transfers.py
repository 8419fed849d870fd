# SPDX-License-Identifier: BSD-3-Clause
"""Cache-line transfers of a small reduce, counted in a model of coherence: a line is with the ranks
that have read it since it was written last; a read by another rank moves it, and so does a write
by a rank that does not have it alone. Processors in virtual machines do not count these."""

from collections import Counter

RING = 8  # slots of a rank, used in turn
SLAB_FLAGS = 16  # flags in a padded pair of lines
CALLS = 4 * RING


class Lines:
    """Who has which line."""

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


def per_reduce(control, degree, ranks):
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
