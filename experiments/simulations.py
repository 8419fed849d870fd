# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments in simulated clusters share: simulations whose results are kept, so that an
interrupted experiment goes on where it was, and tables in Markdown."""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import jobs  # noqa: E402
from sumac_mpi.base.errors import SumacError  # noqa: E402
from sumac_mpi.simulate import cluster, measure, request, smpi  # noqa: E402

SUMAC = request.SUMAC
AT_ONCE = 2  # each takes a processor, and up to some GB


class Kept:
    """Results by what was asked for, in a file; in memory alone without one."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.found = json.loads(path.read_text()) if path and path.exists() else {}

    def get(self, asked, make):
        """What was kept of `asked`, else what make() returns. It is then kept, if make() also says
        that it came to its end."""
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
        if key in self.found:
            return self.found[key]
        made, over = make()
        if over:
            with self.lock:
                self.found[key] = made
                self._write()
        return made

    def _write(self):
        if self.path:
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(self.found, indent=1))
            fresh.replace(self.path)


@dataclasses.dataclass(frozen=True)
class Job:
    """A call on the first ranks of a cluster, in one way: by Sumac, or by a selection of SMPI's."""

    described: str
    nodes: int
    collective: str
    sizes: tuple
    way: str = SUMAC
    variables: tuple = ()
    compute_us: float = 0.0  # more than 0: nonblocking

    def request(self):
        found = dataclasses.replace(cluster.load(self.described), nodes=self.nodes)
        against = () if self.way == SUMAC else (self.way,)
        return request.Request(
            found, found.ranks, self.collective, self.sizes, against, self.variables,
            nonblocking=self.compute_us > 0, compute_us=self.compute_us, tests=8,
        )  # fmt: skip


class Simulator:
    def __init__(self, kept, build, seconds):
        os.environ["SUMAC_ROOT"] = str(build)
        self.kept, self.seconds, self.wrong = kept, seconds, []

    def rows(self, wanted):
        """{name: {bytes: us}} of {name: Job}. After a failure what has begun comes to its end."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(wanted, pool.map(self.times, wanted.values()), strict=True))

    def times(self, job):
        """{bytes: us}; without what took too long. Wrong results of Sumac are noted, those of
        others left out."""
        asked = job.request()
        name = [dataclasses.asdict(asked), job.way, *self._of_build(job.way)]
        records = self.kept.get(name, lambda: self._records(asked, job.way))
        found = {}
        for record in records:
            if not record["wrong"]:
                found[record["bytes"]] = record["us"]
            elif job.way == SUMAC:
                self.wrong.append(f"{job.collective} of {record['bytes']} bytes, {job.variables}")
        return found

    def _of_build(self, way, program=None):
        """What Sumac's times depend on beside the request: its texts and the rules."""
        if way != SUMAC:
            return []
        files = (program or smpi.program(), request.RULES)
        return [hashlib.sha256(each.read_bytes()).hexdigest()[:16] for each in files]

    def _records(self, asked, way):
        print(f"  {asked.collective}, {asked.ranks} ranks: {way}", file=sys.stderr, flush=True)
        return measure.records(asked, way, self.seconds, lambda _: None)

    def program(self, path, arguments, described, nodes, way):
        """What a program built for SMPI prints, {word: text}. `way` makes its all-reduces."""
        found = dataclasses.replace(cluster.load(described), nodes=nodes)
        asked = request.Request(found, found.ranks, "barrier", (), ())
        job = asked.job(way) | {"cases": []} if way == SUMAC else None
        settings = {} if way == SUMAC else {"smpi/allreduce": way}
        line = [str(path), *arguments]

        def run():
            print(f"  {path.name}, {found.ranks} ranks: {way}", file=sys.stderr, flush=True)
            try:
                told = smpi.run_program(found, found.ranks, line, job, settings, self.seconds)
            except smpi.Unfinished:
                return "", False
            return told, True

        name = [dataclasses.asdict(found), arguments, path.name, way, *self._of_build(way, path)]
        text = self.kept.get(name, run)
        return {words[0]: words[1] for row in text.splitlines() if len(words := row.split()) > 1}


def size_text(size):
    return f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def print_table(title, sizes, rows):
    """`rows`: {name: {bytes: us}}."""
    print(f"\n{title}: simulated us\n")
    print(f"| | {' | '.join(size_text(size) for size in sizes)} |")
    print(f"|---{'|---:' * len(sizes)}|")
    for name, found in rows.items():
        cells = [f"{found[size]:.1f}" if size in found else "-" for size in sizes]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def draw(path, panels, title):
    """`panels`: {heading: {name: {bytes: us}}}, drawn side by side."""
    pyplot = jobs.pyplot()
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(4.6 * len(panels), 4), squeeze=False, layout="constrained"
    )
    figure.suptitle(title)
    for panel, (heading, rows) in zip(axes.flat, panels.items(), strict=True):
        for name, found in rows.items():
            style = "-" if name.startswith("Sumac") else "--"
            panel.plot(sorted(found), [found[size] for size in sorted(found)], style, label=name)
        panel.set(xscale="log", yscale="log", title=heading, xlabel="bytes", ylabel="simulated us")
        panel.legend(fontsize="x-small")
    figure.savefig(path, dpi=120)


def is_there(build):
    """Whether simulations can run here."""
    os.environ["SUMAC_ROOT"] = str(build)
    try:
        smpi.command()
        smpi.program()
    except SumacError as missing:
        print(missing, file=sys.stderr)
        return False
    return True
