# SPDX-License-Identifier: BSD-3-Clause
"""The script for fish."""

from __future__ import annotations

from collections.abc import Sequence

from sumac_mpi.completion.command_line import Command, Option
from sumac_mpi.completion.values import Kind, Setting, Value

_HEAD = r"""# fish completion of sumac: made by 'sumac completion fish'
function __sumac_is # COMMAND: whether it is the one on the line
    set -l words (commandline -opc)
    set -q words[2]; and test "$words[2]" = $argv[1]
end

function __sumac_before_program # COMMAND: and no program is named yet, so that options are its own
    __sumac_is $argv[1]; or return
    set -l words (commandline -opc)
    set -l valued (string split ' ' -- $argv[2])
    set -l index 3
    while test $index -le (count $words)
        if contains -- $words[$index] $valued
            set index (math $index + 1)
        else if not string match -q -- '-*' $words[$index]; or test $words[$index] = --
            return 1
        end
        set index (math $index + 1)
    end
end

function __sumac_list # WORD...: some of them, with commas
    set -l before (string replace -r '[^,]*$' '' -- (commandline -ct))
    printf '%s\n' $before$argv
end

function __sumac_settings
    set -l word (commandline -ct)
    set -l name (string replace -r '=.*' '' -- $word)
    if string match -q '*=*' -- $word
        switch (string replace -r '^SUMAC_' '' -- $name)
@VALUES@
        end
    else
@SETTINGS@
    end
end

complete -c sumac -f
complete -c sumac -n __fish_use_subcommand -s h -l help -d 'Show the help'
complete -c sumac -n __fish_use_subcommand -s V -l version -d 'Show the version'
"""


def script(commands: Sequence[Command], settings: Sequence[Setting]) -> str:
    values = "\n".join(
        f"            case {each.name}\n"
        f'                printf "$name=%s\\n" {" ".join(each.values)}'
        for each in settings
        if each.values
    )
    named = "\n".join(
        f"        printf '%s\\t%s\\n' {each.name}= {_quoted(each.doc)}" for each in settings
    )
    lines = [line for each in commands for line in _lines(each)]
    head = _HEAD.replace("@VALUES@", values).replace("@SETTINGS@", named)
    return head + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _lines(command: Command) -> list[str]:
    start = "complete -c sumac -n"
    shown = f"-a {command.name} -d {_quoted(command.summary)}"
    lines = [f"{start} __fish_use_subcommand {shown}"]
    starts_program = any(each.value.kind is Kind.program for each in command.arguments)
    here = f"__sumac_is {command.name}"
    if starts_program:
        valued = " ".join(name for each in command.options if each.value for name in each.names)
        here = f"__sumac_before_program {command.name} {_quoted(valued)}"
    lines += [f"{start} {_quoted(here)} {_option(option)}" for option in command.options]
    for argument in command.arguments:
        lines.append(f"{start} {_quoted(f'__sumac_is {command.name}')} {_taken(argument.value)}")
    return lines


def _option(option: Option) -> str:
    words = []
    for name in option.names:
        if name.startswith("--"):
            words.append(f"-l {name[2:]}")
        else:
            words.append(f"-{'s' if len(name) == 2 else 'o'} {name[1:]}")
    if option.value:
        words.append(f"-r {_taken(option.value)}")
    return " ".join([*words, "-d", _quoted(option.text)])


def _taken(value: Value) -> str:
    """The arguments of `complete` that say what stands there."""
    return {
        Kind.none: "-f",
        Kind.words: f"-f -a '{' '.join(value.words)}'",
        Kind.list: f"-f -a '(__sumac_list {' '.join(value.words)})'",
        Kind.file: f"-F -a '{' '.join(value.words)}'" if value.words else "-F",
        Kind.folder: "-f -a '(__fish_complete_directories)'",
        Kind.setting: "-f -a '(__sumac_settings)'",
        Kind.variable: "-f -a '(set -nx)'",
        Kind.program: "-F -a '(__fish_complete_command)'",
    }[value.kind]
