# SPDX-License-Identifier: BSD-3-Clause
"""A job, and the launcher's command line that starts it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from sumac_mpi.base import hardware
from sumac_mpi.base.errors import bad_value
from sumac_mpi.launch import hosts as hosts_option
from sumac_mpi.launch import mpi_words
from sumac_mpi.launch.hosts import Hosts
from sumac_mpi.launch.launcher import Launcher


@dataclass
class Job:
    """What to start: `command` on `ranks` ranks of `hosts`, else of this machine (or where `extra`
    says)."""

    ranks: int
    command: list[str]
    variables: dict[str, str] = field(default_factory=dict)
    bind: bool = False  # one core for each rank, if there are enough
    oversubscribe: bool = False
    extra: list[str] = field(default_factory=list)
    hosts: Hosts | None = None
    limit: int | None = None  # seconds that it may take

    @property
    def _room(self) -> Hosts | hosts_option.Allocation | None:
        """The hosts of the ranks, unless all are on this machine."""
        return self.hosts or hosts_option.allocation()

    @property
    def crowded(self) -> bool:
        """Whether a host gets more ranks than this machine has cores; hosts are assumed to be
        alike."""
        room = self._room
        return (room.most_on_one if room else self.ranks) > hardware.usable_cores()

    @property
    def exceeds_room(self) -> bool:
        return bool(self._room and self.ranks > self._room.ranks)

    @property
    def binding(self) -> str | None:
        """What to bind ranks to. None leaves it to the launcher, or to `extra`."""
        if not self.bind or {"--bind-to", "-bind-to"} & set(self.extra):
            return None
        return "none" if self.crowded else "core"


def command_line(launcher: Launcher, job: Job) -> list[str]:
    """The whole command: launcher, its options, and the job's command."""
    options = {"openmpi": _openmpi_options, "mpich": _mpich_options}.get(
        launcher.family or "", lambda _: []
    )
    if job.limit and launcher.family is None:
        raise bad_value(
            f"--timeout {job.limit}: no such option of {launcher.path.name} is known",
            fix="give its own options: --launcher-arg ARG",
        )
    where = hosts_option.options(launcher, job.hosts) if job.hosts else []
    extra = mpi_words.of_family(job.extra, launcher.family)
    return [launcher.word, "-n", str(job.ranks), *where, *options(job), *extra, *job.command]


def _openmpi_options(job: Job) -> list[str]:
    options: list[str] = []
    if job.oversubscribe or job.crowded or job.exceeds_room:
        options.append("--oversubscribe")
    if job.binding:
        options += ["--bind-to", job.binding]
    if job.limit:
        options += ["--timeout", str(job.limit)]
    for name, value in job.variables.items():
        options += ["-x", f"{name}={value}"]
    return options


def _mpich_options(job: Job) -> list[str]:
    options: list[str] = []
    if job.binding:
        options += ["-bind-to", job.binding]
    for name, value in job.variables.items():
        options += ["-genv", name, value]
    return options


def environment(launcher: Launcher, job: Job) -> dict[str, str]:
    """The environment to start the launcher in."""
    result = dict(os.environ)
    _forget_own_package(result)
    if launcher.family is None:
        result.update(job.variables)
    if launcher.family == "mpich" and job.limit:
        result["MPIEXEC_TIMEOUT"] = str(job.limit)
    if launcher.family == "openmpi" and os.geteuid() == 0:
        # Open MPI refuses to run as root unless both are set; containers have no other user.
        result.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
        result.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    return result


def _forget_own_package(environment: dict[str, str]) -> None:
    """Removes this package, which the sumac executable put first, from the program's PYTHONPATH."""
    own = str(Path(os.path.abspath(__file__)).parents[2])
    first, _, rest = environment.get("PYTHONPATH", "").partition(os.pathsep)
    if first == own:
        environment["PYTHONPATH"] = rest
    if not environment.get("PYTHONPATH", "unset"):
        del environment["PYTHONPATH"]
