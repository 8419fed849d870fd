# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a binary is linked with, read from the file: nothing of it is executed."""

from __future__ import annotations

import glob
import os
import re
from collections import deque
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection, DynamicSegment
from elftools.elf.elffile import ELFFile

# Libraries looked through for an indirect dependency on MPI: enough for large applications.
_MOST_LIBRARIES = 400


@dataclass(frozen=True)
class MpiLibrary:
    family: str
    soname: str
    path: Path | None = None  # where the loader would find it; None when it would not


@dataclass(frozen=True)
class Binary:
    needed: tuple[str, ...]
    search: tuple[str, ...]  # DT_RPATH or DT_RUNPATH, $ORIGIN replaced
    static: bool  # no dynamic loader runs, so nothing can be preloaded


def family_of_soname(soname: str) -> str | None:
    """libmpi.so.40 is of "openmpi"; libmpich.so.12 and libmpi.so.12 are of "mpich"."""
    if re.match(r"libmpi_abi\.so", soname):
        return "mpiabi"
    if re.match(r"libmpich\w*\.so", soname):
        return "mpich"
    match = re.match(r"libmpi\w*\.so\.(\d+)", soname)
    if not match:
        return None
    return "mpich" if match[1] == "12" else "openmpi"


@cache
def read(path: Path) -> Binary | None:
    """What the loader would read; None for a file that is no ELF binary."""
    try:
        with open(path, "rb") as file:
            return _describe(ELFFile(file), path)
    except (ELFError, OSError):
        return None


def _describe(elf: ELFFile, path: Path) -> Binary:
    segments = list(elf.iter_segments())
    loader = any(segment["p_type"] == "PT_INTERP" for segment in segments)
    needed: list[str] = []
    search: list[str] = []
    # Sections may be stripped, segments may not; pyelftools reads either.
    dynamic = [s for s in segments if isinstance(s, DynamicSegment)] or [
        s for s in elf.iter_sections() if isinstance(s, DynamicSection)
    ]
    for table in dynamic[:1]:
        for tag in table.iter_tags():
            if tag.entry.d_tag == "DT_NEEDED":
                needed.append(tag.needed)
            elif tag.entry.d_tag == "DT_RUNPATH":
                search += tag.runpath.split(":")
            elif tag.entry.d_tag == "DT_RPATH":
                search += tag.rpath.split(":")
    origin = str(path.resolve().parent)
    search = [re.sub(r"\$(ORIGIN|\{ORIGIN\})", origin, entry) for entry in search if entry]
    return Binary(tuple(needed), tuple(search), static=not loader and not needed)


def mpi_library(path: Path) -> MpiLibrary | None:
    """The MPI that `path` needs, itself or through its libraries; the nearest one counts."""
    first = read(path)
    if first is None:
        return None
    queue = deque([(path, first, first.search)])
    seen: set[str] = set()
    while queue and len(seen) < _MOST_LIBRARIES:
        _, binary, inherited = queue.popleft()
        for soname in binary.needed:
            if soname in seen:
                continue
            seen.add(soname)
            found = _locate(soname, (*binary.search, *inherited))
            family = family_of_soname(soname)
            if family:
                return MpiLibrary(family, soname, found)
            library = read(found) if found else None
            if found and library:
                queue.append((found, library, inherited))
    return None


def _locate(soname: str, search: tuple[str, ...]) -> Path | None:
    preferred = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for directory in (*search, *preferred, *_system_directories()):
        candidate = Path(directory, soname)
        if directory and candidate.is_file():
            return candidate
    return None


@cache
def _system_directories() -> tuple[str, ...]:
    directories: list[str] = []
    pending = ["/etc/ld.so.conf"]
    while pending:
        try:
            lines = Path(pending.pop()).read_text().splitlines()
        except OSError:
            continue
        for line in (raw.split("#")[0].strip() for raw in lines):
            if line.startswith("include"):
                pending += sorted(glob.glob(line.split(None, 1)[1]))
            elif line:
                directories.append(line)
    return (*directories, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
