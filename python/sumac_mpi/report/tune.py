# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac tune` has measured and kept, as a table for each number of ranks and distance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from sumac_mpi.base import units
from sumac_mpi.bench.modes import Mode
from sumac_mpi.library.layout import FAMILIES
from sumac_mpi.tune.decision import NATIVE, Cell, Verdict
from sumac_mpi.tune.rules import Place

_TITLES = (
    f"#{'size':>9}  {'mode':<11} {'shipped':<13} {'us':>9} {'MPI us':>9}  {'best other':<13} "
    f"{'us':>9}  {'kept':<13} why"
)


def table(verdicts: Mapping[Place, Sequence[Verdict]]) -> list[str]:
    lines: list[str] = []
    for place, found in verdicts.items():
        family = FAMILIES[place.family]
        room = ", more than processors" if place.shared else ""
        room += f", {place.handover}" if place.handover else ""
        lines += ["", f"# {place.collective} · {place.ranks} ranks{room} · {family}", _TITLES]
        lines += [line for verdict in found for line in _rows(verdict)]
    return lines[1:]


def _rows(verdict: Verdict) -> list[str]:
    """A line for each mode of the machine of this distance; the decision is one for all."""
    cell = verdict.cell
    modes = dict.fromkeys(mode for way in cell.ways.values() for mode in way)
    ordered = sorted(modes, key=lambda mode: mode.low if isinstance(mode, Mode) else 0.0)
    return [_row(verdict, mode) for mode in ordered]


def _row(verdict: Verdict, mode: Hashable) -> str:
    cell = verdict.cell
    title = f"{mode.name} {mode.middle:.0f}" if isinstance(mode, Mode) else "-"
    best = _best(cell, mode)
    size = cell.bytes or "-"
    return (
        f"{size:>10}  {title:<11} {cell.shipped:<13} {_us(cell, cell.shipped, mode):>9} "
        f"{_us(cell, NATIVE, mode):>9}  {best or '-':<13} {_us(cell, best, mode):>9}  "
        f"{verdict.kept:<13} {verdict.why}"
    )


def _best(cell: Cell, mode: Hashable) -> str | None:
    """The fastest of Sumac's other algorithms."""
    times = {
        way: us
        for way in cell.ways
        if way not in (NATIVE, cell.shipped) and (us := cell.us(way, mode)) is not None
    }
    return min(times, key=times.__getitem__, default=None)


def _us(cell: Cell, way: str | None, mode: Hashable) -> str:
    us = cell.us(way, mode) if way else None
    return "-" if us is None else units.format_us(us)
