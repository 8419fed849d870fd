# SPDX-License-Identifier: BSD-3-Clause
"""Traces: the files that the ranks of a job write, and their operations put together again.

Each rank numbers its operations by itself. `group` (the communicator) and `call` (how many there
were before on it) are the same on all ranks of one; here it gets a number in the job.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError, bad_value

FORMAT = 1
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Work of one level on one chunk, in nanoseconds since 1970."""

    rank: int
    level: str
    stage: str
    chunk: int
    begin: int
    end: int


@dataclass
class Operation:
    """A collective call, on all ranks whose files contain it."""

    name: str
    bytes: int
    number: int = -1  # in the job, by time
    calls: dict[int, tuple[int, int]] = field(default_factory=dict)  # rank -> begin, end
    pieces: list[Piece] = field(default_factory=list)

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
    paths = sorted(folder.glob("rank-*.json"))
    if not paths:
        raise no_trace(f"no file rank-*.json in {folder}")
    trace = Trace()
    found: dict[tuple[str, int], Operation] = {}
    for path in paths:
        try:
            _add(trace, found, json.loads(path.read_text()))
        except OSError as error:
            raise bad_value(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
            raise SumacError(
                "bad-trace",
                f"{path} is no file of a trace, or of another job than those beside it",
                found=f"{type(error).__name__}: {error}",
                fix="run the program again, with an empty folder for SUMAC_TRACE",
                code=Exit.USAGE,
            ) from error
    trace.operations = sorted(found.values(), key=lambda each: each.begin)
    for number, operation in enumerate(trace.operations):
        operation.number = number
    if not trace.operations:
        raise no_trace(f"{len(paths)} files without an operation")
    return trace


def no_trace(found: str) -> SumacError:
    return SumacError(
        "no-trace",
        "there is nothing to draw: Sumac took no reduction or broadcast of the program",
        found=found,
        fix="SUMAC_STATS=1 tells how its calls were served",
    )


def _add(trace: Trace, found: dict[tuple[str, int], Operation], events: list[Event]) -> None:
    """Adds one rank's file."""
    head = next(event for event in events if event["name"] == "sumac_trace")["args"]
    rank, day = int(head["rank"]), int(head["day_ns"])
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']}")
    if rank in trace.hosts or trace.ranks not in (0, int(head["ranks"])):
        raise ValueError(f"rank {rank} of {head['ranks']}")
    trace.ranks = int(head["ranks"])
    trace.hosts[rank] = str(head["host"])
    trace.dropped += int(head["dropped"])
    own: dict[int, Operation] = {}
    works = [event for event in events if event["ph"] == "X"]
    for event in works:
        args = event["args"]
        if "group" in args:
            key = (str(args["group"]), int(args["call"]))
            new = Operation(str(event["name"]), int(args["bytes"]))
            own[int(args["operation"])] = operation = found.setdefault(key, new)
            operation.calls[rank] = _span(event, day)
    for event in works:
        args = event["args"]
        # A piece cannot be shown if its operation was not recorded for lack of memory.
        if "chunk" in args and (operation := own.get(int(args["operation"]))):
            lane = (rank, str(args["level"]), str(args["stage"]))
            operation.pieces.append(Piece(*lane, int(args["chunk"]), *_span(event, day)))


def _span(event: Event, day: int) -> tuple[int, int]:
    begin = day + round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


def save(trace: Trace, path: Path) -> None:
    """All ranks as one file of Chrome's trace events; times from the first operation's begin."""
    text = json.dumps(list(_events(trace)), separators=(",", ":"))
    files.write(path, (text + "\n").encode())


def _events(trace: Trace) -> Iterator[Event]:
    zero = min(operation.begin for operation in trace.operations)
    lanes: dict[tuple[int, str], int] = {}
    for rank, host in sorted(trace.hosts.items()):
        yield _name("process_name", rank, 0, f"rank {rank} on {host}")
        yield _name("thread_name", rank, 0, "operation")
    for operation in trace.operations:
        args: Event = {"operation": operation.number, "bytes": operation.bytes}
        for rank, (begin, end) in sorted(operation.calls.items()):
            yield _work(operation.name, rank, 0, begin - zero, end - begin, args)
        for piece in operation.pieces:
            name = f"{piece.level} {piece.stage}"
            lane = lanes.setdefault((piece.rank, name), len(lanes) + 1)
            chunk = args | {"chunk": piece.chunk}
            yield _work(name, piece.rank, lane, piece.begin - zero, piece.end - piece.begin, chunk)
    for (rank, name), lane in lanes.items():
        yield _name("thread_name", rank, lane, name)


def _name(what: str, rank: int, lane: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": rank, "tid": lane, "args": {"name": name}}


def _work(name: str, rank: int, lane: int, begin: int, length: int, args: Event) -> Event:
    return {
        "ph": "X", "name": name, "pid": rank, "tid": lane,
        "ts": begin / 1000, "dur": length / 1000, "args": args,
    }  # fmt: skip
