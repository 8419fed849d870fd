# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm has allocated to the shell or job script that this command was typed in. The launchers
of the MPIs find its nodes by themselves."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_PLACES = re.compile(r"(\d+)(?:\(x(\d+)\))?")  # "4(x2),3": 4 tasks on each of 2 nodes, 3 on one


@dataclass(frozen=True)
class Allocation:
    ranks: int
    most_on_one: int  # of its nodes
    says: str  # the variable that has the number of ranks, and its value


def allocation() -> Allocation | None:
    """None outside of an allocation, and in a step of several tasks, each of which would use all of
    it."""
    if "SLURM_JOB_ID" not in os.environ or _number("SLURM_STEP_NUM_TASKS") > 1:
        return None
    nodes = max(_number("SLURM_JOB_NUM_NODES"), 1)
    matches = map(_PLACES.fullmatch, os.environ.get("SLURM_TASKS_PER_NODE", "").split(","))
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
