#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Pack and MPI_Unpack by vector instructions, against Sumac's own scalar loops and the MPI; and
a stencil, a Fourier transform, a transpose, collectives and messages of every second double with
and without Sumac. Prints tables in Markdown.

Usage: experiments/vector_packing/run.py [--layouts NAME,...] [--sizes BYTES,...] [--rounds N] ...
Exit status: 0 done, 1 a job failed, 3 no MPI to run on, 4 wrong results.
"""

import argparse
import json
import pathlib
import statistics
import sys
from functools import partial

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

SETS = ("scalar", "auto")  # SUMAC_SIMD
LAYOUTS = "vector_1_2,vector_1_4,vector_8_16,columns,yz_face,indexed,structs,nested"
ALONE, WITH = "alone", "with Sumac"
RANKS = 2
PACKED = "and SUMAC_PACK_MESSAGES=16K"
STRIDED = {ALONE: {}, WITH: {}, PACKED: {"SUMAC_PACK_MESSAGES": "16K"}}
SECONDS_ALLOWED = 300  # time limit of a job


def in_turns(given, ways, run):
    """Calls run(way) for each way, given.rounds times, in an order that is reversed each time;
    returns {way: [results]}."""
    found = {way: [] for way in ways}
    for turn in range(given.rounds):
        for way in ways if turn % 2 == 0 else reversed(ways):
            found[way].append(run(way))
    return found


def pack_job(given, simd):
    """{(layout, call, bytes): (the MPI's us, Sumac's us, wrong bytes)}."""
    family, launcher = given.mpi.split("=", 1)
    command = [launcher, *jobs.UNBOUND[family], "-n", "1", str(given.sumac), "exec", "--"]
    command += [str(given.build / f"lib/sumac/sumac-bench-{family}"), "pack"]
    command += ["--layouts", given.layouts, "--seconds", str(given.seconds)]
    command += ["--sizes", ",".join(map(str, given.sizes))]
    # The instruction set, and not how many threads.
    settings = {"SUMAC_SIMD": simd, "SUMAC_THREADS": "off"}
    output = jobs.output_of(command, settings, SECONDS_ALLOWED)
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {
        (r["layout"], r["op"], r["bytes"]): (r["native"]["p50"], r["sumac"]["p50"], r["wrong"])
        for r in records
        if r["kind"] == "size"
    }


def print_packing(given):
    """Prints the first table; returns the cells with wrong results."""
    found = in_turns(given, SETS, lambda simd: pack_job(given, simd))
    print(
        "\nPacking, us: the MPI, Sumac by scalar loops, Sumac (times as fast as the scalar loops)\n"
    )
    print("| layout | call | bytes | the MPI | scalar | Sumac | as the MPI |")
    print("|---|---|---:|---:|---:|---:|---:|")
    wrong = set()
    for cell in found[SETS[0]][0]:
        scalar, vector = (statistics.median(job[cell][1] for job in found[simd]) for simd in SETS)
        native = statistics.median(job[cell][0] for simd in SETS for job in found[simd])
        if any(job[cell][2] for simd in SETS for job in found[simd]):
            wrong.add(" ".join(map(str, cell)))
        layout, call, size = cell
        times = f"{native:.2f} | {scalar:.2f} | {vector:.2f} ({scalar / vector:.2f}x)"
        print(f"| {layout} | {call} | {size} | {times} | {native / vector:.2f} |")
    return sorted(wrong)


def example_job(given, name, arguments, way):
    """What an example says of itself: {word: number}. It checks its own result."""
    family, launcher = given.mpi.split("=", 1)
    command = [launcher, *jobs.UNBOUND[family], "-n", str(RANKS)]
    if way == WITH:
        command += [str(given.sumac), "exec", "--"]
    command += [str(given.build / f"examples/{name}-{family}"), *map(str, arguments)]
    lines = jobs.output_of(command, {}, SECONDS_ALLOWED).splitlines()
    words = [line.split() for line in lines]
    return {
        word[0]: float(word[1])
        for word in words
        if word[0] in ("seconds", "packing", "transposing")
    }


def examples(given):
    """(name, program, its arguments, the part of its time that is packing)."""
    for radius in given.radii:
        stencil = ["-n", given.cells, "-r", radius, "-i", given.times]
        yield f"stencil, radius {radius}", "stencil", stencil, "packing"
    yield "FFT", "fft", ["-n", given.order, "-i", given.times], "transposing"
    yield "transpose", "transpose", ["-n", given.order, "-i", given.times], "packing"


def print_examples(given):
    family = given.mpi.split("=", 1)[0]
    print(f"\nPrograms, {RANKS} ranks, ms, and the part that packs or transposes\n")
    print(
        "| program | alone | with Sumac | times as fast | part alone | with Sumac | times as fast |"
    )
    print(f"|---|{'---:|' * 6}")
    for title, name, arguments, part in examples(given):
        if not (given.build / f"examples/{name}-{family}").exists():
            print(f"| {title} | not built |{' |' * 5}")
            continue
        found = in_turns(given, (ALONE, WITH), partial(example_job, given, name, arguments))
        cells = [title]
        for what in ("seconds", part):
            alone, own = (
                1000 * statistics.median(job[what] for job in found[way]) for way in (ALONE, WITH)
            )
            cells += [f"{alone:.3f}", f"{own:.3f}", f"{alone / own:.2f}" if own > 0 else "-"]
        print(f"| {' | '.join(cells)} |", flush=True)


def strided_job(given, way):
    """{(call, bytes): (right, median seconds)}, and {"small": [seconds]} of a message of 8 bytes
    before and after."""
    family, launcher = given.mpi.split("=", 1)
    command = [launcher, *jobs.UNBOUND[family], "-n", str(RANKS)]
    if way != ALONE:
        command += [str(given.sumac), "exec", "--"]
    command += [str(given.build / f"experiments/strided-{family}"), str(given.calls)]
    output = jobs.output_of([*command, *map(str, given.messages)], STRIDED[way], SECONDS_ALLOWED)
    found = {"small": []}
    for line in output.splitlines():
        name, size, right, *seconds = line.split()
        if name == "small":
            found["small"] += map(float, seconds)
            continue
        found[name, int(size)] = (right == "right", statistics.median(map(float, seconds)))
    return found


def print_strided(given):
    """Prints the third table; returns the calls with wrong results."""
    found = jobs.in_one_mode(
        list(STRIDED),
        given.rounds,
        partial(strided_job, given),
        lambda job: statistics.mean(job["small"]),
    )
    small = statistics.median(1e6 * time for job in found[ALONE] for time in job.pop("small"))
    print(
        f"\nEvery second double, {RANKS} ranks, us (times as fast as alone); 8 bytes there and back"
    )
    print(f"take {small:.2f} us\n")
    print(f"| call | bytes | {' | '.join(STRIDED)} |\n|---|---:|{'---:|' * len(STRIDED)}")
    wrong = set()
    for call in found[ALONE][0]:
        times = {way: statistics.median(job[call][1] for job in found[way]) for way in STRIDED}
        wrong |= {f"{call[0]} {way}" for way in STRIDED for job in found[way] if not job[call][0]}
        cells = [call[0], str(call[1]), f"{1e6 * times[ALONE]:.1f}"]
        for way in (WITH, PACKED):
            cells.append(f"{1e6 * times[way]:.1f} ({times[ALONE] / times[way]:.2f}x)")
        print(f"| {' | '.join(cells)} |", flush=True)
    return sorted(wrong)


def arguments():
    parser = argparse.ArgumentParser(description="packing by vector instructions")
    parser.add_argument("--layouts", default=LAYOUTS, help="of 'sumac bench pack'")
    parser.add_argument(
        "--sizes", type=jobs.numbers, default="262144,67108864", help="packed bytes"
    )
    parser.add_argument("--seconds", type=float, default=0.2, help="for a layout and size in a job")
    parser.add_argument("--cells", type=int, default=1000, help="of the stencil, a side, a rank")
    parser.add_argument("--radii", type=jobs.numbers, default="1,2,4,8", help="of the stencil")
    parser.add_argument("--order", type=int, default=2000, help="of the FFT and the transpose")
    parser.add_argument("--times", type=int, default=20, help="steps of a program")
    parser.add_argument("--messages", type=jobs.numbers, default="65536,262144,1048576,4194304")
    parser.add_argument("--calls", type=int, default=100, help="of each collective and message")
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each kind, in turns")
    return jobs.parsed(parser, ROOT / "build/release")


def main():
    given = arguments()
    wrong = print_packing(given)
    print_examples(given)
    wrong += print_strided(given)
    return jobs.status_of(wrong)


if __name__ == "__main__":
    jobs.run(main)
