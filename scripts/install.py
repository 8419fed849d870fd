#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs a build below a prefix, with the Python packages that the sumac command needs.

Usage: scripts/install.py PREFIX [--build FOLDER] [--plot] [--check]    (DESTDIR is honoured)
--plot adds the packages that draw pictures. --check installs nothing, and says whether this user
may install there.
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

from install_packages import add_packages, compile_package, date_files, pinned, wanted
from install_texts import add_completions, add_man_pages
from uninstall import MANIFEST, destination, end_with_error, read, remove, write

TREES = ("lib/sumac/python",)  # folders with files of Sumac only, which are replaced whole


def stage(build, folder, plot):
    """Installs into the temporary folder. Returns whether it has the Python packages."""
    environment = {name: os.environ[name] for name in os.environ if name != "DESTDIR"}
    command = ["cmake", "--install", build, "--prefix", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    python = folder / "lib/sumac/python"
    has_packages = add_packages(python, plot)
    date_files(python)
    compile_package(python)
    add_man_pages(folder)
    add_completions(folder)
    return has_packages


def link_last(path):
    """Where a file comes in order: a link after the file, or the link, that it leads to."""
    return path.is_symlink(), -len(path.name), path.name


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
        for name in sorted(files, key=lambda name: link_last(Path(folder, name))):
            os.replace(Path(folder, name), target / name)
            entries.append(("file", str(here / name)))
    entries.append(("file", str(MANIFEST)))
    remove(prefix, [entry for entry in before if entry not in entries])
    write(staged / "manifest", entries)
    os.replace(staged / "manifest", prefix / MANIFEST)
    return entries


def install(build, prefix, plot):
    """Returns the list of what is installed, and whether the Python packages are."""
    is_new = not prefix.exists()
    before = [("folder", ".")] if is_new else read(prefix)
    prefix.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".sumac-", dir=prefix) as passing:
            staged = Path(passing, "staged")
            has_packages = stage(build, staged, plot)
            entries = place(staged, prefix, before)
    except BaseException:
        if is_new and not any(prefix.iterdir()):
            prefix.rmdir()
        raise
    return entries, has_packages


def first_folder(path):
    """The path, or the first of the folders above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def check(prefix, named):
    """Ends the program if nothing can be installed there. `named` is the prefix without DESTDIR,
    where Sumac will be used."""
    if set(str(named)) & set(" :\t\n"):
        end_with_error(
            "bad-path",
            "Sumac cannot be installed in a folder whose path has a blank or a colon",
            f"{named}: LD_PRELOAD, by which programs get Sumac, cannot hold such a path",
            "choose another folder: make install PREFIX=$HOME/sumac",
            2,
        )
    folder = first_folder(prefix)
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        no_place(prefix, f"{folder}: {'Permission denied' if folder.is_dir() else 'not a folder'}")


def no_place(prefix, found):
    end_with_error(
        "prefix",
        f"cannot install into {prefix}",
        found,
        "'sudo make install', or a folder of your own: make install PREFIX=$HOME/sumac",
        3,
    )


def size_of(prefix, entries):
    """The number of installed files and their bytes, with those of the trees."""
    files = []
    for kind, name in entries:
        path = prefix / name
        files += [path] if kind == "file" else path.rglob("*") if kind == "tree" else []
    files = [path for path in files if path.is_file() and not path.is_symlink()]
    return len(files), sum(path.stat().st_size for path in files)


def end_without_packages(plot):
    end_with_error(
        "no-packages",
        "pip could not get the Python packages that the command needs",
        f"{', '.join(wanted(plot))}: pip's messages are above",
        "check the network, or the index that pip is configured for, and 'make install' again; "
        "meanwhile\n         'sumac exec', 'sumac plan' and the library work, and run, info, "
        "check, bench, plot, trace do not",
        1,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("--build", default="build/release", help="what was built (build/release)")
    parser.add_argument("--plot", action="store_true", help="with what draws pictures")
    parser.add_argument("--check", action="store_true", help="only ask whether it is possible")
    arguments = parser.parse_args()
    os.umask(0o022)  # root's own umask may hide the installed files from other users
    prefix = destination(arguments.prefix)
    check(prefix, Path(arguments.prefix).absolute())
    if arguments.check:
        return
    print(
        f"install: into {prefix}, with Python packages that pip gets from its index "
        f"({', '.join(file.name for file in pinned(arguments.plot))} in python/ list them and "
        "their hashes)",
        flush=True,
    )
    try:
        entries, has_packages = install(arguments.build, prefix, arguments.plot)
    except OSError as error:
        no_place(prefix, f"{error.filename}: {error.strerror}")
    files, used = size_of(prefix, entries)
    print(f"Sumac is installed in {prefix}: {files} files, {used / 2**20:.0f} MiB", flush=True)
    if not has_packages:
        end_without_packages(arguments.plot)
    if not arguments.plot:
        print("Without pictures: 'make install PLOT=1' adds what draws them", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
