# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar over jobs, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn


@contextmanager
def of_jobs(total: int) -> Iterator[Callable[[str], None]]:
    """Yields what is called with its name when a job starts. The bar is redrawn only then: that
    takes time from the ranks."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    task = bar.add_task("", total=total, completed=-1)

    def advance(name: str) -> None:
        if console.is_terminal:
            bar.update(task, advance=1, description=name, refresh=True)

    with bar if console.is_terminal else nullcontext():
        yield advance
