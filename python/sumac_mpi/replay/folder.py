# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a record: whether the files of all ranks of one job are in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sumac_mpi.base.errors import Exit, SumacError

FORMAT = 1
_NAME = re.compile(r"rank-(\d+)\.calls")
_LONGEST = 1000  # characters of a line of a file's head
_RECORDS = "a record is what a job with SUMAC_RECORD=FOLDER writes"


@dataclass(frozen=True)
class Head:
    """What the first lines of a rank's file say."""

    path: Path
    format: int
    rank: int
    ranks: int
    family: str


@dataclass(frozen=True)
class Record:
    folder: Path
    ranks: int
    family: str  # of the MPI that it was made with


def load(folder: Path) -> Record:
    """Raises with status 1 where there is no record, with status 2 where it is not one of all ranks
    of one job."""
    try:
        found = [path for path in sorted(folder.iterdir()) if _NAME.fullmatch(path.name)]
    except OSError as error:
        raise SumacError(
            "no-record", f"{folder}: {error.strerror}", fix=_RECORDS, code=Exit.FAILED
        ) from error
    if not found:
        raise SumacError(
            "no-record", f"{folder} holds no record", found="no file rank-*.calls", fix=_RECORDS
        )
    heads = [_head(path) for path in found]
    first = heads[0]
    for head in heads:
        if head.format != FORMAT:
            raise _bad(
                f"{head.path} has version {head.format} of the format",
                "use the Sumac that recorded it",
                f"this Sumac reads version {FORMAT}",
            )
        if (head.ranks, head.family) != (first.ranks, first.family):
            raise _bad(
                "the files are of several jobs",
                "record each job into a folder of its own",
                f"{first.path.name} of {first.ranks} ranks under {first.family}, "
                f"{head.path.name} of {head.ranks} under {head.family}",
            )
    missing = sorted(set(range(first.ranks)) - {head.rank for head in heads})
    if missing:
        raise _bad(f"{folder} lacks the files of {len(missing)} of {first.ranks} ranks",
                   "copy the files of all hosts into one folder",
                   f"no rank-{missing[0]}.calls")  # fmt: skip
    return Record(folder, first.ranks, first.family)


def _bad(what: str, fix: str, found: str | None = None) -> SumacError:
    return SumacError("bad-record", what, found=found, fix=fix, code=Exit.USAGE)


def _head(path: Path) -> Head:
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            lines = [file.readline(_LONGEST) for _ in range(3)]
    except OSError as error:
        raise _bad(f"{path}: {error.strerror}", "let its owner replay it") from error
    text = "".join(lines)
    match = re.match(r"sumac-record (\d+)\nrank (\d+) of (\d+)\nby \S+ (\S+)", text)
    named = _NAME.fullmatch(path.name)
    if not match or not named or int(match[2]) != int(named[1]):
        raise _bad(f"{path} is no file of a record", "take it out of the folder")
    return Head(path, int(match[1]), int(match[2]), int(match[3]), match[4])
