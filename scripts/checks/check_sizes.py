#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files have at most 500 lines, functions at most 80; the table of rules may be longer."""

import lizard
from repository import files, finish, name_of

FILE_LINES = 500
TABLE_LINES = {"src/rules/rules.toml": 350}
FUNCTION_LINES = 80
CODE = ("*.c", "*.cc", "*.h", "*.py", "*.hpp", "*.cpp")
TEXT = (*CODE, "*.S", "*.def", "*.sh", "*.cmake", "*CMakeLists.txt", "*.md", "*.f90", "*.toml")


def main():
    findings = []
    for path in files(*TEXT):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        most = TABLE_LINES.get(name_of(path), FILE_LINES)
        if lines > most:
            findings.append(f"{name_of(path)}: {lines} lines, {most} are allowed")
    for path in files(*CODE):
        for function in lizard.analyze_file(str(path)).function_list:
            if function.length > FUNCTION_LINES:
                findings.append(
                    f"{name_of(path)}:{function.start_line}: {function.name} has "
                    f"{function.length} lines, {FUNCTION_LINES} are allowed"
                )
    finish(findings)


if __name__ == "__main__":
    main()
