# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a profile's table: calls that are alike in what the user asks about, over all
ranks."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from sumac_mpi.base import units
from sumac_mpi.profile.files import Kind, Rank, Site
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
    places = _site_names(profile) if by is By.site else {}
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


def _site_names(profile: Profile) -> dict[tuple[int, int], str]:
    every = {
        (rank.rank, number): site for rank in profile.ranks for number, site in rank.sites.items()
    }
    names = names_of_sites(every.values())
    return {key: names[site] for key, site in every.items()}


_SECONDS = 60


def names_of_sites(sites: Iterable[Site]) -> dict[Site, str]:
    """What each site is called: "solve() cg.c:42 in cg", "ddot in libblas.so.3", "app+0x1f30"."""
    by_object: dict[str, list[Site]] = defaultdict(list)
    for site in set(sites):
        by_object[site.object].append(site)
    found: dict[Site, str] = {}
    for path, members in by_object.items():
        places = _places(path, [_address_in_file(path, site) for site in members])
        for site, place in zip(members, places):
            found[site] = _name(site, place)
    return found


def _name(site: Site, place: str) -> str:
    if not site.object:
        return hex(site.address)
    name = Path(site.object).name
    if place:
        return f"{place} in {name}"
    if site.symbol:
        return f"{site.symbol} in {name}"
    return f"{name}+{site.address - site.base:#x}"


def _address_in_file(path: str, site: Site) -> int:
    """Of the call, which is before the address that it returns to."""
    fixed = False
    try:
        with Path(path).open("rb") as file:
            fixed = ELFFile(file)["e_type"] == "ET_EXEC"
    except (OSError, ELFError):
        pass
    return site.address - (0 if fixed else site.base) - 1


def _places(path: str, addresses: list[int]) -> list[str]:
    """By addr2line, of binutils: "function file:line", or what is known of it; empty where nothing
    is."""
    line = ["addr2line", "-f", "-C", "-e", path, *map(hex, addresses)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return [""] * len(addresses)
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(addresses):
        return [""] * len(addresses)
    return [_place(function, place) for function, place in zip(lines[::2], lines[1::2])]


def _place(function: str, place: str) -> str:
    known = [] if function == "??" else [function]
    file, _, number = place.split(" (")[0].rpartition(":")
    if file != "??" and number.isdigit() and number != "0":
        known.append(f"{Path(file).name}:{number}")
    return " ".join(known)
