# SPDX-License-Identifier: BSD-3-Clause
"""The command line: each command is declared in a file of its own in this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from sumac_mpi import __version__
from sumac_mpi.base import endings
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.commands import (
    bench,
    bench_options,
    check,
    completion,
    doctor,
    help_layout,
    info,
    plot,
    profile,
    run,
    simulate,
    trace,
    tune,
)

_STATUS = (
    "0 done, 1 failed, 2 usage, 3 cannot work here, 4 wrong results, 5 slower than asked for, "
    "130 Ctrl-C, 141 closed pipe."
)
_BRIEF = "0 done, 1 failed, 2 usage, 3 cannot work here."
_STARTED = "the program's own; 2 usage, 3 cannot work here, 125 to 127 as env has them."

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
    """Faster reductions, broadcasts and all-gathers for unmodified MPI programs."""


# Options end at the first word of the program: what follows belongs to it.
_PROGRAM = {"allow_interspersed_args": False}
_COMMANDS: dict[str, tuple[Callable[..., None], str, dict[str, bool]]] = {
    "run": (run.run, _STARTED, _PROGRAM),
    "info": (info.info, _BRIEF, {}),
    "check": (
        check.check,
        "0 no problem, 1 failed, 2 usage, 3 cannot work here, 4 wrong "
        "results: of the first problem.",
        _PROGRAM,
    ),
    "bench": (bench.bench, _STATUS, {}),
    "tune": (tune.tune, "0 done, 1 failed, 2 usage, 3 cannot work here, 4 wrong results.", {}),
    "plot": (plot.plot, _BRIEF, {}),
    "trace": (trace.trace, _STARTED, _PROGRAM),
    "profile": (profile.profile, _STARTED, _PROGRAM),
    "simulate": (
        simulate.simulate,
        "0 done, 1 failed, 2 usage, 3 no SimGrid here, 4 wrong results of Sumac.",
        {},
    ),
    "doctor": (doctor.doctor, _BRIEF, {}),
    "completion": (completion.completion, _BRIEF, {}),
}
for _name, (_function, _status, _settings) in _COMMANDS.items():
    _layout = (
        bench_options.Command if _name in ("bench", "tune", "simulate") else help_layout.Command
    )
    app.command(_name, cls=_layout, epilog=_status, context_settings=_settings)(_function)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit status after printing errors. If negative, see
    endings.py."""
    # A table must not fail in a locale that lacks a character of it.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    with endings.signals():
        return endings.status_of(lambda: _run(given))


def _run(given: list[str]) -> int:
    # Not by app(), which ends a program in its own ways, also for Ctrl-C and closed pipes.
    command = typer.main.get_command(app)
    if asked := os.environ.get(completion.VARIABLE):
        return completion.answer(command, asked)
    try:
        with command.make_context("sumac", given) as context:
            status = command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except Exception as error:
        # The parser's own exceptions, whose class differs between versions of typer.
        if not hasattr(error, "format_message"):
            raise
        raise _usage_error(error.format_message(), given) from error
    return status if isinstance(status, int) else int(Exit.OK)


def _usage_error(message: str, given: Sequence[str]) -> SumacError:
    command = next((word for word in given[:1] if word in _COMMANDS), None)
    shows = f"sumac {command} -h" if command else "sumac -h"
    message = " ".join(message.replace("Value error, ", "").split()).rstrip(".")
    what = message[:1].lower() + message[1:]
    return SumacError("usage", what, fix=f"'{shows}' shows how", code=Exit.USAGE)
