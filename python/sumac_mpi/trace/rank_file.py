# SPDX-License-Identifier: BSD-3-Clause
"""One rank's file of a trace. The rank writes it as a whole at its end. A file that is cut is
refused: pieces that are missing would look like time in which no level worked."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sumac_mpi.base import recording

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
