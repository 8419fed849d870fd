# SPDX-License-Identifier: BSD-3-Clause
"""`sumac doctor`: where the ranks of a running job are, without asking them."""

from __future__ import annotations

import itertools
from typing import Annotated, Optional

import typer

from sumac_mpi.base import files, units
from sumac_mpi.base.errors import SumacError
from sumac_mpi.commands.common_options import JsonOption
from sumac_mpi.launch import ranks


def doctor(
    process: Annotated[
        Optional[int],
        typer.Argument(
            metavar="PID",
            min=1,
            help="A rank of the job, or its launcher; all jobs of this user if not given",
        ),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Show where the ranks of a running job are, who waits, in what, and for whom.

    Reads what ranks on this host tell about their waits, and what the kernel tells about them. The
    job is not disturbed, and need not be able to answer.

    \b
    sumac doctor
    sumac doctor 4711
    """
    found = ranks.find()
    if process is not None:
        family = ranks.descendants(process)
        jobs = {rank.job for rank in found if rank.pid in family}
        found = [rank for rank in found if rank.job in jobs]
    if not found:
        what = "there is no job under Sumac on this host"
        if process is not None:
            what = f"process {process} is no rank of a job under Sumac, and has started none"
        raise SumacError(
            "no-job",
            what,
            found="only ranks of the same user that have set up a communicator can be seen",
            fix="run it on a host of the job, as the job's user",
        )
    if json_file:
        files.show_json([rank.as_dict() for rank in found], json_file)
        return
    for job, group in itertools.groupby(found, key=lambda rank: rank.job):
        members = list(group)
        waiting = sum(rank.waits for rank in members)
        print(
            f"Job {job:x} on {members[0].host}: {units.counted(len(members), 'rank')} here of "
            f"{members[0].job_ranks or 'an unknown number'}, {waiting} waiting"
        )
        for line in ranks.describe(members):
            print(f"  {line}")
