#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All-reduce and reduce over hierarchies of several depths on a simulated torus, blocking and
nonblocking, and the conjugate-gradient solver of examples/cg, beside SMPI's selections. Prints
tables in Markdown and draws a picture.

Usage: experiments/hierarchy_depths/run.py [--ranks N,...] [--keep FILE] [--plot FILE] ...
Exit status: 0 done, 1 a simulation failed, 3 no SimGrid here, 4 wrong results of Sumac.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402
import simulations  # noqa: E402
from simulations import SUMAC, Job, SumacError  # noqa: E402

CLUSTER, RANKS_OF_A_NODE = "torus", 16
HIERARCHIES = ("flat", "node", "ranks:4,node", "ranks:4,node,ranks:8")
COMPUTE_US = 200.0
CG = ("-n", "8", "-r", "1", "-i", "300", "-t", "1e-3", "-p", "4")


def blocking(simulator, given, collective, nodes):
    """{name: {bytes: us}}."""
    wanted = {}
    for levels in given.hierarchies:
        variables = (f"SUMAC_HIERARCHY={levels}",)
        wanted[f"Sumac, {levels}"] = Job(CLUSTER, nodes, collective, given.sizes, SUMAC, variables)
    for way in given.against:
        wanted[way] = Job(CLUSTER, nodes, collective, given.sizes, way)
    return simulator.rows(wanted)


def nonblocking(simulator, given, collective, nodes, of_blocking):
    """The time of a call and of the work beside it. SMPI's own nonblocking collectives send a
    message from each rank to each, which no library does: the selections call and then compute."""
    wanted = {}
    for levels in given.hierarchies:
        variables = (f"SUMAC_HIERARCHY={levels}",)
        wanted[f"Sumac, {levels}, overlapped"] = Job(
            CLUSTER, nodes, collective, given.sizes, SUMAC, variables, COMPUTE_US
        )
    rows = simulator.rows(wanted)
    for way in given.against:
        rows[f"{way}, then work"] = {s: us + COMPUTE_US for s, us in of_blocking[way].items()}
    return rows


def solver(simulator, given, nodes):
    """{(method, way): (seconds in all, in all-reduces)}."""
    program = given.build.absolute() / "examples/cg-smpi"
    if not program.exists():
        print(f"\nNo solver: nothing at {program}")
        return {}
    found = {}
    for method, way in (
        ("plain", SUMAC), ("pipelined", SUMAC), *(("plain", each) for each in given.against)
    ):  # fmt: skip
        told = simulator.program(program, ["-m", method, *CG], CLUSTER, nodes, way)
        if "seconds" in told:
            found[method, way] = (float(told["seconds"]), float(told["collectives"]))
    return found


def print_solver(ranks, found):
    natives = [each[0] for (_, way), each in found.items() if way != SUMAC]
    if not natives:
        return
    print(f"\nConjugate gradients, {ranks} ranks: simulated us\n")
    print("| method | all-reduces by | in all | in all-reduces | times as fast as the best |")
    print("|---|---|---:|---:|---:|")
    for (method, way), (seconds, inside) in found.items():
        faster = min(natives) / seconds
        print(f"| {method} | {way} | {seconds * 1e6:.0f} | {inside * 1e6:.0f} | {faster:.2f} |")
    print("\nThe paper: CG up to 195 % as fast with overlap.", flush=True)


def ratio_text(rows, sizes):
    """Per size, how many times as fast the best of Sumac is as the best of the others."""

    def best(own, size):
        found = [us[size] for n, us in rows.items() if size in us and n.startswith("Sumac") == own]
        return min(found, default=None)

    pairs = [(size, best(False, size), best(True, size)) for size in sizes]
    return ", ".join(f"{simulations.size_text(s)} {a / b:.2f}" for s, a, b in pairs if a and b)


def arguments():
    parser = argparse.ArgumentParser(description="hierarchies on a simulated torus")
    parser.add_argument("--ranks", default="512", help="multiples of 16")
    parser.add_argument("--sizes", default="8,1024,16384,131072")
    parser.add_argument("--collectives", default="allreduce,reduce")
    parser.add_argument("--hierarchies", default=";".join(HIERARCHIES), help="separated by ;")
    parser.add_argument("--against", default="ompi,mvapich2,mpich", help="SMPI's selections")
    parser.add_argument("--keep", type=pathlib.Path, help="a file of results, to go on with")
    parser.add_argument("--plot", type=pathlib.Path, help="a picture")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--seconds", type=float, default=900, help="limit of a simulation")
    given = parser.parse_args()
    given.sizes = tuple(map(int, given.sizes.split(",")))
    given.hierarchies = given.hierarchies.split(";")
    given.against = [way for way in given.against.split(",") if way]
    return given


def show(simulator, given, ranks, panels):
    nodes = ranks // RANKS_OF_A_NODE
    for collective in given.collectives.split(","):
        rows = blocking(simulator, given, collective, nodes)
        title = f"{collective}, {ranks} ranks"
        simulations.print_table(title, given.sizes, rows)
        print(f"\nTimes as fast as the best selection: {ratio_text(rows, given.sizes)}.")
        print("\nThe paper: blocking all-reduce up to 145 % as fast.", flush=True)
        beside = nonblocking(simulator, given, collective, nodes, rows)
        title_beside = f"nonblocking {title}, with {COMPUTE_US:.0f} us of work"
        simulations.print_table(title_beside, given.sizes, beside)
        print(f"\nTimes as fast as the best selection: {ratio_text(beside, given.sizes)}.")
        print("\nThe paper, of the call alone: 23, 10 and 3 times as fast.", flush=True)
        panels[title], panels[f"{title}, nonblocking"] = rows, beside
    print_solver(ranks, solver(simulator, given, nodes))


def main():
    given = arguments()
    if not simulations.is_there(given.build):
        return 3
    simulator = simulations.Simulator(simulations.Kept(given.keep), given.build, given.seconds)
    panels = {}
    try:
        for ranks in map(int, given.ranks.split(",")):
            show(simulator, given, ranks, panels)
    except SumacError as error:
        raise jobs.Failed(str(error)) from error
    if given.plot:
        simulations.draw(given.plot, panels, "a torus, simulated")
    return jobs.status_of(simulator.wrong)


if __name__ == "__main__":
    jobs.run(main)
