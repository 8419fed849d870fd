# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of random programs: what a job's number stands for, and one run of it."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
LEAST_RANKS, MOST_RANKS = 2, 9

# Values of the library's options, of which a job has some. Each value stands as often as it is to
# be drawn; "" is the default. CHECK=results is not among them: the MPIs' own persistent calls are
# wrong where Sumac's are right (MPICH 4.0 gives what an all-gather's buffer held when it was
# initialised), and the check goes on with the MPI's result.
OPTIONS = {
    "ADAPT": ("off", "off", "off", "exact", "all", "all"),
    "BUILD_AFTER": ("", "", "1", "5"),
    "CHECK": ("", "", "", "off"),
    "CMA": ("", "", "off"),
    "COLLS": ("", "", "", "^allreduce", "^bcast", "^reduce", "^barrier"),
    "HIERARCHY": ("", "", "flat", "ranks:2,node", "ranks:3,node", "ranks:2,ranks:2,node",
                  "allreduce=ranks:2,node;flat"),
    "NODE_RADIX": ("", "", "off", "2", "3", "4"),
    "PROGRESS": ("", "", "thread", "off"),
    "PROMOTE": ("", "", "auto", "eager"),
    "REPRODUCIBLE": ("", "", "1"),
    "SHM_BUDGET": ("", "", "1M", "64K"),
    "SHM_CONTROL": ("", "", "slab", "staggered"),
    "SIMD": ("", "", "scalar", "sse2", "avx2"),
    "SPIN": ("", "", "1", "2000"),
}  # fmt: skip
# A call takes some microseconds on two ranks, and some hundred where the ranks are more than the
# cores: the fewer the ranks, the more jobs and the longer programs.
_WEIGHTS = {2: 16, 3: 3, 4: 2}  # of a number of ranks; 1 of others
_CALLS = {2: 500, 3: 250, 4: 150}  # of a program; 80 on more ranks
# Mostly small messages, at which the oracle is cheap. In each job sizes up to its most are drawn.
_MOST = (1 << 9, 1 << 9, 1 << 12, 1 << 12, 1 << 12, 40 << 10, 40 << 10, 320 << 10)
_ALGORITHM = re.compile(r"^SUMAC_ALGORITHM\((\w+), (\w+), (\w+),", re.MULTILINE)
_COLLECTIVES = re.compile(r"^collectives: ([0-9]+)$", re.MULTILINE)
_WRONG = re.compile(r"wrong with seed ([0-9]+)")
_STUCK = re.compile(r"out of time in: seed ([0-9]+)")
_TIMED_OUT = 124  # status of timeout(1)


@dataclass(frozen=True)
class Job:
    """`count` programs from seed `first` on, one after another in one start of the launcher."""

    number: int
    family: str
    ranks: int
    first: int
    count: int
    threads: int = 1
    calls: int = 40  # of a program
    most: int = 320 << 10  # bytes of a call
    only: tuple = ()  # the calls that are made; all where it is empty
    calm: bool = False
    options: dict = field(default_factory=dict)  # variables of the environment

    def arguments(self):
        words = ["--first", self.first, "--count", self.count, "--calls", self.calls]
        words += ["--threads", self.threads, "--most", self.most]
        words += ["--only", ",".join(map(str, self.only))] if self.only else []
        return [str(word) for word in words] + (["--calm"] if self.calm else [])


@dataclass
class Outcome:
    passed: bool
    collectives: int  # that were called, each counted once for all its ranks
    text: str
    paths: Counter  # by which path the calls of rank 0 went
    late: bool = False  # it was ended because its time was over, and nothing was found wrong


def algorithms():
    """The algorithms that can be forced: pairs of collective and name."""
    text = (ROOT / "src/base/algorithms.def").read_text(encoding="utf-8")
    return [(collective, name) for collective, name, _ in _ALGORITHM.findall(text)]


def draw(number, families, ranks, count):
    """The job of this number: the same whenever it is drawn from the same choices."""
    chance = random.Random(number)
    options = {}
    for name, values in OPTIONS.items():
        # Most jobs leave most options alone, so that what fails is easier to understand.
        value = chance.choice(values) if name == "ADAPT" or chance.random() < 0.4 else ""
        if value:
            options[f"SUMAC_{name}"] = value
    forced = chance.sample(algorithms(), chance.choice((0, 0, 1, 2, 4, 8)))
    if forced:
        # The first of a collective's counts; more would be refused.
        first = dict(reversed(forced))
        options["SUMAC_ALGO"] = ";".join(f"{each}:{name}" for each, name in first.items())
    threads = chance.choice((1, 1, 1, 1, 2, 3))
    most, calm = chance.choice(_MOST), chance.random() < 0.6
    size = chance.choices(ranks, [_WEIGHTS.get(each, 1) for each in ranks])[0]
    family = families[number % len(families)]
    if "SUMAC_PROMOTE" in options:
        options["UCX_MEM_EVENTS"] = "no"  # the UCX below MPICH loses what mremap() has moved
    calls = _CALLS.get(size, 80)
    first = 1 + number * count
    return Job(number, family, size, first, count, threads, calls, most, calm=calm, options=options)


def run(job, build, seconds, listed=False):
    """Runs the job under Sumac, and looks whether it leaves anything behind."""
    launcher = shutil.which(LAUNCHERS[job.family]) or LAUNCHERS[job.family]
    program = Path(build, "tests/random/programs", f"random_{job.family}")
    command = ["sh", ROOT / "tests/passes.sh", "on_host", job.family, launcher]
    command += [Path(build, "bin/sumac"), program, seconds, job.ranks, *job.arguments()]
    command += ["--list"] if listed else []
    with tempfile.TemporaryDirectory(prefix="sumac-random-") as folder:
        stats = Path(folder, "stats.json")
        # Ranks share processors with one another or with other programs.
        yields = {"OMPI_MCA_mpi_yield_when_idle": "1"}
        surroundings = os.environ | yields | {"SUMAC_STATS": str(stats)} | job.options
        status, text = _run([str(word) for word in command], surroundings)
        found = _COLLECTIVES.search(text)
        passed = status == 0 and found is not None
        paths = _paths(stats) if passed else Counter()
    over = status == _TIMED_OUT or "out of time in: " in text
    late = over and not passed and not _WRONG.search(text)
    return Outcome(passed, int(found[1]) if found else 0, text, paths, late)


def _run(command, surroundings):
    """Status and output of a command. If this program is ended meanwhile, so is all it started."""
    with subprocess.Popen(
        command,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate()
        except BaseException:
            _end_session(process.pid)
            raise
    return process.returncode, output.decode(errors="replace")


def _end_session(leader):
    """Ends the processes of a session, in whichever groups: timeout(1) makes one of its own."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # pid (name) state parent group session
            session = int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[3])
            if session == leader:
                os.kill(int(stat.parent.name), signal.SIGTERM)


def skipped(outcome):
    """True where the MPI lacks what the job needs."""
    return "SKIPPED:" in outcome.text


def seeds_of(job, outcome):
    """The seeds that failed, or in which the job hung or crashed, as far as its output says."""
    found = {int(seed) for seed in (*_WRONG.findall(outcome.text), *_STUCK.findall(outcome.text))}
    return sorted(found & set(range(job.first, job.first + job.count)))


def command_line(job):
    """What a person types to run the job again, from the folder of the build."""
    options = " ".join(f"'{name}={value}'" for name, value in sorted(job.options.items()))
    words = " ".join(job.arguments())
    program = f"tests/random/programs/random_{job.family} {words}"
    return f"env {options} {LAUNCHERS[job.family]} -n {job.ranks} bin/sumac exec -- {program}"


def _paths(stats):
    if not stats.exists():
        return Counter()
    rows = json.loads(stats.read_text(encoding="utf-8"))["paths"]
    return Counter({f"{row['collective']} {row['path']}": row["calls"] for row in rows})
