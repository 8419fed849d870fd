# SPDX-License-Identifier: BSD-3-Clause
"""`sumac replay`: the calls of a record, made again without the program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi.base import progress, units
from sumac_mpi.base.console import console
from sumac_mpi.base.errors import Exit, SumacError, bad_value
from sumac_mpi.commands import common_options as common
from sumac_mpi.launch import hosts, programs
from sumac_mpi.library import layout
from sumac_mpi.replay import classes, folder, results, simulated, table
from sumac_mpi.simulate import smpi

_PROGRAM = "replay"
_WAYS = ("mpi", "sumac")


def replay(
    record: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="What a job with SUMAC_RECORD=FOLDER wrote")
    ],
    ways: Annotated[
        str,
        typer.Option("--with", metavar="WAY,...", help="Who makes the calls: mpi, sumac"),
    ] = ",".join(_WAYS),
    passes: Annotated[
        int, typer.Option("--passes", metavar="N", min=1, help="Times that each makes all calls")
    ] = 5,
    gaps: Annotated[
        bool, typer.Option("--gaps", help="Compute between calls as long as the program did")
    ] = False,
    memory: Annotated[
        str,
        typer.Option("--memory", metavar="SIZE", help="The most that a rank's buffers may take"),
    ] = "4G",
    described: Annotated[
        Optional[str],
        typer.Option(
            "--simulated",
            metavar="CLUSTER",
            help="Simulate the calls on this cluster, as 'sumac simulate' does, and run nothing",
        ),
    ] = None,
    host_list: common.HostsOption = None,
    mpi: common.MpiOption = None,
    launcher_name: common.LauncherOption = None,
    launcher_args: common.LauncherArgOption = None,
    timeout: common.TimeoutOption = 300,
    as_json: Annotated[bool, typer.Option("--json", help=common.AS_JSON)] = False,
) -> None:
    """Make the calls of a recorded program again, by its MPI and by Sumac.

    As many ranks, communicators, datatypes and buffers as the program had, with other data. The MPI
    and Sumac take turns in one job; their results are compared.

    \b
    sumac replay record
    sumac replay record --mpi mpich --gaps
    sumac replay record --simulated fat-tree
    """
    chosen, most = _ways(ways), units.parse_size(memory)
    places = hosts.parse(host_list)
    found = folder.load(record)
    if described is not None:
        _simulate(found, described, timeout, as_json)
        return
    if places and places.ranks != found.ranks:
        raise bad_value(
            f"--hosts: {places.ranks} ranks, and the record is of {found.ranks}",
            fix="name as many as the program had",
        )
    installation = layout.find()
    target = programs.target(installation, _PROGRAM, _family(installation, found, mpi),
                             launcher_name)  # fmt: skip
    arguments = [str(found.folder.resolve()), "--rounds", str(passes), "--memory",
                 str(most), *(["--gaps"] if gaps else [])]  # fmt: skip
    arguments += [f"--only-{way}" for way in _WAYS if chosen == [way]]
    records = programs.run(
        target, found.ranks, arguments, timeout, hosts=places, launcher_args=launcher_args
    )
    with _progress() as advance:
        measured = results.read(records, advance)
    show(measured, as_json)
    if measured.wrong:
        raise SumacError(
            "wrong-results",
            f"{measured.wrong} calls gave other results by Sumac than by the MPI",
            fix="SUMAC_COLLS=^NAME leaves a collective to the MPI; please report this",
            code=Exit.WRONG,
        )


def _simulate(found: folder.Record, described: str, timeout: float, as_json: bool) -> None:
    smpi.command()
    smpi.program()
    counted, others = classes.count(found.folder / "rank-0.calls")
    wanted = simulated.jobs(described, counted)
    steps = sum(len(job.ways) * max(1, len(job.sizes)) for job, _ in wanted)
    with _progress() as advance:
        advance(steps, "")
        rows = simulated.run(wanted, timeout, lambda way: advance(0, way))
    if as_json:
        print(json.dumps({"classes": [row.as_dict() for row in rows], "others": others}, indent=1))
    else:
        out = console(100)
        out.print(simulated.table(rows))
        for note in simulated.notes(others):
            out.print(note, markup=False)
    raise typer.Exit(Exit.WRONG if any(row.wrong for row in rows) else Exit.OK)


def _ways(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in _WAYS:
            raise bad_value(f"--with {word}: not one of {', '.join(_WAYS)}")
    if not words:
        raise bad_value("--with: nobody is named", fix=f"name some of {', '.join(_WAYS)}")
    return [way for way in _WAYS if way in words]


def _family(installation: layout.Installation, found: folder.Record, mpi: str | None) -> str:
    """The MPI that --mpi names, else that of the record where it can be started, else any."""
    if mpi is not None:
        return programs.choose_families(installation, _PROGRAM, mpi)[0]
    usable = programs.choose_families(installation, _PROGRAM, "all")
    return found.family if found.family in usable else usable[0]


@contextmanager
def _progress() -> Iterator[Callable[[int, str], None]]:
    """A bar over the passes, whose number is told when they begin."""
    with progress.bar(None) as update:

        def advance(total: int, way: str) -> None:
            update(**({"total": total} if total else {"advance": 1, "description": way}))

        yield advance


def show(measured: results.Results, as_json: bool) -> None:
    if as_json:
        print(json.dumps(measured.as_dict(), indent=1))
        return
    out = console(100)
    out.print(table.title(measured), markup=False)
    out.print(table.table(measured))
    for note in table.notes(measured):
        out.print(note, markup=False)
