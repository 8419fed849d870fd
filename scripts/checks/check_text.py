#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Source files name their licence at the top, fit in 100 columns, and end their lines cleanly."""

from repository import files, finish, name_of

COLUMNS = 100
SOURCES = (
    *("*.c", "*.cc", "*.h", "*.hpp", "*.cpp", "*.S", "*.def", "*.f90", "*.map"),
    *("*.py", "*.sh", "*.cmake", "*CMakeLists.txt", "Makefile", ".ci/run", "scripts/lab*"),
)
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"


def findings_of(path):
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    if not any(LICENCE in line for line in lines[:2]):
        yield f"{name_of(path)}:1: no '{LICENCE}' in the first lines"
    if lines[-1] or (len(lines) > 2 and not lines[-2]):
        yield f"{name_of(path)}:{len(lines)}: must end with one newline"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{name_of(path)}:{number}: {len(line)} columns, {COLUMNS} are allowed"
        if line != line.rstrip():
            yield f"{name_of(path)}:{number}: blanks at the end of the line"


def main():
    finish([finding for path in files(*SOURCES) for finding in findings_of(path)])


if __name__ == "__main__":
    main()
