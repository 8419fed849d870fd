# SPDX-License-Identifier: BSD-3-Clause
"""`sumac profile`: which collectives a program calls, from where, and how long they take."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Annotated, Optional

import typer

from sumac_mpi.base import console, files, units
from sumac_mpi.base.errors import bad_value
from sumac_mpi.commands import common_options as common
from sumac_mpi.commands import in_job, recorded
from sumac_mpi.launch import hosts, programs
from sumac_mpi.plot import drawing
from sumac_mpi.profile import job, measure, prediction, report
from sumac_mpi.profile.files import PATTERN
from sumac_mpi.profile.gains import Known
from sumac_mpi.profile.rows import By

ByOption = common.option(
    By, "--by", "|".join(each.value for each in By), "What a row stands for", None
)
Top = common.option(int, "--top", "N", "Rows to show at most", None, min=1)
Measure = common.option(
    bool, "--measure", None, "Measure what Sumac gains here on N ranks; run nothing", None
)


def profile(
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
    by: ByOption = By.call,
    top: Top = 20,
    json_file: common.JsonOption = None,
    folder: common.FolderOption = None,
    picture: common.PictureOption = None,
    measuring: Measure = False,
) -> None:  # fmt: skip
    """Run an MPI program; show its collectives, and predict their time with Sumac.

    Sumac only watches. The MPI serves all calls. What Sumac would gain is predicted where it has
    been measured, once, on this machine.

    \b
    sumac profile -n 4 ./app
    sumac profile -n 4 --by site ./app
    sumac profile --from /shared/folder --json
    sumac profile --measure -n 4
    """
    given = SimpleNamespace(**locals())
    if measuring:
        _measure(command or folder, ranks, mpi, launcher_name)
        return
    recorded.require_one_source(command, folder)
    if picture:
        drawing.check("-o", picture)  # before the job: it may be a long one
    status = 0
    with ExitStack() as cleanup:
        if folder is None:
            folder, status = recorded.record(given, "SUMAC_PROFILE", PATTERN, cleanup)
        found = recorded.load(job.load, folder, status)
    known = Known(found)
    predicted = prediction.predict(found, known.table)
    if picture:
        drawing.module("profile.figure").draw(found, _is_predicted(known), picture)
    if json_file:
        content = report.as_dict(found, by) | {"predicted": prediction.as_dict(predicted, known)}
        files.show_json(content, json_file)
    else:
        _show(found, by, top, predicted, known)
    raise typer.Exit(status)


def _measure(other: object, ranks: int | None, mpi: str | None, launcher_name: str | None) -> None:
    if other:
        raise bad_value("--measure: measures this machine, and runs and shows no program",
                        fix="measure first, then profile")  # fmt: skip
    in_job.require_outside_for("profile --measure")
    number = hosts.number_of_ranks(ranks, None)
    if number < 2:
        raise bad_value("--measure: one rank alone has no collectives", fix="-n 2 or more")
    target = programs.targets(mpi, launcher_name)[0]
    number_of_calls, minutes = len(measure.calls_to_measure()), round(measure.seconds() / 60)
    print(
        f"sumac: measures {number_of_calls} calls of {target.launcher.version} on {number} ranks, "
        f"with Sumac and without: about {units.counted(minutes, 'minute')}",
        file=sys.stderr,
        flush=True,
    )
    with console.of_jobs(number_of_calls) as advance:
        path = measure.measure(target, number, advance)
    print(f"measured {target.launcher.version} on {number} ranks: {path}")


def _is_predicted(known: Known) -> bool:
    return any(known.tables.values())


def _show(
    found: job.Profile, by: By, top: int, predicted: prediction.Predicted, known: Known
) -> None:
    out = console.console(140)
    out.print(report.title(found), markup=False)
    collectives = report.table(found, by, top, _is_predicted(known), out.width)
    if collectives.row_count:
        out.print()
        out.print(collectives)
        out.print()
        out.print(report.waiting_line(found), markup=False)
        for line in prediction.lines(predicted, known):
            out.print(line, markup=False)
    else:
        out.print("no collective was recorded")
    if local := report.local_table(found, by, out.width):
        out.print()
        out.print(local)
    for note in report.notes(found):
        out.print(note, markup=False)
