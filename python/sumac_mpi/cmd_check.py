# SPDX-License-Identifier: BSD-3-Clause
"""`sumac check`: the doctor. Looks at all that must be right for Sumac to work, and tries it."""

from __future__ import annotations

import json
from typing import Annotated, Optional

import typer
from rich.table import Table

from sumac_mpi import examination
from sumac_mpi.cmd_run import LauncherOption
from sumac_mpi.console import console
from sumac_mpi.errors import SumacError
from sumac_mpi.findings import Findings, Status


def check(
    command: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="APP", help="A program to look at; it is not run."),
    ] = None,
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Ranks to try with.")] = 2,
    mpi: Annotated[
        Optional[str], typer.Option("--mpi", help="openmpi, mpich or all; default: all there are.")
    ] = None,
    launcher_name: LauncherOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for one try.")] = 60,
) -> None:
    """Check that Sumac works here: launcher, MPI, loading, shared memory, results.

    sumac check
    sumac check -n 4 -- ./heat
    """
    findings = Findings()
    try:
        examination.examine(findings, command or [], ranks, mpi, launcher_name, timeout)
    except SumacError as error:
        findings.error(error.slug.replace("-", " "), error)
    if as_json:
        print(json.dumps({"exit": int(findings.exit), "findings": findings.as_dicts()}, indent=1))
    else:
        _show(findings)
    raise typer.Exit(int(findings.exit))


def _show(findings: Findings) -> None:
    colours = {Status.OK: "green", Status.WARN: "yellow", Status.FAIL: "red"}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings.all:
        colour = colours[finding.status]
        mark = f"[{colour}]{finding.status.value}[/{colour}]"
        table.add_row(mark, finding.what, _plain(finding.detail))
        if finding.fix:
            table.add_row("", "", f"[bold]fix:[/bold] {_plain(finding.fix)}")
    console(200).print(table)


def _plain(text: str) -> str:
    """Text in which rich finds no markup."""
    return text.replace("[", r"\[")
