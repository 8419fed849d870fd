# SPDX-License-Identifier: BSD-3-Clause
"""`sumac check` examines what Sumac needs to work, and tries it in a job."""

from __future__ import annotations

from typing import Annotated, Optional

import typer
from rich.table import Table
from rich.text import Text

from sumac_mpi.base import files, units
from sumac_mpi.base.console import console
from sumac_mpi.base.errors import SumacError
from sumac_mpi.check import examination
from sumac_mpi.check.surroundings import Findings, Status
from sumac_mpi.commands import in_job
from sumac_mpi.commands.common_options import JsonOption, LauncherOption, TimeoutOption, option
from sumac_mpi.launch import mpi_words

Ranks = option(int, "-n -np --ranks", "N", "Number of ranks", min=1, max=units.MOST_RANKS)
Mpi = option(
    Optional[str], "--mpi", "MPI|all", "Which MPI: openmpi, mpich or all", show_default="all",
    check=mpi_words.check,
)  # fmt: skip


def check(
    command: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="APP", help="A program to look at; it is not run"),
    ] = None,
    ranks: Ranks = 2,
    mpi: Mpi = None,
    launcher_name: LauncherOption = None,
    json_file: JsonOption = None,
    timeout: TimeoutOption = 60,
) -> None:
    """Check that Sumac works here, and say what does not, why, and what helps.

    Looks at the installation, options, cores, memory and permissions, then starts a small job on
    each MPI.

    \b
    sumac check
    sumac check -n 4 -- ./app
    """
    in_job.require_outside_for("check")
    findings = Findings()
    try:
        examination.examine(findings, command or [], ranks, mpi, launcher_name, timeout)
    except SumacError as error:
        findings.error(error.slug.replace("-", " "), error)
    except KeyboardInterrupt:
        if not json_file:
            _show(findings)
        raise
    if json_file:
        content = {"exit": int(findings.exit), "findings": findings.as_dicts()}
        files.show_json(content, json_file)
    else:
        _show(findings)
        print(findings.verdict())
    raise typer.Exit(int(findings.exit))


def _show(findings: Findings) -> None:
    colours = {Status.OK: "green", Status.WARNING: "yellow", Status.PROBLEM: "red"}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings.all:
        verdict = Text(finding.status.value, style=colours[finding.status])
        table.add_row(verdict, finding.what, Text(finding.detail))
        for name, text in (("why", finding.why), ("fix", finding.fix)):
            first, *others = text.splitlines() or [""]
            if first:
                table.add_row("", "", Text.assemble((f"{name}: ", "bold"), first))
            for line in others:
                table.add_row("", "", Text(f"     {line}"))
    console(200).print(table)
