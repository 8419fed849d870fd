# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of running jobs on this host, as the pages that they keep for others tell
(src/team/hang_doctor_page.h), and as the kernel does. Nothing is asked of the processes."""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_FILE = "rank-status.sumac"
_PAGE = struct.Struct("<8s8Q6i24s24s64s64s128s")
_FRESH = 3.0  # seconds after which a page tells of a wait that is over, or of a stopped process
_STATES = {
    "R": "runs",
    "S": "sleeps",
    "D": "waits for a disk",
    "T": "is stopped (SIGSTOP)",
    "t": "is stopped by a debugger",
    "Z": "has ended",
    "X": "has ended",
}


@dataclass(frozen=True)
class Rank:
    """One rank: who it is, what the kernel says of it, and what it last waited for."""

    job: int
    job_ranks: int
    rank: int
    pid: int
    host: str
    state: str
    swapped: int
    waits: bool
    seconds: float  # of the wait, or since the last one was seen
    collective: str
    bytes: int
    call: int
    communicator: str
    communicator_ranks: int
    algorithm: str
    missing: str
    team: int

    @property
    def is_stopped(self) -> bool:
        return self.state in ("T", "t")

    def as_dict(self) -> dict[str, Any]:
        """With names of 64 bits as text, as the report has them: JSON's numbers have 53."""
        return asdict(self) | {"job": f"{self.job:x}", "team": f"{self.team:x}"}


def find(root: Path = Path("/proc")) -> list[Rank]:
    """The ranks of this user's jobs."""
    ranks = []
    for process in root.iterdir():
        if not process.name.isdigit():
            continue
        # A process may end at any moment, or belong to somebody else.
        with suppress(OSError):
            if process.stat().st_uid == os.geteuid():
                ranks += _of_process(process)
    return sorted(ranks, key=lambda rank: (rank.job, rank.rank))


def descendants(pid: int, root: Path = Path("/proc")) -> set[int]:
    """The process and all that it has started, as far as they are there."""
    parents = {}
    for process in root.iterdir():
        with suppress(OSError, ValueError, IndexError):
            parents[int(process.name)] = int(_after_name(process)[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def describe(ranks: list[Rank]) -> list[str]:
    """The lines of a report on one job: ranks that wait in the same call, and every other one."""
    lines = []
    alike: dict[tuple[Any, ...], list[Rank]] = {}
    for rank in ranks:
        if rank.waits:
            key = (rank.team, rank.call, rank.collective, rank.missing)
            alike.setdefault(key, []).append(rank)
    for group in alike.values():
        longest = max(group, key=lambda rank: rank.seconds)
        lines.append(
            f"rank {_listed(rank.rank for rank in group)} "
            f"(process {_listed(rank.pid for rank in group)}) waits for {longest.seconds:.0f} s in "
            f"{longest.collective} of {longest.bytes} bytes, call {longest.call} on "
            f"{longest.communicator} of {longest.communicator_ranks} ranks, {longest.algorithm}; "
            f"not arrived there: rank {longest.missing}"
        )
    lines += [_other(rank) for rank in ranks if not rank.waits]
    absent = ranks[0].job_ranks - len(ranks)
    if absent > 0:
        lines.append(f"{absent} of {ranks[0].job_ranks} ranks are on other hosts, or have ended")
    return lines


def _other(rank: Rank) -> str:
    text = f"rank {rank.rank} (process {rank.pid}) {_STATES.get(rank.state, 'is there')}"
    text += " and is in no collective"
    if rank.swapped:
        text += f", {rank.swapped >> 20} MiB of it swapped out"
    if not rank.is_stopped:
        return f"{text}; 'eu-stack -p {rank.pid}' shows where it is"
    if rank.collective:
        text += (
            f", or in one: {rank.seconds:.0f} s ago it waited in {rank.collective} on "
            f"{rank.communicator}"
        )
    return text


def _listed(numbers: Iterator[int]) -> str:
    return ", ".join(map(str, numbers))


def _of_process(process: Path) -> Iterator[Rank]:
    for descriptor in (process / "fd").iterdir():
        if _FILE not in os.readlink(descriptor):
            continue
        page = _read(descriptor)
        # A forked child has the page of its parent open.
        if page is not None and page[9] == int(process.name):
            yield _rank(process, page)
        return


def _read(descriptor: Path) -> tuple[Any, ...] | None:
    """The page, or None where it is none. Its version is odd while its rank writes; of a rank that
    was stopped then, the page tells of no wait."""
    with descriptor.open("rb", buffering=0) as file:
        for _ in range(100):
            before = os.pread(file.fileno(), 8, 8)
            page = os.pread(file.fileno(), _PAGE.size, 0)
            whole = before == os.pread(file.fileno(), 8, 8) and before[:1] and before[0] % 2 == 0
            if whole:
                break
    if len(page) != _PAGE.size or not page.startswith(b"SUMACST1"):
        return None
    fields = _PAGE.unpack(page)
    return fields if whole else (*fields[:3], 0, 0, *fields[5:])


def _rank(process: Path, page: tuple[Any, ...]) -> Rank:
    _, _, job, since, fresh, _, team, call, size = page[:9]
    pid, rank, job_ranks, _, ranks, _ = page[9:15]
    texts = [text.split(b"\0")[0].decode(errors="replace") for text in page[15:]]
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    waits = now - fresh < _FRESH * 1e9
    return Rank(
        job=job,
        job_ranks=job_ranks,
        rank=rank,
        pid=pid,
        host=texts[3],
        state=_after_name(process)[0],
        swapped=_swapped(process),
        waits=waits,
        seconds=(now - (since if waits else fresh)) / 1e9 if fresh else 0.0,
        collective=texts[0],
        bytes=size,
        call=call,
        communicator=texts[2],
        communicator_ranks=ranks,
        algorithm=texts[1],
        missing=texts[4],
        team=team,
    )


def _after_name(process: Path) -> list[str]:
    # The name of the command may have blanks and parentheses in it.
    return (process / "stat").read_text(errors="replace").rpartition(")")[2].split()


def _swapped(process: Path) -> int:
    found = re.search(r"^VmSwap:\s+(\d+)", (process / "status").read_text(errors="replace"), re.M)
    return int(found[1]) << 10 if found else 0
