# SPDX-License-Identifier: BSD-3-Clause
"""The words of a command line as the values of a command's parameters. Typer would convert them by
pydantic, which takes a tenth of a second to load and says what is wrong in its own words."""

from __future__ import annotations

import typing
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from sumac_mpi.base import choices
from sumac_mpi.base.errors import bad_value, usage


def take_over(command: Any, function: Callable[..., None]) -> None:
    """Makes the command, which typer has made from the function, convert its values here."""
    hints = typing.get_type_hints(function, include_extras=True)
    for parameter in command.params:
        if parameter.name in hints:
            take_over_one(parameter, hints[parameter.name])


def take_over_one(parameter: Any, hint: Any) -> None:
    parameter.process_value = partial(_process, parameter, *_declared(hint))


def _declared(hint: Any) -> tuple[type, Any]:
    """The type of a value, or of each in a list, and what typer.Option() or Argument() returned."""
    information = None
    if typing.get_origin(hint) is Annotated:
        hint, information = typing.get_args(hint)[:2]
    while typing.get_args(hint):  # Optional[list[str]]
        hint = typing.get_args(hint)[0]
    return hint, information


def name_of(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar).split()[0].rstrip(".")


def _process(parameter: Any, kind: type, information: Any, context: Any, value: Any) -> Any:
    has_several = parameter.multiple or parameter.nargs == -1
    if parameter.value_is_missing(value):
        if parameter.required:
            raise usage(f"{name_of(parameter)} is missing")
        value = () if has_several else None
    elif has_several:
        value = [_value(parameter, kind, information, each) for each in value]
    else:
        value = _value(parameter, kind, information, value)
    return parameter.callback(context, parameter, value) if parameter.callback else value


def _value(parameter: Any, kind: type, information: Any, value: Any) -> Any:
    what = f"{name_of(parameter)} {value}"
    if issubclass(kind, Enum):
        known = [each.value for each in kind]
        word = value.value if isinstance(value, Enum) else value
        if word not in known:
            raise choices.unknown(f"{what}: not known", word, known)
        # Older versions of typer make members of words behind the parser.
        return kind(word) if hasattr(parameter, "type_descriptor") else word
    if kind in (int, float):
        try:
            value = kind(value)
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise bad_value(f"{what}: not {wanted}") from None
        least = information.min if information else None
        if least is not None and not value >= least:
            raise bad_value(f"{what}: less than {least}")
        return value
    return Path(value) if kind is Path else value
