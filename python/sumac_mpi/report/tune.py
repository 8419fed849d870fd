# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac tune` has measured and kept, as a table for each number of ranks and distance."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from rich.table import Table

from sumac_mpi.base import units
from sumac_mpi.bench.modes import Mode
from sumac_mpi.library.layout import FAMILIES
from sumac_mpi.tune.decision import NATIVE, Cell, Verdict
from sumac_mpi.tune.rules import Place

_NUMBERS = ("size", "us", "MPI us", "other us")
_TITLES = ("size", "mode", "shipped", "us", "MPI us", "best other", "other us", "kept", "why")


def tables(verdicts: Mapping[Place, Sequence[Verdict]]) -> Iterator[tuple[str, Table]]:
    """Each with its title."""
    for place, found in verdicts.items():
        room = ", more than processors" if place.shared else ""
        room += f", {place.handover}" if place.handover else ""
        title = f"# {place.collective} · {place.ranks} ranks{room} · {FAMILIES[place.family]}"
        table = Table(box=None, pad_edge=False)
        for name in _TITLES:
            table.add_column(name, justify="right" if name in _NUMBERS else "left")
        for verdict in found:
            for mode in _modes(verdict.cell):
                table.add_row(*_row(verdict, mode))
        yield title, table


def _modes(cell: Cell) -> list[Hashable]:
    """A row for each mode of the machine of this distance; the decision is one for all."""
    modes = dict.fromkeys(mode for way in cell.ways.values() for mode in way)
    return sorted(modes, key=lambda mode: mode.low if isinstance(mode, Mode) else 0.0)


def _row(verdict: Verdict, mode: Hashable) -> tuple[str, ...]:
    cell = verdict.cell
    best = _best(cell, mode)
    return (
        str(cell.bytes or "-"),
        f"{mode.name} {mode.middle:.0f}" if isinstance(mode, Mode) else "-",
        *(cell.shipped, _us(cell, cell.shipped, mode), _us(cell, NATIVE, mode)),
        *(best or "-", _us(cell, best, mode), verdict.kept, verdict.why),
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
