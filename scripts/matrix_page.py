# SPDX-License-Identifier: BSD-3-Clause
"""The page docs/compatibility.md, from the results of the matrix."""

import textwrap

import matrix_jobs
from matrix_jobs import FAILED, PASSED, RANKS, SKIPPED

HEAD = """\
<!-- Made by scripts/matrix.py ('make matrix') from scripts/matrix.toml and what it measured: do not
     edit. -->
# MPIs that Sumac is tested with

One installation of Sumac serves all of these, and finds out which it has in front of it when the
program makes its first MPI call. Sumac is compiled against the binary interface of a family, not
against a version: what the MPI can do is asked at run time. So the same programs, compiled with
Debian's Open MPI 4.1 or MPICH 4.0, run here under all MPIs of the family. The rows that end in
`-abi` are the binary interface of the MPI 5.0 standard: one set of programs, compiled with MPICH's
header (`mpicc_abi`), on the `libmpi_abi.so` of each MPI.

Each number in the tables is how many comparisons with an expected result a program made, all ranks
together; a dash, that it is not for this number of ranks. `make matrix` measures this page again
(`scripts/matrix.py --help`), and `make check` runs a short form on the MPIs that are installed.
"""
NOT_TAKEN = """
These calls went to the MPI in the jobs above, where rank 0's are counted. Most tests provoke it on
purpose; [the reasons](paths.md#reasons-for-handing-a-call-to-the-mpi) say when that is.

| reason | calls | of which collectives |
|---|---|---|
"""

MPI4PY = """\
The tests of mpi4py {} for collectives, requests, sessions and threads (one rank: also those of
which functions exist) have the same verdicts with Sumac as without, by the wheel of mpi4py. The
numbers are the share of rank 0's calls that Sumac served; a dash: not run."""


def _cell(results, program, ranks):
    for result in results:
        if (result.program, result.ranks) == (program, ranks):
            return {PASSED: str(result.checks), FAILED: "**failed**", SKIPPED: "skipped"}[
                result.outcome
            ]
    return "–"


def _programs(run, programs):
    columns = [1, *RANKS] if any(result.ranks == 1 for result in run.results) else [*RANKS]
    lines = ["| test | what it tests | " + " | ".join(f"{n} ranks" for n in columns) + " |"]
    lines.append("|---|---|" + "---:|" * len(columns))
    lines[0] = lines[0].replace("| 1 ranks", "| 1 rank")
    for program in programs:
        cells = " | ".join(_cell(run.results, program.name, n) for n in columns)
        lines.append(f"| `{program.name}` | {program.what} | {cells} |")
    return lines


def _not_taken(run):
    by_reason = {}
    for (collective, reason), calls in run.reasons().items():
        by_reason.setdefault(reason, []).append((calls, collective))
    ordered = sorted(by_reason.items(), key=lambda item: -sum(calls for calls, _ in item[1]))
    for reason, uses in ordered:
        names = ", ".join(sorted({name for _, name in uses}))
        yield f"| {reason} | {sum(calls for calls, _ in uses)} | {names} |"


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
    lines = ["", "## mpi4py", "", *textwrap.wrap(MPI4PY.format(shares["release"]), 100), ""]
    lines += ["| MPI | 1 rank | 2 ranks | 3 ranks | 4 ranks |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        of_mpi = shares.get(row["name"], {})
        cells = (f"{of_mpi[n]} %" if n in of_mpi else "–" for n in "1234")
        lines.append(f"| `{row['name']}` | " + " | ".join(cells) + " |")
    return lines


def _of_mpi(row, run, programs):
    lines = ["", f"## {run.version}", ""]
    lines += [f"- {textwrap.fill(limit, 98, subsequent_indent='  ')}" for limit in row["limits"]]
    skipped = {result.program: result.why for result in run.results if result.outcome == SKIPPED}
    names = [program.name for program in programs if program.name in skipped]
    lines += [f"- `{name}` is skipped: {skipped[name]}." for name in names]
    lines += [""] if lines[-1] else []
    lines += _programs(run, programs)
    return lines + NOT_TAKEN.splitlines() + list(_not_taken(run))


def make(runs):
    """The page of these runs, by the MPIs' names."""
    rows, programs, shares = matrix_jobs.table()
    rows = [row for row in rows if row["name"] in runs]
    lines = HEAD.splitlines() + _summary(rows, runs)
    for row in rows:
        lines += _of_mpi(row, runs[row["name"]], programs)
    return "\n".join(lines + _mpi4py(rows, shares)) + "\n"
