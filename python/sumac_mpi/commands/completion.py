# SPDX-License-Identifier: BSD-3-Clause
"""`sumac completion`: a script that makes a shell complete command lines of `sumac`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from sumac_mpi.completion import bash, command_line, fish, values, zsh


class Shell(str, Enum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


_SCRIPTS = {Shell.bash: bash.script, Shell.zsh: zsh.script, Shell.fish: fish.script}


def completion(
    context: typer.Context,
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
    commands = command_line.commands(context.find_root().command)
    print(_SCRIPTS[shell](commands, values.settings()), end="")
