#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration: an unmodified solver with and without Sumac on each MPI, then the all-reduce
benchmark, a table, and a picture (demo.png).

Usage: scripts/demo.py [--pairs N] [--seconds S] [--output FILE]
Exit status: 0 done, 1 something failed, 3 no MPI to run on, 4 results with Sumac differ.
"""

import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
from functools import partial

import demo_cg  # which finds sumac_mpi
import demo_figure
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sumac_mpi.base import units
from sumac_mpi.bench import results

# Cells of a rank along each dimension: a small box, as at the end of a strong-scaling curve, where
# all-reduces take a large share of the time, and one where the solver has more to compute.
CELLS = (6, 12)
SIZE_RANGES = ((4, 1 << 10), (4 << 10, 4 << 20))
WRONG_RESULTS = 4
BUSY = 0.1  # a share of the machine that others use, from which on times say little
FOLDER = demo_cg.ROOT / "build/demo"
console = Console(highlight=False, soft_wrap=True)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def find_mpis():
    """The MPIs to run on. Prints those that are left out."""
    if not demo_cg.SUMAC.exists():
        raise demo_cg.DemoError(f"there is no {demo_cg.SUMAC}: 'make demo' compiles it")
    usable, absent = demo_cg.installed_mpis()
    for title in absent:
        console.print(
            f"{title} is not installed, or was not when Sumac was built: left out. "
            "'make setup' installs it."
        )
    if not usable:
        console.print("No MPI to run on: 'make setup' installs Open MPI and MPICH.")
        sys.exit(3)
    return usable


def compare(mpi, plan, progress):
    """One comparison, with a line of the progress bar."""
    title = f"{mpi.title}, {plan.cells}³ cells a rank"
    task = progress.add_task(title, total=2 * plan.pairs)
    comparison = demo_cg.compare(mpi, plan, partial(progress.advance, task))
    progress.update(task, completed=2 * plan.pairs)
    if (pairs := len(comparison.native)) < plan.pairs:
        progress.console.print(f"the machine is busy: {pairs} pairs have to do")
    return comparison


def solve(mpis, arguments):
    """All comparisons of the solver, with a progress bar."""
    columns = (TextColumn("{task.description:32}"), BarColumn(), TimeElapsedColumn())
    comparisons = []
    with tempfile.TemporaryDirectory() as folder, Progress(*columns, console=console) as progress:
        for mpi in mpis:
            for cells in CELLS:
                problems = demo_cg.problems_for(mpi, cells, arguments.seconds, pathlib.Path(folder))
                plan = demo_cg.Plan(cells, problems, arguments.pairs, pathlib.Path(folder))
                comparisons.append(compare(mpi, plan, progress))
    return comparisons


def bench(mpis):
    """Runs the all-reduce benchmark on each MPI, which prints its table."""
    file = FOLDER / "allreduce.json"
    choice = "all" if len(mpis) > 1 else mpis[0].family
    what = f"bench allreduce --mpi {choice} -n {demo_cg.RANKS} -b 4 -e 4M".split()
    command = [str(demo_cg.SUMAC), *what, f"--json={file}"]
    shown = " ".join(command).replace(f"{demo_cg.ROOT}/", "")
    console.print(f"\n[bold]$ {shown}[/bold]")
    done = subprocess.run(command, env=demo_cg.environment(), stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, WRONG_RESULTS):
        raise demo_cg.DemoError(f"the benchmark ended with status {done.returncode}")
    return results.load(file)


def new_table(title, headings):
    """A table of at most 80 columns; all but the first and last are numbers."""
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        pad_edge=False,
        collapse_padding=True,
    )
    for heading in headings:
        number = heading not in (headings[0], headings[-1])
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    return table


def with_spread(speedup):
    return f"[bold]{speedup.median:.2f}x[/bold] ({speedup.low:.2f}-{speedup.high:.2f})"


def solver_table(comparisons):
    table = new_table(
        f"Conjugate gradients, an unmodified program, {demo_cg.RANKS} ranks: medians (quartiles)",
        ("MPI", "cells", "MPI alone", "Sumac", "speed-up", "collectives", "residuals"),
    )
    for c in comparisons:
        table.add_row(
            c.mpi.title,
            f"{c.plan.cells}³",
            f"{c.seconds('native').median:.3f} s",
            f"{c.seconds('sumac').median:.3f} s",
            with_spread(c.speedup()),
            f"{c.share('native'):.0%} → {c.share('sumac'):.0%}",
            c.results() if c.results_equal() else f"[bold red]{c.results()}[/bold red]",
        )
    return table


def bench_table(runs):
    table = new_table(
        f"MPI_Allreduce, float sum, {demo_cg.RANKS} ranks: times as fast as the MPI alone",
        ("MPI", "4 B to 1 KiB", "4 KiB to 4 MiB", "slowest size", "results"),
    )
    for run in runs:
        rows = [row for row in run.rows if row.speedup is not None]
        if not rows:
            table.add_row(run.mpi_name, "-", "-", "Sumac was not active", "-")
            continue
        least = min(rows, key=lambda row: row.speedup)
        table.add_row(
            run.mpi_name,
            *(f"[bold]{mean_speedup(rows, *ends):.2f}x[/bold]" for ends in SIZE_RANGES),
            f"{least.speedup:.2f}x at {units.format_size(least.bytes)}",
            "verified" if run.wrong == 0 else f"[bold red]{run.wrong} WRONG[/bold red]",
        )
    return table


def mean_speedup(rows, low, high):
    return units.geometric_mean([row.speedup for row in rows if low <= row.bytes <= high])


def curves(runs):
    """The benchmark's curves: family -> (title, sizes, Spreads of the speed-up)."""
    result = {}
    for run in runs:
        rows = [row for row in run.rows if row.sumac_us is not None]
        if rows:
            sizes, gains = [row.bytes for row in rows], [row.gain for row in rows]
            result[run.family] = (run.mpi_name, sizes, gains)
    return result


def circumstances(share_busy):
    """Where and when the picture was made."""
    text = (
        f"{demo_cg.RANKS} ranks on {len(os.sched_getaffinity(0))} core(s) of {platform.node()}, "
        f"{processor()}, {time.strftime('%Y-%m-%d')}"
    )
    return f"{text}; {share_busy:.0%} of the machine was busy" if share_busy > BUSY else text


def parse_arguments():
    parser = argparse.ArgumentParser(description="The solver with and without Sumac.")
    parser.add_argument("--pairs", type=int, default=7, help="runs with and without, of each (7)")
    parser.add_argument("--seconds", type=float, default=0.8, help="of one run, about (0.8)")
    parser.add_argument("--output", default=demo_cg.ROOT / "demo.png", type=pathlib.Path)
    return parser.parse_args()


def busy_share(seconds=0.5):
    """The share of all cores' time that other processes use now."""

    def reading():
        line = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
        times = [int(word) for word in line.split()[1:9]]
        return sum(times), times[3] + times[4]

    before = reading()
    time.sleep(seconds)
    total, idle = (now - then for now, then in zip(reading(), before))
    return 1 - idle / total if total else 0


def introduce(share_busy):
    cores = len(os.sched_getaffinity(0))
    console.print(
        f"{processor()}, {cores} core(s) to use; {demo_cg.RANKS} ranks, "
        "the same placement with and without Sumac, runs in turns"
    )
    if share_busy > BUSY:
        console.print(
            f"[yellow]{share_busy:.0%} of the machine is busy: the times say little.[/yellow]"
        )
    if cores < demo_cg.RANKS:
        console.print("[yellow]More ranks than cores: the times say little.[/yellow]")


def demonstrate(arguments):
    """Returns the exit status. Raises DemoError when a run fails."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    mpis = find_mpis()
    share_busy = busy_share()
    introduce(share_busy)
    comparisons = solve(mpis, arguments)
    runs = bench(mpis)
    console.print()
    console.print(solver_table(comparisons))
    console.print(bench_table(runs))
    found = demo_cg.headline([c.speedup() for c in comparisons])
    titles = (found, circumstances(share_busy))
    demo_figure.save(titles, comparisons, curves(runs), arguments.output)
    console.print(f"[bold]{found}[/bold]")
    console.print(f"Picture: {arguments.output}")
    right = all(c.results_equal() for c in comparisons) and not any(run.wrong for run in runs)
    if not right:
        console.print("[bold red]Results with Sumac differ from those without.[/bold red]")
    return 0 if right else WRONG_RESULTS


def main():
    try:
        return demonstrate(parse_arguments())
    except demo_cg.DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
