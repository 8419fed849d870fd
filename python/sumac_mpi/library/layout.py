# SPDX-License-Identifier: BSD-3-Clause
"""Where the parts of Sumac lie: in a build tree, below an installation prefix, or in a wheel.

All three look the same below one directory, SUMAC_ROOT: `lib/libsumac.so`, and in `lib/sumac` the
back ends and the programs that `bench` and `check` start. (`lib` may be `lib/x86_64-linux-gnu`.)
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from sumac_mpi.base.errors import Exit, SumacError

_LIBRARY = "libsumac.so"
FAMILIES = {"openmpi": "Open MPI", "mpich": "MPICH", "mpiabi": "MPI standard ABI"}


@dataclass(frozen=True)
class Installation:
    root: Path

    @property
    def lib(self) -> Path:
        candidates = [self.root / "lib", self.root / "lib64", *self.root.glob("lib/*-linux-gnu*")]
        return next((each for each in candidates if (each / _LIBRARY).exists()), candidates[0])

    @property
    def library(self) -> Path:
        return self.lib / _LIBRARY

    @property
    def parts(self) -> Path:
        return self.lib / "sumac"

    def back_end(self, family: str) -> Path | None:
        name = f"libsumac-{family}.so"
        return _first_file([self.parts / name, self.lib / name])

    def program(self, name: str, family: str) -> Path | None:
        """`name` is "bench" or "check"."""
        return _first_file([self.parts / f"sumac-{name}-{family}"])

    def families(self, program: str) -> list[str]:
        """The MPI families for which this program is installed."""
        return [family for family in FAMILIES if self.program(program, family)]

    @property
    def command(self) -> Path:
        """The `sumac` executable, whose `exec` goes between the launcher and the program."""
        candidates = [self.root / "bin" / "sumac", Path(sys.executable).parent / "sumac"]
        on_path = shutil.which("sumac")
        found = _first_file(candidates + ([Path(on_path)] if on_path else []))
        if found is None:
            raise missing("the sumac executable", candidates[0])
        return found


def _first_file(candidates: list[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file()), None)


def missing(what: str, path: Path) -> SumacError:
    """A part of the installation is not where it belongs."""
    root = os.environ.get("SUMAC_ROOT")
    return SumacError(
        "no-library",
        f"{what} is missing",
        found=f"nothing at {path}" + (f"; SUMAC_ROOT is {root}" if root else ""),
        fix="install Sumac again, or set SUMAC_ROOT to the prefix that holds lib/libsumac.so",
        code=Exit.UNAVAILABLE,
    )


def find(package: Path | None = None) -> Installation:
    """The installation that SUMAC_ROOT names, else the one this package belongs to.

    A wheel holds `lib` inside the package; a prefix holds the package in `lib/sumac/python`, and so
    does a build tree (there by a symbolic link, which is why the path is not resolved).
    """
    root = os.environ.get("SUMAC_ROOT")
    if root:
        return Installation(Path(root))
    here = package or Path(os.path.abspath(__file__)).parents[1]
    for candidate in (here, *list(here.parents)[2:5]):
        installation = Installation(candidate)
        if installation.library.exists():
            return installation
    raise missing("the Sumac library", here / "lib" / _LIBRARY)
