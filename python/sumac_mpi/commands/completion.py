# SPDX-License-Identifier: BSD-3-Clause
"""`sumac completion`: the script of typer, by which a shell asks this command how a line may go on,
and the answers."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from typing import Annotated, Any, Optional

import typer
import typer.main
from typer.completion import completion_init, get_completion_script, shell_complete

from sumac_mpi.base.errors import SumacError
from sumac_mpi.commands.common_options import offering, option, setting_names
from sumac_mpi.commands.help_layout import NATIVE
from sumac_mpi.commands.main import COMPLETE
from sumac_mpi.library import calls, layout, tables


class Shell(str, Enum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish")],
) -> None:
    """Print a script that makes a shell complete command lines of sumac.

    'make install' and the Debian package put these scripts where the shells look for them. For an
    installation elsewhere, let your shell read the script.

    \b
    sumac completion bash > ~/.local/share/bash-completion/completions/sumac
    sumac completion zsh > ~/.zfunc/_sumac
    sumac completion fish > ~/.config/fish/completions/sumac.fish
    """
    print(get_completion_script(prog_name="sumac", complete_var=COMPLETE, shell=shell.value))


def answer(group: Any, asked: str) -> int:
    """Prints what a shell may offer. `group` has the commands in Python, `asked` is the value of
    the variable COMPLETE; the line is in other variables."""
    for name in NATIVE:
        group.commands[name] = _native(name)
    completion_init()
    return shell_complete(group, {}, "sumac", COMPLETE, asked)


# A row of a help: the names of an option, what stands for its value, and the beginning of its text.
_ROW = re.compile(r"^  (-[\w, -]*?)(?:[ [=]*([A-Z]\S*))?(?:  +(\S.*))?$", re.MULTILINE)


def _native(name: str) -> Any:
    """A command of the executable, with the options that its own help has."""
    try:
        told = tables.ask(layout.find().command, name, "--help").stdout
    except SumacError:  # the library is missing: the command is known by name alone
        told = ""
    hints: dict[str, Any] = {}
    for names, metavar, text in _ROW.findall(told):
        words = re.split(r",? +", names.strip())
        offered = {"autocompletion": offering(setting_names)} if "--set" in words else {}
        kind = Optional[str] if metavar else bool
        if "--help" not in words:  # which every command has
            hints[f"option_{len(hints)}"] = option(kind, " ".join(words), metavar, text, **offered)
    first = calls.collectives if name == "plan" else list
    hints["words"] = Annotated[Optional[list[str]], typer.Argument(autocompletion=offering(first))]

    def never_called(**_: Any) -> None:
        pass

    never_called.__annotations__ = hints
    never_called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
            for each, hint in hints.items()
        ]
    )
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(never_called)
    return typer.main.get_command(alone)
