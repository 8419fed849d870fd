#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the test programs under every MPI that is found, and writes the tables of
docs/compatibility.md.

Usage: scripts/matrix.py [--install] [--short] [--mpi NAMES] [--programs NAMES] [--page]
                         [--missing] [--limit SECONDS]
--install fetches the MPIs' wheels first, as `sumac bench --install-mpis` does. Programs of the
standard's binary interface are compiled with the header of an MPICH that has it. --short runs the
few programs that have a short form, on two ranks, and writes no page. The result of each job is
kept in build/matrix, so that a part of them can be run again: with --missing only jobs that have
not passed yet are run, and after --limit no further one is begun. --page only makes the page of
what is there.
Exit status: 0 all passed, 1 not, 3 no MPI to run on, 4 the limit has come before the end.
"""

import argparse
import math
import re
import sys
import textwrap
import time

import matrix_jobs
from matrix_jobs import FAILED, PASSED, ROOT, SKIPPED, Result, Run
from sumac_mpi.launch import installations

RESULTS = ROOT / "build/matrix"
PAGE = ROOT / "docs/compatibility.md"
SECONDS = 200  # a job that takes longer hangs: MPICH's own calls crawl on few processors
NO_MPI = 3
UNFINISHED = 4

PART = re.compile(r"(<!-- matrix:.*?-->\n).*?(<!-- end of matrix -->)", re.DOTALL)
COMPARED = """\
### What was compared

A number says how many results the program compared with expected ones, over all its jobs and ranks.
"""
LEFT = """\
### Which calls went to the MPI

These are the calls of rank 0 that went to the MPI in these jobs. Most tests provoke that on
purpose; [the reasons](calls.md#why-a-call-goes-to-the-mpi) say when it happens.
"""
MPI4PY = """\
mpi4py {}'s own tests of collectives, requests, sessions and threads (with one rank also those of
which functions exist) have the same verdicts with Sumac as without. The tests used mpi4py's wheel.
The numbers are the share of rank 0's calls that Sumac served; a dash means that it was not run."""


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", action="store_true", help="fetch the MPIs' wheels first")
    parser.add_argument("--short", action="store_true", help="the short form, without the page")
    parser.add_argument("--mpi", default="", help="which, as openmpi5,mpich4 (all)")
    parser.add_argument("--programs", default="", help="which, as sweep,types (all)")
    parser.add_argument("--missing", action="store_true", help="only what has not passed yet")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds to begin jobs in")
    parser.add_argument("--page", action="store_true", help="only make the page anew")
    parser.add_argument("--preset", default="release", help="what was built (release)")
    return parser.parse_args()


def jobs_of(program, short):
    """Arguments and numbers of ranks."""
    if short:
        return [] if program.short is None else [(program.short, 2)]
    return [(program.arguments, ranks) for ranks in program.ranks]


def result_of(build, mpi, program, arguments, ranks):
    why = program.why_not(mpi)
    if why:
        return Result(program.name, ranks, SKIPPED, why=why)
    return matrix_jobs.run(build, mpi, program, arguments, ranks, SECONDS)


def kept_of(mpi):
    """What was kept of this MPI."""
    run = Run(mpi.name, mpi.launcher.version)
    path = RESULTS / f"{mpi.name}.json"
    run.results = matrix_jobs.read(path).results if path.exists() else []
    return run


def run_mpi(build, mpi, programs, options, end):
    """Runs the jobs of an MPI, and keeps the result of each. Returns these results, and whether all
    jobs were begun before the end."""
    kept = kept_of(mpi)
    new = Run(mpi.name, mpi.launcher.version)
    for program in programs:
        for arguments, ranks in jobs_of(program, options.short):
            if options.missing and kept.has_passed(program.name, ranks):
                continue
            if time.monotonic() > end:
                return new, False
            result = result_of(build, mpi, program, arguments, ranks)
            new.put(result)
            if not options.short:
                kept.put(result)
                RESULTS.mkdir(parents=True, exist_ok=True)
                kept.write(RESULTS / f"{mpi.name}.json")
            what = f"{mpi.name:10} {program.name:20} {ranks} ranks"
            print(f"{what}: {result.outcome} {result.checks or ''}", flush=True)
            if result.outcome == FAILED:
                print(result.why, flush=True)
    return new, True


def with_programs(build, mpis, programs):
    """Compiles what is missing for the standard's binary interface; where no MPI has its header,
    the MPIs are left out."""
    if all(mpi.family != installations.ABI for mpi in mpis):
        return mpis
    roots = [mpi.library.parent.parent for mpi in installations.found() if mpi.library]
    root = next((each for each in roots if (each / "include/mpi_abi.h").exists()), None)
    if root:
        build.add_standard_abi(root, programs)
        return mpis
    print("no MPI has mpi_abi.h: the standard's binary interface is left out", file=sys.stderr)
    return [mpi for mpi in mpis if mpi.family != installations.ABI]


def _table(rows, head, cells):
    """A table with a column for each MPI."""
    lines = [f"| {head} | " + " | ".join(f"`{row['name']}`" for row in rows) + " |"]
    lines.append("|---" * (head.count("|") + 1) + "|" + "---:|" * len(rows))
    return [*lines, *cells]


def _cell(run, program):
    results = [result for result in run.results if result.program == program]
    if any(result.outcome == FAILED for result in results):
        ranks = ", ".join(str(each.ranks) for each in results if each.outcome == FAILED)
        return f"**failed** on {ranks}"
    checks = sum(result.checks for result in results if result.outcome == PASSED)
    return str(checks) if checks else "skipped" if results else "–"


def _compared(rows, runs, programs):
    return _table(rows, "test | what it tests", (
        f"| `{program.name}` | {program.what} | "
        + " | ".join(_cell(runs[row["name"]], program.name) for row in rows) + " |"
        for program in programs
    ))  # fmt: skip


def _left(rows, runs):
    by_mpi = {row["name"]: {} for row in rows}
    for name, of_mpi in by_mpi.items():
        for (_, reason), calls in runs[name].reasons().items():
            of_mpi[reason] = of_mpi.get(reason, 0) + calls
    reasons = {reason for of_mpi in by_mpi.values() for reason in of_mpi}
    most = {reason: max(of.get(reason, 0) for of in by_mpi.values()) for reason in reasons}
    return _table(rows, "reason", (
        f"| {reason} | " + " | ".join(str(of.get(reason, 0)) for of in by_mpi.values()) + " |"
        for reason in sorted(reasons, key=lambda each: (-most[each], each))
    ))  # fmt: skip


def _summary(rows, runs):
    lines = ["", "| MPI | tested version | from | jobs | passed | skipped | failed |"]
    lines.append("|---|---|---|---:|---:|---:|---:|")
    for row in rows:
        run = runs[row["name"]]
        numbers = [len(run.results), *(run.count(each) for each in (PASSED, SKIPPED, FAILED))]
        cells = " | ".join(map(str, numbers))
        lines.append(f"| `{row['name']}` | {run.version} | {row['from']} | {cells} |")
    return lines


def _mpi4py(rows, shares):
    lines = ["", "### mpi4py", "", *textwrap.wrap(MPI4PY.format(shares["release"]), 100), ""]
    lines += ["| MPI | 1 rank | 2 ranks | 3 ranks | 4 ranks |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        of_mpi = shares.get(row["name"], {})
        cells = [f"{of_mpi[n]} %" if n in of_mpi else "–" for n in "1234"]
        if of_mpi:
            lines.append(f"| `{row['name']}` | " + " | ".join(cells) + " |")
    return lines


def _limits(rows, runs):
    lines = ["", "### What differs between the MPIs", ""]
    for row in rows:
        name = f"**{runs[row['name']].version}, `{row['name']}`.**"
        text = " ".join([name, *row["limits"]])
        lines.append(f"- {textwrap.fill(text, 98, subsequent_indent='  ')}")
    return lines


def _skipped(rows, runs, programs):
    """Which tests were not run where, by the reason."""
    uses = {}
    for row in rows:
        for result in runs[row["name"]].results:
            if result.outcome == SKIPPED:
                of_reason = uses.setdefault(result.why, {})
                of_reason.setdefault(result.program, set()).add(row["name"])
    order = [program.name for program in programs]
    lines = ["", "| skipped, because | tests | under |", "|---|---|---|"]
    for why, of_program in sorted(uses.items()):
        names = ", ".join(f"`{name}`" for name in sorted(of_program, key=order.index))
        mpis = set().union(*of_program.values())
        where = ", ".join(f"`{row['name']}`" for row in rows if row["name"] in mpis)
        lines.append(f"| {why} | {names} | {where} |")
    return lines


def page_of(runs):
    """The tables of these runs, by the MPIs' names."""
    rows, programs, shares = matrix_jobs.table()
    rows = [row for row in rows if row["name"] in runs]
    lines = _summary(rows, runs)
    lines += _limits(rows, runs)
    lines += ["", *COMPARED.splitlines(), "", *_compared(rows, runs, programs)]
    lines += _skipped(rows, runs, programs)
    lines += ["", *LEFT.splitlines(), "", *_left(rows, runs)]
    return "\n".join(lines + _mpi4py(rows, shares)) + "\n\n"


def put(page, runs):
    """The page with the tables of these runs between its two comments."""
    return PART.sub(lambda ends: ends[1] + page_of(runs) + ends[2], page)


def write_page():
    runs = {path.stem: matrix_jobs.read(path) for path in RESULTS.glob("*.json")}
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(put(page, runs), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


def chosen_mpis(options, rows):
    wanted = [name for name in options.mpi.split(",") if name]
    known = [row["name"] for row in rows if not wanted or row["name"] in wanted]
    mpis = [mpi for mpi in installations.found() if mpi.name in known]
    return [mpi for mpi in mpis if not (options.short and mpi.family == installations.ABI)]


def main():
    options = parse()
    if options.page:
        write_page()
        return 0
    if options.install:
        installations.install_wheels()
    rows, programs, _ = matrix_jobs.table()
    mpis = chosen_mpis(options, rows)
    if not mpis:
        print("no MPI was found to run the matrix on", file=sys.stderr)
        return NO_MPI
    chosen = [name for name in options.programs.split(",") if name]
    programs = [each for each in programs if not chosen or each.name in chosen]
    build = matrix_jobs.Build(options.preset)
    mpis = with_programs(build, mpis, programs)
    end = time.monotonic() + options.limit
    failed = 0
    for mpi in mpis:
        run, finished = run_mpi(build, mpi, programs, options, end)
        failed += run.count(FAILED)
        if not finished:
            print("not finished: continue with --missing", file=sys.stderr)
            return UNFINISHED
    if not options.short:
        write_page()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
