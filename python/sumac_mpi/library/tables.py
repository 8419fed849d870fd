# SPDX-License-Identifier: BSD-3-Clause
"""Asks the `sumac` executable for the tables of the library's source: options, collectives, types.

The executable is compiled from these tables, so the package keeps no copy of them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sumac_mpi.base.errors import Exit, SumacError, bad_value
from sumac_mpi.library import layout

_SECONDS = 60.0  # after which the executable counts as broken


def ask(
    command: Path, *question: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs `sumac QUESTION` with `variables` added to the environment."""
    try:
        return subprocess.run(
            [str(command), *question],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env={**os.environ, **(variables or {})},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SumacError(
            "no-library", f"cannot run {command}: {error}", code=Exit.UNAVAILABLE
        ) from error


def rows(table: str, installation: layout.Installation | None = None) -> list[dict[str, Any]]:
    """The rows of `table`, which is "options", "algorithms", "collectives", "functions", "types",
    "distances" or "layouts"."""
    return _rows((installation or layout.find()).command, table)


def fresh_rows(table: str, installation: layout.Installation) -> list[dict[str, Any]]:
    """The rows of a table that depends on the environment, as "settings" does."""
    return _ask_for_rows(installation.command, table)


def names(table: str) -> list[str]:
    """The name of each row."""
    return [str(row["name"]) for row in rows(table)]


@cache
def _rows(command: Path, table: str) -> list[dict[str, Any]]:
    return _ask_for_rows(command, table)


def _ask_for_rows(command: Path, table: str) -> list[dict[str, Any]]:
    answer = ask(command, f"__{table}")
    try:
        found = json.loads(answer.stdout)
    except ValueError:
        found = None
    if isinstance(found, list) and all(isinstance(row, dict) and "name" in row for row in found):
        return found
    raise SumacError(
        "no-library",
        f"{command} does not list its {table}",
        found=answer.stderr.strip() or f"exit status {answer.returncode}",
        fix="the sumac executable and the Python package must be of one version",
        code=Exit.UNAVAILABLE,
    )


ALIASES = {"int": "int32"}  # further names that the benchmark accepts


def types() -> list[str]:
    """The element types, in the library's order."""
    return [row["name"] for row in rows("types")]


def operations() -> list[str]:
    """All operations that some type has, in the library's order."""
    return list(dict.fromkeys(op for row in rows("types") for op in row["ops"]))


def size_of(name: str) -> int:
    """Bytes from one element to the next."""
    return int(_row(name)["size"])


def mpi_name(name: str) -> str:
    """MPI's name for an element type: "MPI_DOUBLE" for "double". Types that have no name in every
    MPI get one that looks like it: "MPI_FLOAT16"."""
    found = str(_row(name)["mpi"])
    return f"MPI_{name.upper()}" if found == "MPI_DATATYPE_NULL" else found


def is_defined(op: str, name: str) -> bool:
    """Whether MPI defines this operation on this type."""
    return op in _row(name)["ops"]


def _row(name: str) -> dict[str, Any]:
    wanted = ALIASES.get(name, name)
    for row in rows("types"):
        if row["name"] == wanted:
            return row
    raise bad_value(f"{name}: not an element type that this Sumac knows")


def distance_name(line_ns: float) -> str:
    """The class of src/base/distances.def of two processors, by the nanoseconds that a cache line
    takes there and back."""
    return next(row["name"] for row in rows("distances") if line_ns <= row["most_ns"])
