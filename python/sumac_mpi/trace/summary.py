# SPDX-License-Identifier: BSD-3-Clause
"""A summary of one operation: how long each level worked, and how much of it at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import combinations

from rich.table import Table

from sumac_mpi.base import units
from sumac_mpi.trace.operations import Operation, Piece, Trace

STAGES = ("up", "across", "down")
# From small groups to large ones, for levels whose order no rank's trace shows.
_LEVELS = ("core", "l2", "l3", "numa", "package", "list", "ranks", "slow", "attach", "node", "top")

Span = tuple[int, int]


@dataclass(frozen=True)
class Row:
    level: str
    stage: str
    ranks: int
    pieces: int
    busy: int  # nanoseconds, over all ranks
    share: float  # of the operation's duration, on the ranks that work here
    overlap: float  # of `busy`: another level worked as well, on any rank


def union(spans: Iterable[Span]) -> list[Span]:
    """The same times as spans that are in order and do not touch."""
    result: list[Span] = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def length(spans: Iterable[Span]) -> int:
    return sum(end - begin for begin, end in spans)


def common(first: list[Span], second: list[Span]) -> list[Span]:
    """The times that two unions share."""
    result: list[Span] = []
    i = j = 0
    while i < len(first) and j < len(second):
        begin, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if begin < end:
            result.append((begin, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return result


def rows(operation: Operation) -> list[Row]:
    """One for each level and stage, in the order of `lanes`."""
    by_lane = operation.lanes()
    return [
        _row(
            operation,
            level,
            stage,
            [pieces for (_, *name), pieces in by_lane.items() if name == [level, stage]],
        )
        for level, stage in lanes(operation)
    ]


def _row(operation: Operation, level: str, stage: str, by_rank: list[list[Piece]]) -> Row:
    others = union((each.begin, each.end) for each in operation.pieces if each.level != level)
    busy = [union((each.begin, each.end) for each in pieces) for pieces in by_rank]
    total = sum(map(length, busy))
    return Row(
        level,
        stage,
        ranks=len(by_rank),
        pieces=sum(map(len, by_rank)),
        busy=total,
        share=total / (len(by_rank) * operation.duration) if operation.duration else 0.0,
        overlap=sum(length(common(each, others)) for each in busy) / total if total else 0.0,
    )


def together(operation: Operation) -> float:
    """The part of the time in which any level worked that had two or more of them at work."""
    levels = {each.level for each in operation.pieces}
    busy = [
        union((each.begin, each.end) for each in operation.pieces if each.level == level)
        for level in levels
    ]
    several = union(span for a, b in combinations(busy, 2) for span in common(a, b))
    any_level = length(union(span for each in busy for span in each))
    return length(several) / any_level if any_level else 0.0


def lanes(operation: Operation) -> list[tuple[str, str]]:
    """(level, stage) in the order in which they are shown: stage by stage, lowest level first."""
    height = {level: index for index, level in enumerate(level_order(operation))}
    names = {(level, stage) for _, level, stage in operation.lanes()}
    return sorted(names, key=lambda name: (*_stage_key(name[1]), height[name[0]]))


def _stage_key(stage: str) -> tuple[int, str]:
    return (STAGES.index(stage) if stage in STAGES else len(STAGES), stage)


def level_order(operation: Operation) -> list[str]:
    """From the lowest level to the highest. Files hold names only, but a rank that is in several
    levels goes up through them in this order, down in the opposite one, and across at the top."""
    first: dict[int, dict[str, dict[str, int]]] = {}  # rank, stage, level: the time of its end
    for (rank, level, stage), pieces in operation.lanes().items():
        end = min(pieces, key=lambda each: (each.chunk, each.end)).end
        first.setdefault(rank, {}).setdefault(stage, {})[level] = end
    votes: Counter[tuple[str, str]] = Counter()
    for stages in first.values():
        up, across, down = (stages.get(stage, {}) for stage in STAGES)
        votes.update(combinations(sorted(up, key=lambda level: up[level]), 2))
        votes.update(combinations(sorted(down, key=lambda level: -down[level]), 2))
        lower = up.keys() | down.keys()
        votes.update((low, high) for high in across.keys() - lower for low in lower)

    def compare(a: str, b: str) -> int:
        return votes[b, a] - votes[a, b] or _usual_height(a) - _usual_height(b)

    return sorted(sorted({each.level for each in operation.pieces}), key=cmp_to_key(compare))


def _usual_height(level: str) -> int:
    kind = level.partition(":")[0]
    return _LEVELS.index(kind) if kind in _LEVELS else len(_LEVELS)


def title(operation: Operation, trace: Trace) -> str:
    hosts = len(set(trace.hosts.values()))
    parts = [
        f"{operation.name} of {units.format_bytes(operation.bytes)}",
        f"{len(operation.calls)} ranks",
        f"{units.format_us(operation.duration / 1000)} µs",
        f"operation {operation.number} of {len(trace.operations)}",
    ]
    if hosts > 1:
        parts.insert(2, f"{hosts} hosts")
    return "  ·  ".join(parts)


def table(operation: Operation) -> Table:
    result = Table(box=None, pad_edge=False)
    for name in ("level", "stage"):
        result.add_column(name)
    for name in ("ranks", "pieces", "busy µs", "share", "overlap"):
        result.add_column(name, justify="right")
    for row in rows(operation):
        result.add_row(
            row.level, row.stage, str(row.ranks), str(row.pieces),
            units.format_us(row.busy / 1000), f"{row.share:.1%}", f"{row.overlap:.1%}",
        )  # fmt: skip
    calls = length(operation.calls.values())
    share = calls / (len(operation.calls) * operation.duration) if operation.duration else 1.0
    result.add_row(
        "whole call", "", str(len(operation.calls)), "", units.format_us(calls / 1000),
        f"{share:.1%}", "",
    )  # fmt: skip
    return result


def notes(operation: Operation, trace: Trace) -> list[str]:
    result = _late(operation)
    if len({each.level for each in operation.pieces}) > 1:
        result.append(f"several levels at work at once: {together(operation):.1%} of the time")
    if len(trace.hosts) < trace.ranks:
        result.append(f"there are files of {len(trace.hosts)} of the {trace.ranks} ranks only")
    if trace.dropped:
        result.append(
            f"{trace.dropped} events came when a rank's buffer was full: not in the trace"
        )
    return result


def some_ranks(ranks: list[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks"


def _late(operation: Operation) -> list[str]:
    """The ranks that called so late that most of the time is waiting for them."""
    late = sorted(
        rank
        for rank, (begin, _) in operation.calls.items()
        if begin - operation.begin > operation.duration / 2
    )
    if not late:
        return []
    last = max(begin for begin, _ in operation.calls.values()) - operation.begin
    return [f"{some_ranks(late)} called up to {units.format_time(last)} after the first one"]
