# SPDX-License-Identifier: BSD-3-Clause
"""Which figure shows which results. Loads matplotlib, which not every Python has, when it draws."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from sumac_mpi.base import requirements
from sumac_mpi.base.errors import SumacError, bad_value
from sumac_mpi.bench import against, results
from sumac_mpi.library import calls


def check(option: str, output: Path) -> None:
    """Raises a usage error for a picture that could not be written, before it is drawn."""
    module("plot.pictures").check(option, output)


def draw(named: list[tuple[str, results.Run]], output: Path, title: str | None) -> None:
    """Raises a usage error for what cannot be drawn. Each run has the name of its file, where there
    are several."""
    local = [run for _, run in named if run.is_local]
    if local and len(local) < len(named):
        raise bad_value(f"{local[0].call} has a figure of its own", fix="draw it by itself")
    if local:
        if len({run.call for run in local}) > 1:
            raise bad_value("reduce_local and pack have a figure each", fix="draw them apart")
        what = "packing" if local[0].call == calls.PACK else "reductions"
        getattr(module("plot.local"), f"draw_{what}")(local, output, title)
        return
    contest = [run for _, run in named if against.is_marked(run)]
    if contest and len(contest) < len(named):
        raise bad_value("a comparison of MPIs has a figure of its own", fix="draw it by itself")
    runs = [(name, run) for name, run in named if calls.has_data(run.call)]
    if not runs:
        raise bad_value("a barrier has one size: nothing to draw")
    if contest:
        module("plot.against").draw([run for _, run in runs], output, title)
        return
    module("plot.curves").draw(runs, output, title)


def can_draw() -> bool:
    """Says whether this Python has what draws."""
    try:
        module("plot.pictures")
    except SumacError:
        return False
    return True


def module(name: str) -> ModuleType:
    """Imports a module of this package that needs matplotlib. Raises with status 3 without it."""
    lacking = requirements.lacking("plot")
    if not lacking:
        try:
            return importlib.import_module(f"sumac_mpi.{name}")
        except ImportError as error:
            lacking = [str(error)]
    raise requirements.error("no-matplotlib", lacking, requirements.FIX_PLOT)
