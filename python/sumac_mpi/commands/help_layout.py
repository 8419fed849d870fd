# SPDX-License-Identifier: BSD-3-Clause
"""The layout of the help of every command: usage, description, examples, arguments, options, exit
status. The help of the commands in C has the same layout."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

import typer.core

from sumac_mpi.base import errors
from sumac_mpi.base.errors import usage
from sumac_mpi.commands.usage import Told, is_optional

NATIVE = ("exec", "plan")  # commands that the executable has itself
_COLUMNS = min(80, shutil.get_terminal_size().columns)
_LEFT = 27  # columns of an option's names, with the blanks around them
_HELP = ("-h, --help", "Show this help")
_OPTIONS = "Options"


class Command(Told, typer.core.TyperCommand):
    """`epilog` is the exit status. In the docstring, lines that begin with "sumac" or "mpiexec" are
    examples; an option's rich_help_panel is the heading it stands under."""

    def format_help(self, context: Any, formatter: Any) -> None:
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        options = [each for each in self.params if each.param_type_name == "option"]
        described, examples = _split(self.help or "")
        shown = " ".join([f"Usage: {context.command_path} [OPTIONS]", *map(_usage, arguments)])
        lines = [shown, "", *described, "", "Examples:", *(f"  {each}" for each in examples)]
        lines += _section("Arguments", [(_metavar(each), self._text(each)) for each in arguments])
        headings = dict.fromkeys([*map(_heading, options), _OPTIONS])
        for heading in sorted(headings, key=lambda each: each == _OPTIONS):  # which come last
            rows = [
                (_names(each), self._text(each)) for each in options if _heading(each) == heading
            ]
            lines += _section(heading, [*rows, _HELP] if heading == _OPTIONS else rows)
        lines += ["", *_wrapped(f"Exit status: {self.epilog}", "")]
        formatter.write("\n".join(lines) + "\n")

    def filled(self, text: str) -> str:
        """The help text of an argument or option; a command may insert lists of names."""
        return text

    def _text(self, parameter: Any) -> str:
        return self.filled(_text(parameter))


class Group(Told, typer.core.TyperGroup):
    """The commands of this package, each of which is imported when it is asked for, and those that
    completion adds."""

    load: Callable[[str], Any]  # returns a command
    names: Sequence[str]

    def list_commands(self, context: Any) -> list[str]:
        return [*self.names, *super().list_commands(context)]

    def get_command(self, context: Any, name: str) -> Any:
        if name in self.names:
            return self.load(name)
        found = super().get_command(context, name)
        if found is None and not context.resilient_parsing:
            raise usage(
                f"{name}: there is no such command", errors.advice(name, [*self.names, *NATIVE])
            )
        return found

    def format_help(self, context: Any, formatter: Any) -> None:
        rows = [(name, _summary(self.load(name))) for name in self.names]
        options = [(_names(each), _text(each)) for each in self.params]
        lines = ["Usage: sumac COMMAND [ARGUMENTS]", "", self.help or ""]
        lines += [*_section("Commands", rows), *_section(_OPTIONS, [*options, _HELP])]
        lines += ["", *_wrapped(f"Exit status: {self.epilog}", "")]
        formatter.write("\n".join(lines) + "\n")


def _summary(command: Any) -> str:
    """The first sentence of its help."""
    return _split(command.help or "")[0][0].rstrip(".")


def _split(text: str) -> tuple[list[str], list[str]]:
    """A docstring's description, and its examples."""
    described: list[str] = []
    examples: list[str] = []
    for paragraph in text.replace("\b", "").strip().split("\n\n"):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        if lines and lines[0].startswith(("sumac ", "mpiexec ")):
            examples += lines
        else:
            described += [*([""] if described else []), *_wrapped(" ".join(lines), "")]
    return described, examples


def _heading(option: Any) -> str:
    return getattr(option, "rich_help_panel", None) or _OPTIONS


def _usage(argument: Any) -> str:
    name = _metavar(argument)
    return name if argument.required else f"[{name}]"


def _metavar(parameter: Any) -> str:
    return parameter.metavar or parameter.name.upper()


def _names(option: Any) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    between = "" if is_optional(option) else " "
    return names if option.is_flag else f"{names}{between}{_metavar(option)}"


def _text(parameter: Any) -> str:
    shown, default = getattr(parameter, "show_default", None), parameter.default
    if not isinstance(shown, str):
        plain = default.value if isinstance(default, Enum) else default
        wanted = parameter.param_type_name == "option" and not parameter.is_flag
        shown = str(plain) if wanted and plain is not None and not callable(plain) else ""
    if parameter.required and parameter.param_type_name == "option":
        return f"{parameter.help} (required)"
    return f"{parameter.help} (default: {shown})" if shown else parameter.help


def _section(heading: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    lines = ["", f"{heading}:"]
    for left, text in rows:
        start = f"  {left}"
        if len(start) > _LEFT - 2:
            lines.append(start)
            start = ""
        first, *others = _wrapped(text, " " * _LEFT)
        lines += [f"{start:<{_LEFT}}{first.strip()}", *others]
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _COLUMNS, initial_indent=indent, subsequent_indent=indent,
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
