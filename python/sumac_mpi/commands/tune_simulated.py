# SPDX-License-Identifier: BSD-3-Clause
"""`sumac tune --simulate`: rules for a cluster that is not at hand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from sumac_mpi import __version__
from sumac_mpi.base import endings, files, progress
from sumac_mpi.base.errors import bad_value
from sumac_mpi.simulate import cluster, request, smpi
from sumac_mpi.tune import rules, simulated, state
from sumac_mpi.tune.request import counts_of_ranks

SIZES = "8,512,4K,16K,64K,256K,1M"


def requests(
    described: str, named: Sequence[str], ranks: str | None, sizes: Sequence[int]
) -> list[request.Request]:
    """One for each collective and number of ranks."""
    found = cluster.load(described)
    counts = counts_of_ranks(ranks) if ranks else (found.ranks,)
    fitting = [request.fitted(found, count) for count in counts]
    return [
        request.Request(part, count, collective, request.check_sizes(list(sizes)), ())
        for collective in simulated.collectives(named)
        for part, count in fitting
    ]


def plan(wanted: Sequence[request.Request]) -> list[str]:
    """What would be simulated."""
    found = simulated.jobs(wanted)
    return [*(job.key for job in found), f"# {len(found)} simulations"]


def run(wanted: Sequence[request.Request], output: Path, restart: bool, seconds: float) -> None:
    """Simulates and writes the rules; goes on where an interrupted run stopped."""
    smpi.command()
    kept_in = state.path_beside(output)
    files.check("-o", kept_in)
    if restart:
        kept_in.unlink(missing_ok=True)
    kept = simulated.load(kept_in, wanted)
    jobs = len(simulated.jobs(wanted))
    try:
        with progress.of_jobs(jobs) as advance:
            simulated.simulate(wanted, kept, seconds, advance)
    except (Exception, KeyboardInterrupt) as end:
        if kept.found:
            print(f"# incomplete: {endings.reason(end)} after {len(kept.found)} simulations, kept "
                  f"in {kept_in}: repeat the command to go on", file=sys.stderr)  # fmt: skip
        raise
    verdicts = simulated.verdicts(wanted, kept)
    found = [rule for place, of in verdicts.items() for rule in rules.of(place, of)]
    text = rules.document(_head(wanted), found)
    behind = request.RULES.read_text(encoding="utf-8")
    files.write(output, f"{text}\n{behind}".encode())
    kept_in.unlink(missing_ok=True)
    print("\n".join(simulated.table(verdicts)))
    print(f"# {len(found)} rules in {output}, before those for simulated clusters")


def _head(wanted: Sequence[request.Request]) -> list[str]:
    return [
        f"Rules for the cluster '{wanted[0].cluster.title}', simulated by 'sumac tune --simulate', "
        f"Sumac {__version__}: for SUMAC_RULES.",
        "Where there is none, those for simulated clusters hold, which follow, and then the "
        "shipped ones.",
    ]


def check_others(given: dict[str, object]) -> None:
    """Options of measurements alone."""
    for name, value in given.items():
        if value:
            raise bad_value(f"{name}: not with --simulate, which starts no MPI")
