# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a command line: everything at once, in Sumac's words and not the parser's."""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from sumac_mpi.base import errors
from sumac_mpi.base.errors import Exit, Several, SumacError, bad_value, usage
from sumac_mpi.launch import mpi_words
from sumac_mpi.library import tables

_MOST = 2**31 - 1  # of a number without a limit of its own: many are C's int in the end


class Told:
    """For a command or group of typer's: its errors are those of this module."""

    params: list[Any]
    context_settings: dict[str, Any]

    def parse_args(self, context: Any, words: list[str]) -> list[str]:
        words = self._with_values(words)
        try:
            return super().parse_args(context, list(words))  # type: ignore[misc]
        except Exception as error:
            if not (_is_of_parser(error) or getattr(error, "code", None) is Exit.USAGE):
                raise
            found = list(_all(self, context, words))
            raise (Several(found) if len(found) > 1 else (found or [error])[0]) from error

    def get_help_option(self, context: Any) -> Any:
        option = super().get_help_option(context)  # type: ignore[misc]
        take_over_one(option, bool)
        return option

    def _with_values(self, words: Sequence[str]) -> list[str]:
        """Gives options whose value may be left out their value "-": standard output. A value must
        follow "=", since the next word may be a program or a collective. Launchers' options become
        those of this command."""
        options = [each for each in self.params if each.param_type_name == "option"]
        known = {name for each in options for name in each.opts}
        valued = {name for each in options if not each.is_flag for name in each.opts}
        optional = {name for each in options if is_optional(each) for name in each.opts}
        ends_at_word = self.context_settings.get("allow_interspersed_args") is False
        result: list[str] = []
        rest = iter(words)
        for word in rest:
            if word == "--" or (ends_at_word and not word.startswith("-")):
                return [*result, word, *rest]
            name = word.partition("=")[0]
            takes_launchers = "--launcher-arg" in known and name not in known
            if takes_launchers and (own := mpi_words.as_own(word, rest)):
                result += own
                continue
            result.append(f"{word}=-" if word in optional else word)
            if word in valued - optional:
                result += list(itertools.islice(rest, 1))
        return result


def is_optional(option: Any) -> bool:
    """Whether the value of an option may be left out, as its name in the help says."""
    return str(option.metavar or "").startswith("[=")


def _is_of_parser(error: Exception) -> bool:
    """Its classes differ between the versions of typer."""
    return hasattr(error, "format_message")


def _all(command: Any, context: Any, words: list[str]) -> Iterator[SumacError]:
    given, extra, of_words = _parsed(command, context, words)
    yield from of_words
    for parameter in command.get_params(context):
        may_be_value = of_words and parameter.param_type_name == "argument"
        if parameter.is_eager or (may_be_value and given.get(parameter.name)):
            continue  # --help and the like; or the value of an option that is not known
        try:
            parameter.handle_parse_result(context, given, [])
        except SumacError as error:
            if error.code is not Exit.USAGE:
                raise
            yield error
    if extra and not of_words and not getattr(command, "allow_extra_args", False):
        yield usage(f"{extra[0]}: one argument too many")


def _parsed(
    command: Any, context: Any, words: list[str]
) -> tuple[dict[str, Any], list[str], list[SumacError]]:
    """What the parser makes of the words without those that it does not understand."""
    found: list[SumacError] = []
    while True:
        try:
            given, extra, _ = command.make_parser(context).parse_args(args=list(words))
            return given, extra, found
        except Exception as error:
            name = getattr(error, "option_name", None)
            if name is None:
                raise
            found.append(_of_option(command, context, name, error))
            understood = [word for word in words if not word.startswith(name)]
            if understood == words:  # one of several letters behind one "-"
                return {}, [], found
            words = understood


def _of_option(command: Any, context: Any, name: str, error: Any) -> SumacError:
    known = [each for parameter in command.get_params(context) for each in parameter.opts]
    if name in known:
        message = str(error.format_message())
        lacks = "requires" in message
        return usage(f"{name}: wants a value" if lacks else f"{name}: takes no value")
    if "--set" in known and (setting := _setting(name)):
        return usage(f"{name}: there is no such option", f"did you mean --set {setting}=VALUE?")
    if twins := [each for each in known if each.lstrip("-") == name.lstrip("-")]:
        return usage(f"{name}: there is no such option", f"did you mean {twins[0]}?")
    near = errors.advice(name, [each for each in known if each.startswith("--")])
    if near.startswith("did"):
        return usage(f"{name}: there is no such option", near)
    rest = f"'{context.command_path} -h' shows the rest"
    passing = f"--launcher-arg ARG passes a word on to the launcher, {rest}"
    return usage(f"{name}: there is no such option", passing if "--launcher-arg" in known else "")


def _setting(name: str) -> str:
    """The option of the library that was written as one of the command, such as STATS."""
    word = name.lstrip("-").replace("-", "_").upper()
    return word if word in tables.names("options") else ""


def complete(error: SumacError, command: str | None) -> SumacError:
    """An error of the command line names the help where it has no better advice."""
    last = error.errors[-1] if isinstance(error, Several) else error
    if error.code is Exit.USAGE and not last.fix:
        last.fix = f"'{f'sumac {command}' if command else 'sumac'} -h' shows how"
    return error


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
            raise errors.unknown(f"{what}: not known", word, known)
        # Older versions of typer make members of words behind the parser.
        return kind(word) if hasattr(parameter, "type_descriptor") else word
    if kind in (int, float):
        try:
            value = kind(value)
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise bad_value(f"{what}: not {wanted}") from None
        if math.isnan(value):
            raise bad_value(f"{what}: not a number")
        least, most = (information.min, information.max) if information else (None, None)
        if least is not None and value < least:
            raise bad_value(f"{what}: less than {least}")
        if value > (most := _MOST if most is None else most):
            raise bad_value(f"{what}: more than {most}")
        return value
    return Path(value) if kind is Path else value
