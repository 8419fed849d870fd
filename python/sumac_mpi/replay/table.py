# SPDX-License-Identifier: BSD-3-Clause
"""A replay as a table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from sumac_mpi.base import units
from sumac_mpi.replay.results import Results, Row


def title(results: Results) -> str:
    header = results.header
    ways = [name for name, key in (("the MPI", "mpi_us"), ("Sumac", "sumac_us"))
            if results.summary[key] is not None]  # fmt: skip
    return (
        f"{header['calls']} calls of {header['ranks']} ranks by {' and '.join(ways)} in "
        f"{results.summary['rounds']} rounds: {header['mpi']}"
    )


def table(results: Results) -> Table:
    """Calls and times are those of a rank in one pass: means over the ranks, and of the times
    medians over the rounds."""
    shown = Table(box=None, pad_edge=False, header_style="")
    for column in ("call", "ranks", "bytes", "calls", "MPI us", "Sumac us", "speedup", "wrong"):
        shown.add_column(column, justify="left" if column == "call" else "right", no_wrap=True)
    for row in results.rows:
        calls = row.calls / results.header["ranks"]
        shown.add_row(
            row.name, str(row.ranks), _sizes(row), f"{calls:g}", _time(row.mpi_us),
            _time(row.sumac_us), _ratio(row.speedup), str(row.wrong),
        )  # fmt: skip
    summary = results.summary
    both = summary["mpi_us"] and summary["sumac_us"]
    shown.add_row(
        "whole pass", str(results.header["ranks"]), "", "", _time(summary["mpi_us"]),
        _time(summary["sumac_us"]),
        _ratio(summary["mpi_us"] / summary["sumac_us"] if both else None), str(results.wrong),
    )  # fmt: skip
    return shown


def notes(results: Results) -> Iterator[str]:
    header = results.header
    if header["left_out"]:
        yield (
            f"left out: {header['left_out']} calls on communicators with two groups or with "
            "processes of other jobs"
        )
    if header["cut"]:
        yield (
            f"left out: {header['cut']} calls at the end that other ranks' records do not have "
            "any more"
        )


def _sizes(row: Row) -> str:
    low, high = units.format_size(row.smallest), units.format_size(row.largest)
    return low if low == high else f"{low}-{high}"


def _time(us: float | None) -> str:
    return "-" if us is None else f"{us:.1f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"
