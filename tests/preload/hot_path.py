#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hot_path.py SOURCE BUILD LAUNCHER PROGRAM: the files of which an all-reduce of 8 bytes executes
instructions, inline functions included, are those that hot_path.txt lists: for a blocking call in
one group, for one over two levels, and for a nonblocking call with its MPI_Wait. A file is marked
with x if each call passes it, and with ? if calls do that wait. The stub's jumps are made of
calls.def, and are counted there.

The library is built once more, with the lines of the source in it. Valgrind counts the
instructions of one rank, which comes so late that it hardly ever waits; what differs between a
short and a long run belongs to the calls. A busy machine may keep the other ranks from their
processors in either run, so a file counts as executed that is in one of several such pairs, and
one has to be listed that is in all of them. Status 77 without valgrind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

SHORT, LONG = 3000, 8000
PAIRS = 3
LEAST = 0.9  # instructions a call, of a file that calls execute


@dataclass
class Way:
    """One way of a call, which is a column of hot_path.txt."""

    name: str
    before: int = 1  # ranks before the one that is watched
    behind: int = 0
    arguments: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)


# Over levels, the leader of the second group is watched.
WAYS = [
    Way("blocking"),
    Way("levels", before=2, behind=1, options={"SUMAC_HIERARCHY": "ranks:2"}),
    Way("nonblocking", arguments=["nonblocking"]),
]


def build(source: Path, lines: Path) -> None:
    flags = [f"-DCMAKE_{language}_FLAGS=-g1" for language in ("CXX", "C", "ASM")]
    flags.append("-DSUMAC_TESTS=OFF")
    subprocess.run(
        ["cmake", "-S", source, "-B", lines, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *flags],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    targets = ["libsumac.so", "libsumac-openmpi.so"]
    subprocess.run(["cmake", "--build", lines, "--target", *targets], check=True)


def instructions(profile: Path, lines: Path) -> Counter[str]:
    """Instructions by source file, from a profile of callgrind. The cost of what a function calls
    is on the line behind "calls=", and is counted with its own file. A compiler cache may have left
    names relative to the folder in which the library was built."""
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    file = ""
    skip = False
    for line in profile.read_text().splitlines():
        if match := re.match(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$", line):
            kind, number, name = match.groups()
            if name:
                names[number] = name
            if not kind.startswith("c"):
                file = names[number]
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[-+*\d]", line):
            if not skip and len(line.split()) > 1:
                found[os.path.normpath(lines / file)] += int(line.split()[1])
            skip = False
    return found


def run(launcher: str, lines: Path, program: list[str], way: Way, folder: Path) -> Counter[str]:
    profile = folder / "profile"
    ours = ["env", f"LD_PRELOAD={lines / 'lib' / 'libsumac.so'}"]
    watch = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    own = [*program, *way.arguments]
    command = [launcher, "--oversubscribe", "-n", str(way.before), *ours, *own]
    command += [":", "-n", "1", *ours, *watch, *own]
    if way.behind:
        command += [":", "-n", str(way.behind), *ours, *own]
    environment = os.environ | {
        "SUMAC_ADAPT": "off",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(
        command, env=environment | way.options, timeout=300, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"the program failed: {done.stderr}")
    return instructions(profile, lines)


def executed(short: Counter[str], long: Counter[str], source: Path) -> dict[str, float]:
    """Instructions a call, by file of the source."""
    calls = LONG - SHORT
    root = f"{source}/src/"
    return {
        name.removeprefix(root): (count - short[name]) / calls
        for name, count in long.items()
        if name.startswith(root)
    }


def listed(way: Way) -> tuple[set[str], set[str]]:
    """The files that a call passes, and those that it may pass while it waits."""
    rows = Path(__file__).with_suffix(".txt").read_text().splitlines()
    column = rows[0].split().index(way.name)
    marks = {row.split()[0]: row.split()[column] for row in rows[1:]}
    return ({name for name, mark in marks.items() if mark == "x"},
            {name for name, mark in marks.items() if mark == "?"})  # fmt: skip


def compare(way: Way, pairs: list[dict[str, float]]) -> list[str]:
    """What is wrong in the list."""
    names = {name for pair in pairs for name in pair}
    counts = {name: [pair.get(name, 0) for pair in pairs] for name in names}
    found = {name: min(each) for name, each in counts.items() if min(each) > LEAST}
    executed = {name for name, each in counts.items() if max(each) > LEAST}
    for name, count in sorted(found.items(), key=lambda each: -each[1]):
        print(f"{count:7.1f} {name}")
    print(f"{sum(found.values()):7.1f} instructions a {way.name} call, in {len(found)} files")
    expected, while_it_waits = listed(way)
    wrong = [f"not listed: {name}" for name in sorted(found.keys() - expected - while_it_waits)]
    wrong += [f"listed, but not executed: {name}" for name in sorted(expected - executed)]
    return [f"{way.name}: {line}" for line in wrong]


def main() -> None:
    if not shutil.which("valgrind"):
        sys.exit(77)
    source, lines, launcher, program = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:5]
    build(source, lines)
    wrong = []
    for way in WAYS:
        pairs = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(PAIRS):
                runs = [
                    run(launcher, lines, [program, str(calls)], way, Path(folder))
                    for calls in (SHORT, LONG)
                ]
                pairs.append(executed(*runs, source))
        wrong += compare(way, pairs)
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
