# SPDX-License-Identifier: BSD-3-Clause
"""Commands that start jobs refuse to be ranks of one."""

from __future__ import annotations

import os

import typer

from sumac_mpi.base.errors import Exit, SumacError

# Variables by which launchers give each process the number of processes and its own rank.
_TOLD = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


def require_outside(fix: str) -> None:
    """Raises a usage error, in the first process, if a launcher has started this command several
    times; the others end with the same status, and say nothing. No launcher gives its processes a
    terminal to read from, so that one who types in a shell of a job (`srun --pty`) is none."""
    for size, rank in () if os.isatty(0) else _TOLD:
        if os.environ.get(size, "1") == "1" or rank not in os.environ:
            continue
        if os.environ[rank] != "0":
            raise typer.Exit(int(Exit.USAGE))
        raise SumacError(
            "run-in-job",
            f"a launcher started this command {os.environ[size]} times, and each would start a job "
            "of its own",
            found=f"{size}={os.environ[size]}",
            fix=fix,
            code=Exit.USAGE,
        )


def require_outside_for(command: str) -> None:
    """The same for a command that starts Sumac's own programs."""
    require_outside(f"start it without a launcher: 'sumac {command}' starts its jobs itself")
