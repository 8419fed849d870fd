# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of a job: those of `--hosts node1:2,node2:2` or `node[01-16]:8`, with the launcher's
options for them, and those that Slurm has allocated to the shell or job script that the command was
typed in. The launchers of the MPIs find Slurm's nodes by themselves."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sumac_mpi.base import hardware
from sumac_mpi.base.errors import Exit, SumacError, bad_value, reason

if TYPE_CHECKING:
    from sumac_mpi.launch.launcher import Launcher
import os

# HOST or HOST:RANKS; HOST may have numbers in brackets: node[01-16].
_PLACE = re.compile(r"((?:[\w.-]|\[\d{1,6}(?:[,/-]\d{1,6})*\])+)(?::([1-9]\d*))?")
_COMMA = re.compile(r",(?![^\[]*\])")  # outside of brackets
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")  # "4(x2),3": 4 tasks on each of 2 nodes, 3 on one
_SLOTS = re.compile(r"\bslots=(\d+)")
_MOST = 1 << 16  # hosts


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
    """The hosts in the text. Raises a usage error if it is not a list of hosts."""
    if text is None:
        return None
    places: list[tuple[str, int]] = []
    for word in _COMMA.split(text):
        match = _PLACE.fullmatch(word.strip())
        if not match:
            raise bad_value(f"--hosts {text}: {word!r} is not HOST or HOST:RANKS")
        places += [(name, int(match[2] or 1)) for name in _names(match[1])]
    return Hosts(tuple(places))


def read(file: Path) -> Hosts:
    """The hosts in a file for launchers: a line for each, with the number of ranks behind a colon
    or in slots=N. Raises a usage error for another file."""
    try:
        lines = [line.partition("#")[0].split() for line in file.read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise bad_value(f"--hostfile {file}: {reason(error)}") from error
    if strange := [word for line in lines for word in line[1:] if "=" not in word]:
        raise bad_value(f"--hostfile {file}: {strange[0]!r} is not slots=N",
                        fix="a line is 'node1:2' or 'node1 slots=2'")  # fmt: skip
    places = [
        f"{name}:{slots[0]}" if (slots := _SLOTS.findall(" ".join(rest))) else name
        for name, *rest in filter(None, lines)
    ]
    found = parse(",".join(places)) if places else None
    if found is None:
        raise bad_value(f"--hostfile {file}: there is no host in it")
    return found


def _names(pattern: str) -> list[str]:
    """node[01-03] is node01, node02 and node03."""
    if "[" not in pattern:
        return [pattern]
    try:
        from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
    except ImportError as error:
        raise SumacError(
            "no-python",
            f"this Python lacks the package ClusterShell, which --hosts {pattern} needs",
            found=sys.executable,
            fix="install ClusterShell (Debian: python3-clustershell), or name each host",
            code=Exit.UNAVAILABLE,
        ) from error
    try:
        found = NodeSet(pattern, resolver=RESOLVER_NOGROUP)
    except NodeSetException as error:
        raise bad_value(f"--hosts {pattern}: {error}") from error
    if len(found) > _MOST:
        raise bad_value(f"--hosts {pattern}: {len(found)} hosts are more than {_MOST}")
    return list(found)


def number_of_ranks(wanted: int | None, hosts: Hosts | None) -> int:
    """The number of -n, else the sum over the hosts."""
    if wanted:
        return wanted
    if hosts:
        return hosts.ranks
    allocated = allocation()
    if allocated is None:
        return hardware.usable_cores()
    print(f"sumac: {allocated.ranks} ranks, as {allocated.says}", file=sys.stderr)
    return allocated.ranks


def options(launcher: Launcher, hosts: Hosts) -> list[str]:
    """The launcher's options for these hosts. Raises a usage error for an unknown launcher."""
    if launcher.family == "openmpi":
        return ["--host", str(hosts)]
    if launcher.version.startswith("Intel MPI"):
        # This launcher accepts no counts here, only the same number of ranks on each host.
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
        f"--hosts {hosts}: no option of {launcher.path.name} for hosts is known",
        fix="give its own options: --launcher-arg ARG",
    )


@dataclass(frozen=True)
class Allocation:
    """What Slurm has allocated."""

    ranks: int
    most_on_one: int  # of its nodes
    says: str  # the variable that has the number of ranks, and its value


def allocation() -> Allocation | None:
    """Slurm's allocation; None outside of one, and in a step of several tasks, each of which would
    use all of it."""
    if "SLURM_JOB_ID" not in os.environ or _number("SLURM_STEP_NUM_TASKS") > 1:
        return None
    nodes = max(_number("SLURM_JOB_NUM_NODES"), 1)
    matches = map(_TASKS.fullmatch, os.environ.get("SLURM_TASKS_PER_NODE", "").split(","))
    places = [int(m[1]) for m in matches if m for _ in range(int(m[2] or 1))]
    for name, ranks in (
        ("SLURM_NTASKS", _number("SLURM_NTASKS")),
        ("SLURM_TASKS_PER_NODE", sum(places)),
    ):
        if ranks > 0:
            most = max(places, default=-(-ranks // nodes))
            return Allocation(ranks, most, f"{name}={os.environ[name]}")
    return None


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else 0
