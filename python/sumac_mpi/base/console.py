# SPDX-License-Identifier: BSD-3-Clause
"""The console on which tables are printed, and a progress bar on a terminal."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Replaces rich's own exit: endings.py handles a closed pipe."""
        raise  # noqa: PLE0704


def console(width: int) -> Console:
    """A console of the terminal's width; of `width` columns without a terminal."""
    found = _Console(highlight=False)
    return found if found.is_terminal else _Console(highlight=False, width=width)


def wrapped(line: str) -> str:
    """On a terminal the line breaks at words, and goes on below its text."""
    if sys.stdout is None or not sys.stdout.isatty():
        return line
    label = re.match(r"\S*\s*", line)
    indent = " " * len(label[0]) if label and "  " in label[0] else ""
    return textwrap.fill(
        line, shutil.get_terminal_size().columns, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def progress(console: Console, *texts: str, live: bool = False) -> Progress:
    """A bar with the time left between two texts. It is redrawn only when it is told to, unless it
    is `live`: that takes time from the ranks."""
    before, *behind = map(TextColumn, texts)
    columns: list[ProgressColumn] = [before, BarColumn(), MofNCompleteColumn(), *behind]
    columns.append(TimeRemainingColumn(compact=True))
    return Progress(*columns, console=console, transient=True, auto_refresh=live)


@contextmanager
def bar(total: int, done: int = 0, live: bool = False) -> Iterator[Callable[..., None]]:
    """Yields what changes the bar, with the arguments of rich's Progress.update(); it does nothing
    where standard error is no terminal."""
    console = Console(stderr=True)
    shown = progress(console, "{task.description}", live=live)
    task = shown.add_task("", total=total, completed=done)

    def update(**changes: Any) -> None:
        if console.is_terminal:
            shown.update(task, refresh=True, **changes)

    with shown if console.is_terminal else nullcontext():
        yield update


@contextmanager
def of_jobs(total: int) -> Iterator[Callable[[str], None]]:
    """Yields what is called with its name when a job starts."""
    with bar(total, done=-1) as update:
        yield lambda name: update(advance=1, description=name)
