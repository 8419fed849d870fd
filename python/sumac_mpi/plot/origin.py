# SPDX-License-Identifier: BSD-3-Clause
"""The line below each picture: where, when and with which Sumac its numbers were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sumac_mpi import __version__
from sumac_mpi.base import units
from sumac_mpi.bench.results import Run

UNSTEADY = (
    "Bands show the quartiles of the rounds. Hollow points are unsteady: their rounds differ by "
    "half or more."
)
_SEPARATOR = "  ·  "


def of_runs(runs: Sequence[Run]) -> str:
    """Of benchmark results; what differs between their files is listed."""
    machines = [" ".join(str(run.machine.get("host", "")).split()) for run in runs]
    processors = [" ".join(str(run.machine.get("cpu", "")).split()) for run in runs]
    ranks = [run.ranks for run in runs if not run.is_local]
    counts = [" and ".join(map(str, sorted(set(ranks)))) + " ranks"] if ranks else []
    crowded = any(run.header.get("oversubscribed") for run in runs)
    return joined(
        *_distinct(machines), *_distinct(processors), *counts,
        *(["more ranks than cores"] if crowded else []), *_distinct(day(run.date) for run in runs),
        *_distinct(f"Sumac {run.header.get('version', __version__)}" for run in runs),
    )  # fmt: skip


def of_job(hosts: Iterable[str], ranks: int, date: str) -> str:
    """Of a job that left files, drawn by this version."""
    names = list(dict.fromkeys(hosts))
    where = names[0] if len(names) == 1 else units.counted(len(names), "host")
    return joined(where, units.counted(ranks, "rank"), day(date), f"drawn by Sumac {__version__}")


def day(date: str) -> str:
    """A date of ISO 8601 as "27 November 2026"; other text as it is."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return date
    return f"{found.day} {found:%B %Y}"


def joined(*parts: str) -> str:
    return _SEPARATOR.join(part for part in parts if part)


def _distinct(parts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(part for part in parts if part))
