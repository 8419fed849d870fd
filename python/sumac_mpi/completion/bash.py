# SPDX-License-Identifier: BSD-3-Clause
"""The script for bash. It needs nothing but bash itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from sumac_mpi.completion.command_line import Argument, Command
from sumac_mpi.completion.values import Setting, Value

# Bash splits words also at = and :, and inserts what replaces the last piece alone; so the script
# splits the line at blanks, finds what may stand for the last word, and takes away what bash has
# already.
_SCRIPT = r"""# bash completion of sumac: made by 'sumac completion bash'
_sumac_option() { # COMMAND OPTION: what its value is, in $kind and $words; false for a flag
  case "$1 $2" in
@OPTIONS@
  *) return 1 ;;
  esac
}

_sumac_command() { # COMMAND: $options, and what its arguments are, in $arguments
  case $1 in
@COMMANDS@
  *) return 1 ;;
  esac
}

_sumac_argument() { # COMMAND NUMBER: what this argument is, in $kind and $words
  case "$1 $2" in
@ARGUMENTS@
  *) kind=none ;;
  esac
}

_sumac_setting() { # NAME: the values of SUMAC_NAME, in $words
  case $1 in
@SETTINGS@
  *) words= ;;
  esac
}

_sumac_value() { # WORD: fills COMPREPLY with what may stand for it, by $kind and $words
  local word=$1 before= name
  case $kind in
  words) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  list)
    [[ $word == *,* ]] && before=${word%,*},
    COMPREPLY=($(compgen -P "$before" -W "$words" -- "${word##*,}"))
    compopt -o nospace 2>/dev/null
    ;;
  file)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
    ;;
  folder)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -d -- "$word"))
    ;;
  setting)
    if [[ $word == *=* ]]; then
      name=${word%%=*}
      _sumac_setting "${name#SUMAC_}"
      COMPREPLY=($(compgen -P "$name=" -W "$words" -- "${word#*=}"))
    else
      COMPREPLY=($(compgen -S = -W '@NAMES@' -- "$word"))
      compopt -o nospace 2>/dev/null
    fi
    ;;
  variable) COMPREPLY=($(compgen -v -- "$word")) ;;
  program)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
    ;;
  esac
}

_sumac() {
  local IFS=$' \t\n' given kind=none words= options= arguments=
  read -ra given <<<"${COMP_LINE:0:COMP_POINT}x"
  local last=$((${#given[@]} - 1))
  local word=${given[last]%x} command=${given[1]} index=2 number=0 of_option=
  COMPREPLY=()
  if ((last == 1)); then
    COMPREPLY=($(compgen -W '@WORDS@' -- "$word"))
    return
  fi
  _sumac_command "$command" || return
  for (( ; index < last; ++index)); do
    of_option=
    if [[ ${given[index]} == -- ]]; then
      options=
    elif [[ -n $options && ${given[index]} == -* ]]; then
      if _sumac_option "$command" "${given[index]}"; then
        of_option=yes
        ((++index))
      fi
    elif [[ $arguments == program ]]; then # what follows belongs to the program
      compopt -o default 2>/dev/null
      return
    else
      ((++number))
    fi
  done
  if [[ -n $of_option ]] && ((index == last + 1)); then
    : # _sumac_option has said what it is
  elif [[ -n $options && $word == -* ]]; then
    kind=words words=$options
  else
    _sumac_argument "$command" "$number"
  fi
  _sumac_value "$word"
  # What bash replaces begins behind the last of these.
  local begun=${word%"${word##*[=:]}"} i
  if [[ -n $begun && $COMP_WORDBREAKS == *[=:]* ]]; then
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$begun"}; done
  fi
}
complete -F _sumac sumac
"""


def script(commands: Sequence[Command], settings: Sequence[Setting]) -> str:
    parts = {
        "OPTIONS": _lines(
            f"{' | '.join(shlex.quote(f'{each.name} {name}') for name in option.names)})"
            f" {_assigned(option.value)} ;;"
            for each in commands
            for option in each.options
            if option.value
        ),
        "COMMANDS": _lines(_command(each) for each in commands),
        "ARGUMENTS": _lines(
            f"{_place(each.name, number, argument)}) {_assigned(argument.value)} ;;"
            for each in commands
            for number, argument in enumerate(each.arguments)
        ),
        "SETTINGS": _lines(
            f"{each.name}) words={shlex.quote(' '.join(each.values))} ;;"
            for each in settings
            if each.values
        ),
        "NAMES": " ".join(each.name for each in settings),
        "WORDS": " ".join([*(each.name for each in commands), "--help", "--version"]),
    }
    text = _SCRIPT
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(f"  {row}" for row in rows)


def _command(command: Command) -> str:
    names = " ".join(name for option in command.options for name in option.names)
    takes = command.arguments[0].value.kind.value if command.arguments else "none"
    return f"{command.name}) options='{names}' arguments={takes} ;;"


def _place(command: str, number: int, argument: Argument) -> str:
    return f"'{command} '*" if argument.many else f"'{command} {number}'"


def _assigned(value: Value) -> str:
    return f"kind={value.kind.value} words={shlex.quote(' '.join(value.words))}"
