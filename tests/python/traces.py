# SPDX-License-Identifier: BSD-3-Clause
"""Files of a trace as the ranks of a job write them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import recordings
from recordings import Line

DAY_NS = 1_795_219_200_000_000_000
OPERATION, PIECE = "=IIQQQQQQ", "=IIQQQQ"


class Call(NamedTuple):
    """A whole operation on one rank. Times in microseconds of the day, as in pieces."""

    operation: int  # counts those of the rank
    begin: float
    end: float
    bytes: int = 4096
    group: int = 0xAB
    call: int = -1  # the number in the group; by default that of the operation
    name: str = "allreduce"


class Piece(NamedTuple):
    operation: int
    lane: tuple[str, str]  # level, stage
    chunk: int
    begin: float
    end: float
    algorithm: str = "flat"


def head(rank: int, ranks: int, **changes: Any) -> Line:
    return recordings.head("trace", rank, ranks, dropped=0) | changes


def content(first: Line, *events: Call | Piece) -> bytes:
    """A rank's file: its head, and what it has recorded."""
    calls = [each for each in events if isinstance(each, Call)]
    pieces = [each for each in events if isinstance(each, Piece)]
    names = _numbers(each.name for each in calls)
    lanes = _numbers((*each.lane, each.algorithm) for each in pieces)
    lines: list[Line] = [{"name": number, "text": name} for name, number in names.items()]
    for (level, stage, algorithm), number in lanes.items():
        lines.append({"lane": number, "level": level, "stage": stage, "algorithm": algorithm})
    return (
        recordings.text(first, *lines)
        + recordings.records("oper", OPERATION, (_operation(names, each) for each in calls))
        + recordings.records("piec", PIECE, (_piece(lanes, each) for each in pieces))
    )


def write(folder: Path, rank: int, first: Line, *events: Call | Piece) -> Path:
    return recordings.write(folder, rank, "trace", content(first, *events))


def pipeline_of(rank: int, chunks: int = 4) -> list[Call | Piece]:
    """What one of four ranks records, in groups of two whose leaders 0 and 2 exchange: each chunk
    goes up, across and down for 8 µs each, and the next one follows every 10 µs. Before it, a small
    operation; after it, another large one that took longer."""
    events: list[Call | Piece] = [Call(0, 100, 102, bytes=8), Call(2, 400, 600)]
    events.append(Call(1, 200 + rank, 230 + 10 * chunks))
    lanes = [("ranks:2", "up"), ("cluster", "across"), ("ranks:2", "down")]
    for chunk in range(chunks):
        for step, lane in enumerate(lanes):
            if lane[1] != "across" or rank % 2 == 0:
                start = 205 + 10 * chunk + 9 * step
                events.append(Piece(1, lane, chunk, start, start + 8))
    return events


def pipeline(folder: Path) -> None:
    for rank in range(4):
        write(folder, rank, head(rank, 4), *pipeline_of(rank))


def _numbers(values: Iterable[Hashable]) -> dict[Any, int]:
    """Each value once, with a number."""
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def _operation(names: dict[str, int], call: Call) -> tuple[int, ...]:
    number = call.operation if call.call < 0 else call.call
    about = (names[call.name], 0, call.operation, call.bytes, call.group, number)
    return (*about, _ns(call.begin), _ns(call.end))


def _piece(lanes: dict[Any, int], piece: Piece) -> tuple[int, ...]:
    lane = lanes[(*piece.lane, piece.algorithm)]
    return (lane, 0, piece.operation, piece.chunk, _ns(piece.begin), _ns(piece.end))


def _ns(time: float) -> int:
    return DAY_NS + round(time * 1000)
