# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench`: measures an MPI's collectives with and without Sumac, and checks the results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sumac_mpi import bench_request as ask
from sumac_mpi import calls, hosts, layout, machine, programs, results, units
from sumac_mpi.bench_output import Format, Output
from sumac_mpi.cmd_run import LauncherOption, RanksOption
from sumac_mpi.errors import Exit, SumacError, bad_value
from sumac_mpi.hosts import HostsOption, LauncherArgOption


class Series(str, Enum):
    sumac = "sumac"
    mpi = "mpi"


def bench(
    collective: Annotated[calls.Call, typer.Argument(help="What to measure.")],
    ranks: RanksOption = None,
    smallest: ask.Smallest = "4",
    largest: ask.Largest = "4M",
    factor: ask.Factor = 2,
    data_type: ask.Type = "float",
    op: ask.Op = "sum",
    root: ask.Root = 0,
    in_place: ask.InPlace = False,
    warmup: ask.Warmup = 20,
    rounds: ask.Rounds = 10,
    iterations: ask.Iterations = 0,
    seconds: ask.Seconds = 0.5,
    overlap: ask.Overlap = False,
    tests: ask.Tests = 10,
    compute: ask.ComputeOption = ask.Compute.busy,
    mpi: Annotated[
        Optional[str], typer.Option("--mpi", help="openmpi, mpich or all; default: in PATH.")
    ] = None,
    launcher_name: LauncherOption = None,
    host_list: HostsOption = None,
    launcher_args: LauncherArgOption = None,
    against: Annotated[
        Optional[Path], typer.Option("--against", metavar="FILE", help="Compare with this file.")
    ] = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="What standard output is given.")
    ] = Format.table,
    series: Annotated[
        Series, typer.Option("--series", help="Whose figures --format osu prints.")
    ] = Series.sumac,
    json_file: Annotated[
        Optional[Path], typer.Option("-J", "--json", metavar="FILE", help="Write results here.")
    ] = None,
    fail_below: Annotated[
        Optional[float],
        typer.Option("--fail-below", min=0, help="Exit with 5 if a size has less speedup."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Seconds without news before giving up.")
    ] = 300,
) -> None:
    """Measure a collective with and without Sumac, and verify its results.

    \b
    sumac bench allreduce -n 4 -b 8 -e 1M -f 8 -d double -J results.json
    sumac bench bcast --mpi all --fail-below 0.95
    sumac bench iallreduce --overlap --compute idle
    sumac bench allreduce --mpi openmpi --hosts node1:2,node2:2
    """
    places = hosts.parse(host_list)
    ranks = hosts.number_of_ranks(ranks, places)
    nonblocking = calls.kind(collective.value) is calls.Kind.nonblocking
    request = ask.request(
        collective, smallest, largest, factor=factor, data_type=data_type, op=op, root=root,
        in_place=in_place, warmup=warmup, rounds=rounds, iterations=iterations, seconds=seconds,
        overlap=overlap or (nonblocking and output_format is Format.osu), tests=tests,
        compute=compute,
    )  # fmt: skip
    if root >= ranks:
        raise bad_value(f"-r {root}: not a rank of {ranks}")
    if json_file and not json_file.absolute().parent.is_dir():
        raise bad_value(f"-J {json_file}: there is no such directory")
    before = _earlier(against)
    output = Output(output_format, series.value, before)
    targets = _targets(mpi, launcher_name)
    runs = []
    for target in targets:
        records = programs.run(
            target, ranks, request.arguments(), timeout, hosts=places, launcher_args=launcher_args
        )
        runs.append(_show(records, output))
    date = datetime.now(UTC).isoformat(timespec="seconds")
    content = results.document(runs, machine.describe().as_dict(), date)
    if output_format is Format.json:
        print(json.dumps(content, indent=1))
    if json_file:
        results.save(json_file, content)
    _judge(runs, before, fail_below)


def _earlier(path: Path | None) -> dict[tuple[Any, ...], float] | None:
    """Sumac's time for each thing that the file measures."""
    if path is None:
        return None
    return {
        run.key(row): row.sumac_us
        for run in results.load(path)
        for row in run.rows
        if row.sumac_us is not None
    }


def _targets(mpi: str | None, launcher_name: str | None) -> list[programs.Target]:
    installation = layout.find()
    families = programs.choose_families(installation, "bench", mpi)
    return [programs.target(installation, "bench", family, launcher_name) for family in families]


def _show(records: Iterable[results.Record], output: Output) -> results.Run:
    run: results.Run | None = None
    for record in records:
        if run is None:
            run = results.Run(record)
            output.begin(run)
        elif row := run.add(record):
            output.row(row)
    if run is None or not run.rows:
        raise SumacError("job-failed", "the benchmark ended without results")
    output.end()
    return run


def _judge(
    runs: list[results.Run],
    before: dict[tuple[Any, ...], float] | None,
    fail_below: float | None,
) -> None:
    """Raises with status 4 for wrong results, 5 for a size that is too slow."""
    wrong = [(run, row) for run in runs for row in run.rows if row.wrong]
    if wrong:
        run, row = wrong[0]
        raise SumacError(
            "wrong-results",
            f"{row.call} of {units.format_size(row.bytes)} on {run.mpi_name}: "
            f"{row.wrong} elements were wrong ({len(wrong)} sizes in all)",
            found=f"path {row.algorithm}" if row.algorithm else "",
            fix=f"SUMAC_COLLS=^{row.collective} leaves it to the MPI; please report this",
            code=Exit.WRONG,
        )
    if fail_below is None:
        return
    slow = []
    for run in runs:
        for row in run.rows:
            earlier = (before or {}).get(run.key(row))
            change = earlier / row.sumac_us if earlier and row.sumac_us else None
            ratios = [ratio for ratio in (row.speedup, change) if ratio is not None]
            if ratios and min(ratios) < fail_below:
                slow.append(f"{run.mpi_name} {units.format_size(row.bytes)} {min(ratios):.2f}x")
    if slow:
        raise SumacError(
            "too-slow",
            f"{len(slow)} sizes are below {fail_below:g}x",
            found=", ".join(slow),
            code=Exit.SLOWER,
        )
