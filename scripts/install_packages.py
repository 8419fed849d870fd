# SPDX-License-Identifier: BSD-3-Clause
"""The Python packages that the sumac command needs, in a folder of its own."""

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINNED = ROOT / "python/requirements.txt"
PINNED_PLOT = ROOT / "python/requirements-plot.txt"
# Settings of a user's pip that cannot go with --target.
NO_SETTINGS = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def wanted(plot):
    """All packages, including optional ones; those that draw only with `plot`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return project["dependencies"] + extras["hosts"] + (extras["plot"] if plot else [])


def pinned(plot):
    """The files that list the packages with their hashes."""
    return [PINNED, PINNED_PLOT] if plot else [PINNED]


def add_packages(folder, plot):
    """Puts the packages into the folder, with a link to the Python that they are for. Returns
    whether pip succeeded. Only the wheels whose hashes are listed are used, so nothing is compiled.
    The pip is that of a temporary environment, since Debian's Python has none of its own. Most of
    the packages is never imported, so Python compiles what the commands import when they write the
    manual and the completions; what draws is compiled whole, since these do not import it.
    """
    with tempfile.TemporaryDirectory(prefix="sumac-pip-") as environment:
        venv.create(environment, with_pip=True)
        pip = [f"{environment}/bin/python", "-I", "-m", "pip", "install", "--quiet", "--no-input"]
        what = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "--target", folder]
        what += [] if plot else ["--no-compile"]
        for file in pinned(plot):
            what += ["--requirement", file]
        status = subprocess.run([*pip, *what], env=os.environ | NO_SETTINGS).returncode
    if status != 0:
        return False
    remove_commands(folder)
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    (folder / "python3").symlink_to(python)
    return True


def remove_commands(folder):
    """Removes the packages' commands, which name the temporary environment, and their manuals, from
    the folder and from the packages' lists of files: hashes there would be others each time."""
    removed = ("bin", "share")
    for name in removed:
        shutil.rmtree(folder / name, ignore_errors=True)
    places = tuple(f"../../{name}/" for name in removed)
    for record in folder.glob("*.dist-info/RECORD"):
        rows = record.read_text().splitlines(keepends=True)
        record.write_text("".join(row for row in rows if not row.startswith(places)))


def date_files(folder):
    """Gives all files the time in SOURCE_DATE_EPOCH, if that is set: compiled files contain the
    times of their sources, and packages are to have the same bits each time that they are made."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        time = int(os.environ["SOURCE_DATE_EPOCH"])
        for path in folder.rglob("*"):
            os.utime(path, (time, time), follow_symlinks=False)


def compile_package(folder):
    """Compiles it now, since users may not write there at their first command."""
    compileall.compile_dir(folder / "sumac_mpi", quiet=1)
