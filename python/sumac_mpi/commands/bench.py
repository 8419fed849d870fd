# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench`: measures an MPI's collectives with and without Sumac, and checks the results."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sumac_mpi.base import endings, files
from sumac_mpi.base.errors import bad_value
from sumac_mpi.base.spread import Spread
from sumac_mpi.bench import request, results, verdict
from sumac_mpi.bench.output import Files, Format, Output
from sumac_mpi.bench.request import OP, ROUNDS, SECONDS, TYPE, Compute, Request, Series
from sumac_mpi.commands import bench_against, in_job
from sumac_mpi.commands import bench_options as ask
from sumac_mpi.commands import common_options as common
from sumac_mpi.launch import hosts, programs
from sumac_mpi.library import calls

Command = ask.Command


def bench(
    call: ask.Call,
    smallest: ask.Smallest = None,
    largest: ask.Largest = None,
    factor: ask.Factor = None,
    sizes: ask.SizesOption = None,
    data_type: ask.Type = None,
    op: ask.Op = None,
    types: ask.Types = None,
    ops: ask.Ops = None,
    layouts: ask.Layouts = None,
    root: ask.Root = 0,
    in_place: ask.InPlace = False,
    with_counts: ask.WithCounts = False,
    warmup: ask.Warmup = 20,
    rounds: ask.Rounds = None,
    iterations: ask.Iterations = 0,
    seconds: ask.Seconds = None,
    cold: ask.Cold = 0,
    overlap: ask.Overlap = False,
    tests: ask.Tests = 10,
    compute: ask.ComputeOption = Compute.busy,
    ranks: common.RanksOption = None,
    host_list: common.HostsOption = None,
    mpi: ask.Mpi = None,
    launcher_name: common.LauncherOption = None,
    launcher_args: common.LauncherArgOption = None,
    timeout: common.TimeoutOption = 300,
    against: ask.Against = None,
    under: ask.Under = None,
    turns: ask.Turns = None,
    install_mpis: ask.InstallMpis = False,
    output_format: ask.FormatOption = Format.table,
    wide: ask.Wide = False,
    series: ask.SeriesOption = Series.sumac,
    json_file: ask.JsonFile = None,
    picture: ask.PictureFile = None,
    fail_below: ask.FailBelow = None,
) -> None:
    """Measure a collective with and without Sumac, and verify its results.

    \b
    sumac bench allreduce -n 4 -b 8 -e 1M -f 8 -d double --json=out.json
    sumac bench bcast --mpi all --fail-below 0.95
    sumac bench iallreduce --overlap --compute idle
    sumac bench allreduce --mpi openmpi --hosts node1:2,node2:2
    sumac bench allreduce --against all -n 2 --json=against.json
    sumac bench reduce_local --types float,int8 --sizes 64K -o local.png
    sumac bench pack --layouts vector_1_2,columns --sizes 256K,64M -o pack.png
    """
    given = SimpleNamespace(**locals())
    in_job.require_outside_for("bench")
    given.places = hosts.parse(host_list)
    what, given.ranks = (_of_local if call in calls.LOCAL else _of_collective)(given)
    if root >= given.ranks:
        raise bad_value(f"-r {root}: not a rank of {given.ranks}")
    if json_file == files.STDOUT:
        output_format = Format.json
    elif output_format is Format.json and json_file is None:
        json_file = files.STDOUT
    keep = Files(call, json_file, picture)
    start = partial(
        programs.run, ranks=given.ranks, arguments=what.arguments(), silence=timeout,
        hosts=given.places, launcher_args=launcher_args,
    )  # fmt: skip
    if bench_against.names_mpis(against):
        _refuse_beside_mpis(given)
        asked = bench_against.Asked(str(against), under, turns)
        bench_against.measure(asked, start, keep, output_format, fail_below)
        return
    _refuse(call, {"--under": under, "--turns": turns}, "they need --against MPI,... or all")
    before = _earlier(against)
    targets = programs.targets(mpi, launcher_name)
    runs = _measure(map(start, targets), Output(output_format, series.value, before, wide), keep)
    keep.write(runs)
    _judge(runs, before, fail_below)


# Each returns what is measured, and the number of ranks, from the options by their names.


def _of_collective(given: SimpleNamespace) -> tuple[Request, int]:
    _refuse(given.call, {"--types": given.types, "--ops": given.ops}, "use -d and --op")
    _refuse(given.call, {"--layouts": given.layouts}, "they are for pack")
    for_osu = calls.kind(given.call) is calls.Kind.nonblocking and given.output_format is Format.osu
    request = Request(
        given.call, _sizes(given), given.data_type or TYPE, given.op or OP, given.root,
        given.in_place, given.warmup, given.rounds or ROUNDS, given.iterations,
        given.seconds or SECONDS, given.overlap or for_osu, given.tests, given.compute,
        given.with_counts, given.cold,
    )  # fmt: skip
    if given.cold:
        effort = {"--rounds": given.rounds, "--iterations": given.iterations,
                  "--seconds": given.seconds}  # fmt: skip
        _refuse("--cold", effort, "it makes so many calls of each size, once; see --turns")
    return request, hosts.number_of_ranks(given.ranks, given.places)


_Local = request.LocalRequest | request.PackRequest


def _of_local(given: SimpleNamespace) -> tuple[_Local, int]:
    _refuse(
        given.call,
        {"-n": given.ranks not in (None, 1), "--hosts": given.places, "-d": given.data_type,
         "--op": given.op, "-r": given.root, "--in-place": given.in_place,
         "--with-counts": given.with_counts, "--cold": given.cold,
         "--overlap": given.overlap, "--format osu": given.output_format is Format.osu},
        "it is measured in one process, by the options that its help names",
    )  # fmt: skip
    effort = request.Effort(given.rounds, given.iterations, given.seconds)
    if given.call == calls.PACK:
        _refuse(given.call, {"--types": given.types, "--ops": given.ops}, "use --layouts")
        sizes = _sizes(given, request.PACK_SIZES)
        return request.of_packing(sizes, given.layouts, effort), 1
    _refuse(given.call, {"--layouts": given.layouts}, "use --types and --ops")
    sizes = _sizes(given, request.LOCAL_SIZES)
    return request.of_reductions(sizes, given.types, given.ops, effort), 1


def _sizes(given: SimpleNamespace, by_default: str | None = None) -> request.Sizes:
    return request.sizes_from(given.smallest, given.largest, given.factor, given.sizes, by_default)


def _refuse_beside_mpis(given: SimpleNamespace) -> None:
    format_ = given.output_format
    refused = {
        given.call: given.call in calls.LOCAL, "--hosts": given.places,
        "--mpi": given.mpi, "--launcher": given.launcher_name,
        "--launcher-arg": given.launcher_args, "--overlap": given.overlap,
        "--series": given.series is not Series.sumac,
        f"--format {format_.value}": format_ in (Format.osu, Format.csv),
    }  # fmt: skip
    _refuse("--against MPI", refused, "it runs several MPIs, and shows a table or JSON")


def _refuse(call: str, given: dict[str, object], why: str) -> None:
    """Raises a usage error for an option that was given, but has no meaning for this call."""
    for option, value in given.items():
        if value:
            raise bad_value(f"{option}: not for {call}", fix=why)


def _measure(
    jobs: Iterable[Generator[results.Record, None, None]], output: Output, keep: Files
) -> list[results.Run]:
    """Measures and shows the results; keeps them if the measurement ends early."""
    runs: list[results.Run] = []
    try:
        for job in jobs:
            _show(job, output, runs)
    except (Exception, KeyboardInterrupt) as end:
        _cut_short(end, runs, output, keep)
        raise
    return runs


def _cut_short(end: BaseException, runs: list[results.Run], output: Output, keep: Files) -> None:
    """Writes the results that were measured so far."""
    output.leave_terminal()
    if not any(run.rows for run in runs):
        return
    cut_by = endings.reason(end)
    last = runs[-1]
    if not last.summary:
        last.cut_by = cut_by
    keep.write([run for run in runs if run.rows], cut_by)
    if isinstance(end, BrokenPipeError):
        return
    if last.cut_by:
        output.cut(last)
    else:
        print(f"# incomplete: {cut_by} after {last.mpi_name}", file=sys.stderr)


def _earlier(path: str | None) -> dict[tuple[Any, ...], Spread] | None:
    """Sumac's times for each measurement in the file."""
    if path is None:
        return None
    return {
        run.key(row): times
        for run in results.load(Path(path))
        for row in run.rows
        if (times := row.times("sumac"))
    }


def _show(
    job: Generator[results.Record, None, None], output: Output, runs: list[results.Run]
) -> None:
    """Adds a run to `runs`, and to that run each row when it is measured."""

    def begin(header: results.Record) -> results.Run:
        run = results.Run(header)
        runs.append(run)
        output.begin(run)
        return run

    results.of_job(job, begin, output.rows)
    output.end()


def _judge(
    runs: list[results.Run], before: dict[tuple[Any, ...], Spread] | None, fail_below: float | None
) -> None:
    """Raises with status 4 for wrong results, 5 for a size that is too slow."""
    verdict.require_right(runs)
    ratios = []
    for run in runs:
        for row in run.rows:
            earlier = (before or {}).get(run.key(row))
            change = earlier.median / row.sumac_us if earlier and row.sumac_us else None
            known = [ratio for ratio in (row.speedup, change) if ratio is not None]
            ratios += [(f"{run.mpi_name} {row.place}", min(known))] if known else []
    verdict.require_fast(ratios, fail_below)
