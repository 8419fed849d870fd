#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Horovod with TensorFlow on Open MPI: steps a second, and the time in all-reduces, with Sumac and
without; gradients in 32 bits, and in 16 bits with hints to Sumac and without. Prints a table.

Usage: experiments/horovod/run.py [--ranks N] [--steps N] [--rounds N] [--keep FILE] ...
Exit status: 0 done, 1 a job failed, 2 --keep FILE is of other jobs, 3 no Horovod (setup.sh builds
it), 4 wrong results.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

SECONDS = 600  # a job may take
USAGE, NO_HOROVOD = 2, 3
FEW = 4  # rounds, from which on their quartiles say something
# One thread computes, and Horovod's looks for gradients every few milliseconds: with fewer cores
# than threads, more of either take the cores from one another.
SETTINGS = {
    "HOROVOD_CYCLE_TIME": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2",
    "OMPI_MCA_btl": "^openib",
}  # fmt: skip


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
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a file of results, which this run adds its rounds to")  # fmt: skip
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


def quartiles(values):
    """Lower, middle, upper."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def column(records, key):
    return [each[key] for each in records]


def base_of(contender):
    return next(each for each in CONTENDERS if each.fp16 == contender.fp16 and not each.sumac)


def ratios(results, contender, key):
    """Of the jobs of each round, the MPI's figure divided by this one's."""
    pairs = zip(column(results[base_of(contender)], key), column(results[contender], key))
    return [mpi / mine for mpi, mine in pairs]


def spread(values, digits):
    lower, middle, upper = (f"{each:.{digits}f}" for each in quartiles(values))
    return f"{middle} ({lower} to {upper})"


def verdict(values):
    """What may be said of the ratios of rounds."""
    lower, _, upper = quartiles(values)
    if len(values) < FEW:
        return "too few jobs"
    return "faster" if lower > 1 else "slower" if upper < 1 else "not told apart"


def table(results):
    yield "| | steps/s | ms in all-reduce a step | all-reduce as fast | steps as fast | MB a step |"
    yield "|---|---:|---:|---:|---:|---:|"
    for contender, records in results.items():
        cells = ["1", "1"]
        if contender.sumac:
            of_calls = ratios(results, contender, "allreduce_ms")
            of_steps = [1 / each for each in ratios(results, contender, "steps_a_second")]
            cells = [f"{spread(each, 2)}: {verdict(each)}" for each in (of_calls, of_steps)]
        yield (
            f"| {contender.title} | {spread(column(records, 'steps_a_second'), 1)} | "
            f"{spread(column(records, 'allreduce_ms'), 2)} | {cells[0]} | {cells[1]} | "
            f"{statistics.median(column(records, 'bytes')) / 1e6:.2f} |"
        )


def draw(results, path):
    pyplot = jobs.pyplot()
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 3), layout="constrained", sharey=True)
    titles = [contender.title for contender in results]
    colours = ["#c8553d" if contender.sumac else "#9aa0a6" for contender in results]
    for axes, key, label in (
        (panels[0], "steps_a_second", "steps a second (more is better)"),
        (panels[1], "allreduce_ms", "ms in all-reduces a step (less is better)"),
    ):
        boxes = axes.boxplot(
            [column(records, key) for records in results.values()],
            orientation="horizontal", whis=(0, 100), patch_artist=True,
            medianprops={"color": "black"},
        )  # fmt: skip
        for box, colour in zip(boxes["boxes"], colours):
            box.set_facecolor(colour)
        axes.set_yticks(range(1, len(titles) + 1), titles)
        axes.set_xlabel(f"{label}\nmedian, quartiles, least and most of the jobs")
    panels[0].invert_yaxis()
    figure.savefig(path, dpi=120)


def kept(options, jobs_are):
    """The records that are in the file, by the contenders' titles; None if it is of other jobs."""
    if not options.keep or not options.keep.exists():
        return {contender.title: [] for contender in CONTENDERS}
    content = json.loads(options.keep.read_text(encoding="utf-8"))
    return content["records"] if content["jobs"] == jobs_are else None


def main():
    options = parse()
    if not (options.venv / "front.so").exists() or shutil.which(options.launcher) is None:
        print(f"no Horovod in {options.venv}; fix: experiments/horovod/setup.sh", file=sys.stderr)
        return NO_HOROVOD
    jobs_are = {name: getattr(options, name) for name in ("ranks", "steps", "batch", "filters")}
    records = kept(options, jobs_are)
    if records is None:
        print(f"{options.keep} is of other jobs; fix: another --keep FILE", file=sys.stderr)
        return USAGE
    for _ in range(options.rounds):
        # A round counts when it is whole: its jobs are compared with one another.
        new = {contender.title: measure(options, contender) for contender in CONTENDERS}
        for title, record in new.items():
            print(f"{title}: {record}", file=sys.stderr)
            records[title].append(record)
        if options.keep:
            content = {"jobs": jobs_are, "records": records}
            options.keep.write_text(json.dumps(content, indent=1), encoding="utf-8")
    results = {contender: records[contender.title] for contender in CONTENDERS}
    first = results[CONTENDERS[0]][0]
    print(f"{first['ranks']} ranks, {first['parameters']} parameters, batches of {options.batch}, "
          f"{len(results[CONTENDERS[0]])} jobs of each kind: medians (quartiles)\n")  # fmt: skip
    print("\n".join(table(results)))
    if options.plot:
        draw(results, options.plot)
    return jobs.status_of(c.title for c, records in results.items() if is_wrong(records))


if __name__ == "__main__":
    jobs.run(main)
