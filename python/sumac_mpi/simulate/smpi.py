# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs under SimGrid's smpirun."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.library import layout
from sumac_mpi.simulate import platform
from sumac_mpi.simulate.cluster import Cluster

_PROGRAM = "sumac-simulated"
# Times follow from the cluster's description alone: no real computation is measured, and no factors
# of another network are applied.
_SETTINGS = (
    "smpi/simulate-computation:no", "smpi/wtime:0", "smpi/test:1e-7",
    "smpi/grow-injected-times:no", "smpi/async-small-thresh:65536", "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1", "network/crosstraffic:0", "smpi/display-timing:no",
)  # fmt: skip

# Barriers between the calls and Sumac's set-up are not measured and go by trees: SMPI's default
# collectives send all messages to one rank, and the time to simulate that grows with the square of
# the ranks.
BETWEEN_CALLS = {"smpi/barrier": "ompi_tree"}
SET_UP = {
    **BETWEEN_CALLS, "smpi/allreduce": "redbcast", "smpi/reduce": "binomial",
    "smpi/gather": "ompi_binomial",
}  # fmt: skip


class Unfinished(Exception):
    """A simulation was not over in time."""


def command() -> str:
    """smpirun. Raises with status 3 where it is missing."""
    found = shutil.which("smpirun")
    if not found:
        raise SumacError(
            "no-simgrid",
            "smpirun is not in PATH",
            fix="install SimGrid with SMPI, 'apt-get install libsimgrid-dev' on Debian",
            code=Exit.UNAVAILABLE,
        )
    return found


@cache
def version() -> str:
    """The name and version of the simulator."""
    done = subprocess.run([command(), "--version"], capture_output=True, text=True, check=False)
    return " ".join(word for word in done.stdout.split() if word != "version") or "SimGrid"


def program() -> Path:
    """The program that makes collective calls. Raises with status 3 where it was not built."""
    path = layout.find().parts.absolute() / _PROGRAM
    if not path.is_file():
        raise SumacError(
            "no-simgrid",
            f"this installation has no {_PROGRAM}",
            found=f"nothing at {path}",
            fix="install Sumac again where SimGrid's development files are (libsimgrid-dev)",
            code=Exit.UNAVAILABLE,
        )
    return path


def arguments(cluster: Cluster, ranks: int, folder: Path, settings: Mapping[str, str]) -> list[str]:
    """smpirun and its options; the cluster's files are written into the folder."""
    (folder / "platform.xml").write_text(platform.xml(cluster), encoding="ascii")
    (folder / "hostfile").write_text(platform.hostfile(cluster), encoding="ascii")
    overhead = f"0:{cluster.network.overhead_us * 1e-6:g}:0"
    given = [*_SETTINGS, *(f"smpi/{name}:{overhead}" for name in ("os", "ois", "or"))]
    given += [f"{name}:{value}" for name, value in settings.items()]
    return [
        command(), "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hostfile",
        "--log=root.thres:error", *(f"--cfg={each}" for each in given),
    ]  # fmt: skip


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Where a simulation runs: smpirun leaves files where it is killed."""
    with tempfile.TemporaryDirectory(prefix="sumac-simulate-") as name:
        yield Path(name)


def lines(
    line: list[str], where: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Runs a simulation, and yields what it prints. Raises Unfinished after `seconds`."""
    with open(where / "errors", "wb") as errors:
        process = subprocess.Popen(
            line, cwd=where, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL,
            text=True, start_new_session=True, env=environment,
        )  # fmt: skip
    late = threading.Event()

    def end() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        assert process.stdout is not None
        yield from process.stdout
        status = process.wait()
    finally:
        timer.cancel()
        _end(process)
        process.wait()
    if late.is_set():
        raise Unfinished
    if status:
        raise _failed(where, status)


def _end(process: subprocess.Popen[str]) -> None:
    """smpirun is a script, and the simulation its child."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(where: Path, status: int) -> SumacError:
    said = (where / "errors").read_text(errors="replace").strip().splitlines()
    return SumacError(
        "simulation",
        f"the simulation ended with status {status}",
        found=said[0] if said else "it said nothing",
        fix="fewer ranks or smaller messages, where memory was short",
    )


def run(
    cluster: Cluster,
    ranks: int,
    job: Mapping[str, Any],
    settings: Mapping[str, str],
    seconds: float,
    note: Callable[[dict[str, Any]], None],
) -> None:
    """Makes the calls of a job; `note` gets what sumac-simulated tells of each."""
    with folder() as where:
        (where / "job.json").write_text(json.dumps(job), encoding="ascii")
        # All ranks are in one process, whose globals they share.
        line = [*arguments(cluster, ranks, where, settings), "-no-privatize"]
        for text in lines([*line, str(program()), "job.json"], where, seconds):
            if text.startswith("{"):
                note(json.loads(text))


def run_program(
    cluster: Cluster,
    ranks: int,
    command_line: list[str],
    job: Mapping[str, Any] | None,
    settings: Mapping[str, str],
    seconds: float,
) -> str:
    """What a program prints that was built for SMPI with Sumac's calls in it, and has no globals of
    its own. Without a job its collectives are SMPI's."""
    with folder() as where:
        line = [*arguments(cluster, ranks, where, settings), "-no-privatize"]
        environment = dict(os.environ)
        if job is not None:
            (where / "job.json").write_text(json.dumps(job), encoding="ascii")
            environment["SUMAC_SIMULATION"] = "job.json"
        return "".join(lines([*line, *command_line], where, seconds, environment))
