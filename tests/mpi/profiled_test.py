# SPDX-License-Identifier: BSD-3-Clause
"""profiled_test.py SCENARIO FOLDER RANKS: compares what a run of profiled.cc has left in FOLDER
with what the program is known to call. Exits with a message where they differ."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from sumac_mpi.profile import job


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        sys.exit(f"{what}: {found}, not {wanted}")


def counts(profile: job.Profile) -> dict[int, Counter]:
    """By rank: calls by function, form, operation, type, count and bytes."""
    result: dict[int, Counter] = {rank.rank: Counter() for rank in profile.ranks}
    for rank, kind, times in profile.rows():
        key = (kind.function, kind.form, kind.operation, kind.type, kind.count, kind.bytes)
        result[rank.rank][key] += times.calls
    return result


def calls(profile: job.Profile, ranks: int) -> None:
    persistent = 0
    for rank, found in counts(profile).items():
        half = (ranks + 1 - rank % 2) // 2
        wanted = {
            ("allreduce", "blocking", "sum", "double", 1000, 8000): 10,
            ("allreduce", "blocking", "max", "int32", 5, 20): 3,
            ("bcast", "blocking", "", "MPI_CHAR", 104, 104): 4,
            ("barrier", "nonblocking", "", "", 0, 0): 6,
            ("barrier", "blocking", "", "", 0, 0): 4,
            ("allreduce", "nonblocking", "min", "double", 10, 80): 6,
            ("bcast", "nonblocking", "", "float", 7, 28): 1,
            ("allgather", "blocking", "", "int32", 4 * half, 16 * half): 6,
            ("alltoallv", "blocking", "", "double", 2 * ranks, 16 * ranks): 2,
            ("reduce_scatter", "blocking", "sum", "double", 2 * ranks, 16 * ranks): 2,
            ("scatterv", "blocking", "", "int32", 3, 12): 2,
            ("scan", "nonblocking", "sum", "double", 5, 40): 1,
            ("pack", "local", "", "derived of 64 bytes", 1, 64): 8,
            ("unpack", "local", "", "derived of 64 bytes", 1, 64): 8,
            ("reduce_local", "local", "prod", "double", 50, 400): 3,
        }
        if any(key[1] == "persistent" for key in found):
            wanted["allreduce", "persistent", "sum", "double", 20, 160] = 9
            wanted["allreduce", "persistent", "sum", "double", 21, 168] = 2
            persistent += 1
        expect(dict(found), wanted, f"calls of rank {rank}")
    expect(persistent in (0, ranks), True, "ranks with persistent operations are all or none")
    expect(profile.unmatched, 0, "calls that other ranks have not")
    waiting(profile, ranks)
    for rank, kind, _ in profile.rows():
        expect(kind.site in rank.sites, True, f"the place of {kind} is known")
        place = rank.sites[kind.site]
        expect("/profiled_" in place.object, True, f"{place} is in the program")
        expect(kind.in_place, kind.operation == "max", f"in place: {kind}")
        expect(kind.root, (ranks - 1 if kind.form == "blocking" else 0)
               if kind.function in ("bcast", "scatterv") else None, f"root of {kind}")  # fmt: skip


def waiting(profile: job.Profile, ranks: int) -> None:
    """Of the communicator "late": the last rank is 400 ms late to a barrier, and rank 0 300 ms to
    another one. The others wait for them, in whatever they do."""
    for rank in profile.ranks:
        names = {number: each.name for number, each in rank.communicators.items()}
        late = {"blocking": 0.0, "nonblocking": 0.0}
        for number, times in profile.times[rank.rank].items():
            kind = rank.kinds[number]
            if kind.communicator is not None and names[kind.communicator] == "late":
                late[kind.form] += times.waiting
                expect(times.waiting <= times.total, True, "waiting is a part")
                expect(times.split, times.total, "all is split")
        others = {"blocking": ranks - 1, "nonblocking": 0}
        for form, longest in (("blocking", 350e6), ("nonblocking", 250e6)):
            if rank.rank != others[form]:
                expect(late[form] >= longest, True, f"rank {rank.rank} waited {late[form]} ns")


def threads(profile: job.Profile, ranks: int) -> None:
    """Ranks come to their communicators in different orders; each has the same calls on all."""
    expect(profile.unmatched, 0, "calls that other ranks have not")
    sizes: dict[str, set[int]] = {}
    for rank, kind, times in profile.rows():
        expect(times.calls, 50, f"calls of {kind}")
        key = rank.communicators[kind.communicator or 0].key
        expect(key.startswith("agreed "), ranks > 1, f"ranks have agreed on {key}")
        sizes.setdefault(key, set()).add(kind.count)
    expect(sorted(map(sorted, sizes.values())), [[10], [11], [12]], "sizes by communicator")


def none(profile: job.Profile, ranks: int) -> None:
    expect(list(profile.rows()), [], "calls")
    expect(profile.run_ns > 0, True, "the program ran")


def killed(profile: job.Profile, ranks: int) -> None:
    for rank in profile.ranks:
        expect(rank.end, None, f"the end of rank {rank.rank}")
    for _, _, times in profile.rows():
        expect(times.calls > 60, True, f"{times.calls} calls are left")
        expect(times.split > 0, True, "calls that all ranks have are split")


def many(profile: job.Profile, ranks: int) -> None:
    """SUMAC_PROFILE_CALLS=1000 of 3000."""
    for rank, _, times in profile.rows():
        expect(times.calls, 3000, "calls")
        expect(times.bytes, 24000, "bytes")
        expect(len(rank.calls), 1000, "calls that were kept")
        expect(0 < times.split < times.total, True, "some are split")


def left(profile: job.Profile, ranks: int) -> None:
    for rank, found in counts(profile).items():
        found = {key[0]: number for key, number in found.items()}
        expect(found, {"barrier": 4, "bcast": 4}, f"calls of rank {rank}")
    expect(profile.unmatched, 0, "calls that other ranks have not")


if __name__ == "__main__":
    scenario, folder, ranks = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    profile = job.load(folder)
    expect(len(profile.ranks), ranks, "files")
    globals()[scenario](profile, ranks)
