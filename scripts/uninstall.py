#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Removes what scripts/install.py has put below a prefix, and nothing else.

Usage: scripts/uninstall.py PREFIX     (DESTDIR is honoured)
Exit status: 0 removed, 3 this user may not write there, or there is no list of installed files.
"""

import sys

from install_manifest import MANIFEST, destination, end_with_error, read, remove


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
