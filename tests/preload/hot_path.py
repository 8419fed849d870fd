#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hot_path.py SOURCE BUILD LAUNCHER PROGRAM: the files of which an 8-byte all-reduce executes
instructions, inline functions included, are those that hot_path.txt lists; with "?" those of a
call that waits.

The library is built once more, with the lines of the source in it. Valgrind counts the
instructions of the second of two ranks, which comes so late that it hardly ever waits; what
differs between a short and a long run belongs to the calls. Of several such pairs the least is
taken, since a busy machine may keep the first rank from its processor. Status 77 without valgrind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SHORT, LONG = 3000, 8000
PAIRS = 3


def build(source: Path, lines: Path) -> Path:
    flags = ["-DCMAKE_CXX_FLAGS=-g1", "-DCMAKE_C_FLAGS=-g1", "-DSUMAC_TESTS=OFF"]
    subprocess.run(
        ["cmake", "-S", source, "-B", lines, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *flags],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    targets = ["libsumac.so", "libsumac-openmpi.so"]
    subprocess.run(["cmake", "--build", lines, "--target", *targets], check=True)
    return lines / "lib" / "libsumac.so"


def instructions(profile: Path) -> Counter[str]:
    """Instructions by source file, from a profile of callgrind. The cost of what a function calls
    is on the line behind "calls=", and is counted with its own file."""
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
                found[file] += int(line.split()[1])
            skip = False
    return found


def run(launcher: str, library: Path, program: str, calls: int, folder: Path) -> Counter[str]:
    profile = folder / f"profile.{calls}"
    ours = ["env", f"LD_PRELOAD={library}"]
    watch = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    own = [program, str(calls)]
    command = [launcher, "--oversubscribe", "-n", "1", *ours, *own, ":", "-n", "1", *ours, *watch]
    environment = os.environ | {
        "SUMAC_ADAPT": "off",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(
        [*command, *own], env=environment, timeout=300, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"the program failed: {done.stderr}")
    return instructions(profile)


def executed(short: Counter[str], long: Counter[str], source: Path) -> dict[str, float]:
    """Instructions a call, by file of the source."""
    calls = LONG - SHORT
    root = f"{source}/src/"
    return {
        name.removeprefix(root): (count - short[name]) / calls
        for name, count in long.items()
        if name.startswith(root)
    }


def main() -> None:
    if not shutil.which("valgrind"):
        sys.exit(77)
    source, lines, launcher, program = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:5]
    library = build(source, lines)
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(PAIRS):
            runs = [run(launcher, library, program, calls, Path(folder)) for calls in (SHORT, LONG)]
            pairs.append(executed(*runs, source))
    least = {name: min(pair.get(name, 0) for pair in pairs) for name in pairs[0]}
    found = {name: count for name, count in least.items() if count > 0.9}
    for name, count in sorted(found.items(), key=lambda each: -each[1]):
        print(f"{count:7.1f} {name}")
    print(f"{sum(found.values()):7.1f} instructions a call, in {len(found)} files")
    expected = set(Path(__file__).with_suffix(".txt").read_text().split())
    while_it_waits = {name.removeprefix("?") for name in expected if name.startswith("?")}
    expected -= {f"?{name}" for name in while_it_waits}
    wrong = [f"not listed: {name}" for name in sorted(found.keys() - expected - while_it_waits)]
    wrong += [f"listed, but not executed: {name}" for name in sorted(expected - found.keys())]
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
