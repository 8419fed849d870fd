# SPDX-License-Identifier: BSD-3-Clause
"""What the commands share that run a program whose ranks each write a file, and show the files."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import typer

from sumac_mpi.base.errors import Exit, SumacError, bad_value, print_warning, usage
from sumac_mpi.commands.run import launching, plan
from sumac_mpi.launch import job, launcher, processes
from sumac_mpi.library import layout, options

Loaded = TypeVar("Loaded")


def require_one_source(command: list[str] | None, folder: Path | None) -> None:
    """Raises a usage error unless there is either a program to run or a folder to read."""
    if folder and not folder.is_dir():
        raise bad_value(f"--from {folder}: there is no such directory")
    if bool(command) == bool(folder):
        both = "APP and --from FOLDER are given: one of them is wanted"
        raise usage(both if command else "APP is missing, or --from FOLDER")


def record(
    given: SimpleNamespace, variable: str, files: str, cleanup: ExitStack
) -> tuple[Path, int]:
    """Runs the job that `given` describes, as run.plan() has it; returns the folder that its ranks
    have written `files` to, and its exit status."""
    chosen, wanted = plan(given)
    _require_sumac(wanted)
    folder = _folder_of(wanted, variable, files, cleanup)
    return folder, _run(chosen, wanted)


def _require_sumac(wanted: job.Job) -> None:
    """Raises with status 3 where Sumac is switched off: the ranks would write nothing."""
    if switch := options.disabled_by(layout.find(), wanted.variables):
        by_user = switch == "SUMAC_DISABLE"
        raise SumacError(
            "disabled",
            f"Sumac is off ({switch}), so the ranks would write nothing to show",
            fix="unset SUMAC_DISABLE" if by_user else "ask those who run this machine",
            code=Exit.UNAVAILABLE,
        )


def _folder_of(wanted: job.Job, variable: str, files: str, cleanup: ExitStack) -> Path:
    """The folder that the ranks write `files` to: the one that the user named by the variable, made
    where it is missing, or one for this job only, which goes with `cleanup`."""
    if named := wanted.variables.get(variable):
        if any(Path(named).glob(files)):
            raise bad_value(
                f"{variable}={named} holds files of another job already", fix="name an empty folder"
            )
        try:
            Path(named).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise bad_value(f"{variable}={named}: {error.strerror}") from error
        return Path(named)
    prefix = variable.lower().replace("_", "-") + "-"
    own = cleanup.enter_context(tempfile.TemporaryDirectory(prefix=prefix))
    wanted.variables[variable] = own
    return Path(own)


def _run(chosen: launcher.Launcher, wanted: job.Job) -> int:
    """Runs the job in the foreground. Returns its exit status, as a shell has it."""
    line = job.command_line(chosen, wanted)
    sys.stdout.flush()
    with launching(line):
        status = processes.foreground(line, job.environment(chosen, wanted))
    return status if status >= 0 else 128 - status


def load(read: Callable[[Path], Loaded], folder: Path, status: int) -> Loaded:
    """What the ranks have written. Where they have written nothing, a job that failed keeps its
    status."""
    try:
        return read(folder)
    except SumacError as error:
        if not status:
            raise
        why = f"the job ended with status {status} before its ranks had written anything to show"
        print_warning(error.slug, why, found=error.found, fix=error.fix)
        raise typer.Exit(status) from None
