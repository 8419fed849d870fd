# SPDX-License-Identifier: BSD-3-Clause
"""The console on which tables are printed."""

from __future__ import annotations

from rich.console import Console


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Replaces rich's own exit: endings.py handles a closed pipe."""
        raise  # noqa: PLE0704


def console(width: int) -> Console:
    """A console of the terminal's width; of `width` columns without a terminal."""
    found = _Console(highlight=False)
    return found if found.is_terminal else _Console(highlight=False, width=width)
