#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Includes under src/ go one way: a layer includes itself and lower ones, never a higher one.
<mpi.h> is included only where MPI's handles may be seen. Tests beside their source may use more."""

import re

from repository import ROOT, files, finish, name_of

# Folder of src/ -> height. Leaves do not include one another; base is below them.
LAYERS = {
    "base": 0,
    "config": 1,
    "devices": 1,
    "observe": 1,
    "machine": 1,
    "promotion": 1,
    "tasks": 1,
    "kernels": 1,
    "hierarchy": 2,
    "layout": 2,
    "strands": 2,
    "transport": 3,
    "algorithms": 4,
    "rules": 5,
    "levels": 6,
    "progress": 7,
    "team": 8,
    "interpose/abi": 8,
    "interpose/stub": 9,
    "interpose/mpi": 10,
    "interpose/family": 11,
    "interpose/process": 12,
    "interpose/calls": 13,
    "interpose/requests": 14,
    "interpose/messages": 15,
    "interpose/watch": 16,
    "interpose/backend": 17,
    "testing": 18,  # so that tests alone include it
}
# Folders whose own folders are layers. What lies in them directly, a table, may be included by all.
DIVIDED = ("interpose",)
MAY_INCLUDE_MPI = (
    "src/interpose/family/",
    "bench/",
    "simulate/",
    "tests/",
    "examples/",
    "experiments/",
)
SOURCES = ("*.c", "*.cc", "*.h", "*.S", "*.def", "*.hpp", "*.cpp")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """(line number, quote, file) of each #include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def layer_of(path):
    """The folder of src/ that a file is in, or None for a file that is elsewhere."""
    parts = path.relative_to(ROOT).parts
    if parts[0] != "src" or len(parts) < 3:
        return None
    if parts[1] not in DIVIDED:
        return parts[1]
    return f"{parts[1]}/{parts[2]}" if len(parts) > 3 else None


def resolve(source, name):
    """The file of the repository that source includes as name; None for a system header."""
    for folder in (source.parent, ROOT / "src"):
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def layer_finding(source, name):
    own, target = layer_of(source), resolve(source, name)
    other = target and layer_of(target)
    if not own or not other or own == other:
        return None
    unknown = [layer for layer in (own, other) if layer not in LAYERS]
    if unknown:
        return f"src/{unknown[0]} has no place in the layers: add it to check_layers.py"
    if LAYERS[other] < LAYERS[own]:
        return None
    relation = "is a higher layer than" if LAYERS[other] > LAYERS[own] else "is beside"
    return f'includes "{name}", but {other}/ {relation} {own}/'


def is_test(path):
    return path.stem.endswith(("_test", "_bench"))


def main():
    findings = []
    for source in files(*SOURCES):
        where = name_of(source)
        for line, quote, name in includes(source):
            if name == "mpi.h" and not where.startswith(MAY_INCLUDE_MPI):
                findings.append(f"{where}:{line}: includes <mpi.h>, which only interposition may")
            finding = layer_finding(source, name) if quote == '"' else None
            if finding and not is_test(source):
                findings.append(f"{where}:{line}: {finding}")
    finish(findings)


if __name__ == "__main__":
    main()
