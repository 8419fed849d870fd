# SPDX-License-Identifier: BSD-3-Clause
"""Rules from verdicts, and the file that holds them (docs/rules.md has the grammar)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sumac_mpi.base import units
from sumac_mpi.tune.decision import Verdict

_COLUMNS = 100
_FAMILIES = ("openmpi", "mpich")  # those that the grammar has a name for


@dataclass(frozen=True)
class Place:
    """Where verdicts hold: they say nothing about other numbers of ranks, or about ranks that are
    nearer to one another or farther."""

    family: str
    collective: str
    ranks: int
    shared: bool  # more ranks than processors
    handover: str = ""  # the class of src/base/distances.def; "" where lines were not measured


@dataclass(frozen=True)
class Rule:
    place: Place
    low: int  # bytes; both ends are in it
    high: int
    verdicts: tuple[Verdict, ...]  # those that it is made from

    def lines(self) -> list[str]:
        place = self.place
        sizes = f'bytes = "{_range(self.low, self.high)}"'
        family = f'mpi = "{place.family}"'
        room = f'room = "{"shared" if place.shared else "own"}"'
        handover = f'handover = "{place.handover}"'
        return [
            *_comment(", ".join(map(_measured, self.verdicts))),
            "[[rule]]",
            f'collective = "{place.collective}"',
            'over = "shm"',
            f'ranks = "{place.ranks}"',
            room,
            *([handover] if place.handover else []),
            *([family] if place.family in _FAMILIES else []),
            *([sizes] if self.high else []),
            f'algorithm = "{self.verdicts[0].kept}"',
        ]


def of(place: Place, verdicts: Sequence[Verdict]) -> list[Rule]:
    """A rule for each run of neighbouring sizes with the same new way. It ends at the geometric
    middle between two measured sizes, and with the least and the largest size that was measured."""
    ordered = sorted(verdicts, key=lambda each: each.bytes)
    sizes = [each.bytes for each in ordered]
    found, first = [], 0
    for changed, group in groupby(ordered, lambda each: each.kept if each.changes else None):
        run = tuple(group)
        last = first + len(run) - 1
        if changed:
            low = _middle(sizes[first - 1], sizes[first]) + 1 if first else sizes[0]
            high = _middle(sizes[last], sizes[last + 1]) if sizes[last + 1 :] else sizes[-1]
            found.append(Rule(place, low, high, run))
        first = last + 1
    return found


def document(head: Sequence[str], rules: Sequence[Rule]) -> str:
    """The file's text. `head` are lines of facts, which become comments."""
    lines = [line for each in head for line in _comment(each)]
    for rule in rules:
        lines += ["", *rule.lines()]
    return "\n".join(lines) + "\n"


def _middle(size: int, next_size: int) -> int:
    return math.isqrt(size * next_size)


def _range(low: int, high: int) -> str:
    return _size(low) if low == high else f"{_size(low)}-{_size(high)}"


def _size(size: int) -> str:
    return units.format_size(size).removesuffix(" B")


def _measured(verdict: Verdict) -> str:
    size = f"{units.format_size(verdict.bytes)} " if verdict.bytes else ""
    return f"{size}{verdict.ratio:.2f}x as fast as {verdict.cell.shipped}"


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _COLUMNS, initial_indent="# ", subsequent_indent="# ",
                         break_on_hyphens=False, break_long_words=False)  # fmt: skip
