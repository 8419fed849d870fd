# SPDX-License-Identifier: BSD-3-Clause
"""Measures the table of gains of this machine by the program of `sumac bench`, and keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sumac_mpi.base import files, hardware
from sumac_mpi.bench import results, verdict
from sumac_mpi.bench.request import Compute, Request, sizes_from
from sumac_mpi.bench.results import Run
from sumac_mpi.launch import programs
from sumac_mpi.library import calls
from sumac_mpi.profile import gains
from sumac_mpi.tune.request import AROUND, START_SECONDS

SIZES = "8,32,128,512,2K,8K,32K,128K,512K,2M,8M"
_SECONDS = 0.1  # for each size
_SILENCE = 300.0  # seconds
_TYPE, _OP = "double", "sum"


def calls_to_measure() -> list[tuple[str, bool]]:
    """Each as `sumac bench` names it, and whether by the function with counts for each rank."""
    measured = [call for call in calls.names() if call not in calls.LOCAL]
    return [
        (call, with_counts)
        for call in measured
        for with_counts in ((False, True) if calls.has_counts(call) else (False,))
    ]


def seconds() -> float:
    """About how long measure() takes."""
    sizes = len(SIZES.split(","))
    return len(calls_to_measure()) * (START_SECONDS + sizes * _SECONDS * AROUND)


def measure(target: programs.Target, ranks: int, advance: Callable[[str], None]) -> Path:
    """Measures all calls, and writes the file that it returns. Raises with status 3 where Sumac
    takes no part, with 4 for wrong results."""
    runs = []
    for call, with_counts in calls_to_measure():
        advance(call)
        runs.append(_run(target, ranks, call, with_counts))
    verdict.require_right(runs)
    mpi = str(runs[0].header["mpi"])
    path = gains.path(mpi, ranks)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    content = results.document(runs, hardware.describe().as_dict(), date)
    content["stamp"] = gains.stamp(target.installation, target.family, mpi, ranks)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, (json.dumps(content) + "\n").encode())
    return path


def _run(target: programs.Target, ranks: int, call: str, with_counts: bool) -> Run:
    sizes = sizes_from(None, None, None, SIZES)
    request = Request(call, sizes, _TYPE, _OP, 0, False, 20, 10, 0, _SECONDS, False, 0,
                      Compute.busy, with_counts)  # fmt: skip
    run = results.of_job(programs.run(target, ranks, request.arguments(), _SILENCE))
    verdict.require_active(run, "there is no gain to measure")
    return run
