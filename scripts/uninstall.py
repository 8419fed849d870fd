#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Removes what scripts/install.py has put below a prefix, and nothing else.

Usage: scripts/uninstall.py PREFIX     (DESTDIR is honoured)
Exit status: 0 removed, 3 this user may not write there, or there is no list of installed files.

A line of that list is a kind and a path below the prefix:
  file    removed
  tree    a folder that is Sumac's alone, removed with all that is in it
  folder  one that was not there before, removed when it is empty
"""

import os
import shutil
import sys
from pathlib import Path

MANIFEST = Path("lib/sumac/manifest")
HEAD = "# Made by 'make install', for 'make uninstall': what Sumac has below this prefix.\n"


def end_with_error(slug, what, found, fix, status):
    """Ends the program with an error in the form of Sumac's errors."""
    print(f"sumac: error[{slug}]: {what}\n  found: {found}\n  fix:   {fix}", file=sys.stderr)
    sys.exit(status)


def destination(prefix):
    """The folder for the files: `prefix`, below DESTDIR."""
    return Path(os.environ.get("DESTDIR", "") + str(Path(prefix).absolute()))


def read(prefix):
    """The entries (kind, path), in the order they were made; none where nothing is installed."""
    try:
        lines = (prefix / MANIFEST).read_text().splitlines()
    except FileNotFoundError:
        return []
    entries = [tuple(line.split(" ", 1)) for line in lines if not line.startswith("#")]
    for kind, path in entries:
        if kind not in ("file", "tree", "folder") or Path(path).is_absolute() or ".." in path:
            end_with_error(
                "manifest",
                f"{prefix / MANIFEST} is damaged",
                f"{kind} {path}",
                "remove that file, then 'make install' and 'make uninstall' with the same PREFIX",
                1,
            )
    return entries


def write(path, entries):
    path.write_text(HEAD + "".join(f"{kind} {name}\n" for kind, name in entries))


def remove(prefix, entries):
    """Removes the entries, the manifest last, so that it can be repeated after an error."""
    for kind, path in entries:
        if kind == "tree":
            shutil.rmtree(prefix / path, ignore_errors=not (prefix / path).exists())
        elif kind == "file" and Path(path) != MANIFEST:
            (prefix / path).unlink(missing_ok=True)
    if ("file", str(MANIFEST)) in entries:
        (prefix / MANIFEST).unlink(missing_ok=True)
    for kind, path in reversed(entries):
        folder = prefix / path
        if kind == "folder" and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def main(prefix):
    root = destination(prefix)
    entries = read(root)
    if not entries:
        end_with_error(
            "manifest",
            f"'make install' has installed nothing in {root}",
            f"no {root / MANIFEST}",
            "name the folder that it was installed in: make uninstall PREFIX=/folder",
            3,
        )
    try:
        remove(root, entries)
    except OSError as error:
        end_with_error(
            "prefix",
            f"cannot uninstall from {root}",
            f"{error.filename}: {error.strerror}",
            "'make uninstall' as the user who installed it: sudo make uninstall",
            3,
        )
    print(f"Sumac is removed from {root}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
