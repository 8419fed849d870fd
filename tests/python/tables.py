# SPDX-License-Identifier: BSD-3-Clause
"""Reads a report as its readers do: a table's cells by their titles, a file's by its columns."""

from __future__ import annotations

import csv
import re
from typing import Any


def words(line: str) -> list[tuple[str, int, int]]:
    """What stands in a line between blanks, with its two ends."""
    return [(found[0], *found.span()) for found in re.finditer(r"\S+", line)]


def titles(report: Any) -> list[tuple[str, int, int]]:
    """Of a table's columns, with the heading above, if there is one: "MPI p50 us"."""
    head = report.head()
    found = [(each[0], *each.span()) for each in re.finditer(r"\S+( \S+)*", " " + head[-1][1:])]
    headings = [
        (each[1], *each.span()) for each in re.finditer(r"-+ (\S.*?) -+", " " + head[-2][1:])
    ]

    def over(title: str, begin: int, end: int) -> str:
        above = [name for name, first, last in headings if first < end and begin < last]
        return " ".join([*above, title])

    return [(over(*each), *each[1:]) for each in found]


def table(report: Any) -> list[dict[str, str]]:
    """The rows, each cell by its title, below which it must stand."""
    columns = titles(report)
    assert report.head()[-1].startswith("#") and len({name for name, *_ in columns}) == len(columns)
    rows = []
    for row in report.run.rows:
        cells = words(report.row(row))
        assert len(cells) == len(columns)
        for (_, begin, end), (_, first, last) in zip(columns, cells):
            assert last == end or first == begin
        rows.append({title: text for (title, *_), (text, *_) in zip(columns, cells)})
    return rows


def file(report: Any) -> list[dict[str, str]]:
    """The rows of comma-separated values by their columns."""
    lines = [*report.head(), *(report.row(row) for row in report.run.rows)]
    assert report.foot() == []
    return list(csv.DictReader(lines, strict=True))


def column(rows: list[dict[str, str]], title: str) -> list[str]:
    return [row[title] for row in rows]


def numbers(rows: list[dict[str, str]], title: str) -> list[float | None]:
    """Of a column, whatever their unit; None where nothing is."""
    cells = (re.sub("x?(%|±.*)?$", "", row[title]) for row in rows)
    return [None if cell in ("", "-") else float(cell) for cell in cells]
