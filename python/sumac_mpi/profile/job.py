# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a job's ranks put together, and the time in them split into waiting for other ranks
and the work itself.

A rank waits, in a call, until the last rank has made it that others did not leave behind: from its
own entry to the latest entry of another rank that was before its own end. In a deferred call it
waits in the calls that complete it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from sumac_mpi.profile import files
from sumac_mpi.profile.files import Call, Kind, Rank

NO_COMMUNICATOR = "none"
_ALL_KNOWN = 0xFFFF_FFFF_FFFF_FFFF  # a clock's error where it was not measured


@dataclass
class Times:
    """Of calls, by rank. Nanoseconds."""

    calls: int = 0
    bytes: int = 0
    inside: int = 0
    completing: int = 0
    split: int = 0  # of inside and completing: of calls that all ranks have, and
    waiting: int = 0  # of that, waiting for other ranks
    # Of the waiting, what came of ranks having left the call before it one after another, by the
    # kind of that call.
    passed_on: dict[int, int] = field(default_factory=dict)
    with_sumac: float = 0.0  # what they would take with Sumac, where that is predicted

    @property
    def total(self) -> int:
        return self.inside + self.completing

    @property
    def waited(self) -> float:
        """The time waited in all calls, as in those that all ranks have."""
        return self.waiting * self.total / self.split if self.split else 0.0

    def add(self, other: Times) -> None:
        self.calls += other.calls
        self.bytes += other.bytes
        self.inside += other.inside
        self.completing += other.completing
        self.split += other.split
        self.waiting += other.waiting
        self.with_sumac += other.with_sumac


@dataclass
class Profile:
    """A job: of each rank that has a file, the times of each of its kinds of call."""

    ranks: list[Rank]
    times: dict[int, dict[int, Times]] = field(default_factory=dict)  # rank, kind
    date: str = ""  # when its files were written
    unmatched: int = 0  # calls kept that other ranks have not, or not alike

    @property
    def size(self) -> int:
        """Ranks of the job; there may be files of fewer."""
        return self.ranks[0].ranks

    @property
    def run_ns(self) -> int:
        """The longest time of a rank between MPI_Init and MPI_Finalize, or its last call."""
        return max(_end_of(rank) - rank.begin for rank in self.ranks)

    def rows(self) -> Iterator[tuple[Rank, Kind, Times]]:
        for rank in self.ranks:
            for number, times in self.times[rank.rank].items():
                yield rank, rank.kinds[number], times

    def of_rank(self, rank: int) -> Times:
        """The collectives of a rank together."""
        result = Times()
        kinds = next(each for each in self.ranks if each.rank == rank).kinds
        for number, times in self.times[rank].items():
            if kinds[number].form != "local":
                result.add(times)
        return result


def _end_of(rank: Rank) -> int:
    if rank.end is not None:
        return rank.end
    return max((call.end for call in rank.calls), default=rank.begin)


def load(folder: Path) -> Profile:
    ranks, date = files.load(folder)
    profile = combine(ranks)
    profile.date = date
    return profile


def combine(ranks: list[Rank]) -> Profile:
    profile = Profile(ranks)
    for rank in ranks:
        profile.times[rank.rank] = {
            number: Times(sums.calls, sums.bytes, sums.inside_ns, sums.completing_ns)
            for number, sums in sorted(rank.sums.items())
        }
    clocks = _clocks(ranks)
    before = {rank.rank: _calls_before(rank) for rank in ranks}
    for group in _groups(ranks).values():
        if not _is_whole(group):
            profile.unmatched += len(group)
            continue
        entries = {rank.rank: call.begin + clocks[rank.rank] for rank, call in group}
        for rank, call in group:
            times = profile.times[rank.rank][call.kind]
            times.split += call.inside + call.completing
            waited = _waiting(rank, call, clocks[rank.rank], entries)
            times.waiting += waited
            if waited and (last := before[rank.rank].get(id(call))):
                skew = _exit_skew(group, entries, before, clocks, last.end + clocks[rank.rank])
                kinds = times.passed_on
                kinds[last.kind] = kinds.get(last.kind, 0) + min(waited, max(skew, 0))
    return profile


def _calls_before(rank: Rank) -> dict[int, Call]:
    """By the identity of each of the rank's blocking calls, the call that it made before it."""
    return {
        id(call): last
        for last, call in pairwise(rank.calls)
        if last.end <= call.begin and rank.kinds[call.kind].form == "blocking"
    }


def _exit_skew(
    group: Group,
    entries: dict[int, int],
    before: dict[int, dict[int, Call]],
    clocks: dict[int, int],
    own_exit: int,
) -> int:
    """How much later than `own_exit` the rank that comes last has left its call before this one;
    0 where it is not known to have made one."""
    rank, call = max(group, key=lambda each: entries[each[0].rank])
    last = before[rank.rank].get(id(call))
    return last.end + clocks[rank.rank] - own_exit if last else 0


Group = list[tuple[Rank, Call]]


def _groups(ranks: list[Rank]) -> dict[tuple[str, int, int], Group]:
    """The calls by communicator, persistent operation and number: those that belong together."""
    groups: dict[tuple[str, int, int], Group] = {}
    for rank in ranks:
        place = {}
        for number, kind in rank.kinds.items():
            if kind.communicator is not None and kind.form != "local":
                known = rank.communicators[kind.communicator]
                operation = -1 if kind.persistent is None else kind.persistent
                place[number] = (known.key, operation)
        for call in rank.calls:
            if call.kind in place:
                groups.setdefault((*place[call.kind], call.sequence), []).append((rank, call))
    return groups


def _is_whole(group: Group) -> bool:
    """True when all ranks of the communicator have made the call, and the same."""
    rank, call = group[0]
    kind = rank.kinds[call.kind]
    known = rank.communicators[kind.communicator or 0]
    functions = {(each.kinds[other.kind].function, each.kinds[other.kind].form)
                 for each, other in group}  # fmt: skip
    return len(group) == known.ranks and len(functions) == 1 and not known.inter


def _waiting(rank: Rank, call: Call, clock: int, entries: dict[int, int]) -> int:
    spent = call.inside + call.completing
    deferred = rank.kinds[call.kind].form != "blocking"
    own = call.end + clock
    if deferred:
        spent = call.completing
    late = [entry for other, entry in entries.items() if other != rank.rank and entry <= own]
    return max(0, min(max(late, default=0) - (own - spent), spent))


def _clocks(ranks: list[Rank]) -> dict[int, int]:
    """What to add to each rank's clock to have rank 0's: that of the rank of its host that has
    compared them. (A later comparison differs by what one clock has gone ahead of the other, which
    is shared out over the time between: half of it here.)"""
    by_host: dict[str, list[int]] = {}
    for rank in ranks:
        for _, offset, within in rank.clocks:
            if within < _ALL_KNOWN:
                by_host.setdefault(rank.host, []).append(offset)
    return {
        rank.rank: sum(found) // len(found) if (found := by_host.get(rank.host)) else 0
        for rank in ranks
    }
