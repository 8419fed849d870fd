#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs a build below a prefix, with the Python packages that the sumac command needs.

Usage: scripts/install.py PREFIX [--build FOLDER]     (DESTDIR is honoured)
All files are first written to a temporary folder beside the prefix; then each is moved to its place
in one step, so that running jobs keep their older files. Exit status: 0 installed, 1 not, or
without the Python packages, 3 this user may not write there.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from install_manifest import MANIFEST, destination, end_with_error, read, remove, write
from install_packages import add_packages, compile_package, wanted
from install_texts import add_completions, add_man_pages

TREES = ("lib/sumac/python",)  # folders with files of Sumac only, which are replaced whole


def stage(build, folder):
    """Installs into the temporary folder. Returns whether it has the Python packages."""
    environment = {name: os.environ[name] for name in os.environ if name != "DESTDIR"}
    command = ["cmake", "--install", build, "--prefix", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    python = folder / "lib/sumac/python"
    has_packages = add_packages(python)
    compile_package(python)
    add_man_pages(folder)
    add_completions(folder)
    return has_packages


def place(staged, prefix, before):
    """Moves the staged files below the prefix, and removes those of an older Sumac. `before` lists
    what is installed there now. Returns the new list.
    """
    entries = []
    for folder, folders, files in os.walk(staged):
        here = Path(folder).relative_to(staged)
        target = prefix / here
        if str(here) in TREES:
            if target.exists():
                target.rename(staged / "replaced")
            Path(folder).rename(target)
            folders.clear()
            entries.append(("tree", str(here)))
            continue
        folders.sort()
        if not target.is_dir() or ("folder", str(here)) in before:
            target.mkdir(exist_ok=True)
            entries.append(("folder", str(here)))
        for name in sorted(files):
            os.replace(Path(folder, name), target / name)
            entries.append(("file", str(here / name)))
    entries.append(("file", str(MANIFEST)))
    remove(prefix, [entry for entry in before if entry not in entries])
    write(staged / "manifest", entries)
    os.replace(staged / "manifest", prefix / MANIFEST)
    return entries


def install(build, prefix):
    """Returns the number of installed files, and whether the Python packages are installed."""
    is_new = not prefix.exists()
    before = [("folder", ".")] if is_new else read(prefix)
    prefix.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".sumac-", dir=prefix) as passing:
            staged = Path(passing, "staged")
            has_packages = stage(build, staged)
            entries = place(staged, prefix, before)
    except BaseException:
        if is_new and not any(prefix.iterdir()):
            prefix.rmdir()
        raise
    return sum(kind == "file" for kind, _ in entries), has_packages


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("--build", default="build/release", help="what was built (build/release)")
    arguments = parser.parse_args()
    os.umask(0o022)  # root's own umask may hide the installed files from other users
    prefix = destination(arguments.prefix)
    if set(str(Path(arguments.prefix).absolute())) & set(" :"):
        print(
            "sumac: warning[bad-path]: LD_PRELOAD cannot hold blanks and colons: 'sumac run' and "
            f"'sumac exec' do not work in {arguments.prefix}",
            file=sys.stderr,
        )
    try:
        files, has_packages = install(arguments.build, prefix)
    except OSError as error:
        end_with_error(
            "prefix",
            f"cannot install into {prefix}",
            f"{error.filename}: {error.strerror}",
            "'sudo make install', or a folder of your own: make install PREFIX=$HOME/sumac",
            3,
        )
    print(f"Sumac is installed in {prefix}: {files} files", flush=True)
    if not has_packages:
        end_with_error(
            "no-packages",
            "pip could not get the Python packages that the command needs",
            f"{', '.join(wanted())}: pip's messages are above",
            "check the network, or the index that pip is configured for, and 'make install' again; "
            "meanwhile\n         'sumac exec', 'sumac plan' and the library work, and run, info, "
            "check, bench, plot, trace do not",
            1,
        )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
