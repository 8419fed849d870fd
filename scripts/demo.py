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
import matplotlib
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sumac_mpi.base import hardware, units
from sumac_mpi.bench import results

matplotlib.use("Agg")

from matplotlib import pyplot, ticker  # noqa: E402

# Cells of a rank along each dimension: a small box, as at the end of a strong-scaling curve, where
# all-reduces take a large share of the time, and one where the solver has more to compute.
CELLS = (6, 12)
SIZE_RANGES = ((4, 1 << 10), (4 << 10, 4 << 20))
WRONG_RESULTS = 4
COLOURS = {"openmpi": "#1f6fb4", "mpich": "#c8553d"}
GREY = "#9aa0a6"
HEIGHT = 0.36  # of a bar
BUSY = 0.1  # a share of the machine that others use, from which on times say little
FOLDER = demo_cg.ROOT / "build/demo"
console = Console(highlight=False, soft_wrap=True)


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
        f"{hardware.describe().cpu}, {time.strftime('%Y-%m-%d')}"
    )
    return f"{text}; {share_busy:.0%} of the machine was busy" if share_busy > BUSY else text


def draw_bar(axes, place, seconds, colour, label):
    """One bar, from 0 to the median, with whiskers to the quartiles."""
    axes.barh(place, seconds.median, HEIGHT, color=colour)
    whiskers = [[seconds.median - seconds.low], [seconds.high - seconds.median]]
    axes.errorbar(seconds.median, place, xerr=whiskers, color="black", capsize=3, linewidth=1)
    axes.annotate(
        label,
        (seconds.high, place),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        fontweight="bold" if colour != GREY else "normal",
    )


def draw_solver(axes, comparisons):
    """Two bars a comparison, the MPI alone above Sumac."""
    for place, comparison in enumerate(comparisons):
        native, sumac = comparison.seconds("native"), comparison.seconds("sumac")
        draw_bar(axes, place - HEIGHT / 2, native, GREY, f"{native.median:.2f} s")
        gain = comparison.speedup()
        found = f"{gain.median:.2f}x as fast" if gain.is_clear() else "no clear difference"
        text = f"{sumac.median:.2f} s with Sumac: {found}"
        draw_bar(axes, place + HEIGHT / 2, sumac, COLOURS[comparison.mpi.family], text)
    axes.set_yticks(
        range(len(comparisons)),
        [f"{c.mpi.title}\n{c.plan.cells}³ cells a rank" for c in comparisons],
    )
    axes.invert_yaxis()
    longest = max(c.seconds(side).high for c in comparisons for side in ("native", "sumac"))
    axes.set_xlim(0, longest * 1.6)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(5))
    axes.set_xlabel("seconds to solution (shorter is better)")
    axes.set_title("A solver, MPI alone (grey) and with Sumac", fontsize=10)


def draw_allreduce(axes, curves):
    """One line an MPI. curves: family -> (title, sizes, Spreads of the speed-up)."""
    for family, (title, sizes, speedups) in curves.items():
        colour = COLOURS.get(family, GREY)
        axes.plot(
            sizes, [s.median for s in speedups], "-o", color=colour, markersize=3, label=title
        )
        low, high = ([getattr(s, end) for s in speedups] for end in ("low", "high"))
        axes.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.axhline(1, color="black", linewidth=1)
    axes.annotate("the MPI alone", (0, 1), xycoords=("axes fraction", "data"), va="bottom")
    axes.set_xscale("log", base=4)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_locator(ticker.LogLocator(base=16, numticks=10))
    sizes_shown = ticker.FuncFormatter(lambda size, _: units.format_bytes(round(size)))
    axes.xaxis.set_major_formatter(sizes_shown)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda times, _: f"{units.plain(times)}x"))
    axes.set_xlabel("size of the message")
    axes.set_ylabel("times as fast")
    axes.grid(True, which="major", alpha=0.25)
    axes.legend(fontsize=9, frameon=False)
    axes.set_title("MPI_Allreduce alone, sums of floats, 2 ranks", fontsize=10)


def save_picture(titles, comparisons, curves, path):
    """Draws the picture to `path`. titles: what was found, and where and when; comparisons: of
    demo_cg; curves: see draw_allreduce()."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    figure.suptitle(titles[0], fontweight="bold")
    notes = f"Bars and points are medians, whiskers and bands quartiles. {titles[1]}"
    figure.supxlabel(notes, fontsize=8, color="#5f6368")
    draw_solver(left, comparisons)
    draw_allreduce(right, curves)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


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
        f"{hardware.describe().cpu}, {cores} core(s) to use; {demo_cg.RANKS} ranks, "
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
    save_picture(titles, comparisons, curves(runs), arguments.output)
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
