# SPDX-License-Identifier: BSD-3-Clause
"""Which libraries a program loads. Its own dynamic loader lists them, since only that applies
LD_LIBRARY_PATH, RPATH, RUNPATH, LD_PRELOAD and the system's cache as at the program's start."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

_SECONDS = 20  # for hundreds of libraries on a slow file system
_LOADER = re.compile(
    r"ld[\w.-]*\.so[\w.-]*"
)  # ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld64.so.2
# "libm.so.6 => /lib/libm.so.6 (0x7f..)", "libx.so => not found", "/opt/tool.so (0x7f..)"
_LINE = re.compile(r"\s+(\S.*?)(?: => (.*?))?(?: \(0x[0-9a-f]+\))?")

Libraries = list[tuple[str, Path | None]]  # names, and the files that were found for them


def libraries(program: Path, loader: str, environment: Mapping[str, str]) -> Libraries:
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
