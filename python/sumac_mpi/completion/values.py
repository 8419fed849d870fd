# SPDX-License-Identifier: BSD-3-Clause
"""What may stand for an argument or for the value of an option."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sumac_mpi.bench import request
from sumac_mpi.launch import mpi_names
from sumac_mpi.library import calls, elements, pack_layouts, tables
from sumac_mpi.simulate import cluster


class Kind(Enum):
    none = "none"  # anything: a number, a text
    words = "words"  # one of the words
    list = "list"  # some of the words, with commas
    file = "file"
    folder = "folder"
    setting = "setting"  # NAME=VALUE of an option SUMAC_NAME
    variable = "variable"  # NAME or NAME=VALUE of an environment variable
    program = "program"  # a program, and behind it the program's own arguments


@dataclass(frozen=True)
class Value:
    kind: Kind
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """An option of the library: its name without SUMAC_, and values that it accepts, if these can
    be listed."""

    name: str
    values: tuple[str, ...]
    doc: str


def _forced_algorithms() -> list[str]:
    return [f"{row['collective']}:{row['name']}" for row in tables.rows("algorithms")]


_BY_METAVAR = {
    "FILE": Kind.file,
    "FILE...": Kind.file,
    "PATH": Kind.file,
    "MACHINE": Kind.file,
    "FILE|MPI,...": Kind.file,
    "FOLDER": Kind.folder,
    "NAME=VALUE": Kind.setting,
    "NAME[=VALUE]": Kind.variable,
    "APP": Kind.program,
    "APP [ARGUMENTS]": Kind.program,
}
_LISTED: dict[str, Callable[[], list[str]]] = {
    "TYPE": request.types,
    "TYPE,...": request.types,
    "OP": elements.operations,
    "OP,...": elements.operations,
    "LAYOUT,...": pack_layouts.names,
    "COLLECTIVE": calls.names,
    "COLLECTIVE...": calls.collectives,
    "LIST": _forced_algorithms,
    "MPI": mpi_names.usual,
    "MPI|all": lambda: [*mpi_names.usual(), "all"],
    "MPI,...": lambda: [*mpi_names.usual(), "all"],
}
_LOWER_CASE = re.compile(r"[a-z]+(?:\|[a-z]+)+")  # as in busy|idle


def value(metavar: str, choices: list[str]) -> Value:
    """What `metavar` stands for, as the help shows it. `choices`: those that the parser knows."""
    if choices:
        return Value(Kind.words, tuple(choices))
    if metavar in _BY_METAVAR:
        return Value(_BY_METAVAR[metavar])
    if metavar == "CLUSTER":
        return Value(Kind.file, tuple(cluster.names()))
    if metavar in _LISTED:
        kind = Kind.list if metavar.endswith(",...") else Kind.words
        return Value(kind, tuple(dict.fromkeys(_LISTED[metavar]())))
    if _LOWER_CASE.fullmatch(metavar):
        return Value(Kind.words, tuple(metavar.split("|")))
    return Value(Kind.none)


def settings() -> list[Setting]:
    return [Setting(row["name"], _accepted(row), row["doc"]) for row in tables.rows("options")]


def _accepted(row: dict[str, Any]) -> tuple[str, ...]:
    if row["kind"] == "flag":
        return "yes", "no"
    if row["kind"] == "report":
        return "yes", "no", "all"
    if row["kind"] == "limit":
        return "auto", "off"
    if row["kind"] == "colls":
        return "all", *row["choices"].split("|")
    if row["name"] == "ALGO":
        return tuple(_forced_algorithms())
    return tuple(row["choices"].split("|")) if row["kind"] == "choice" else ()
