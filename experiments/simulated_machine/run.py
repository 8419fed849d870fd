#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far simulation is from measurement: collectives on this machine, or on hosts of the lab
(docs/hierarchy.md), measured, and the same simulated. Latency and bandwidths of the simulated
memory and network at each size are those of one message, and of two that cross, between two ranks;
the collectives are predicted from them, and compared.

Usage: experiments/simulated_machine/run.py [--hosts N] [--sizes N,...] [--measured FILE] ...
Exit status: 0 done, 1 a job failed, 3 no MPI, no SimGrid or no lab here.
"""

import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402
import simulations  # noqa: E402
from simulations import SUMAC, SumacError, cluster, measure, request  # noqa: E402

LAUNCHER = "mpiexec.openmpi"
NATIVE = "Open MPI"
LAB = [str(ROOT / "scripts/lab"), "--name", "simulated"]
SMALLEST = "8"  # bytes: such a message's time is the latency
SECONDS = 300


def job(given, hosts, ranks, command):
    """The JSON lines of a job of so many ranks on each of so many hosts."""
    count = ["-n", str(hosts * ranks)]
    if given.hosts == 1:
        line = [LAUNCHER, *jobs.UNBOUND["openmpi"], *count]
    else:
        places = ",".join(f"h{host}:{ranks}" for host in range(hosts))
        line = [*LAB, "run", "--mpi", "openmpi", "--hosts", places, *count]
        line += ["--launcher-arg", "--oversubscribe", "--timeout", str(SECONDS), "--"]
    output = jobs.output_of([*line, *map(str, command)], {}, SECONDS + 30)
    return [json.loads(text) for text in output.splitlines() if text.startswith("{")]


def times(given, hosts, ranks, call, front=(), also=()):
    """{bytes: us} of a call of timed.c."""
    program = given.programs / "experiments/simulated-timed"
    found = job(given, hosts, ranks, [*front, program, call, *given.sizes.split(","), *also])
    return {str(each["bytes"]): each["us"] for each in found}


def way_between(given, hosts, ranks):
    """{what: {bytes: us}} of two ranks."""
    what = ("message", "crossing", "fold")
    return {each: times(given, hosts, ranks, each, also=[SMALLEST]) for each in what}


def collectives(given):
    """{collective: {way: {bytes: us}}}. Within a node Sumac shares memory, which is not simulated:
    there the MPI's own are compared alone."""
    sumac = [given.build / "bin/sumac", "exec", "--set", f"RULES={request.RULES.absolute()}", "--"]
    ways = {NATIVE: (), **({SUMAC: sumac} if given.hosts > 1 else {})}
    return {
        collective: {
            way: times(given, given.hosts, given.ranks, collective, front)
            for way, front in ways.items()
        }
        for collective in given.collectives.split(",")
    }


def measured(given):
    if given.hosts == 1:
        return {"memory": way_between(given, 1, 2), "collectives": collectives(given)}
    try:
        subprocess.run([*LAB, "up", str(given.hosts), *given.rate.split()], check=True)
        memory = way_between(given, 1, 2) if given.ranks > 1 else None
        network = way_between(given, 2, 1)
        return {"memory": memory, "network": network, "collectives": collectives(given)}
    except subprocess.CalledProcessError as error:
        raise jobs.Missing("no lab here") from error
    finally:
        subprocess.run([*LAB, "down"], check=False)


def speed(size, us, latency):
    """GB/s of what takes so long, beyond its latency."""
    return size / max(us - latency, 1e-3) / 1000


def memory_of(found, size):
    if found is None:
        return cluster.Memory(1.0, 10.0, 20.0)  # nothing passes it
    message, crossing = found["message"][str(size)], found["crossing"][str(size)]
    latency = min(message, found["message"][SMALLEST])
    one, both = speed(size, message, latency), 2 * speed(size, crossing, latency)
    return cluster.Memory(latency, one, min(max(both, one), 2 * one))


def described(found, size, given):
    """A cluster whose messages of about `size` bytes take as long as those measured."""
    fold_gb = speed(size, (found["memory"] or found["network"])["fold"][str(size)], 0)
    node = cluster.Node(1, given.ranks, fold_gb, memory_of(found["memory"], size))
    network = cluster.Network("switch", 1, 1)
    if "network" in found:
        link = memory_of(found["network"], size)
        network = cluster.Network("switch", link.latency_us / 2, link.bandwidth_gb)
    return cluster.Cluster("this machine", given.hosts, node, network)


def simulated(found, collective, way, size, given):
    ranks = given.hosts * given.ranks
    selection = SUMAC if way == SUMAC else given.selection
    against = () if way == SUMAC else (selection,)
    here = described(found, size, given)
    asked = request.Request(here, ranks, collective, (size,), against, mpi="openmpi")
    records, over = measure.records(asked, selection, SECONDS, lambda _: None)
    if not over:
        raise jobs.Failed(f"{collective} of {size} bytes, {selection}: the simulation was not over")
    return records[0]["us"]


def compare(found, given):
    """Prints a row for each call, and the errors of each way."""
    print("| | by | bytes | measured us | simulated us | simulated / measured |")
    print("|---|---|---:|---:|---:|---:|")
    logs = {}
    for collective, ways in found["collectives"].items():
        for way, by_size in ways.items():
            for size, us in sorted(by_size.items(), key=lambda each: int(each[0])):
                predicted = simulated(found, collective, way, int(size), given)
                logs.setdefault(way, []).append(abs(math.log(predicted / us)))
                row = f"{us:.2f} | {predicted:.2f} | {predicted / us:.2f}"
                print(f"| {collective} | {way} | {size} | {row} |", flush=True)
    print()
    for way, all_of_it in logs.items():
        middle, worst = math.exp(statistics.median(all_of_it)), math.exp(max(all_of_it))
        print(f"{way}: the middle error is a factor of {middle:.2f}, the worst {worst:.2f}.")


def arguments():
    parser = argparse.ArgumentParser(description="simulation against measurement")
    parser.add_argument("--hosts", type=int, default=1, help="1: this machine; else of a lab")
    parser.add_argument("--ranks", type=int, help="of a host (1, of this machine 2)")
    parser.add_argument("--rate", default="", help="of the lab's links, such as 1gbit")
    parser.add_argument("--sizes", default="8,1024,16384,65536,262144,1048576")
    parser.add_argument("--collectives", default="allreduce,reduce,bcast")
    parser.add_argument("--selection", default="ompi", help="SMPI's, for the simulation")
    parser.add_argument("--measured", type=pathlib.Path, help="kept measurements, or where to")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".venv", help="where Sumac is")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    given = parser.parse_args()
    given.ranks = given.ranks or (2 if given.hosts == 1 else 1)
    return given


def main():
    given = arguments()
    if not simulations.is_there(given.build):
        return 3
    if given.measured and given.measured.exists():
        found = json.loads(given.measured.read_text())
    elif shutil.which(LAUNCHER):
        found = measured(given)
        if given.measured:
            given.measured.write_text(json.dumps(found, indent=1))
    else:
        raise jobs.Missing(f"no {LAUNCHER} in PATH")
    try:
        compare(found, given)
    except SumacError as error:
        raise jobs.Failed(str(error)) from error
    return 0


if __name__ == "__main__":
    jobs.run(main)
