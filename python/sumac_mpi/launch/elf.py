# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library a binary loads, found without executing it. Its own dynamic loader lists the
libraries, since only that applies LD_LIBRARY_PATH, RPATH, RUNPATH, LD_PRELOAD and the system's
cache as at the program's start."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection, DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment


@dataclass(frozen=True)
class MpiLibrary:
    family: str
    soname: str
    path: Path | None = None  # the file that the loader finds; None if it finds none


@dataclass(frozen=True)
class Binary:
    needed: tuple[str, ...]
    loader: str  # the dynamic loader that starts it; "" if there is none
    search: tuple[str, ...] = ()  # where it looks for what it needs: RUNPATH, with $ORIGIN

    @property
    def static(self) -> bool:
        """Whether it is static, so that no library can be preloaded."""
        return not self.loader and not self.needed


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


def read(path: Path) -> Binary | None:
    """The facts from the file; None if it is not an ELF binary."""
    try:
        with open(path, "rb") as file:
            return _describe(ELFFile(file))
    except (ELFError, OSError):
        return None


def _describe(elf: ELFFile) -> Binary:
    segments = list(elf.iter_segments())
    loaders = [s.get_interp_name() for s in segments if isinstance(s, InterpSegment)]
    # Sections may be stripped, segments may not; pyelftools reads either.
    dynamic = [s for s in segments if isinstance(s, DynamicSegment)] or [
        s for s in elf.iter_sections() if isinstance(s, DynamicSection)
    ]
    tags = list(dynamic[0].iter_tags()) if dynamic else []
    needed = tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED")
    paths = [tag.runpath for tag in tags if tag.entry.d_tag == "DT_RUNPATH"]
    search = tuple(part for path in paths for part in path.split(":") if part)
    return Binary(needed, loaders[0] if loaders else "", search)


def mpi_library(path: Path, environment: Mapping[str, str] | None = None) -> MpiLibrary | None:
    """The MPI library that the program loads, directly or through its libraries; the nearest one
    counts."""
    binary = read(path)
    if binary is None:
        return None
    found = loaded_libraries(
        path, binary.loader, os.environ if environment is None else environment
    )
    for soname, file in (*found, *((name, None) for name in binary.needed)):
        family = family_of_soname(soname)
        if family:
            return MpiLibrary(family, soname, file)
    return None


_SECONDS = 20  # for hundreds of libraries on a slow file system
_LOADER = re.compile(
    r"ld[\w.-]*\.so[\w.-]*"
)  # ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld64.so.2
# "libm.so.6 => /lib/libm.so.6 (0x7f..)", "libx.so => not found", "/opt/tool.so (0x7f..)"
_LINE = re.compile(r"\s+(\S.*?)(?: => (.*?))?(?: \(0x[0-9a-f]+\))?")

Libraries = list[tuple[str, Path | None]]  # names, and the files that were found for them


def loaded_libraries(program: Path, loader: str, environment: Mapping[str, str]) -> Libraries:
    """The libraries in the order of loading; [] if the loader is of another machine or system. It
    is called as ldd calls it, and runs no code of the program."""
    if not _LOADER.fullmatch(os.path.basename(loader)):
        return []
    try:
        answer = subprocess.run(
            [loader, "--list", os.path.abspath(program)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            env=_as_the_program_sees_it(program, environment),
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    found: Libraries = []
    for match in filter(None, map(_LINE.fullmatch, answer.stdout.splitlines())):
        file = match[2] or match[1]
        found.append((os.path.basename(match[1]), Path(file) if os.path.isabs(file) else None))
    return found


def _as_the_program_sees_it(program: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as the loader uses it: without LD_* for a program with another user's
    rights."""
    status = os.stat(program)
    other = bool(
        (status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid())
        or (status.st_mode & stat.S_ISGID and status.st_gid != os.getegid())
    )
    return {n: v for n, v in environment.items() if not (other and n.startswith("LD_"))}
