# SPDX-License-Identifier: BSD-3-Clause
"""`sumac tune`: measures which algorithm is the fastest here, and writes rules for SUMAC_RULES."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.table import Table

from sumac_mpi import __version__
from sumac_mpi.base import console, endings, files, hardware, units
from sumac_mpi.base.errors import bad_value
from sumac_mpi.base.spread import MEANING
from sumac_mpi.bench.modes import Mode
from sumac_mpi.bench.request import sizes_from
from sumac_mpi.commands import bench_options as ask
from sumac_mpi.commands import common_options as common
from sumac_mpi.commands import in_job
from sumac_mpi.commands.common_options import option
from sumac_mpi.launch import programs
from sumac_mpi.library import layout
from sumac_mpi.tune import decision, measure, request, rules, state
from sumac_mpi.tune.decision import NATIVE, Cell, Verdict
from sumac_mpi.tune.rules import Place

Command = ask.Command
_WHAT, _OUTPUT = "What is measured", "Output"

Collectives = Annotated[
    Optional[list[str]],
    typer.Argument(
        metavar="COLLECTIVE...",
        callback=common.checked(request.collectives),
        autocompletion=common.offering(lambda: request.collectives(())),
        help="{tuned}; all if none is given",
    ),
]
SizesOption = option(str, "--sizes", "SIZE,...", "Message sizes", _WHAT)
Turns = option(int, "--turns", "N", "How often the jobs take turns", _WHAT, min=2)
Seconds = option(
    float, "--seconds", "SECONDS", "Time that one size may take", _WHAT, min=0.001, max=3600
)
Ranks = option(
    Optional[str], "-n -np --ranks", "N,...", "Numbers of ranks; rules are written for these alone",
    show_default="one for each core",
)  # fmt: skip
Output = option(Path, "-o --output", "FILE", "The rules", _OUTPUT)
Overwrite = option(bool, "--overwrite", None, "Replace an existing file", _OUTPUT)
Restart = option(
    bool, "--restart", None, "Measure all again, also what an interrupted run has measured", _OUTPUT
)
DryRun = option(
    bool,
    "--dry-run",
    None,
    "Only show what would be measured, and about how long it takes",
    _OUTPUT,
)


# Of a user who has set these, it is not the shipped rules that would be measured.
_DECIDING = ("SUMAC_RULES", "SUMAC_ALGO")


def tune(
    named: Collectives = None,
    sizes: SizesOption = request.SIZES,
    turns: Turns = request.TURNS,
    seconds: Seconds = request.SECONDS,
    ranks: Ranks = None,
    mpi: ask.Mpi = None,
    launcher_name: common.LauncherOption = None,
    launcher_args: common.LauncherArgOption = None,
    timeout: common.TimeoutOption = 300,
    output: Output = Path("tuned.toml"),
    overwrite: Overwrite = False,
    restart: Restart = False,
    dry_run: DryRun = False,
) -> None:
    """Measure which algorithm is the fastest here, and write rules that say so.

    Each algorithm that can run within this machine is measured beside the MPI's own function. A
    rule is written where one is clearly faster than what Sumac takes by its shipped rules. Name the
    file in SUMAC_RULES. An interrupted run goes on where it stopped when it is repeated.

    \b
    sumac tune -n 2,4 -o here.toml
    sumac tune allreduce bcast -n 2 --sizes 64K,256K,1M --mpi all
    sumac tune --dry-run
    """
    in_job.require_outside_for("tune")
    _require_shipped_rules()
    chosen = request.counts_of_ranks(ranks or str(max(2, hardware.usable_cores())))
    targets = {each.family: each for each in programs.targets(mpi, launcher_name)}
    wanted = request.Request(
        request.collectives(named or ()),
        request.sizes(sizes_from(None, None, None, sizes).listed),
        chosen, tuple(targets), turns, seconds, tuple(launcher_args or ()),
    )  # fmt: skip
    if dry_run:
        print("\n".join(_plan(wanted)))
        return
    _check(output, overwrite)
    kept = state.path_beside(output)
    files.check("-o", kept)
    identity = state.identify(wanted, list(targets.values()))
    if restart:
        kept.unlink(missing_ok=True)
    measured = state.load(kept, identity)
    _measure(wanted, targets, measured, timeout)
    verdicts = {place: [decision.decide(cell) for cell in cells]
                for place, cells in measure.cells(measured).items()}  # fmt: skip
    found = [rule for place in verdicts for rule in rules.of(place, verdicts[place])]
    files.write(output, rules.document(_head(wanted, measured), found).encode())
    measured.remove()
    _show(verdicts, found, output)


def _require_shipped_rules() -> None:
    for name in _DECIDING:
        if os.environ.get(name):
            raise bad_value(f"{name} is set: what is measured is the gain over the shipped rules",
                            fix=f"unset {name}")  # fmt: skip


def _check(output: Path, overwrite: bool) -> None:
    files.check("-o", output)
    if output.exists() and not overwrite:
        raise bad_value(f"-o {output}: the file exists", fix="--overwrite, or another name")


def _measure(
    wanted: request.Request,
    targets: Mapping[str, programs.Target],
    measured: state.State,
    timeout: float,
) -> None:
    start = partial(programs.run, silence=timeout, launcher_args=list(wanted.launcher_args))
    jobs = len(wanted.jobs())
    try:
        with console.of_jobs(jobs) as advance:
            measure.measure(wanted, targets, measured, start, advance)
    except (Exception, KeyboardInterrupt) as end:
        if measured.runs:
            print(f"# incomplete: {endings.reason(end)} after {len(measured.runs)} jobs, kept in "
                  f"{measured.path}: repeat the command to go on", file=sys.stderr)  # fmt: skip
        raise


def _plan(wanted: request.Request) -> list[str]:
    """What would be measured, and about how long it takes."""
    lines = ["# a job for each way and turn:"]
    jobs = wanted.jobs()
    for collective in wanted.collectives:
        ways = ", ".join([request.SHIPPED, *request.ways(collective)])
        lines.append(f"{collective:<15} {ways}")
    listed = ", ".join(map(units.format_size, wanted.sizes))
    seconds = sum(wanted.job_seconds(job.collective) for job in jobs)
    return [
        *lines,
        f"# sizes: {listed}",
        f"# ranks: {', '.join(map(str, wanted.ranks))}; MPIs: {', '.join(wanted.families)}",
        f"# {len(jobs)} jobs in {wanted.turns} turns, at most about "
        f"{seconds / 60:.0f} min {seconds % 60:.0f} s",
    ]


def _head(wanted: request.Request, measured: state.State) -> list[str]:
    machine = measured.identity["machine"]
    mpis = dict.fromkeys(run.mpi_name for run in measured.runs.values())
    date = datetime.now(UTC).isoformat(timespec="minutes")
    return [
        f"Rules for this machine, measured by 'sumac tune' on {date}: for SUMAC_RULES.",
        f"{machine['host']}: {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}",
        f"{', '.join(mpis)}; Sumac {__version__}",
        wanted.command,
        "Where there is no rule, the shipped one is kept. docs/rules.md says what decides.",
    ]


def _show(
    verdicts: Mapping[Place, Sequence[Verdict]], found: Sequence[rules.Rule], output: Path
) -> None:
    out = console.console(140)
    for title, table in _tables(verdicts):
        out.print(title, markup=False)
        out.print(table)
        out.print()
    sizes = sum(len(each) for each in verdicts.values())
    changed = sum(verdict.changes for each in verdicts.values() for verdict in each)
    if changed:
        print(f"# {MEANING}")
    of_sizes, how_many = units.counted(sizes, "size"), units.counted(len(found), "rule")
    print(f"# differs from the shipped rules at {changed} of {of_sizes}; "
          f"{how_many} in {output}")  # fmt: skip


_NUMBERS = ("size", "us", "MPI us", "other us")
_TITLES = ("size", "mode", "shipped", "us", "MPI us", "best other", "other us", "kept", "why")


def _tables(verdicts: Mapping[Place, Sequence[Verdict]]) -> Iterator[tuple[str, Table]]:
    """Each with its title."""
    for place, found in verdicts.items():
        room = ", more than processors" if place.shared else ""
        room += f", {place.handover}" if place.handover else ""
        title = (
            f"# {place.collective} · {place.ranks} ranks{room} · {layout.FAMILIES[place.family]}"
        )
        table = Table(box=None, pad_edge=False)
        for name in _TITLES:
            table.add_column(name, justify="right" if name in _NUMBERS else "left")
        for verdict in found:
            for mode in _modes(verdict.cell):
                table.add_row(*_row(verdict, mode))
        yield title, table


def _modes(cell: Cell) -> list[Hashable]:
    """A row for each mode of the machine of this distance; the decision is one for all."""
    modes = dict.fromkeys(mode for way in cell.ways.values() for mode in way)
    return sorted(modes, key=lambda mode: mode.low if isinstance(mode, Mode) else 0.0)


def _row(verdict: Verdict, mode: Hashable) -> tuple[str, ...]:
    cell = verdict.cell
    best = _best(cell, mode)
    return (
        str(cell.bytes or "-"),
        f"{mode.name} {mode.middle:.0f}" if isinstance(mode, Mode) else "-",
        *(cell.shipped, _us(cell, cell.shipped, mode), _us(cell, NATIVE, mode)),
        *(best or "-", _us(cell, best, mode), verdict.kept, verdict.why),
    )


def _best(cell: Cell, mode: Hashable) -> str | None:
    """The fastest of Sumac's other algorithms."""
    times = {
        way: us
        for way in cell.ways
        if way not in (NATIVE, cell.shipped) and (us := cell.us(way, mode)) is not None
    }
    return min(times, key=times.__getitem__, default=None)


def _us(cell: Cell, way: str | None, mode: Hashable) -> str:
    us = cell.us(way, mode) if way else None
    return "-" if us is None else units.format_us(us)
