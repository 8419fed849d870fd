#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hot_path.py SOURCE BUILD LAUNCHER PROGRAM: the files of which an 8-byte all-reduce executes
instructions, inline functions included, are those that docs/architecture.md lists.

The library is built once more, with the lines of the source in it. Valgrind counts the
instructions of the second of two ranks, which comes so late that it never waits; what differs
between a short and a long run belongs to the calls. Status 77 without valgrind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

MOST = 22
SHORT, LONG = 3000, 8000
SENTENCE = "An 8-byte all-reduce executes functions of these files"


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
    """Instructions a call, by file of the source. What a call does now and then is left out."""
    calls = LONG - SHORT
    root = f"{source}/src/"
    each = {name: (long[name] - short[name]) / calls for name in long if name.startswith(root)}
    return {name.removeprefix(root): count for name, count in each.items() if count > 0.5}


def listed(source: Path) -> set[str]:
    text = (source / "docs" / "architecture.md").read_text()
    paragraph = text[text.index(SENTENCE) :].split("\n\n")[0]
    return set(re.findall(r"`([\w/.-]+)`", paragraph))


def main() -> None:
    if not shutil.which("valgrind"):
        sys.exit(77)
    source, lines, launcher, program = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:5]
    library = build(source, lines)
    with tempfile.TemporaryDirectory() as folder:
        runs = [run(launcher, library, program, calls, Path(folder)) for calls in (SHORT, LONG)]
    found = executed(*runs, source)
    for name, count in sorted(found.items(), key=lambda each: -each[1]):
        print(f"{count:7.1f} {name}")
    print(f"{sum(found.values()):7.1f} instructions a call, in {len(found)} files")
    expected = listed(source)
    wrong = [f"not listed: {name}" for name in sorted(found.keys() - expected)]
    wrong += [f"listed, but not executed: {name}" for name in sorted(expected - found.keys())]
    if len(found) > MOST:
        wrong.append(f"{len(found)} files are more than {MOST}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
