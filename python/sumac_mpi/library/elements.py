# SPDX-License-Identifier: BSD-3-Clause
"""The element types and operations of the library, by the names that its tables give them."""

from __future__ import annotations

from typing import Any

from sumac_mpi.base.errors import bad_value
from sumac_mpi.library import tables

ALIASES = {"int": "int32"}  # further names that the benchmark accepts


def types() -> list[str]:
    return [row["name"] for row in tables.rows("types")]


def operations() -> list[str]:
    """All operations that some type has, in the library's order."""
    return list(dict.fromkeys(op for row in tables.rows("types") for op in row["ops"]))


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
    for row in tables.rows("types"):
        if row["name"] == wanted:
            return row
    raise bad_value(f"{name}: not an element type that this Sumac knows")
