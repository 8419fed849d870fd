# SPDX-License-Identifier: BSD-3-Clause
"""The options that several commands have, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sumac_mpi.base import files, units
from sumac_mpi.base.errors import SumacError
from sumac_mpi.launch import hosts, mpi_words
from sumac_mpi.library import tables

JOB = "The job"  # the heading, in the help, of the options about a job and its launcher


def checked(check: Callable[[Any], object]) -> Callable[[typer.Context, Any], Any]:
    """A callback for values that `check` raises an error for: so all of them are reported."""

    def callback(context: typer.Context, value: Any) -> Any:
        # A shell's question is parsed with resilience.
        if value not in (None, (), []) and not context.resilient_parsing:
            check(value)
        return value

    return callback


def offering(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What a shell may offer for a word from a table; nothing where the library is missing."""

    def offered(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except SumacError:
            return []

    return offered


def setting_names() -> list[str]:
    """The options of the library as --set begins with them."""
    return [f"{name}=" for name in tables.names("options")]


def option(
    kind: Any, names: str, metavar: str | None, help: str, heading: str | None = JOB, **others: Any
) -> Any:
    """The annotation of a command's parameter that is an option: its type, its names with blanks
    between them, what stands for its value (None for a switch), and its line in the help, below a
    heading. `check` is called with the value, and raises an error for a bad one; `others` are
    options of typer.Option()."""
    if check := others.pop("check", None):
        others["callback"] = checked(check)
    declared = typer.Option(
        *names.split(), metavar=metavar, help=help, rich_help_panel=heading, **others
    )
    return Annotated[kind, declared]


def json_option(**others: Any) -> Any:
    """Without FILE it is files.STDOUT."""
    text = "Print JSON, or write it to FILE"
    check = partial(files.check, "--json")
    others = {"heading": None, "check": check} | others
    return option(Optional[Path], "--json", "[=FILE]", text, **others)


def picture_option(kind: Any = Optional[Path], heading: str | None = None) -> Any:
    text = "Draw a picture into this file: .png, .svg or .pdf"
    return option(kind, "-o --output", "FILE", text, heading)


JsonOption = json_option()
PictureOption = picture_option()
RanksOption = option(
    Optional[int], "-n -np --ranks", "N", "Number of ranks", min=1, max=units.MOST_RANKS,
    show_default="all of --hosts or of Slurm's allocation, else one for each core",
)  # fmt: skip
HostsOption = option(
    Optional[str], "--hosts", "HOST:RANKS,...",
    "Where to start ranks: node1:2,node2:2 or node[01-16]:8", check=hosts.parse,
)  # fmt: skip
HostfileOption = option(
    Optional[Path], "--hostfile", "FILE",
    "The same from a file, of lines such as 'node1:2' or 'node1 slots=2'", check=hosts.read,
)  # fmt: skip
MpiOption = option(
    Optional[str], "--mpi", "MPI",
    "Which MPI, if not found from the program: openmpi, mpich, intel and so on",
    check=mpi_words.family_of,
)  # fmt: skip
LauncherOption = option(
    Optional[str], "--launcher", "PATH", "The mpiexec to use; found if not given"
)
LauncherArgOption = option(
    Optional[list[str]], "--launcher-arg", "ARG",
    "An argument for the launcher; may be given several times",
)  # fmt: skip
VariablesOption = option(Optional[list[str]], "-x", "NAME[=VALUE]", "Set or pass on a variable")
SettingsOption = option(
    Optional[list[str]], "--set", "NAME=VALUE",
    "Set the option SUMAC_NAME, see 'sumac info options'", autocompletion=offering(setting_names),
)  # fmt: skip
BindOption = option(bool, "--bind", None, "Bind each rank to a core")
OversubscribeOption = option(
    bool, "--oversubscribe", None, "Allow more ranks than cores in any case"
)
LimitOption = option(Optional[int], "--timeout", "SECONDS", "End the job if it takes longer", min=1)
TimeoutOption = option(
    float, "--timeout", "SECONDS", "End the job when it has printed nothing for this time", min=1
)
FolderOption = option(
    Optional[Path], "--from", "FOLDER",
    "Show what an earlier job has written into FOLDER; run nothing", None,
)  # fmt: skip
