# SPDX-License-Identifier: BSD-3-Clause
"""The results of `sumac simulate` as a table."""

from __future__ import annotations

from rich.table import Table

from sumac_mpi.base import units
from sumac_mpi.simulate import smpi
from sumac_mpi.simulate.measure import Results
from sumac_mpi.simulate.request import LIBRARIES, SUMAC

_ABSENT = "-"


def title(results: Results) -> str:
    request = results.request
    call = request.collective
    if request.nonblocking:
        call = f"nonblocking {call} with {units.format_us(request.compute_us)} us of work"
    nodes = units.counted(request.cluster.nodes, "node")
    return f"{call}: {request.ranks} ranks, {nodes}, {request.cluster.title}"


def table(results: Results) -> Table:
    """Simulated us of each way at each size. Wrong results are marked."""
    found = Table(title=title(results), title_justify="left")
    found.add_column("size", justify="right")
    for way in results.request.ways:
        found.add_column(f"{way} us", justify="right")
    found.add_column("best native", justify="left")
    found.add_column("speedup", justify="right")
    for size in results.sizes:
        found.add_row(*_row(results, size))
    return found


def _row(results: Results, size: int) -> list[str]:
    cells = [units.format_size(size) if size else _ABSENT]
    best = results.best_native(size)
    for way in results.request.ways:
        cell = results.cells.get(way, {}).get(size)
        text = units.format_us(cell.us) if cell else _ABSENT
        cells.append(f"{text} wrong" if cell and cell.wrong else text)
    faster = results.times_as_fast(size)
    return [*cells, best[0] if best else _ABSENT, f"{faster:.2f}" if faster else _ABSENT]


def notes(results: Results) -> list[str]:
    """Which plan served which sizes, and what must be known of the table."""
    lines = []
    sizes = [size for size in results.sizes if size in results.plans]
    first = 0
    for index, size in enumerate(sizes):
        if index + 1 < len(sizes) and results.plans[sizes[index + 1]] == results.plans[size]:
            continue
        lines.append(f"{_span(sizes[first], size)}: {results.plans[size]}")
        first = index + 1
    lines += models(results)
    lines += [f"{way} was not over in time" for way in results.unfinished]
    lines += [f"wrong results: {what}" for what in results.wrong()]
    return lines


def way_name(way: str) -> str:
    """What a way is called in a picture."""
    if way == SUMAC:
        return "Sumac"
    library = LIBRARIES.get(way)
    return f"{library}'s choices, by SimGrid" if library else f"SimGrid's {way}"


def models(results: Results) -> list[str]:
    """Says whose model it is that stands for an MPI: its column has no times of that MPI."""
    found = [f"{way}: {LIBRARIES[way]}" for way in results.request.selections if way in LIBRARIES]
    if not found:
        return [f"simulated by {smpi.version()}"]
    return [
        f"simulated: {', '.join(found)} by the algorithms that {smpi.version()} says it takes, not "
        "measured"
    ]


def _span(first: int, last: int) -> str:
    if not last:
        return SUMAC
    if first == last:
        return units.format_size(first)
    return f"{units.format_size(first)} to {units.format_size(last)}"
