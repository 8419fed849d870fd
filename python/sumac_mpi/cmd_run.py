# SPDX-License-Identifier: BSD-3-Clause
"""`sumac run`: starts an MPI program with Sumac in front, by the launcher of the program's MPI."""

from __future__ import annotations

import os
import shlex
from typing import Annotated, Optional

import typer

from sumac_mpi import application, hosts, job, launcher, layout, options
from sumac_mpi.errors import Exit, SumacError, bad_value
from sumac_mpi.hosts import HostsOption, LauncherArgOption

LauncherOption = Annotated[
    Optional[str],
    typer.Option("--launcher", metavar="PATH", help="The mpiexec to use, instead of finding it."),
]
RanksOption = Annotated[
    Optional[int],
    typer.Option(
        "-n", "--ranks", min=1, help="Ranks; default: one for each core, or all of --hosts."
    ),
]

MpiOption = Annotated[
    Optional[str], typer.Option("--mpi", help="openmpi or mpich, where the program does not tell.")
]
OversubscribeOption = Annotated[
    bool, typer.Option("--oversubscribe", help="Allow more ranks than cores in any case.")
]
BindOption = Annotated[bool, typer.Option("--bind", help="Bind each rank to a core.")]
VariablesOption = Annotated[
    Optional[list[str]],
    typer.Option("-x", metavar="NAME[=VALUE]", help="Set or pass on a variable, on all hosts."),
]


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="APP", help="The program and its arguments.")
    ],
    ranks: RanksOption = None,
    launcher_name: LauncherOption = None,
    mpi: MpiOption = None,
    oversubscribe: OversubscribeOption = False,
    bind: BindOption = False,
    variables: VariablesOption = None,
    extra: LauncherArgOption = None,
    host_list: HostsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the launcher's command line, and end.")
    ] = False,
) -> None:
    """Start an MPI program with Sumac in front of its MPI.

    \b
    sumac run -n 4 ./heat
    sumac run -n 4 -x SUMAC_STATS=1 -- python train.py
    sumac run --hosts node1:2,node2:2 ./heat
    """
    chosen, wanted = plan(
        command, ranks, launcher_name, mpi, oversubscribe, bind, variables, extra, host_list
    )
    line = job.command_line(chosen, wanted)
    if dry_run:
        print(shlex.join(line))
        return
    _become(line, job.environment(chosen, wanted))


def plan(
    command: list[str],
    ranks: int | None,
    launcher_name: str | None,
    mpi: str | None,
    oversubscribe: bool,
    bind: bool,
    variables: list[str] | None,
    extra: list[str] | None,
    host_list: str | None,
) -> tuple[launcher.Launcher, job.Job]:
    """The launcher, and the job with `sumac exec` in front of the command."""
    if mpi is not None and mpi not in layout.FAMILIES:
        raise bad_value(f"--mpi {mpi}: not one of {', '.join(layout.FAMILIES)}")
    places = hosts.parse(host_list)
    installation = layout.find()
    app = application.find(command)
    linked = app.mpi if app.certain or not (mpi or launcher_name) else None
    chosen = launcher.choose(app.name, linked, mpi, launcher_name)
    wanted = job.Job(
        ranks=hosts.number_of_ranks(ranks, places),
        command=[str(installation.command), "exec", "--", *command],
        variables=_variables(variables or []),
        bind=bind,
        oversubscribe=oversubscribe,
        extra=extra or [],
        hosts=places,
    )
    return chosen, wanted


def _become(line: list[str], environment: dict[str, str]) -> None:
    """The launcher takes this process's place: signals and exit status are its own."""
    try:
        os.execvpe(line[0], line, environment)
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
