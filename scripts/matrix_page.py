# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/compatibility.md, from the results of the matrix."""

import re
import textwrap

import matrix_jobs
from matrix_jobs import FAILED, PASSED, SKIPPED

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


def make(runs):
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
    return PART.sub(lambda ends: ends[1] + make(runs) + ends[2], page)
