# SPDX-License-Identifier: BSD-3-Clause
"""`sumac trace`: when each level of the hierarchy worked on which chunk of one operation."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi.base import files
from sumac_mpi.base.console import console
from sumac_mpi.base.errors import Exit, SumacError, bad_value
from sumac_mpi.commands import common_options as common
from sumac_mpi.commands import run
from sumac_mpi.launch import job, processes
from sumac_mpi.plot import drawing
from sumac_mpi.trace import operations, summary

_VARIABLE = "SUMAC_TRACE"


def trace(
    command: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="APP [ARGUMENTS]", help="The program, and its arguments"),
    ] = None,
    ranks: common.RanksOption = None,
    host_list: common.HostsOption = None,
    mpi: common.MpiOption = None,
    launcher_name: common.LauncherOption = None,
    extra: common.LauncherArgOption = None,
    variables: common.VariablesOption = None,
    settings: common.SettingsOption = None,
    bind: common.BindOption = False,
    oversubscribe: common.OversubscribeOption = False,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The picture: .png, .svg or .pdf")
    ] = Path("trace.png"),
    json_file: Annotated[
        Optional[Path],
        typer.Option("--json", metavar="FILE", help="All operations, for Perfetto and the like",
                     show_default="beside the picture"),
    ] = None,
    number: Annotated[
        Optional[int],
        typer.Option("--operation", metavar="N", help="The number of the operation to draw"),
    ] = None,
    largest: Annotated[
        bool, typer.Option("--largest", help="Draw one of the largest operations, as by default")
    ] = False,
    folder: Annotated[
        Optional[Path],
        typer.Option("--from", metavar="FOLDER", help="Draw what a job with SUMAC_TRACE=FOLDER "
                     "has written; run nothing"),
    ] = None,
) -> None:  # fmt: skip
    """Run an MPI program, and draw when each level of one collective worked.

    \b
    sumac trace -n 4 --set HIERARCHY=ranks:2,node ./app
    sumac trace --from /shared/folder -o trace.svg
    """
    if bool(command) == bool(folder):
        raise SumacError(
            "usage",
            "either a program to run, or --from FOLDER" + ("; not both" if command else ""),
            fix="'sumac trace -h' shows how",
            code=Exit.USAGE,
        )
    if largest and number is not None:
        raise bad_value("--largest and --operation: one of them")
    json_file = json_file or output.with_suffix(".json")
    drawing.check("-o", output)  # before the job: it may be a long one
    files.check("--json", json_file)
    status = 0
    with ExitStack() as cleanup:
        if folder is None:
            chosen, wanted = run.plan(
                command or [],
                ranks,
                launcher_name,
                mpi,
                oversubscribe,
                bind,
                variables,
                settings,
                extra,
                host_list,
            )
            folder = _folder(wanted, cleanup)
            line = job.command_line(chosen, wanted)
            status = _run(line, job.environment(chosen, wanted))
        found = _load(folder, status)
    operation = found.choose(number)
    operations.save(found, json_file)
    drawing.module("trace.figure").draw(operation, found, output)
    show(operation, found)
    raise typer.Exit(status)


def _folder(wanted: job.Job, cleanup: ExitStack) -> Path:
    """The folder that the ranks write to: the one that the user named, or one for this job only."""
    if named := wanted.variables.get(_VARIABLE):
        if any(Path(named).glob("rank-*.json")):
            raise bad_value(
                f"{_VARIABLE}={named} holds a trace already", fix="name an empty folder"
            )
        try:
            Path(named).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise bad_value(f"{_VARIABLE}={named}: {error.strerror}") from error
        return Path(named)
    own = cleanup.enter_context(tempfile.TemporaryDirectory(prefix="sumac-trace-"))
    wanted.variables[_VARIABLE] = own
    return Path(own)


def _run(line: list[str], environment: dict[str, str]) -> int:
    sys.stdout.flush()
    try:
        status = processes.foreground(line, environment)
    except OSError as error:
        raise SumacError(
            "launch-failed", f"cannot start {line[0]}: {error.strerror}", code=Exit.LAUNCH
        ) from error
    return status if status >= 0 else 128 - status


def _load(folder: Path, status: int) -> operations.Trace:
    """The trace. If the job failed, that is reported, and not that there is no trace."""
    try:
        return operations.load(folder)
    except SumacError:
        if status:
            raise typer.Exit(status) from None
        raise


def show(operation: operations.Operation, found: operations.Trace) -> None:
    out = console(120)
    out.print(summary.title(operation, found), markup=False)
    out.print(summary.table(operation))
    for note in summary.notes(operation, found):
        out.print(note, markup=False)
