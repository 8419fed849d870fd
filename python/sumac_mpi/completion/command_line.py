# SPDX-License-Identifier: BSD-3-Clause
"""The commands, their options and arguments: of those in Python from the parser, of those in C and
C++ from their help, which has the same layout."""

from __future__ import annotations

import inspect
import re
import subprocess
import typing
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sumac_mpi.commands import help_layout
from sumac_mpi.completion.values import Kind, Value, value
from sumac_mpi.library import layout

_NATIVE = ("exec", "plan")
_HEADING = re.compile(r"(?P<heading>[A-Z][A-Za-z ]+):$")
_ROW = re.compile(r"  (?P<names>\S+(?: \S+)*)(?:  +(?P<text>\S.*))?$")
_CHOICES = re.compile(r": (?P<words>[a-z][\w-]*(?:, [a-z][\w-]*)+)$")  # at the end of a text
_NOT_OPTIONS = ("Examples", "Exit status")


@dataclass(frozen=True)
class Option:
    names: tuple[str, ...]
    text: str
    value: Value | None = None  # of a flag
    again: bool = False  # may be given several times


@dataclass(frozen=True)
class Argument:
    name: str
    value: Value
    many: bool = False


@dataclass(frozen=True)
class Command:
    name: str
    summary: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]


_HELP = Option(("-h", "--help"), "Show this help")


def commands(group: Any) -> list[Command]:
    """All commands. `group` has those in Python; those in C and C++ are asked for their help, and
    left out where they are not installed."""
    found = [_from_parser(name, command) for name, command in group.commands.items()]
    executable = str(layout.find().command)
    for name in _NATIVE:
        asked = [executable, name, "--help"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=60)
        if done.returncode == 0:
            found.append(_from_help(name, done.stdout))
    return found


def _from_parser(name: str, command: Any) -> Command:
    options, arguments = [], []
    # The functions' own annotations: the parser's types differ between versions of typer.
    hints = typing.get_type_hints(inspect.unwrap(command.callback))
    for each in command.params:
        types = {hints[each.name], *typing.get_args(hints[each.name])}
        many = any(typing.get_origin(each_type) is list for each_type in types)
        metavar = each.metavar or each.name.upper()
        meant = value(metavar, _members(types))
        if each.param_type_name == "argument":
            arguments.append(Argument(metavar, meant, many))
        else:
            flag = None if each.is_flag else meant
            options.append(Option(tuple(each.opts), each.help, flag, many))
    shown = help_layout.summary(command)
    return Command(name, shown, (*options, _HELP), tuple(arguments))


def _members(types: set[Any]) -> list[str]:
    """The values of an enumeration among the types."""
    enumerations = [each for each in types if isinstance(each, type) and issubclass(each, Enum)]
    return [str(member.value) for each in enumerations for member in each]


def _from_help(name: str, text: str) -> Command:
    options, arguments = [], []
    for heading, names, described in _rows(text):
        choices = _CHOICES.search(described)
        *others, last = names.split(", ")
        last, _, metavar = last.partition(" ")
        listed = choices["words"].split(", ") if choices else []
        if heading == "Arguments":
            meant = value(names, listed or _listed(described))
            arguments.append(Argument(names, meant))
        else:
            flag = value(metavar, listed) if metavar else None
            again = flag is not None and flag.kind in (Kind.setting, Kind.variable)
            options.append(Option((*others, last), described, flag, again))
    return Command(name, _summary(text), tuple(options), tuple(arguments))


def _listed(text: str) -> list[str]:
    words = text.split(", ")
    return words if len(words) > 1 and all(re.fullmatch(r"[a-z_]+", word) for word in words) else []


def _summary(text: str) -> str:
    paragraph = text.split("\n\n")[1].replace("\n", " ")
    return paragraph.split(". ")[0].rstrip(".")


def _rows(text: str) -> list[tuple[str, str, str]]:
    """(heading, names, text) of each argument and option."""
    heading = ""
    rows: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if found := _HEADING.match(line):
            heading = found["heading"]
        elif not line.startswith("  "):
            heading = "" if line else heading
        elif heading and heading not in _NOT_OPTIONS:
            row = None if line.startswith("   ") else _ROW.match(line)
            if row:
                rows.append((heading, row["names"], row["text"] or ""))
            else:
                last = rows.pop()
                rows.append((*last[:2], f"{last[2]} {line.strip()}".strip()))
    return rows
