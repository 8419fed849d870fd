# SPDX-License-Identifier: BSD-3-Clause
"""`sumac simulate`: a collective on a described cluster."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from sumac_mpi.base import console, errors, files, units
from sumac_mpi.base.errors import Exit
from sumac_mpi.commands import bench_options
from sumac_mpi.commands.common_options import (
    JsonOption,
    PictureOption,
    SettingsOption,
    checked,
    offering,
    option,
)
from sumac_mpi.library import calls, layout, options
from sumac_mpi.plot import drawing
from sumac_mpi.simulate import cluster, measure, request, smpi, table

Command = bench_options.Command
_SIZES = "8,64,512,4K,32K,256K,1M"


class Family(str, Enum):
    any = "any"
    openmpi = "openmpi"
    mpich = "mpich"


DescribedArgument = Annotated[
    str,
    typer.Argument(
        metavar="CLUSTER",
        callback=checked(cluster.load),
        autocompletion=offering(cluster.names),
        help="A TOML file that describes a cluster, or the name of one that is shipped: "
        + ", ".join(cluster.names()),
    ),
]
CollectiveArgument = Annotated[
    str,
    typer.Argument(
        metavar="COLLECTIVE",
        help="{simulated}",
        autocompletion=offering(calls.simulated),
    ),
]
RanksOption = option(
    Optional[int], "-n -np --ranks", "N", "Number of ranks", None, min=2,
    show_default="all of the cluster",
)  # fmt: skip
NodesOption = option(
    Optional[int], "--nodes", "N", "Number of nodes of the cluster", None, min=1,
    show_default="that of its file",
)  # fmt: skip
SizesOption = option(str, "--sizes", "SIZE,...", "Message sizes, multiples of 8", None)
AgainstOption = option(
    Optional[str], "--against", "NAME,...",
    "SimGrid's selections or algorithms to compare with, '' for none", None,
    show_default="ompi,mpich,mvapich2, and impi up to 256 ranks",
)  # fmt: skip
FamilyOption = option(Family, "--mpi", "MPI", "Whose rules hold: any, openmpi or mpich", None)
OverlapOption = option(
    Optional[float], "--work", "US",
    "Make nonblocking calls, and compute for so many us meanwhile", None, min=0,
)  # fmt: skip
TestsOption = option(int, "--tests", "N", "Calls of MPI_Test during the computation", None, min=0)
TimeoutOption = option(
    float, "--timeout", "SECONDS", "End a simulation that takes longer", None, min=1
)


def simulate(
    described: DescribedArgument,
    collective: CollectiveArgument = "allreduce",
    ranks: RanksOption = None,
    nodes: NodesOption = None,
    sizes: SizesOption = _SIZES,
    against: AgainstOption = None,
    settings: SettingsOption = None,
    mpi: FamilyOption = Family.any,
    work: OverlapOption = None,
    tests: TestsOption = 0,
    output: PictureOption = None,
    timeout: TimeoutOption = 300,
    json_file: JsonOption = None,
) -> None:
    """Simulate a collective on a cluster that is not there.

    Sumac's algorithms, rules and hierarchies run on the simulated ranks of SimGrid's SMPI, beside
    the algorithms that SimGrid has for Open MPI, MPICH, MVAPICH2 and Intel MPI. Times are
    simulated: the same each time, on whatever machine. Results are checked.

    \b
    sumac simulate fat-tree -n 512
    sumac simulate my-cluster.toml bcast --sizes 8,64K,1M -o bcast.png
    """
    errors.require("COLLECTIVE", collective, calls.simulated())
    smpi.command()
    smpi.program()
    if output:
        drawing.check("-o", output)
    wanted = _request(described, collective, ranks, nodes, sizes, against, settings)
    wanted = dataclasses.replace(
        wanted, mpi=mpi.value, nonblocking=work is not None, compute_us=work or 0.0, tests=tests
    )
    with _progress(wanted) as advance:
        results = measure.simulate(wanted, timeout, advance)
    if output:
        drawing.module("simulate.picture").draw(results, output)
    show(results, json_file)
    raise typer.Exit(Exit.WRONG if results.wrong_sumac() else Exit.OK)


def _request(
    described: str, collective: str, ranks: int | None, nodes: int | None, sizes: str,
    against: str | None, settings: list[str] | None,
) -> request.Request:  # fmt: skip
    found = cluster.load(described)
    if nodes:
        found = dataclasses.replace(found, nodes=nodes)
    found, count = request.fitted(found, ranks)
    has_sizes = calls.has_data(collective)
    listed = [units.parse_size(word) for word in sizes.split(",")] if has_sizes else []
    own = options.of_settings(layout.find(), settings or [])
    variables = tuple(f"{name}={value}" for name, value in own.items())
    return request.Request(
        found, count, collective, request.check_sizes(listed, count),
        request.check_selections(against, count), variables,
    )  # fmt: skip


@contextmanager
def _progress(wanted: request.Request) -> Iterator[Callable[[str], None]]:
    """A bar over the results of all ways."""
    with console.bar(len(wanted.ways) * max(1, len(wanted.sizes)), live=True) as update:
        yield lambda way: update(advance=1, description=way)


def show(results: measure.Results, json_file: Path | None) -> None:
    if json_file:
        files.show_json(results.as_json(), json_file)
        return
    out = console.console(100)
    out.print(table.table(results))
    for note in table.notes(results):
        out.print(note, markup=False)
    sys.stdout.flush()
