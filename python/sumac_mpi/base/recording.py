# SPDX-License-Identifier: BSD-3-Clause
"""One rank's file of a recording, as src/observe/recording_file.h describes it.

The file is a sequence of sections: four letters, the section's bytes as a 32-bit number, and these
bytes. "text" has lines of JSON, and the first line of the file is its head; the other sections have
binary records. A file may end in the middle: its rank was killed, or the disc was full. What the
lines and the records mean is known to those that read profiles and traces.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sumac_mpi.base.errors import Exit, SumacError, bad_value

FORMAT = 1
# What reading a file raises that is not what it should be.
MALFORMED = (ValueError, KeyError, TypeError)
_SECTION = struct.Struct("=4sI")

Line = dict[str, Any]


@dataclass(frozen=True)
class Records:
    """A section of records. `cut`: the file ends before the section does."""

    name: bytes
    content: bytes
    cut: bool = False

    def unpack(self, record: struct.Struct) -> Iterator[tuple[Any, ...]]:
        """All records, but for one that is cut."""
        rest = len(self.content) % record.size
        if rest and not self.cut:
            raise ValueError(f"{len(self.content)} bytes of records of {record.size} bytes")
        return record.iter_unpack(self.content[: len(self.content) - rest])


def content_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise bad_value(f"cannot read {path}: {error.strerror}") from error


def take_each(
    folder: Path, of: str, nothing: SumacError, take: Callable[[bytes], None], *, slug: str
) -> str:
    """Calls `take` with the content of each rank's file of a recording that is `of` this mode, and
    returns when the last of them was written. Raises `nothing` where there is no file, and
    `slug` with status 2 for one that is malformed."""
    pattern = f"rank-*.{of}"
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise nothing
    for path in paths:
        try:
            take(content_of(path))
        except MALFORMED as error:
            raise SumacError(
                slug,
                f"{path} is no file of a {of}, or of another job than those beside it",
                found=f"{type(error).__name__}: {error}",
                fix=f"run the program again, with an empty folder for SUMAC_{of.upper()}",
                code=Exit.USAGE,
            ) from error
    newest = max(path.stat().st_mtime for path in paths)
    return datetime.fromtimestamp(newest, UTC).isoformat(timespec="seconds")


def read(content: bytes, of: str, whole: bool = False) -> tuple[Line, Iterator[Line | Records]]:
    """The head of a file that is `of` this mode, "profile" or "trace", and an iterator over the
    lines and the sections of records behind it. Both raise ValueError for what is no such file; of
    one that must be `whole`, the iterator does so at its end, where the file is cut."""
    parts = _parts(content, whole)
    head = next(parts, None)
    if head is None:
        raise ValueError("nothing in it")
    if isinstance(head, Records):
        raise ValueError(f"a section {head.name!r} at its beginning")
    if "sumac_recording" not in head:
        raise ValueError("its first line is no head of a recording")
    if head["sumac_recording"] != FORMAT:
        raise ValueError(f"format {head['sumac_recording']}")
    if head.get("of") != of:
        raise ValueError(f"a recording of another mode: {head.get('of')}")
    return head, parts


def _parts(content: bytes, whole: bool) -> Iterator[Line | Records]:
    at = 0
    while at + _SECTION.size <= len(content):
        name, size = _SECTION.unpack_from(content, at)
        at += _SECTION.size
        section = content[at : at + size]
        cut = len(section) < size
        at += size
        if name == b"text":
            yield from _lines(section, cut)
        else:
            yield Records(name, section, cut)
    if whole and at != len(content):
        raise ValueError("it ends in the middle of a section")


def _lines(section: bytes, cut: bool) -> Iterator[Line]:
    lines = section.decode(errors="replace").split("\n")
    if cut:
        lines.pop()  # empty, or cut itself
    for line in filter(None, lines):
        found = json.loads(line)
        if not isinstance(found, dict) or not found:
            raise ValueError(f"a line {line[:40]!r}")
        yield found
