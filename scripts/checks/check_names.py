#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No two files of src/ have one name, but for algorithms, of which each collective has a folder.
No two files of src/ declare a type of one name in a namespace. Types within a class, forward
declarations and specialisations of templates do not count, nor do tests."""

import re

from repository import files, finish, name_of

SOURCES = ("*.c", "*.cc", "*.h", "*.S", "*.def")
TYPE = re.compile(
    r"(?:template <.*> )?(?:struct|class|union|enum class) (\w+)(?: final)?(?: :.*)?(?: \{.*|$)"
)


def sources():
    return [path for path in files(*SOURCES) if name_of(path).startswith("src/")]


def shared(things):
    """The findings for (name, file) of which several files have the same name."""
    places = {}
    for name, where in things:
        places.setdefault(name, set()).add(where)
    return [
        f"{name} is the name of several: {', '.join(sorted(found))}"
        for name, found in sorted(places.items())
        if len(found) > 1
    ]


def types(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := TYPE.match(line):
            yield match[1], name_of(path)


def main():
    named = [p for p in sources() if not name_of(p).startswith("src/algorithms/")]
    typed = [p for p in sources() if not p.stem.endswith(("_test", "_bench"))]
    findings = shared((path.name, name_of(path)) for path in named)
    findings += shared(each for path in typed for each in types(path))
    finish(findings)


if __name__ == "__main__":
    main()
