# SPDX-License-Identifier: BSD-3-Clause
"""`sumac trace`: when each level of the hierarchy worked on which chunk of one operation."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Optional

import typer

from sumac_mpi.base import files
from sumac_mpi.base.console import console
from sumac_mpi.commands import common_options as common
from sumac_mpi.commands import recorded
from sumac_mpi.plot import drawing
from sumac_mpi.trace import operations, summary

Output = common.picture_option(Path)
Json = common.json_option(show_default="beside the picture")
Number = common.option(
    Optional[int], "--operation", "N", "The number of the operation to draw", None
)


def trace(
    command: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="APP [ARGUMENTS]", help="The program, and its arguments"),
    ] = None,
    ranks: common.RanksOption = None,
    host_list: common.HostsOption = None,
    hostfile: common.HostfileOption = None,
    mpi: common.MpiOption = None,
    launcher_name: common.LauncherOption = None,
    extra: common.LauncherArgOption = None,
    variables: common.VariablesOption = None,
    settings: common.SettingsOption = None,
    bind: common.BindOption = False,
    oversubscribe: common.OversubscribeOption = False,
    limit: common.LimitOption = None,
    output: Output = Path("trace.png"),
    json_file: Json = None,
    number: Number = None,
    folder: common.FolderOption = None,
) -> None:  # fmt: skip
    """Run an MPI program, and draw when each level of one collective worked.

    The picture shows one operation. The JSON has all of them, for ui.perfetto.dev and the like.

    \b
    sumac trace -n 4 --set HIERARCHY=ranks:2,node ./app
    sumac trace --from /shared/folder -o trace.svg
    """
    given = SimpleNamespace(**locals())
    recorded.require_one_source(command, folder)
    # Who asks for the file of events gets it, also where nothing can draw.
    draws = json_file is None or drawing.can_draw()
    if json_file is None:
        json_file = output.with_suffix(".json")
        files.check("--json", json_file)
    if draws:
        drawing.check("-o", output)  # before the job: it may be a long one
    status = 0
    with ExitStack() as cleanup:
        if folder is None:
            folder, status = recorded.record(given, "SUMAC_TRACE", operations.PATTERN, cleanup)
        found = recorded.load(operations.load, folder, status)
    operation = found.choose(number)
    operations.save(found, json_file)
    if draws:
        drawing.module("trace.figure").draw(operation, found, output)
    if json_file != files.STDOUT:
        show(operation, found)
    raise typer.Exit(status)


def show(operation: operations.Operation, found: operations.Trace) -> None:
    out = console(120)
    out.print(summary.title(operation, found), markup=False)
    out.print(summary.table(operation))
    for note in summary.notes(operation, found):
        out.print(note, markup=False)
