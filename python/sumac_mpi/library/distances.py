# SPDX-License-Identifier: BSD-3-Clause
"""How far processors are from one another, by the time of a cache line there and back: the classes
of src/base/distances.def, and those of this machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sumac_mpi.library import layout, tables


def name_of(line_ns: float) -> str:
    return next(row["name"] for row in tables.rows("distances") if line_ns <= row["most_ns"])


@dataclass(frozen=True)
class Lines:
    """Lines between the first processor and all others of one class."""

    name: str  # of the class; "unknown" where the others did not answer in time
    cpus: int
    least_ns: float | None
    most_ns: float | None

    def __str__(self) -> str:
        cpus = f"{self.cpus} CPU{'s' * (self.cpus > 1)}"
        if self.least_ns is None:
            return f"{cpus} too busy to tell"
        most = f" to {self.most_ns:.0f}" if self.most_ns != self.least_ns else ""
        return f"{cpus} {self.name} ({self.least_ns:.0f}{most} ns)"


def measure(installation: layout.Installation) -> list[dict[str, Any]]:
    """For each processor but the first: "cpu", "ns" and "name", that of its class."""
    return tables.rows("lines", installation)


def summary(rows: list[dict[str, Any]]) -> list[Lines]:
    found = []
    ordered = sorted(rows, key=lambda row: math.inf if row["ns"] is None else row["ns"])
    for name in dict.fromkeys(row["name"] for row in ordered):
        times = [row["ns"] for row in rows if row["name"] == name]
        known = [ns for ns in times if ns is not None]
        found.append(Lines(name, len(times), min(known, default=None), max(known, default=None)))
    return found
