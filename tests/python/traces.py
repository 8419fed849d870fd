# SPDX-License-Identifier: BSD-3-Clause
"""Files of a trace as the ranks of a job write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DAY_NS = 1_795_219_200_000_000_000
Event = dict[str, Any]


def head(rank: int, ranks: int, **changes: Any) -> Event:
    args = {"format": 1, "rank": rank, "ranks": ranks, "host": "a", "day_ns": DAY_NS, "dropped": 0}
    return {"ph": "M", "name": "sumac_trace", "pid": rank, "tid": 0, "args": args | changes}


def call(rank: int, operation: int, begin: float, end: float, **changes: Any) -> Event:
    args = {"operation": operation, "bytes": 4096, "group": "00ab", "call": operation} | changes
    return _work("allreduce", rank, begin, end, args)


def piece(
    rank: int, operation: int, lane: tuple[str, str], chunk: int, begin: float, end: float
) -> Event:
    level, stage = lane
    args = {"operation": operation, "chunk": chunk, "level": level, "stage": stage}
    return _work(f"{level} {stage}", rank, begin, end, args)


def _work(name: str, rank: int, begin: float, end: float, args: Event) -> Event:
    times = {"ts": begin, "dur": round(end - begin, 3)}
    return {"ph": "X", "name": name, "pid": rank, "tid": 0, **times, "args": args}


def write(folder: Path, rank: int, events: list[Event]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rank-{rank}.json").write_text(json.dumps(events))


def pipeline(folder: Path, chunks: int = 4) -> None:
    """Four ranks in groups of two, whose leaders 0 and 2 exchange: each chunk goes up, across and
    down for 8 µs each, and the next one follows every 10 µs. Before it, a small operation; after
    it, another large one that took longer."""
    for rank in range(4):
        events = [head(rank, 4), call(rank, 0, 100, 102, bytes=8), call(rank, 2, 400, 600)]
        events.append(call(rank, 1, 200 + rank, 230 + 10 * chunks))
        for chunk in range(chunks):
            begin = 205 + 10 * chunk
            lanes = [("ranks:2", "up"), ("cluster", "across"), ("ranks:2", "down")]
            for step, lane in enumerate(lanes):
                if lane[1] != "across" or rank % 2 == 0:
                    start = begin + 9 * step
                    events.append(piece(rank, 1, lane, chunk, start, start + 8))
        write(folder, rank, events)
