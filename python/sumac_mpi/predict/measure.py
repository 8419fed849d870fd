# SPDX-License-Identifier: BSD-3-Clause
"""Measures the table of gains of this machine by the program of `sumac bench`, and keeps it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sumac_mpi import __version__
from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench import message_sizes, results, verdict
from sumac_mpi.bench.request import Compute, Request
from sumac_mpi.bench.results import Run
from sumac_mpi.launch import programs
from sumac_mpi.library import calls, layout
from sumac_mpi.machine import hardware
from sumac_mpi.predict import gains
from sumac_mpi.predict.gains import Stamp

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


def stamp(installation: layout.Installation, family: str, mpi: str, ranks: int) -> Stamp:
    """What must be the same for a table to hold."""
    machine = hardware.describe()
    parts = [installation.library, installation.back_end(family)]
    return {
        "machine": {"host": machine.host, "cpu": machine.cpu, "kernel": machine.kernel,
                    "cores": machine.cores, "cpus": machine.cpus},
        "MPI": results.short_mpi_name(mpi),  # a profile spells the whole text otherwise
        "ranks": ranks,
        "build of Sumac": [__version__, *(_hash(part) for part in parts if part)],
    }  # fmt: skip


def _hash(part: Path) -> str:
    return hashlib.sha256(part.read_bytes()).hexdigest()[:16]


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
    content["stamp"] = stamp(target.installation, target.family, mpi, ranks)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, (json.dumps(content) + "\n").encode())
    return path


def _run(target: programs.Target, ranks: int, call: str, with_counts: bool) -> Run:
    sizes = message_sizes.read(None, None, None, SIZES)
    request = Request(call, sizes, _TYPE, _OP, 0, False, 20, 10, 0, _SECONDS, False, 0,
                      Compute.busy, with_counts)  # fmt: skip
    run = results.of_job(programs.run(target, ranks, request.arguments(), _SILENCE))
    if not run.header["sumac"]["active"]:
        raise SumacError(
            "not-active",
            f"Sumac takes no part under {run.mpi_name}, so there is no gain to measure",
            fix="'sumac check' says what is missing",
            code=Exit.UNAVAILABLE,
        )
    return run
