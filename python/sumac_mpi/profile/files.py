# SPDX-License-Identifier: BSD-3-Clause
"""The files of a profile. A file that ends in the middle is that of a rank which was killed, or
whose disc was full: what there is of it is read."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sumac_mpi.base import recording
from sumac_mpi.base.errors import SumacError, bad_value

PATTERN = "rank-*.profile"
_CALL = struct.Struct("=IIQQQQ")


class Call(NamedTuple):
    """A call, or a start of a persistent operation. Times in nanoseconds of the rank's clock."""

    kind: int
    sequence: int
    begin: int
    inside: int
    completing: int
    end: int


@dataclass(frozen=True, slots=True)
class Kind:
    """What is the same in many calls of a rank."""

    function: str  # "allreduce", "pack"
    form: str  # blocking, nonblocking, persistent or local
    communicator: int | None
    operation: str
    type: str
    count: int
    bytes: int
    root: int | None
    site: int
    persistent: int | None  # of a persistent operation: its number among the communicator's calls
    in_place: bool
    rounded: bool  # count and bytes stand for all up to twice as large


@dataclass(frozen=True, slots=True)
class Sums:
    calls: int
    kept: int  # of these, kept one by one
    bytes: int
    inside_ns: int
    completing_ns: int


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator of one rank. `key` is the same on all its ranks."""

    name: str
    rank: int
    ranks: int
    key: str
    inter: bool


@dataclass(frozen=True, slots=True)
class Site:
    """Where calls were made. Addresses are those of the process."""

    address: int
    base: int = 0
    object: str = ""
    symbol: str = ""


@dataclass
class Rank:
    """One rank's file."""

    rank: int
    ranks: int
    host: str
    mpi: str
    begin: int
    end: int | None = None  # None: the rank did not come to MPI_Finalize, or could not write more
    kinds: dict[int, Kind] = field(default_factory=dict)
    sums: dict[int, Sums] = field(default_factory=dict)
    communicators: dict[int, Communicator] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    clocks: list[tuple[int, int, int]] = field(default_factory=list)  # at, offset, within


_OTHERS = Kind("others", "", None, "", "", 0, 0, None, 0, None, False, True)


def load(folder: Path) -> tuple[list[Rank], str]:
    """All ranks of a folder, in order, and when the last of its files was written. Raises with
    status 1 where there are none, 2 for a file that is no profile."""
    ranks: dict[int, Rank] = {}

    def take(content: bytes) -> None:
        found = read(content)
        ranks[found.rank] = found

    nothing = no_profile(f"no file {PATTERN} in {folder}")
    date = recording.take_each(folder, "profile", nothing, take, slug="bad-profile")
    if len({each.ranks for each in ranks.values()}) > 1:
        raise bad_value(f"{folder} has files of several jobs", fix="one folder for each job")
    return [ranks[number] for number in sorted(ranks)], date


def no_profile(found: str) -> SumacError:
    return SumacError(
        "no-profile",
        "there is no profile to show",
        found=found,
        fix="the program must call MPI_Init, and all its ranks be able to write into the folder",
    )


def read(content: bytes) -> Rank:
    """A rank's file. Raises ValueError, KeyError or TypeError where it is no profile."""
    head, parts = recording.read(content, "profile")
    rank = Rank(
        head["rank"], head["ranks"], head["host"], head["mpi"], head["begin_ns"], kinds={0: _OTHERS}
    )
    for part in parts:
        if not isinstance(part, recording.Records):
            _add_definition(rank, part)
        elif part.name == b"call":
            rank.calls += map(Call._make, part.unpack(_CALL))
        else:
            raise ValueError(f"a section {part.name!r}")
    if rank.end is None:
        _add_up(rank)
    return rank


def _add_definition(rank: Rank, found: dict[str, Any]) -> None:
    match next(iter(found)):
        case "kind":
            rank.kinds[found["kind"]] = Kind(
                found["function"], found["form"], found.get("communicator"),
                found.get("operation", ""), found.get("type", ""), found["count"], found["bytes"],
                found.get("root"), found.get("site", 0), found.get("persistent"),
                found.get("in_place", False), found.get("rounded", False),
            )  # fmt: skip
        case "communicator":
            key = f"members {found['members']} {found['nth']}"
            if "agreed" in found:
                key = f"agreed {found['agreed']}"
            rank.communicators[found["communicator"]] = Communicator(
                found["name"], found["rank"], found["ranks"], key, found.get("inter", False)
            )
        case "site":
            rank.sites[found["site"]] = Site(
                found["address"], found.get("base", 0), found.get("object", ""),
                found.get("symbol", ""),
            )  # fmt: skip
        case "sums":
            number = found.pop("sums")
            rank.sums[number] = Sums(**found)
        case "clock_ns":
            rank.clocks.append((found["clock_ns"], found["offset_ns"], found["within_ns"]))
        case "end_ns":
            rank.end = found["end_ns"]


def _add_up(rank: Rank) -> None:
    """The sums of a file without its end: those of the calls that were kept one by one."""
    for call in rank.calls:
        before = rank.sums.get(call.kind, Sums(0, 0, 0, 0, 0))
        rank.sums[call.kind] = Sums(
            before.calls + 1,
            before.kept + 1,
            before.bytes + rank.kinds[call.kind].bytes,
            before.inside_ns + call.inside,
            before.completing_ns + call.completing,
        )
