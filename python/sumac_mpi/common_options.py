# SPDX-License-Identifier: BSD-3-Clause
"""Words that the options of several commands share. (Those of a job's options stand where they are
declared, once: in cmd_run.py and hosts.py.)"""

from __future__ import annotations

from typing import Annotated

import typer

JOB = "The job"  # the heading of what is said to a launcher
AS_JSON = "Print JSON"
TimeoutOption = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=1,
        rich_help_panel=JOB,
        help="Give up when the job has said nothing for so long",
    ),
]
