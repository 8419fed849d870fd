#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far simulation is from measurement: two ranks of this machine under Open MPI, measured, and
the same simulated. Latency and bandwidth of the simulated memory are those of the measured
broadcast, which between two ranks is one message; all-reduce and reduce are then foretold, and
compared.

Usage: experiments/simulated_node/run.py [--sizes N,...] [--measured FILE] ...
Exit status: 0 done, 1 a job failed, 3 no MPI or no SimGrid here.
"""

import argparse
import json
import math
import pathlib
import shutil
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402
import simulations  # noqa: E402
from simulations import SumacError, cluster, measure, request  # noqa: E402

LAUNCHER = "mpiexec.openmpi"
MESSAGE, FORETOLD = "bcast", ("allreduce", "reduce")


def measured(given):
    """{collective: {bytes: us}} of the MPI's own functions, between two ranks."""
    found = {}
    for collective in (MESSAGE, *FORETOLD):
        program = given.build / "lib/sumac/sumac-bench-openmpi"
        command = [LAUNCHER, *jobs.UNBOUND["openmpi"], "-n", "2", str(program), collective]
        command += ["--sizes", given.sizes, "--seconds", "0.2"]
        output = jobs.output_of(command, {"SUMAC_DISABLE": "1"}, 120)
        records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        found[collective] = {
            str(r["bytes"]): r["native"]["p50"] for r in records if r["kind"] == "size"
        }
    return found


def described(message, size, fold_gb):
    """A node of two cores whose messages of about `size` bytes take as long as those measured."""
    by_size = {int(each): us for each, us in message.items()}
    least = min(by_size)
    latency = by_size[least]
    bandwidth = size / max(by_size[size] - latency, 1e-3) / 1000 if size > least else 10.0
    memory = cluster.Memory(latency, bandwidth, 2 * bandwidth)
    network = cluster.Network("switch", 1, 1)
    return cluster.Cluster("this machine", 1, cluster.Node(1, 2, fold_gb, memory), network)


def simulated(found, collective, size, given):
    asked = request.Request(
        described(found[MESSAGE], size, given.fold), 2, collective, (size,), (given.selection,)
    )
    records, _ = measure.records(asked, given.selection, 60, lambda _: None)
    return records[0]["us"]


def arguments():
    parser = argparse.ArgumentParser(description="simulation against measurement, on two ranks")
    parser.add_argument("--sizes", default="8,1024,16384,65536,262144,1048576")
    parser.add_argument("--fold", type=float, default=10.0, help="GB/s that a core folds")
    parser.add_argument("--selection", default="ompi", help="SMPI's, for the simulation")
    parser.add_argument("--measured", type=pathlib.Path, help="kept measurements, or where to")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".venv", help="where it is")
    parser.add_argument("--simulator", type=pathlib.Path, help="where sumac-simulated is")
    given = parser.parse_args()
    given.simulator = given.simulator or given.build
    return given


def main():
    given = arguments()
    if not simulations.is_there(given.simulator):
        return 3
    if given.measured and given.measured.exists():
        found = json.loads(given.measured.read_text())
    elif shutil.which(LAUNCHER):
        found = measured(given)
        if given.measured:
            given.measured.write_text(json.dumps(found, indent=1))
    else:
        print(f"no {LAUNCHER} in PATH", file=sys.stderr)
        return 3
    print("| | bytes | measured us | simulated us | simulated / measured |")
    print("|---|---:|---:|---:|---:|")
    logs = []
    for collective in FORETOLD:
        for size, us in sorted(found[collective].items(), key=lambda each: int(each[0])):
            try:
                foretold = simulated(found, collective, int(size), given)
            except SumacError as error:
                raise jobs.Failed(str(error)) from error
            logs.append(abs(math.log(foretold / us)))
            print(f"| {collective} | {size} | {us:.2f} | {foretold:.2f} | {foretold / us:.2f} |")
    print(f"\nMiddle error: a factor of {math.exp(statistics.median(logs)):.2f};", end=" ")
    print(f"the worst: {math.exp(max(logs)):.2f}.")
    return 0


if __name__ == "__main__":
    jobs.run(main)
