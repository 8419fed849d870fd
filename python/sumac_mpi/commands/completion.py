# SPDX-License-Identifier: BSD-3-Clause
"""`sumac completion`: the script of typer, by which a shell asks this command how a line may go on,
and the answers."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer
from typer.completion import completion_init, get_completion_script, shell_complete
from typer.core import TyperCommand

from sumac_mpi.commands.help_layout import NATIVE
from sumac_mpi.commands.main import COMPLETE


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
    for name in NATIVE:  # known by name alone
        group.commands[name] = TyperCommand(name)
    completion_init()
    return shell_complete(group, {}, "sumac", COMPLETE, asked)
