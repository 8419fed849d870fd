# SPDX-License-Identifier: BSD-3-Clause
"""Rank 0's calls, counted by collective, number of ranks and bytes, from its file alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sumac_mpi.base.errors import Exit, SumacError

COLLECTIVES = ("allreduce", "reduce", "bcast", "barrier")  # that can be simulated
_SIZES = {
    "CHAR": 1, "BYTE": 1, "PACKED": 1, "SHORT": 2, "LONG": 8, "FLOAT": 4, "DOUBLE": 8,
    "LONG_DOUBLE": 16, "UNSIGNED": 4, "INT": 4, "AINT": 8, "OFFSET": 8, "COUNT": 8, "INTEGER": 4,
    "REAL": 4, "DOUBLE_PRECISION": 8, "COMPLEX": 8, "DOUBLE_COMPLEX": 16, "LOGICAL": 4,
    "C_BOOL": 1, "CXX_BOOL": 1, "FLOAT_INT": 8, "DOUBLE_INT": 12, "LONG_INT": 12, "2INT": 8,
    "SHORT_INT": 6, "WCHAR": 4, "CHARACTER": 1, "SIGNED_CHAR": 1, "UNSIGNED_CHAR": 1,
    "UNSIGNED_SHORT": 2, "UNSIGNED_LONG": 8, "LONG_LONG": 8, "UNSIGNED_LONG_LONG": 8,
    "C_COMPLEX": 8, "C_FLOAT_COMPLEX": 8, "C_DOUBLE_COMPLEX": 16, "CXX_FLOAT_COMPLEX": 8,
    "CXX_DOUBLE_COMPLEX": 16, "C_LONG_DOUBLE_COMPLEX": 32, "CXX_LONG_DOUBLE_COMPLEX": 32,
    "LONG_DOUBLE_INT": 20, "2REAL": 8, "2DOUBLE_PRECISION": 16, "2INTEGER": 8,
} | {f"{sign}INT{bits}_T": bits // 8 for sign in ("", "U") for bits in (8, 16, 32, 64)} | {
    f"{kind}{size}": size for kind in ("INTEGER", "REAL", "COMPLEX", "LOGICAL")
    for size in (1, 2, 4, 8, 16, 32)
}  # fmt: skip


@dataclass(frozen=True)
class Class:
    """Calls whose bytes are within a power of two."""

    collective: str
    nonblocking: bool
    ranks: int
    bytes: int  # the mean
    calls: int


def count(path: Path) -> tuple[list[Class], int]:
    """The calls that can be simulated, in classes, and the number of the others."""
    reader = _Reader()
    number = 0
    try:
        with path.open(encoding="ascii") as file:
            for line in file:
                number += 1
                if line.endswith("\n"):  # else cut off
                    reader.line(line.split())
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise SumacError(
            "bad-record",
            f"{path}, line {number}: {error!r}",
            fix="record the program again",
            code=Exit.USAGE,
        ) from error
    return _classes(reader.calls), reader.others


def _classes(calls: Counter[tuple[str, bool, int, int]]) -> list[Class]:
    bytes_, counts = Counter[tuple[str, bool, int, int]](), Counter[tuple[str, bool, int, int]]()
    for (collective, nonblocking, ranks, size), number in calls.items():
        key = (collective, nonblocking, ranks, size.bit_length())
        bytes_[key] += size * number
        counts[key] += number
    return [
        Class(*key[:3], round(bytes_[key] / number), number)
        for key, number in sorted(counts.items())
    ]


class _Reader:
    def __init__(self) -> None:
        self.calls: Counter[tuple[str, bool, int, int]] = Counter()
        self.others = 0
        self._comms: dict[str, int] = {}
        self._types: dict[str, int] = {}
        self._shapes: dict[str, tuple[str, bool, int, int] | None] = {}
        self._persistent: dict[str, str] = {}

    def line(self, words: list[str]) -> None:
        kind = words[0]
        if kind == "c":
            self._comms[words[1]] = _members(words[2])
        elif kind == "t":
            self._types[words[1]] = self._size(words[2:])
        elif kind == "s":
            self._shapes[words[1]] = self._shape(words[2:])
        elif kind in ("b", "i"):
            self._count(words[1])
        elif kind == "p":
            self._persistent[words[2]] = words[1]
        elif kind == "g":
            for request in words[1:-2]:
                if request in self._persistent:
                    self._count(self._persistent[request])

    def _count(self, shape: str) -> None:
        key = self._shapes[shape]
        if key is None:
            self.others += 1
        else:
            self.calls[key] += 1

    def _shape(self, words: list[str]) -> tuple[str, bool, int, int] | None:
        given = dict(word.split("=", 1) for word in words[2:] if "=" in word)
        ranks = self._comms[given["c"]]
        if words[0] not in COLLECTIVES or ranks < 2:
            return None
        bytes_ = 0
        sides = [given[name].split(",") for name in ("s", "r") if name in given]
        for place, *rest in sides:
            if place != "=" and rest:
                bytes_ = int(rest[0]) * self._types[rest[1]]
        return words[0], words[1] != "blocking", ranks, bytes_

    def _size(self, words: list[str]) -> int:
        """Packed bytes of a type, from its constructor's numbers and types."""
        by, numbers = words[0], words[1:]
        if by == "named":
            return _SIZES[numbers[0].removeprefix("MPI_")]
        if by == "opaque":
            return int(numbers[0])
        if by == "null":
            return 0
        end = 1 + int(numbers[0])
        values = [int(word) for word in numbers[1:end]]
        inner = [self._types[word] for word in numbers[end:]]
        return _constructed(by, values, inner)


def _constructed(by: str, values: list[int], inner: list[int]) -> int:
    if by == "struct":
        return sum(n * size for n, size in zip(values[1:], inner))
    if by == "contiguous":
        return values[0] * inner[0]
    if by in ("vector", "hvector") or by.endswith("indexed_block"):
        return values[0] * values[1] * inner[0]
    if by in ("indexed", "hindexed"):
        return sum(values[1 : 1 + values[0]]) * inner[0]
    if by == "subarray":
        dimensions = values[0]
        return math.prod(values[1 + dimensions : 1 + 2 * dimensions]) * inner[0]
    if by == "darray":
        return math.prod(values[3 + 0 : 3 + values[2]]) // values[0] * inner[0]
    if by in ("dup", "resized"):
        return inner[0]
    return 8  # by the digits of a Fortran number


def _members(text: str) -> int:
    """The number of ranks in "0-3,7"; 0 for a communicator that has others in it."""
    if text == "outside":
        return 0
    total = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total
