# SPDX-License-Identifier: BSD-3-Clause
"""`sumac run`: starts an MPI program with Sumac in front, by the launcher of the program's MPI."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Annotated

import typer

from sumac_mpi.base.errors import Exit, SumacError, bad_value, print_warning
from sumac_mpi.commands import common_options as common
from sumac_mpi.commands import in_job
from sumac_mpi.launch import application, hosts, job, launcher
from sumac_mpi.library import layout, options


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="APP [ARGUMENTS]", help="The program, and its arguments")
    ],
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the launcher's command line; start nothing")
    ] = False,
) -> None:
    """Start an MPI program with Sumac in front of its MPI.

    The launchers' usual options are understood, or passed on: --map-by, --bind-to, -ppn, --mca,
    -genv, -v and so on.

    \b
    sumac run -n 4 ./app
    sumac run -n 4 --set STATS=1 -- python3 train.py
    sumac run --hosts node1:2,node2:2 ./app
    """
    given = SimpleNamespace(**locals())
    chosen, wanted = plan(given)
    line = job.command_line(chosen, wanted)
    if dry_run:
        print(shlex.join(line))
        return
    # The launcher takes the place of this process, so that signals and exit status are its own.
    with launching(line):
        os.execvpe(line[0], line, job.environment(chosen, wanted))


def plan(given: SimpleNamespace) -> tuple[launcher.Launcher, job.Job]:
    """The launcher, and the job with `sumac exec` in front of the command. `given` has the
    parameters of run() about the job, by their names."""
    in_job.require_outside(f"inside of a launcher: sumac exec {shlex.join(given.command)}")
    if given.host_list and given.hostfile:
        raise bad_value("--hosts and --hostfile: one of them")
    places = hosts.read(given.hostfile) if given.hostfile else hosts.parse(given.host_list)
    installation = layout.find()
    added = _variables(given.variables or [])
    added |= options.of_settings(installation, given.settings or [])
    app = application.find(given.command, added)
    if app.launcher:
        raise _starts_itself(app, given)
    linked = app.mpi if app.certain or not (given.mpi or given.launcher_name) else None
    chosen = launcher.choose(app.name, linked, given.mpi, given.launcher_name)
    if app.mpi is None and not (given.mpi or given.launcher_name or chosen.family is None):
        _tell_guess(app, chosen)
    wanted = job.Job(
        ranks=hosts.number_of_ranks(given.ranks, places),
        command=[str(installation.command), "exec", "--", *given.command],
        variables=added,
        bind=given.bind,
        oversubscribe=given.oversubscribe,
        extra=given.extra or [],
        hosts=places,
        limit=given.limit,
    )
    return chosen, wanted


def _starts_itself(app: application.Application, given: SimpleNamespace) -> SumacError:
    """A job of each rank of a job is what nobody wants."""
    fix = f"sumac exec -- {shlex.join(given.command)}, with its own option for the number of ranks"
    if app.is_launcher:
        fix = f"{app.name} -n {given.ranks or 2} sumac exec ./app"
    return SumacError(
        "own-launcher",
        f"{app.name} starts an MPI job itself, which would be started {given.ranks or 'several'} "
        "times",
        found=app.launcher,
        fix=fix,
        code=Exit.USAGE,
    )


def _tell_guess(app: application.Application, chosen: launcher.Launcher) -> None:
    """Says that the launcher does not follow from the program: with that of another MPI, each
    process would be a job of its own."""
    print_warning(
        "mpi-guessed",
        f"{app.no_mpi}: the program is started by the first launcher in PATH, {chosen.path} of "
        f"{layout.FAMILIES[chosen.family]}",
        fix="if the program opens the library of another MPI by itself: --mpi NAME",
    )


@contextmanager
def launching(line: list[str]) -> Iterator[None]:
    """Raises with status 125 if the launcher cannot be started."""
    try:
        yield
    except OSError as error:
        raise SumacError(
            "launch-failed", f"cannot start {line[0]}: {error.strerror}", code=Exit.LAUNCH
        ) from error


def _variables(texts: list[str]) -> dict[str, str]:
    """-x NAME=VALUE, -x NAME, and all SUMAC_* options that are set."""
    result = options.to_pass_on()
    for text in texts:
        name, equals, value = text.partition("=")
        if not name.isidentifier():
            raise bad_value(f"-x {text}: not NAME=VALUE")
        if not equals and name not in os.environ:
            raise bad_value(f"-x {name}: the variable is not set", fix=f"-x {name}=VALUE")
        result[name] = value if equals else os.environ[name]
    return result
