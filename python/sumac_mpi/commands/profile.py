# SPDX-License-Identifier: BSD-3-Clause
"""`sumac profile`: which collectives a program calls, from where, and how long they take."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi.base.console import console
from sumac_mpi.commands import common_options as common
from sumac_mpi.commands import recorded, run
from sumac_mpi.profile import files, job, report
from sumac_mpi.profile.rows import By


def profile(
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
    by: Annotated[By, typer.Option("--by", help="What a row of the table stands for")] = By.call,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Rows to show at most")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help=common.AS_JSON)] = False,
    folder: Annotated[
        Optional[Path],
        typer.Option("--from", metavar="FOLDER", help=common.FROM_FOLDER),
    ] = None,
) -> None:  # fmt: skip
    """Run an MPI program, and show its collectives, and how long they wait.

    Sumac only watches. The MPI serves all calls.

    \b
    sumac profile -n 4 ./app
    sumac profile -n 4 --by site ./app
    sumac profile --from /shared/folder --json
    """
    recorded.require_one_source(command, folder)
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
            folder = recorded.folder_of(wanted, "SUMAC_PROFILE", files.PATTERN, cleanup)
            status = recorded.run(chosen, wanted)
        found = recorded.load(job.load, folder, status)
    if as_json:
        print(json.dumps(report.as_dict(found, by), indent=1))
    else:
        _show(found, by, top)
    raise typer.Exit(status)


def _show(found: job.Profile, by: By, top: int) -> None:
    out = console(120)
    out.print(report.title(found), markup=False)
    collectives = report.table(found, by, top)
    if collectives.row_count:
        out.print()
        out.print(collectives)
        out.print()
        out.print(report.waiting_line(found), markup=False)
    else:
        out.print("no collective was called")
    if local := report.local_table(found, by):
        out.print()
        out.print(local)
    for note in report.notes(found):
        out.print(note, markup=False)
