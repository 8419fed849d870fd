#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Broadcast, all-reduce and reduce on simulated hosts with coprocessors, by Sumac's designs and by
SMPI's selections. Prints tables in Markdown and draws a picture.

Usage: experiments/coprocessor_clusters/run.py [--large | --ranks N,...] [--keep FILE] [--plot FILE]
           ...
Exit status: 0 done, 1 a simulation failed, 3 no SimGrid here, 4 wrong results of Sumac.
"""

import argparse
import pathlib
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402
import simulations  # noqa: E402
from simulations import Job, SumacError  # noqa: E402

RANKS_OF_A_NODE = 32
DESIGNS = ("basic", "direct", "peer")
# Beyond so many bytes all ranks of a node share an all-reduce, and the design does not matter.
MOST_OF_DESIGNS = 1024


class Run(NamedTuple):
    """Tables of a number of ranks."""

    ranks: int
    collectives: tuple
    sizes: tuple
    against: tuple


SIZES, SOME_SIZES = (8, 1024, 16384, 65536, 262144), (8, 1024, 65536)
COLLECTIVES, AGAINST = ("bcast", "allreduce", "reduce"), ("mvapich2", "ompi", "mpich")
# In half an hour of two processors, together with hierarchy_depths; and what takes longer.
RUNS = (
    Run(576, COLLECTIVES, SIZES, AGAINST),
    Run(1024, ("bcast", "allreduce"), SOME_SIZES, ("mvapich2", "ompi")),
)
LARGE_RUNS = (
    Run(1024, COLLECTIVES, SIZES, AGAINST),
    Run(2048, ("allreduce",), SOME_SIZES, ("mvapich2", "ompi")),
)
# (collective, ranks): how much less time than MVAPICH2-MIC's earlier algorithms the paper claims at
# the best size.
CLAIMS = {("bcast", 1024): 72.0, ("allreduce", 1024): 58.0, ("allreduce", 2048): 52.6}


def curves(simulator, run, collective):
    """{name: {bytes: us}}."""
    nodes = run.ranks // RANKS_OF_A_NODE

    def job(sizes, way=simulations.SUMAC, *variables):
        return Job("coprocessors", nodes, collective, sizes, way, variables)

    wanted = {}
    for design in DESIGNS if collective == "allreduce" else DESIGNS[:1]:
        name = f"Sumac, {design}" if collective == "allreduce" else "Sumac"
        sizes = run.sizes
        if design != DESIGNS[0]:
            sizes = tuple(size for size in sizes if size <= MOST_OF_DESIGNS)
        if sizes:
            wanted[name] = job(sizes, simulations.SUMAC, f"SUMAC_SLOW_DESIGN={design}")
    return simulator.rows(wanted | {way: job(run.sizes, way) for way in run.against})


def best(rows, own, size):
    """The least time at a size, of Sumac's curves or of the others."""
    chosen = [us for name, us in rows.items() if name.startswith("Sumac") == own]
    return min((us[size] for us in chosen if size in us), default=None)


def tell_claims(collective, ranks, rows, sizes):
    def less(theirs, size):
        own = best(rows, True, size)
        return (1 - own / theirs) * 100 if own and theirs else None

    mvapich = rows.get("mvapich2", {})
    against_mvapich = {s: each for s in sizes if (each := less(mvapich.get(s), s)) is not None}
    against_best = {s: each for s in sizes if (each := less(best(rows, False, s), s)) is not None}
    if claim := CLAIMS.get((collective, ranks)):
        print(f"\nThe paper: up to {claim:.1f} % less time than its baseline.")
    for name, found in (("mvapich2", against_mvapich), ("the best selection", against_best)):
        if found:
            cells = [f"{simulations.size_text(s)} {each:.0f} %" for s, each in found.items()]
            print(f"\nLess time than {name}: {', '.join(cells)} (negative: more).", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description="collectives on simulated coprocessors")
    parser.add_argument("--large", action="store_true", help="also what takes hours")
    parser.add_argument("--ranks", help="other ones, multiples of 32, with these:")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--collectives", default=",".join(COLLECTIVES))
    parser.add_argument("--against", default=",".join(AGAINST), help="SMPI's selections")
    parser.add_argument("--keep", type=pathlib.Path, help="a file of results, to go on with")
    parser.add_argument("--plot", type=pathlib.Path, help="a picture")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".venv", help="where it is")
    parser.add_argument("--seconds", type=float, default=3600, help="limit of a simulation")
    return parser.parse_args()


def runs(given):
    if not given.ranks:
        return RUNS + (LARGE_RUNS if given.large else ())
    sizes = tuple(map(int, given.sizes.split(",")))
    collectives = tuple(given.collectives.split(","))
    against = tuple(way for way in given.against.split(",") if way)
    return [Run(ranks, collectives, sizes, against) for ranks in map(int, given.ranks.split(","))]


def main():
    given = arguments()
    if not simulations.is_there(given.build):
        return 3
    simulator = simulations.Simulator(simulations.Kept(given.keep), given.build, given.seconds)
    panels = {}
    for run in runs(given):
        for collective in run.collectives:
            try:
                rows = curves(simulator, run, collective)
            except SumacError as error:
                raise jobs.Failed(str(error)) from error
            title = f"{collective}, {run.ranks} ranks"
            simulations.print_table(title, run.sizes, rows)
            tell_claims(collective, run.ranks, rows, run.sizes)
            panels[title] = rows
    if given.plot:
        simulations.draw(given.plot, panels, "hosts with coprocessors, simulated")
    return jobs.status_of(simulator.wrong)


if __name__ == "__main__":
    jobs.run(main)
