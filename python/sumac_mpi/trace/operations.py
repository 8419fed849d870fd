# SPDX-License-Identifier: BSD-3-Clause
"""Traces: the files that the ranks of a job write, and their operations put together again.

Each rank numbers its operations by itself. `group` (the communicator) and `call` (how many there
were before on it) are the same on all ranks of one; here it gets a number in the job.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sumac_mpi.base import files, recording
from sumac_mpi.base.errors import SumacError, bad_value

PATTERN = "rank-*.trace"
Event = dict[str, Any]


@dataclass
class Operation:
    """A collective call, on all ranks whose files contain it."""

    name: str
    bytes: int
    number: int = -1  # in the job, by time
    calls: dict[int, tuple[int, int]] = field(default_factory=dict)  # rank -> begin, end
    pieces: list[Piece] = field(default_factory=list)
    group: int = 0  # of the communicator
    call: int = 0  # operations before this one on it

    def lanes(self) -> dict[tuple[int, str, str], list[Piece]]:
        """The pieces by rank, level and stage."""
        result: dict[tuple[int, str, str], list[Piece]] = {}
        for piece in self.pieces:
            result.setdefault((piece.rank, piece.level, piece.stage), []).append(piece)
        return result

    @property
    def begin(self) -> int:
        return min(begin for begin, _ in self.calls.values())

    @property
    def end(self) -> int:
        return max(end for _, end in self.calls.values())

    @property
    def duration(self) -> int:
        """From the first rank's entry to the last rank's return."""
        return self.end - self.begin


@dataclass
class Trace:
    ranks: int = 0  # of the job; there may be files of fewer
    date: str = ""  # when its files were written
    hosts: dict[int, str] = field(default_factory=dict)  # rank -> host, of the files that there are
    dropped: int = 0
    operations: list[Operation] = field(default_factory=list)

    def choose(self, number: int | None) -> Operation:
        """The operation of that number. By default one of the largest, of these the one of median
        duration; where there are operations with levels, only these count."""
        if number is not None:
            if not 0 <= number < len(self.operations):
                raise bad_value(
                    f"--operation {number}: the trace has 0 to {len(self.operations) - 1}"
                )
            return self.operations[number]
        candidates = [each for each in self.operations if each.pieces] or self.operations
        largest = max(each.bytes for each in candidates)
        longest = sorted(
            (each for each in candidates if each.bytes == largest), key=lambda each: each.duration
        )
        return longest[(len(longest) - 1) // 2]


def load(folder: Path) -> Trace:
    """Reads a folder. Raises with status 1 if it has no operation, 2 for a file that is no
    trace."""
    trace = Trace()
    found: dict[tuple[int, int], Operation] = {}
    nothing = no_trace(f"no file {PATTERN} in {folder}")

    def take(content: bytes) -> None:
        _add(trace, found, read(content))

    trace.date = recording.take_each(folder, "trace", nothing, take, slug="bad-trace")
    trace.operations = sorted(found.values(), key=lambda each: each.begin)
    for number, operation in enumerate(trace.operations):
        operation.number = number
    if not trace.operations:
        raise no_trace(f"{len(trace.hosts)} files without an operation")
    return trace


def no_trace(found: str) -> SumacError:
    return SumacError(
        "no-trace",
        "there is nothing to draw: Sumac took no reduction or broadcast of the program",
        found=found,
        fix="SUMAC_STATS=1 tells how its calls were served",
    )


def _add(trace: Trace, found: dict[tuple[int, int], Operation], file: Rank) -> None:
    """Adds one rank's file."""
    if file.rank in trace.hosts or trace.ranks not in (0, file.ranks):
        raise ValueError(f"rank {file.rank} of {file.ranks}")
    trace.ranks = file.ranks
    trace.hosts[file.rank] = file.host
    trace.dropped += file.dropped
    own: dict[int, Operation] = {}
    for call in file.calls:
        new = Operation(call.name, call.bytes, group=call.group, call=call.call)
        own[call.number] = operation = found.setdefault((call.group, call.call), new)
        operation.calls[file.rank] = (call.begin, call.end)
    for number, piece in file.pieces:
        # A piece cannot be shown if its operation was not recorded for lack of memory.
        if number in own:
            own[number].pieces.append(piece)


def save(trace: Trace, path: Path) -> None:
    """All ranks as one file of Chrome's trace events; times from the first operation's begin."""
    files.show_json(list(_events(trace)), path, indent=None)


def _events(trace: Trace) -> Iterator[Event]:
    zero = min(operation.begin for operation in trace.operations)
    about = {"ranks": trace.ranks, "dropped": trace.dropped, "begin_ns": zero}
    yield {"ph": "M", "name": "sumac_trace", "pid": min(trace.hosts), "tid": 0, "args": about}
    lanes: dict[tuple[int, str], int] = {}
    for rank, host in sorted(trace.hosts.items()):
        yield _name("process_name", rank, 0, f"rank {rank} on {host}")
        yield _name("thread_name", rank, 0, "operation")
    for operation in trace.operations:
        args: Event = {"operation": operation.number, "bytes": operation.bytes}
        # In text, since viewers have no whole numbers of 64 bits.
        whole = args | {"group": f"{operation.group:016x}", "call": operation.call}
        for rank, (begin, end) in sorted(operation.calls.items()):
            yield _work(operation.name, rank, 0, begin - zero, end - begin, whole)
        for piece in operation.pieces:
            name = f"{piece.level} {piece.stage}"
            lane = lanes.setdefault((piece.rank, name), len(lanes) + 1)
            times = piece.begin - zero, piece.end - piece.begin
            yield _work(name, piece.rank, lane, *times, args | _about(piece))
    for (rank, name), lane in lanes.items():
        yield _name("thread_name", rank, lane, name)


def _about(piece: Piece) -> Event:
    return {
        "chunk": piece.chunk, "level": piece.level, "stage": piece.stage,
        "algorithm": piece.algorithm,
    }  # fmt: skip


def _name(what: str, rank: int, lane: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": rank, "tid": lane, "args": {"name": name}}


def _work(name: str, rank: int, lane: int, begin: int, length: int, args: Event) -> Event:
    return {
        "ph": "X", "name": name, "pid": rank, "tid": lane,
        "ts": begin / 1000, "dur": length / 1000, "args": args,
    }  # fmt: skip


_CALL = struct.Struct("=IIQQQQQQ")
_PIECE = struct.Struct("=IIQQQQ")
Defined = TypeVar("Defined")


class Call(NamedTuple):
    """A collective call of this rank, in nanoseconds since 1970."""

    name: str
    number: int  # of the operation, in this process
    bytes: int
    group: int  # of the communicator
    call: int  # operations before this one on it
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Work of one level on one chunk, in nanoseconds since 1970."""

    rank: int
    level: str
    stage: str
    algorithm: str
    chunk: int
    begin: int
    end: int


@dataclass
class Rank:
    rank: int
    ranks: int
    host: str
    dropped: int
    calls: list[Call] = field(default_factory=list)
    pieces: list[tuple[int, Piece]] = field(default_factory=list)  # the operation's number, a piece
    names: dict[int, str] = field(default_factory=dict)  # of collectives
    lanes: dict[int, tuple[str, str, str]] = field(default_factory=dict)  # level, stage, algorithm


def read(content: bytes) -> Rank:
    """Raises ValueError, KeyError or TypeError where the file is not that of a trace."""
    head, parts = recording.read(content, "trace", whole=True)
    rank = Rank(int(head["rank"]), int(head["ranks"]), str(head["host"]), int(head["dropped"]))
    for part in parts:
        if not isinstance(part, recording.Records):
            _add_definition(rank, part)
        elif part.name == b"oper":
            _add_calls(rank, part.unpack(_CALL))
        elif part.name == b"piec":
            _add_pieces(rank, part.unpack(_PIECE))
        else:
            raise ValueError(f"a section {part.name!r}")
    return rank


def _add_definition(rank: Rank, line: recording.Line) -> None:
    if "name" in line:
        rank.names[line["name"]] = str(line["text"])
    elif "lane" in line:
        names = str(line["level"]), str(line["stage"]), str(line["algorithm"])
        rank.lanes[line["lane"]] = names


def _add_calls(rank: Rank, records: Iterable[tuple[Any, ...]]) -> None:
    for name, _, number, size, group, call, begin, end in records:
        known = _defined(rank.names, "name", name)
        rank.calls.append(Call(known, number, size, group, call, begin, max(begin, end)))


def _add_pieces(rank: Rank, records: Iterable[tuple[Any, ...]]) -> None:
    for lane, _, operation, chunk, begin, end in records:
        known = _defined(rank.lanes, "lane", lane)
        piece = Piece(rank.rank, *known, chunk, begin, max(begin, end))
        rank.pieces.append((operation, piece))


def _defined(known: dict[int, Defined], what: str, number: int) -> Defined:
    if number not in known:
        raise ValueError(f"{what} {number} is not defined")
    return known[number]
