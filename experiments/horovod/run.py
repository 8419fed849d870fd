#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Horovod with TensorFlow on Open MPI: steps a second, and the time in all-reduces, with Sumac and
without; gradients in 32 bits, and in 16 bits with hints to Sumac and without. Prints a table.

Usage: experiments/horovod/run.py [--ranks N] [--steps N] [--rounds N] [--plot FILE] ...
Exit status: 0 done, 1 a job failed, 3 no Horovod (setup.sh builds it), 4 wrong results.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

SECONDS = 600  # a job may take
NO_HOROVOD = 3
# Sumac's values are read from its statistics by nobody: what is measured is Horovod's own.
SETTINGS = {"HOROVOD_CYCLE_TIME": "0.5", "TF_CPP_MIN_LOG_LEVEL": "2", "OMPI_MCA_btl": "^openib"}


@dataclass(frozen=True)
class Contender:
    title: str
    fp16: bool
    sumac: bool
    hints: bool = False


CONTENDERS = (
    Contender("32 bits, Open MPI", fp16=False, sumac=False),
    Contender("32 bits, Sumac", fp16=False, sumac=True),
    Contender("16 bits, Open MPI", fp16=True, sumac=False),
    Contender("16 bits, Sumac", fp16=True, sumac=True),
    Contender("16 bits, Sumac, hints", fp16=True, sumac=True, hints=True),
)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=16, help="pictures of a rank in a step")
    parser.add_argument("--filters", type=int, default=32, help="size of the network")
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each kind, in turns")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build/horovod")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--launcher", default="mpiexec.openmpi")
    parser.add_argument("--plot", type=pathlib.Path, help="a picture (PNG)")
    return parser.parse_args()


def measure(options, contender):
    """What rank 0 of one job prints."""
    front = [str(options.build / "bin/sumac"), "exec", "--"] if contender.sumac else []
    command = [
        options.launcher, "-n", str(options.ranks), *jobs.UNBOUND["openmpi"],
        "env", f"LD_PRELOAD={options.venv}/front.so", f"FRONT_HINTS={int(contender.hints)}", *front,
        str(options.venv / "bin/python"), str(HERE / "train.py"), f"--steps={options.steps}",
        f"--batch={options.batch}", f"--filters={options.filters}",
        *(["--fp16"] if contender.fp16 else []),
    ]  # fmt: skip
    lines = jobs.output_of(command, SETTINGS, SECONDS).splitlines()
    return json.loads(next(line for line in lines if line.startswith("{")))


def is_wrong(records):
    """Whether ranks ended with different parameters, or learnt nothing, in any job."""
    return any(not each["same"] or not each["last"] < each["first"] for each in records)


def medians(records):
    return {
        key: statistics.median(each[key] for each in records)
        for key in ("steps_a_second", "allreduce_ms", "calls", "bytes", "last")
    }


def table(results):
    yield "| | steps/s | ms in all-reduce a step | as fast | calls a step | MB a step | loss |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for contender, records in results.items():
        mine = medians(records)
        base = next(c for c in results if c.fp16 == contender.fp16 and not c.sumac)
        faster = medians(results[base])["allreduce_ms"] / mine["allreduce_ms"]
        yield (
            f"| {contender.title} | {mine['steps_a_second']:.1f} | {mine['allreduce_ms']:.2f} | "
            f"{faster:.2f} | {mine['calls']:.1f} | {mine['bytes'] / 1e6:.2f} | {mine['last']:.4f} |"
        )


def draw(results, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 3), layout="constrained", sharey=True)
    titles = [contender.title for contender in results]
    colours = ["#c8553d" if contender.sumac else "#9aa0a6" for contender in results]
    for axes, key, label in (
        (panels[0], "steps_a_second", "steps a second (more is better)"),
        (panels[1], "allreduce_ms", "ms in all-reduces a step (less is better)"),
    ):
        axes.barh(titles, [medians(records)[key] for records in results.values()], color=colours)
        for place, records in enumerate(results.values()):
            values = [each[key] for each in records]
            axes.plot(values, [place] * len(values), "k.", markersize=4)
        axes.set_xlabel(label)
    panels[0].invert_yaxis()
    figure.savefig(path, dpi=120)


def main():
    options = parse()
    if not (options.venv / "front.so").exists() or shutil.which(options.launcher) is None:
        print(f"no Horovod in {options.venv}; fix: experiments/horovod/setup.sh", file=sys.stderr)
        return NO_HOROVOD
    results = defaultdict(list)
    for _ in range(options.rounds):
        for contender in CONTENDERS:
            results[contender].append(measure(options, contender))
            print(f"{contender.title}: {results[contender][-1]}", file=sys.stderr)
    first = results[CONTENDERS[0]][0]
    print(f"{first['ranks']} ranks, {first['parameters']} parameters, batches of {options.batch}\n")
    print("\n".join(table(results)))
    if options.plot:
        draw(results, options.plot)
    return jobs.status_of(c.title for c, records in results.items() if is_wrong(records))


if __name__ == "__main__":
    jobs.run(main)
