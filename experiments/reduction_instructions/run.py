#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions, loads, stores and branches of a reduction per element, with scalar and
with vector instructions, by valgrind's callgrind. Prints a table in Markdown.

Usage: experiments/reduction_instructions/run.py [--types ...] [--ops ...] [--output FILE]
Exit status: 0 done, 1 a count failed or --expect-fewer found no fewer, 77 no valgrind.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

PROGRAM = ROOT / "build/release/experiments/reduction-instructions"
# Callgrind's events, and their names in the table.
EVENTS = {"Ir": "instructions", "Dr": "loads", "Dw": "stores", "Bc": "branches"}
NO_VALGRIND = 77
NO_SUCH_SET = 3


def parse_counts(text):
    """Parses callgrind's output into {event: number}."""
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    totals = fields.get("totals") or fields["summary"]
    return dict(zip(fields["events"].split(), map(int, totals.split()), strict=False))


def count(program, simd, operation, elements):
    """{event: number per element} of one call, or None if valgrind lacks the instruction set."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "callgrind.out"
        options = ["--toggle-collect=measured_call", "--cache-sim=yes", "--branch-sim=yes"]
        command = ["valgrind", "--tool=callgrind", *options, f"--callgrind-out-file={file}"]
        command += [str(program), simd, *operation, str(elements)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode == NO_SUCH_SET:
            return None
        if done.returncode != 0:
            raise jobs.Failed(f"{' '.join(command)}\n{done.stderr}")
        counts = parse_counts(file.read_text(encoding="utf-8"))
    return {event: counts[event] / elements for event in EVENTS}


def table(rows, sets):
    """A Markdown table of counts per element; later sets also show how many times fewer."""
    heading = ["operation", "per element", *sets]
    lines = [f"| {' | '.join(heading)} |", "|---|---|" + "---:|" * len(sets)]
    for operation, counts in rows:
        for event, name in EVENTS.items():
            cells = [" ".join(reversed(operation)), name]
            first = counts[sets[0]][event] if counts[sets[0]] else None
            for simd in sets:
                if counts[simd] is None:
                    cells.append("-")
                    continue
                number = counts[simd][event]
                fewer = f" ({first / number:.1f}x fewer)" if simd != sets[0] and number else ""
                cells.append(f"{number:.3f}{fewer if first else ''}")
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def not_fewer(rows, sets):
    """Messages about events that a later set does not execute less often than the first."""
    found = []
    for operation, counts in rows:
        for simd in sets[1:]:
            for event, name in EVENTS.items():
                if counts[simd] and counts[simd][event] >= counts[sets[0]][event]:
                    found.append(f"{simd} has no fewer {name} than {sets[0]}: {operation}")
            if counts[simd] is None:
                found.append(f"{simd} is not there")
    return found


def arguments():
    parser = argparse.ArgumentParser(description="Counts the instructions of reductions")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--sets", default="scalar,sse2,avx2", help="the first is compared with")
    parser.add_argument("--types", default="float,double,int8,int32")
    parser.add_argument("--ops", default="sum,prod,max")
    parser.add_argument("--elements", type=int, default=65536)
    parser.add_argument("--output", type=pathlib.Path, help="write the table here too")
    parser.add_argument("--expect-fewer", action="store_true", help="fail unless there are")
    return parser.parse_args()


def main():
    given = arguments()
    if shutil.which("valgrind") is None:
        print("there is no valgrind", file=sys.stderr)
        return NO_VALGRIND
    sets = given.sets.split(",")
    operations = [(op, name) for name in given.types.split(",") for op in given.ops.split(",")]
    rows = []
    for operation in operations:
        counts = {simd: count(given.program, simd, operation, given.elements) for simd in sets}
        rows.append((operation, counts))
    text = "\n".join(table(rows, sets)) + "\n"
    print(text, end="")
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    findings = not_fewer(rows, sets) if given.expect_fewer else []
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    jobs.run(main)
