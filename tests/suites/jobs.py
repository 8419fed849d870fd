# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of a published test suite with and without Sumac, and compares its outputs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUMAC = Path(sys.prefix, "bin/sumac")
SECONDS = 300  # a job that takes longer hangs
# Like tests/launch.sh, this allows running as root and with more ranks than processors. Each
# rank has one thread, so that parallel sums of numerical libraries are the same in both runs.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def launcher(family: str) -> str:
    """The family's mpiexec; the test is skipped where there is none."""
    found = shutil.which(f"mpiexec.{family}")
    return found or pytest.skip(f"no mpiexec.{family}")


def needs(path: str, package: str) -> Path:
    """A file of a Debian package; the test is skipped where it is not installed."""
    found = shutil.which(path)
    if not found and not Path(path).exists():
        pytest.skip(f"no {path}: scripts/setup.sh --all installs {package}")
    return Path(found or path)


@dataclass
class Job:
    """A program, started by `mpiexec -n ranks` in the folder `where`."""

    family: str
    ranks: int
    command: list[Any]
    where: Path
    launcher: Path | None = None  # else the family's in PATH
    variables: dict[str, str] = field(default_factory=dict)


def run(job: Job, with_sumac: bool) -> tuple[str, dict[str, Any]]:
    """Returns its output, and Sumac's statistics of rank 0. Fails when the job fails or hangs."""
    stats = job.where / "stats.json"
    stats.unlink(missing_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SUMAC_")}
    environment = inherited | ENVIRONMENT | job.variables | {"SUMAC_STATS": str(stats)}
    front = [SUMAC, "exec", "--"] if with_sumac else []
    command = [job.launcher or launcher(job.family), "-n", str(job.ranks), *front, *job.command]
    with subprocess.Popen(
        list(map(str, command)), cwd=job.where, env=environment, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            output, _ = process.communicate()
            pytest.fail(f"no end after {SECONDS} s: {command}\n{output[-2000:]}")
    if process.returncode not in (0, 1):  # 1: it says which of its tests failed
        pytest.fail(f"ended with status {process.returncode}: {command}\n{output[-2000:]}")
    return output, json.loads(stats.read_text(encoding="utf-8")) if stats.exists() else {}


@dataclass
class Share:
    """How the calls of one job's rank 0 were served."""

    taken: int
    handed_down: Counter[str]

    def __str__(self) -> str:
        handed = sum(self.handed_down.values())
        percent = 100 * self.taken / max(1, self.taken + handed)
        reasons = [
            f"{calls} {reason.removeprefix('mpi: ')}"
            for reason, calls in self.handed_down.most_common()
        ]
        return f"{percent:.1f} % of {self.taken + handed} calls taken; handed down: " + (
            ", ".join(reasons) or "none"
        )


def share(stats: dict[str, Any]) -> Share:
    result = Share(0, Counter())
    for path in stats["paths"]:
        if path["taken"]:
            result.taken += path["calls"]
        else:
            result.handed_down[path["path"]] += path["calls"]
    return result


def compare(
    job: Job,
    facts: Callable[[str], list[str]],
    report: Callable[[str, object], None],
    least: int = 1,
) -> None:
    """Runs the job without and with Sumac. The lines that `facts` finds in the outputs, at least
    `least` of them, must be the same. Reports the share of calls that Sumac served."""
    expected = facts(run(job, with_sumac=False)[0])
    output, stats = run(job, with_sumac=True)
    found = facts(output)
    assert len(expected) >= least, f"only {len(expected)} facts in the output"
    assert stats, "no statistics: Sumac was not in the job"
    calls = share(stats)
    report("calls", f"{calls}; {len(found)} facts")
    missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    assert not missing and not extra, (
        f"of {len(expected)} facts {sum(missing.values())} only without Sumac:\n"
        + "\n".join(list(missing)[:30])
        + f"\nand {sum(extra.values())} only with it:\n"
        + "\n".join(list(extra)[:30])
    )
    assert calls.taken > 0
