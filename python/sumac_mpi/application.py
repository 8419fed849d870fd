# SPDX-License-Identifier: BSD-3-Clause
"""The program a user wants to run: where it is, and which MPI it uses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sumac_mpi import elf
from sumac_mpi.errors import Exit, SumacError

# Loads what `from mpi4py import MPI` loads and says which file that was; does not initialize MPI.
_ASK_MPI4PY = """
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
for line in open("/proc/self/maps"):
    path = line.split(None, 5)[5:]
    if path and "/libmpi" in path[0]:
        print(path[0].strip())
        break
"""
_PYTHON = re.compile(r"python(\d(\.\d+)?)?$")


@dataclass(frozen=True)
class Application:
    name: str  # as the user wrote it
    path: Path
    mpi: elf.MpiLibrary | None  # None when it could not be told
    static: bool = False  # nothing can be loaded in front of its MPI
    certain: bool = True  # false for Python: what mpi4py opens may depend on the launcher


def find(command: list[str]) -> Application:
    """Finds command[0] as a shell would. Raises with status 126 or 127."""
    name = command[0]
    found = shutil.which(name)
    if found is None:
        raise _unusable(name)
    path = Path(found)
    interpreter = _python_of(path)
    if interpreter:
        return Application(name, path, _mpi_of_python(interpreter), certain=False)
    binary = elf.read(path)
    static = binary is not None and binary.static
    return Application(name, path, elf.mpi_library(path), static)


def _unusable(name: str) -> SumacError:
    if os.sep in name and os.path.exists(name):
        what = "is a directory" if os.path.isdir(name) else "is not executable"
        return SumacError(
            "not-executable",
            f"{name} {what}",
            fix=f"chmod +x {name}" if os.path.isfile(name) else "",
            code=Exit.NOT_EXECUTABLE,
        )
    fix = f"./{name} names the file in this directory" if os.path.exists(name) else ""
    return SumacError("not-found", f"{name} was not found", fix=fix, code=Exit.NOT_FOUND)


def _python_of(path: Path) -> str | None:
    """The interpreter, when `path` is Python or a Python script."""
    if _PYTHON.match(path.name):
        return str(path)
    with open(path, "rb") as file:
        first_line = file.readline(256)
    if not first_line.startswith(b"#!"):
        return None
    words = first_line[2:].decode(errors="replace").split()
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-")]
    if words and _PYTHON.match(os.path.basename(words[0])):
        return words[0]
    return None


def _mpi_of_python(interpreter: str) -> elf.MpiLibrary | None:
    try:
        answer = subprocess.run(
            [interpreter, "-c", _ASK_MPI4PY], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    path = Path(answer.stdout.strip())
    family = elf.family_of_soname(path.name) or elf.family_of_soname(path.resolve().name)
    return elf.MpiLibrary(family, path.name, path) if family else None
