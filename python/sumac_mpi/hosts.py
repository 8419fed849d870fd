# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of a job: `--hosts node1:2,node2:2`, and how a launcher is told of them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Annotated, Optional

import typer

from sumac_mpi import machine, slurm
from sumac_mpi.errors import bad_value
from sumac_mpi.launcher import Launcher

_HOST = re.compile(r"([\w.-]+)(?::([1-9]\d*))?")

HostsOption = Annotated[
    Optional[str],
    typer.Option("--hosts", metavar="HOST:RANKS,...", help="Where to start ranks: node1:2,node2:2"),
]
LauncherArgOption = Annotated[
    Optional[list[str]],
    typer.Option("--launcher-arg", metavar="ARG", help="One more argument for the launcher."),
]


@dataclass(frozen=True)
class Hosts:
    places: tuple[tuple[str, int], ...]  # name and ranks of each

    @property
    def ranks(self) -> int:
        return sum(ranks for _, ranks in self.places)

    @property
    def most_on_one(self) -> int:
        return max(ranks for _, ranks in self.places)

    def __str__(self) -> str:
        return ",".join(f"{name}:{ranks}" for name, ranks in self.places)


def parse(text: str | None) -> Hosts | None:
    """Raises a usage error for what is no list of hosts."""
    if text is None:
        return None
    places = []
    for word in text.split(","):
        match = _HOST.fullmatch(word.strip())
        if not match:
            raise bad_value(f"--hosts {text}: {word!r} is not HOST or HOST:RANKS")
        places.append((match[1], int(match[2] or 1)))
    return Hosts(tuple(places))


def number_of_ranks(wanted: int | None, hosts: Hosts | None) -> int:
    """What -n says, else all there is room for."""
    if wanted:
        return wanted
    if hosts:
        return hosts.ranks
    allocation = slurm.allocation()
    if allocation is None:
        return machine.usable_cores()
    print(f"sumac: {allocation.ranks} ranks, as {allocation.says}", file=sys.stderr)
    return allocation.ranks


def options(launcher: Launcher, hosts: Hosts) -> list[str]:
    """How the launcher is told. Raises a usage error where this is not known."""
    if launcher.family == "openmpi":
        return ["--host", str(hosts)]
    if launcher.version.startswith("Intel MPI"):
        # It takes no counts here, and the same number of ranks on each host.
        if len({ranks for _, ranks in hosts.places}) != 1:
            raise bad_value(
                f"--hosts {hosts}: {launcher.version} wants as many ranks on each host",
                fix="--launcher-arg -machinefile --launcher-arg FILE",
            )
        names = ",".join(name for name, _ in hosts.places)
        return ["-hosts", names, "-ppn", str(hosts.most_on_one)]
    if launcher.family == "mpich":
        return ["-hosts", str(hosts)]
    raise bad_value(
        f"--hosts {hosts}: it is not known how {launcher.path.name} is told of hosts",
        fix="give its own options: --launcher-arg ARG",
    )
