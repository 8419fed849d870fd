#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Source files name their licence at the top, fit in 100 columns, and end their lines cleanly.
Files have at most 500 lines, functions at most 80; the table of rules may be longer. Neither the
sources nor the documents use phrases that readers of the field stumbled over."""

import re

import lizard
from repository import files, finish, name_of

COLUMNS = 100
SOURCES = (
    *("*.c", "*.cc", "*.h", "*.hpp", "*.cpp", "*.S", "*.def", "*.f90", "*.map"),
    *("*.py", "*.sh", "*.cmake", "*CMakeLists.txt", "Makefile", ".ci/run", "scripts/lab*"),
)
DOCUMENTS = ("README.md", "HACKING.md", "docs/*.md")
PHRASES = re.compile(
    r"as \w+ has it|to be had\b|\bits likes\b|what became of|\bis honest\b"
    r"|\bbrings? no\b|for what was not\b|\bon trust\b|readers who see few\b",
    re.I,
)
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"

FILE_LINES = 500
TABLE_LINES = {"src/rules/rules.toml": 350}
FUNCTION_LINES = 80
CODE = ("*.c", "*.cc", "*.h", "*.py", "*.hpp", "*.cpp")
MEASURED = (*CODE, "*.S", "*.def", "*.sh", "*.cmake", "*CMakeLists.txt", "*.md", "*.f90", "*.toml")


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


def phrases_of(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if (found := PHRASES.search(line)) and path.name != "check_text.py":
            yield f"{name_of(path)}:{number}: '{found[0]}': say it with a subject and a verb"


def too_long():
    for path in files(*MEASURED):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        most = TABLE_LINES.get(name_of(path), FILE_LINES)
        if lines > most:
            yield f"{name_of(path)}: {lines} lines, {most} are allowed"
    for path in files(*CODE):
        for function in lizard.analyze_file(str(path)).function_list:
            if function.length > FUNCTION_LINES:
                yield (
                    f"{name_of(path)}:{function.start_line}: {function.name} has "
                    f"{function.length} lines, {FUNCTION_LINES} are allowed"
                )


def main():
    findings = [finding for path in files(*SOURCES) for finding in findings_of(path)]
    for path in files(*SOURCES, *DOCUMENTS):
        findings.extend(phrases_of(path))
    finish([*findings, *too_long()])


if __name__ == "__main__":
    main()
