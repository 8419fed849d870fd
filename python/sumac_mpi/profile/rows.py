# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a profile's table: calls that are alike in what the user asks about, over all
ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sumac_mpi.base import units
from sumac_mpi.profile import sites
from sumac_mpi.profile.files import Kind, Rank
from sumac_mpi.profile.job import Profile, Times

_LOCAL = "local"
_FORMS = {"nonblocking": "i", "blocking": "", "persistent": "", _LOCAL: ""}


class By(str, Enum):
    """What a row stands for."""

    call = "call"
    site = "site"
    communicator = "communicator"
    collective = "collective"
    size = "size"


COLUMNS = {
    By.call: ("call", "communicator", "bytes", "type", "operation"),
    By.site: ("site", "call"),
    By.communicator: ("communicator",),
    By.collective: ("call",),
    By.size: ("call", "size class"),
}


@dataclass
class Row:
    """Times are over all ranks, in nanoseconds; calls those of the rank that made most."""

    key: tuple[str, ...]  # the columns of COLUMNS
    call: str  # as `sumac bench` names it, of the first
    times: Times = field(default_factory=Times)
    by_rank: dict[int, int] = field(default_factory=dict)  # calls
    sizes: dict[int, int] = field(default_factory=dict)  # calls by their bytes

    @property
    def calls(self) -> int:
        return max(self.by_rank.values(), default=0)

    def as_dict(self, by: By, ranks: int) -> dict[str, Any]:
        """For JSON. Seconds are means over the ranks."""
        second = 1e9 * ranks
        return dict(zip(COLUMNS[by], self.key)) | {
            "calls": self.calls,
            "bytes": self.times.bytes // ranks,
            "seconds": self.times.total / second,
            "waiting_seconds": self.times.waited / second,
            "with_sumac_seconds": self.times.with_sumac / second,
            "completing_seconds": self.times.completing / second,
            "sizes": {str(size): calls for size, calls in sorted(self.sizes.items())},
        }


def call_name(kind: Kind) -> str:
    """As `sumac bench` names it: "iallreduce", "allreduce-persistent"."""
    ending = "-persistent" if kind.form == "persistent" else ""
    return f"{_FORMS.get(kind.form, '')}{kind.function}{ending}"


def size_class(size: int) -> str:
    """The powers of two between which it lies: "4K-8K"."""
    if size < 2:
        return f"{size} B"
    low = 1 << (size.bit_length() - 1)
    return f"{units.format_size(low)}-{units.format_size(2 * low)}".replace(" B-", "-")


def communicator_name(rank: Rank, kind: Kind) -> str:
    """Its name, and its number of ranks."""
    if kind.communicator is None:
        return ""
    known = rank.communicators[kind.communicator]
    return f"{known.name.removeprefix('MPI_')} ({known.ranks})"


def rows(profile: Profile, by: By, local: bool = False) -> list[Row]:
    """The rows of collectives or, with `local`, of calls without communication; most time first."""
    places = _places(profile) if by is By.site else {}
    found: dict[tuple[str, ...], Row] = {}
    for rank, kind, times in profile.rows():
        if (kind.form == _LOCAL) != local:
            continue
        texts = {
            "call": call_name(kind),
            "communicator": communicator_name(rank, kind),
            "bytes": ("from " if kind.rounded else "") + units.format_size(kind.bytes),
            "size class": size_class(kind.bytes),
            "type": kind.type,
            "operation": kind.operation,
            "site": places.get((rank.rank, kind.site), "elsewhere"),
        }
        key = tuple(texts[column] for column in COLUMNS[by])
        row = found.setdefault(key, Row(key, call_name(kind)))
        row.times.add(times)
        row.by_rank[rank.rank] = row.by_rank.get(rank.rank, 0) + times.calls
        row.sizes[kind.bytes] = row.sizes.get(kind.bytes, 0) + times.calls
    return sorted(found.values(), key=lambda row: (-row.times.total, row.key))


def _places(profile: Profile) -> dict[tuple[int, int], str]:
    every = {
        (rank.rank, number): site for rank in profile.ranks for number, site in rank.sites.items()
    }
    names = sites.names(every.values())
    return {key: names[site] for key, site in every.items()}
