# SPDX-License-Identifier: BSD-3-Clause
"""The script for zsh: a file of $fpath."""

from __future__ import annotations

from collections.abc import Sequence

from sumac_mpi.completion.command_line import Argument, Command, Option
from sumac_mpi.completion.values import Kind, Setting, Value

_HEAD = """#compdef sumac
# zsh completion of sumac: made by 'sumac completion zsh'
"""
_MAIN = """
_sumac() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[Show the help]' '(- *)'{-V,--version}'[Show the version]' \\
    '1:command:->command' '*::argument:->argument' && return
  case $state in
  command) _describe command _sumac_commands ;;
  argument)
    (($+functions[_sumac_of_$words[1]])) || return 1
    curcontext=${curcontext%:*:*}:sumac-$words[1]:
    _sumac_of_$words[1]
    ;;
  esac
}

_sumac_setting() {
  if compset -P 1 '*='; then
    local name=${IPREFIX%=}
    local -a values=(${=_sumac_values[${${name##* }#SUMAC_}]})
    compadd -a values
  else
    _describe option _sumac_settings -S =
  fi
}

_sumac_list() { # WORD...: some of them, with commas
  compset -P '*,'
  compadd -S ,  -r ', ' -q -- "$@"
}

_sumac "$@"
"""


def script(commands: Sequence[Command], settings: Sequence[Setting]) -> str:
    rows = [f"{each.name}:{each.summary}" for each in commands]
    named = [f"{each.name}:{each.doc}" for each in settings]
    values = [f"  {each.name} {_quoted(' '.join(each.values))}" for each in settings if each.values]
    parts = [
        _array("_sumac_commands", rows),
        _array("_sumac_settings", named),
        "typeset -gA _sumac_values=(\n" + "\n".join(values) + "\n)",
        *map(_function, commands),
    ]
    return _HEAD + "\n" + "\n\n".join(parts) + "\n" + _MAIN


def _array(name: str, rows: Sequence[str]) -> str:
    return f"typeset -ga {name}=(\n" + "\n".join(f"  {_quoted(row)}" for row in rows) + "\n)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _function(command: Command) -> str:
    rows = [*map(_option, command.options), *map(_argument, command.arguments)]
    # -S: -- ends the options. Those behind a program are the program's own.
    lines = [f"_sumac_of_{command.name}() {{", "  _arguments -S \\"]
    return "\n".join([*lines, " \\\n".join(f"    {row}" for row in rows), "}"])


def _option(option: Option) -> str:
    text = option.text.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    action = f":value:{_action(option.value)}" if option.value else ""
    shown = _quoted(f"[{text}]{action}")
    again = "'*'" if option.again else _quoted(f"({' '.join(option.names)})")
    names = ",".join(option.names)
    return f"{again}{{{names}}}{shown}" if len(option.names) > 1 else f"{again}{names}{shown}"


def _argument(argument: Argument) -> str:
    if argument.value.kind is Kind.program:
        return "'(-)*:::program:_normal'"
    name = argument.name.lower().rstrip(".")
    return _quoted(f"{'*' if argument.many else ''}:{name}:{_action(argument.value)}")


def _action(value: Value) -> str:
    words = " ".join(word.replace(":", "\\:") for word in value.words)
    return {
        Kind.none: " ",
        Kind.words: f"({words})",
        Kind.list: f"_sumac_list {words}",
        Kind.file: "_files",
        Kind.folder: "_files -/",
        Kind.setting: "_sumac_setting",
        Kind.variable: "_parameters",
        Kind.program: "_normal",
    }[value.kind]
