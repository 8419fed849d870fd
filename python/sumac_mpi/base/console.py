# SPDX-License-Identifier: BSD-3-Clause
"""Where tables are printed."""

from __future__ import annotations

from rich.console import Console


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Not rich's own end of the program: endings.py knows what a closed pipe means."""
        raise  # noqa: PLE0704


def console(width: int) -> Console:
    """Of the terminal's width; `width` where there is no terminal."""
    found = _Console(highlight=False)
    return found if found.is_terminal else _Console(highlight=False, width=width)
