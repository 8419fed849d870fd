# SPDX-License-Identifier: BSD-3-Clause
"""The modes of a machine: how long a cache line takes there and back between the ranks.

The benchmark programs measure that before and after each round. Where the processors of a virtual
machine move, or ranks are not bound, it changes, and times of one mode say nothing about another.
Modes are told apart by gaps between the times that were seen. Their names are those that rules ask
for (`handover`).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sumac_mpi.library import tables

# Neighbours that differ by more belong to two modes. As in bench/stats.cc.
_GAP = 1.5
_CHANGING = "changing"  # the time was another after each round than before it


@dataclass(frozen=True)
class Mode:
    low: float  # nanoseconds, the least and the most that were seen
    high: float
    middle: float  # their median

    @property
    def name(self) -> str:
        if not self.high:
            return _CHANGING
        return tables.distance_name(self.middle)

    @property
    def title(self) -> str:
        """With its time, which tells modes of one name apart: "near 104 ns"."""
        return f"{self.name} {self.middle:.0f} ns" if self.high else self.name

    def holds(self, ns: float) -> bool:
        return self.low <= ns <= self.high

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "line_ns": round(self.middle),
                "least": round(self.low), "most": round(self.high)}  # fmt: skip


def classes(stamps: Iterable[float]) -> list[Mode]:
    """The modes in these times, the shortest first."""
    groups: list[list[float]] = []
    for ns in sorted(stamps):
        if groups and ns <= _GAP * groups[-1][-1]:
            groups[-1].append(ns)
        else:
            groups.append([ns])
    return [Mode(group[0], group[-1], statistics.median(group)) for group in groups]


def apart(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The record of a size as one record for each mode in which its rounds were measured; the
    record itself where there is only one, or where the line was not measured."""
    stamps = record.get("line", {}).get("ns", [])
    found = classes(stamps)
    if len(found) < 2:
        return [record | {"mode": found[0].as_dict()}] if found else [record]
    return [_of_mode(record, stamps, mode, first=mode is found[0]) for mode in found]


def _of_mode(
    record: dict[str, Any], stamps: Sequence[float], mode: Mode, first: bool
) -> dict[str, Any]:
    chosen = [number for number, ns in enumerate(stamps) if mode.holds(ns)]
    part = record | {
        "mode": mode.as_dict(),
        "line": {"ns": [stamps[number] for number in chosen],
                 "dropped": record["line"]["dropped"] if first else 0},
    }  # fmt: skip
    for contender in ("native", "sumac", "blocking"):
        if contender in record:
            part[contender] = _figures(record[contender], chosen)
    if "speedup" in record and part["sumac"]["p50"]:
        part["speedup"] = round(part["native"]["p50"] / part["sumac"]["p50"], 3)
    return part


def _figures(figures: dict[str, Any], chosen: list[int]) -> dict[str, Any]:
    """From single rounds, which do not tell the 99th percentile over all calls."""
    rounds = [figures["rounds"][number] for number in chosen]
    kept = {name: value for name, value in figures.items() if name != "p99"}
    return kept | {
        "p50": round(statistics.median(rounds), 3),
        "mean": round(statistics.mean(rounds), 3),
        "min": min(rounds),
        "rounds": rounds,
    }
