# SPDX-License-Identifier: BSD-3-Clause
"""Files of a profile or a trace, made of sections as a rank writes them."""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

Line = dict[str, Any]


def head(of: str, rank: int, ranks: int, **changes: Any) -> Line:
    """The first line of a file."""
    return {"sumac_recording": 1, "of": of, "rank": rank, "ranks": ranks, "host": "a"} | changes


def section(name: str, content: bytes) -> bytes:
    return struct.pack("=4sI", name.encode(), len(content)) + content


def text(*lines: Line) -> bytes:
    """A section of lines."""
    return section("text", "".join(json.dumps(line) + "\n" for line in lines).encode())


def records(name: str, layout: str, rows: Iterable[Iterable[int]]) -> bytes:
    """A section of records; none where there are no rows, as the ranks do it."""
    content = b"".join(struct.pack(layout, *row) for row in rows)
    return section(name, content) if content else b""


def write(folder: Path, rank: int, of: str, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rank-{rank}.{of}"
    path.write_bytes(content)
    return path


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


def trace_head(rank: int, ranks: int, **changes: Any) -> Line:
    return head("trace", rank, ranks, dropped=0) | changes


def trace_content(first: Line, *events: Call | Piece) -> bytes:
    """A rank's file: its head, and what it has recorded."""
    calls = [each for each in events if isinstance(each, Call)]
    pieces = [each for each in events if isinstance(each, Piece)]
    names = _numbers(each.name for each in calls)
    lanes = _numbers((*each.lane, each.algorithm) for each in pieces)
    lines: list[Line] = [{"name": number, "text": name} for name, number in names.items()]
    for (level, stage, algorithm), number in lanes.items():
        lines.append({"lane": number, "level": level, "stage": stage, "algorithm": algorithm})
    return (
        text(first, *lines)
        + records("oper", OPERATION, (_operation(names, each) for each in calls))
        + records("piec", PIECE, (_piece(lanes, each) for each in pieces))
    )


def write_trace(folder: Path, rank: int, first: Line, *events: Call | Piece) -> Path:
    return write(folder, rank, "trace", trace_content(first, *events))


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
        write_trace(folder, rank, trace_head(rank, 4), *pipeline_of(rank))


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
