# SPDX-License-Identifier: BSD-3-Clause
"""The command line: each command is declared in a file of its own in this folder, and imported only
when it is asked for: `sumac run` must start fast."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import typer.main

from sumac_mpi import __version__
from sumac_mpi.base import endings
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.commands import help_layout, usage

COMPLETE = "_SUMAC_COMPLETE"  # set by the scripts of a shell; cli/main.c has its name too
_STATUS = (
    "0 done, 1 failed, 2 usage, 3 cannot work here, 4 wrong results, 5 slower than asked for, "
    "130 Ctrl-C, 141 closed pipe."
)
_BRIEF = "0 done, 1 failed, 2 usage, 3 cannot work here."
_STARTED = (
    "the program's own; 2 usage, 3 cannot work here, 125 not started, 126 not executable, 127 not "
    "found."
)

app = typer.Typer(
    cls=help_layout.Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_STATUS,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:  # which a shell's question is
        print(f"sumac {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "-V", "--version", callback=_print_version, is_eager=True, help="Show the version"
        ),
    ] = False,
) -> None:
    """Faster collectives for unmodified MPI programs."""


# The exit status of each command, and whether its options end at the first word of a program.
_COMMANDS: dict[str, tuple[str, bool]] = {
    "run": (_STARTED, True),
    "info": (_BRIEF, False),
    "check": (
        "0 no problem, 1 failed, 2 usage, 3 cannot work here, 4 wrong "
        "results: of the first problem.",
        True,
    ),
    "bench": (_STATUS, False),
    "tune": ("0 done, 1 failed, 2 usage, 3 cannot work here, 4 wrong results.", False),
    "plot": (_BRIEF, False),
    "trace": (_STARTED, True),
    "profile": (_STARTED, True),
    "simulate": ("0 done, 1 failed, 2 usage, 3 no SimGrid here, 4 wrong results of Sumac.", False),
    "doctor": (_BRIEF, False),
    "completion": (_BRIEF, False),
}


def _load(name: str) -> Any:
    """The command, from its module: the function of the module's name, in a layout of the module's
    own where it has one."""
    module = importlib.import_module(f"sumac_mpi.commands.{name}")
    status, has_program = _COMMANDS[name]
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(
        name,
        cls=getattr(module, "Command", help_layout.Command),
        epilog=status,
        context_settings={"allow_interspersed_args": False} if has_program else {},
    )(getattr(module, name))
    command = typer.main.get_command(alone)
    usage.take_over(command, getattr(module, name))
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit status after printing errors. If negative, see
    endings.py."""
    # A table must not fail in a locale that lacks a character of it.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    with endings.signals():
        return endings.status_of(lambda: _run(_without_help(given)))


def _without_help(given: list[str]) -> list[str]:
    """`sumac help bench` is `sumac bench --help`."""
    return [*given[1:2], "--help"] if given[0] == "help" else given


def _run(given: list[str]) -> int:
    # Not by app(), which ends a program in its own ways, also for Ctrl-C and closed pipes.
    group = typer.main.get_command(app)
    usage.take_over(group, root)
    group.names, group.load = list(_COMMANDS), _load
    if asked := os.environ.get(COMPLETE):
        from sumac_mpi.commands import completion

        return completion.answer(group, asked)
    try:
        with group.make_context("sumac", given) as context:
            status = group.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except SumacError as error:
        raise usage.complete(error, given[0] if given[0] in _COMMANDS else None) from None
    return status if isinstance(status, int) else int(Exit.OK)
