# SPDX-License-Identifier: BSD-3-Clause
"""The programs that start MPI jobs, and finding the right one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.launch import elf, hosts, mpi_words
from sumac_mpi.library.layout import FAMILIES

# In each directory, names that contain the family come before the others.
_NAMES = {
    "openmpi": ("mpiexec.openmpi", "mpirun.openmpi"),
    "mpich": ("mpiexec.mpich", "mpirun.mpich", "mpiexec.hydra"),
    "mpiabi": ("mpiexec.mpich", "mpiexec.hydra"),
}
_COMMON_NAMES = ("mpiexec", "mpirun")
_PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich", "mpiabi": "mpich"}


@dataclass(frozen=True)
class Launcher:
    path: Path
    family: str | None  # None for a launcher that is not known, such as srun
    version: str

    @property
    def word(self) -> str:
        """The word to call it by: its bare name if PATH leads to it, since Open MPI changes the
        search paths of the program if it is called by a full path."""
        found = shutil.which(self.path.name)
        return self.path.name if found == str(self.path) else str(self.path)

    def serves(self, family: str | None) -> bool:
        """Whether it can start programs of this family. Assumed for an unknown launcher."""
        if self.family is None or family is None or family == self.family:
            return True
        return family == "mpiabi" and self.family == "mpich"


def identify(path: Path) -> Launcher:
    """Runs a launcher to find its family and version."""
    return _identify(path, os.environ.get("PATH", ""))


@cache
def _identify(path: Path, _search_path: str) -> Launcher:
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Launcher(path, None, "unknown")
    return _from_version_text(path, answer.stdout + answer.stderr)


def _from_version_text(path: Path, text: str) -> Launcher:
    if match := re.search(r"\((?:Open MPI|OpenRTE)\) (\S+)", text):
        return Launcher(path, "openmpi", f"Open MPI {match[1]}")
    if match := re.search(r"Intel\(R\) MPI Library.*?Version (\S+)", text, re.DOTALL):
        return Launcher(path, "mpich", f"Intel MPI {match[1]}")
    if "HYDRA" in text:
        match = re.search(r"Version:\s+(\S+)", text)
        return Launcher(path, "mpich", f"MPICH {match[1] if match else ''}".strip())
    return Launcher(path, None, "unknown")


def _executables(directory: Path, names: Iterable[str]) -> Iterable[Path]:
    for name in names:
        path = directory / name
        # Not Path.is_file(): it raises an error in folders of PATH that may not be read.
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield path


def _path_directories() -> list[Path]:
    return [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]


def find(family: str, library: Path | None = None) -> Launcher | None:
    """The launcher of a family: of the MPI that `library` belongs to, else the first in PATH."""
    # Resolved: where /lib is a link to /usr/lib, the launcher is to be /usr/bin's.
    beside = [parent / "bin" for parent in list(library.resolve().parents)[1:5]] if library else []
    for directory in [*beside, *_path_directories()]:
        for path in _executables(directory, (*_NAMES[family], *_COMMON_NAMES)):
            launcher = identify(path)
            if launcher.family and launcher.serves(family):
                return launcher
    return None


def of_prefix(prefix: Path) -> Launcher | None:
    """The launcher of an MPI that is installed below a folder of its own."""
    candidates = map(identify, _executables(prefix / "bin", _COMMON_NAMES))
    return next((each for each in candidates if each.family), None)


def find_all() -> list[Launcher]:
    """One launcher for each MPI in PATH, in its order."""
    names = dict.fromkeys((*_COMMON_NAMES, *_NAMES["openmpi"], *_NAMES["mpich"]))
    launchers: dict[Path, Launcher] = {}
    for directory in _path_directories():
        for path in _executables(directory, names):
            launcher = identify(path)
            if launcher.family and path.resolve() not in launchers:
                launchers[path.resolve()] = launcher
    return list(launchers.values())


def choose(
    application: str, mpi: elf.MpiLibrary | None, family: str | None, named: str | None
) -> Launcher:
    """The launcher for an application: the one the user named, or the one that fits. `family`: as
    users call it.

    Raises with status 3 when there is none, or when a choice contradicts the application.
    """
    family = mpi_words.family_of(family) if family else None
    if family and mpi and mpi.family != family and mpi.family != "mpiabi":
        name = FAMILIES[family]
        fix = f"leave --mpi out, or compile the program with the wrappers of {name}"
        raise _mismatch(application, mpi, f"--mpi names {name}", "", fix)
    wanted = family or (mpi.family if mpi else None)
    if named:
        return _named(named, application, mpi, wanted)
    if wanted is None:
        paths = (Path(found) for name in _COMMON_NAMES if (found := shutil.which(name)))
        launcher = next((identify(path) for path in paths), None)
    else:
        launcher = find(wanted, mpi.path if mpi else None)
    if launcher is None:
        launcher = _srun()
    if launcher is None:
        raise _no_launcher(application, mpi, wanted)
    return launcher


def _srun() -> Launcher | None:
    """Slurm's srun, within an allocation: some MPIs have no other launcher."""
    found = shutil.which("srun") if hosts.allocation() else None
    return Launcher(Path(found), None, "Slurm's srun") if found else None


def _named(name: str, application: str, mpi: elf.MpiLibrary | None, wanted: str | None) -> Launcher:
    found = shutil.which(name)
    if found is None:
        raise SumacError(
            "no-launcher",
            f"the launcher {name} was not found",
            fix="leave --launcher out to have one found",
            code=Exit.UNAVAILABLE,
        )
    launcher = identify(Path(found))
    if not launcher.serves(wanted):
        target = Path(found).resolve()
        via = f" -> {target.name}" if target.name != Path(found).name else ""
        where = f"{found}{via}"
        if mpi is None:
            mpi = elf.MpiLibrary(wanted or "", "its MPI")
        raise _mismatch(application, mpi, f"{name} is {launcher.version}", where)
    return launcher


def _mismatch(
    application: str, mpi: elf.MpiLibrary, but: str, found: str, fix: str = ""
) -> SumacError:
    right = find(mpi.family, mpi.path) if mpi.family in _NAMES else None
    fix = fix or (f"--launcher {right.path.name}" if right else "leave --launcher and --mpi out")
    return SumacError(
        "abi-mismatch",
        f"{application} needs {mpi.soname} ({FAMILIES[mpi.family]}) but {but}",
        found=found,
        fix=fix,
        code=Exit.UNAVAILABLE,
    )


def _no_launcher(application: str, mpi: elf.MpiLibrary | None, family: str | None) -> SumacError:
    others = ", ".join(f"{launcher.path} ({launcher.version})" for launcher in find_all())
    reason = f" ({mpi.soname})" if mpi else ""
    needs = f"{application} needs {FAMILIES[family]}{reason} but" if family else "no MPI found:"
    package = _PACKAGES[family] if family else "openmpi-bin or mpich"
    return SumacError(
        "no-launcher",
        f"{needs} no mpiexec of it is in PATH" if family else f"{needs} no mpiexec is in PATH",
        found=others,
        fix=f"install {package}, or name the launcher: --launcher /path/to/mpiexec",
        code=Exit.UNAVAILABLE,
    )
