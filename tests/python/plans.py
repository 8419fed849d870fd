# SPDX-License-Identifier: BSD-3-Clause
"""`sumac plan` of the installed command."""

from __future__ import annotations

import json
import subprocess
from itertools import groupby
from pathlib import Path
from typing import Any

from installed import INSTALLATION, ROOT, sumac
from sumac_mpi.library import tables

Json = dict[str, Any]

XML = str(ROOT / "tests/topology/two-sockets.xml")
NODE = "package:2 numa:1 core:8"

# Calls whose plans differ in kind. What holds of all plans is asserted of each.
CALLS = {
    "one group": ("allreduce", "64K", "-n", "32", "--machine", "package:2 core:16",
                  "--hierarchy", "flat"),
    "one group, no whole cache lines": ("bcast", "2073", "-n", "4"),
    "nodes": ("allreduce", "1000000", "-n", "64", "--nodes", "4", "--machine", NODE),
    "nodes of three levels": ("bcast", "100K", "-n", "128", "--nodes", "8", "--machine", NODE,
                              "--hierarchy", "numa,node", "--map", "round-robin",
                              "--algo", "bcast:levels"),
    "unequal nodes": ("reduce", "1M", "-n", "50", "--nodes", "4", "--machine", NODE,
                      "--no-attach", "--algo", "reduce:levels"),
    "more ranks than processors": ("allreduce", "8", "-n", "40", "--nodes", "2", "--machine", NODE,
                                   "--algo", "allreduce:levels"),
    "all ranks send": ("allreduce", "1M", "-n", "12", "--nodes", "3", "--hierarchy", "flat",
                       "--algo", "allreduce:levels"),
    "several leaders": ("allreduce", "1M", "-n", "12", "--nodes", "3",
                        "--algo", "allreduce:multi_leader"),
    "shared with slow ranks": ("allreduce", "3000000", "-n", "12", "--nodes", "3",
                               "--slow", "3,7,11", "--hierarchy", "ranks:2,node",
                               "--algo", "allreduce:all_ranks;allreduce:ring"),
    "a shared broadcast": ("bcast", "1M", "-n", "12", "--nodes", "3", "--machine", "core:4",
                           "--algo", "bcast:all_ranks"),
    "parts": ("reduce_scatter", "1000000", "-n", "20", "--nodes", "3",
              "--hierarchy", "ranks:4,node", "--algo", "reduce_scatter:levels"),
    "all parts": ("allgather", "512K", "-n", "16", "--nodes", "4", "--algo", "allgather:levels"),
    "left to the MPI": ("alltoall", "64K", "-n", "8", "--nodes", "2"),
    "a barrier": ("barrier", "-n", "256", "--nodes", "16"),
    "levels in one node": ("allreduce", "64K", "-n", "64", "--machine", XML,
                           "--hierarchy", "l3,package", "--algo", "allreduce:levels"),
    **{f"slow ranks, {design}": ("allreduce", "256K", "-n", "16", "--nodes", "2",
                                 "--slow", "4-7,12-15", "--slow-design", design,
                                 "--algo", "allreduce:levels")
       for design in ("basic", "direct", "peer")},
}  # fmt: skip


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return sumac("plan", *arguments, **variables)


def text(*arguments: str, **variables: str) -> str:
    done = run(*arguments, **variables)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refusal(slug: str, *call: str) -> str:
    """What a call that must be refused is told."""
    done = run(*call)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sumac: error[{slug}]: ") and "\n  fix:   " in done.stderr
    assert done.stderr.count("\n") <= 3
    return done.stderr


def plan(*arguments: str, **variables: str) -> Json:
    found: Json = json.loads(text(*arguments, "--json", **variables))
    return found


def rules(path: Path, *rows: Json) -> list[str]:
    """Writes rules. Returns the place of each, as plans name it."""
    places, lines = [], ["# Rules."]
    for row in rows:
        places.append(f"{path}:{len(lines) + 1}")
        lines += ["[[rule]]", *(f"{key} = {json.dumps(value)}" for key, value in row.items())]
    path.write_text("".join(line + "\n" for line in lines))
    return places


def rule(collective: str, over: str, algorithm: str, **more: object) -> Json:
    return {"collective": collective, "over": over, "algorithm": algorithm, **more}


def stages(found: Json) -> list[list[Json]]:
    """The rows of a plan, those of groups that work at the same time together."""
    rows = found["levels"]
    return [list(each) for _, each in groupby(rows, lambda row: (row["level"], row["operation"]))]


def outline(found: Json) -> list[str]:
    """A line for each row: its level, groups, ranks, and what they do."""
    return [
        f"{row['level']} {row['groups']} x {row['ranks']} {row['over']} {row['operation']}"
        for row in found["levels"]
    ]


def priced(found: Json) -> bool:
    """Whether no part of the call is left to the MPI, whose steps and bytes are not known."""
    return bool(found["levels"]) and all(row["steps"] is not None for row in found["levels"])


def algorithms() -> list[Json]:
    """The table of algorithms."""
    return tables.rows("algorithms", INSTALLATION)
